//! Sessions: start, observe what was said, list, reset; which of them are due.

mod due;
mod list;
mod policy;
mod retention;
mod speakers;
mod title;

use std::path::PathBuf;

use serde::Serialize;

use crate::context::{self, ContextRequest, ContextService, Visibility};
use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::Kernel;
use crate::model::{Position, Role, SessionId, SessionState, Turn, TurnId, shown_speaker};
use crate::off_record::{OffRecordService, Sifted};
use crate::ports::{self, Among, NewSession};
use crate::projects::ProjectService;
use crate::tasks::TaskService;
use crate::text::tokens;

pub use due::{Backlog, DueRules};
pub use list::{ListedSession, SessionListing, SessionReset, ShownSession};
pub use policy::*;
pub use retention::RemovedTurns;
pub(crate) use speakers::{Speakers, settled, without_others};

/// A conversation that was silent for so long when another began is left.
const LEFT_AFTER: jiff::SignedDuration = jiff::SignedDuration::from_mins(1);

/// A conversation that begins, or goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct StartSession {
    /// Its identifier.
    pub id: SessionId,
    /// What the host calls it.
    pub title: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The directory that it takes place in, without links in its path: it belongs to the project there, where it names
    /// none.
    pub dir: Option<PathBuf>,
    /// The task it is about.
    pub task: Option<String>,
    /// The name of the person among the speakers: user turns of others are other people's words.
    pub person: Option<String>,
    /// The host's own system prompt.
    pub system_prompt: Option<String>,
}

impl StartSession {
    /// A conversation of which nothing else is known.
    pub fn new(id: SessionId) -> Self {
        Self { id, title: None, project: None, dir: None, task: None, person: None, system_prompt: None }
    }

    /// What its context is asked for with, while it is not noted.
    pub fn request(&self) -> Done<ContextRequest> {
        Ok(ContextRequest {
            session: Some(self.id.clone()),
            base_prompt: self.system_prompt.as_deref().map(input::prompt).transpose()?,
            project: self.project.as_deref().map(input::project).transpose()?,
            task: self.task.as_deref().map(input::title).transpose()?,
            dir: self.dir.clone(),
            ..ContextRequest::default()
        })
    }
}

/// A conversation that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Started {
    /// Its identifier.
    pub session: SessionId,
    /// The whole system prompt, the same on every turn of this session.
    pub system_prompt: String,
    /// The part of it that is memory.
    pub context: String,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The host's own name for it, where it has one: said twice in a session, it is kept once.
    pub id: Option<String>,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name, where several share a role.
    pub speaker: Option<String>,
    /// The words.
    pub content: String,
    /// When; now, unless the host knows better.
    pub at: Option<jiff::Timestamp>,
}

impl Said {
    /// Something said just now.
    pub fn now(role: Role, content: impl Into<String>) -> Self {
        Self { id: None, role, speaker: None, content: content.into(), at: None }
    }

    /// Makes it fit where there is nobody to refuse it to: cut at the limit, without NUL characters. Says whether it had to.
    pub fn fit(&mut self) -> bool {
        let fitted = input::fitted(&context::without_fence(&self.content));
        fitted.map(|content| self.content = content).is_some()
    }
}

/// The receipt for what was said.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Observed {
    /// The turns that are kept.
    pub turns: Vec<Turn>,
    /// How many of them are new.
    pub kept: usize,
    /// How many more were given and not kept: memory is paused, the place is excluded, or the person asked for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub off_record: usize,
    /// Kinds of secrets that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
    /// Whether the conversation is due for consolidation, and why.
    pub due: Option<Trigger>,
}

/// Sessions: start, observe, list, reset; which of them are due.
#[derive(Clone, Copy)]
pub struct SessionService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) context: ContextService<'e>,
    pub(crate) projects: ProjectService<'e>,
    pub(crate) off_record: OffRecordService<'e>,
    pub(crate) tasks: TaskService<'e>,
}

impl SessionService<'_> {
    /// Begins a session, or finds it begun: its memory is computed once, and stays as it is until a reset.
    pub fn start(&self, start: &StartSession) -> Done<Started> {
        let new = self.checked(start)?;
        if self.off_record.is_excluded(Some(&new.id), new.project.as_deref())? {
            return Ok(unrecorded(new));
        }
        self.opened(&self.session_store.open_session(&new)?)
    }

    /// Begins a session that nobody else has: where its name is taken, a number follows it.
    pub fn start_new(&self, start: &StartSession) -> Done<Started> {
        let mut new = self.checked(start)?;
        if self.off_record.is_excluded(Some(&new.id), new.project.as_deref())? {
            return Ok(unrecorded(new));
        }
        let mut nth = 1;
        loop {
            if let Some(state) = self.session_store.open_new_session(&new)? {
                return self.opened(&state);
            }
            nth += 1;
            new.id = format!("{}-{nth}", start.id).parse()?;
        }
    }

    /// What a session would begin with. Notes nothing: for a host that waits while another process writes.
    pub fn preview(&self, start: &StartSession) -> Done<Started> {
        let prepared = self.context.prepare(&start.request()?)?;
        let (session, system_prompt) = (start.id.clone(), prepared.context.system_prompt);
        Ok(Started { session, system_prompt, context: prepared.opening })
    }

    /// The memory that a session begins with; computed and recorded now if it was not.
    fn opened(&self, state: &SessionState) -> Done<Started> {
        let session = state.session.id.clone();
        let request = ContextRequest { session: Some(session.clone()), ..ContextRequest::default() };
        let prepared = self.context.prepare(&request)?;
        let context = self.context.note_given(&prepared, Visibility::Stays)?.opening;
        let system_prompt = context::system_prompt(&state.base_prompt, &context);
        Ok(Started { session, system_prompt, context })
    }

    /// A session to open, if what is said about it can be kept.
    fn checked(&self, start: &StartSession) -> Done<NewSession> {
        input::no_secret("the session's id", start.id.as_str())?;
        let task = start.task.as_deref().and_then(|reference| self.tasks.get(reference).ok());
        // A host's own name for a task is kept as it is; a task brings its project along.
        let given = start.project.as_deref().map(input::project).transpose()?;
        let project = given.or_else(|| task.as_ref()?.project.clone());
        let here =
            start.dir.as_deref().filter(|_| project.is_none()).map(|dir| self.projects.enter(dir)).transpose()?;
        let project = project.or_else(|| here.flatten().map(|found| found.name.to_string()));
        let named = start.task.as_deref().map(input::title).transpose()?;
        let task = task.map(|task| task.id.to_string()).or(named);
        Ok(NewSession {
            id: start.id.clone(),
            title: start.title.as_deref().filter(|title| !title.trim().is_empty()).map(session_title).transpose()?,
            project,
            task,
            person: start.person.as_deref().map(input::person).transpose()?,
            base_prompt: start.system_prompt.as_deref().map(input::prompt).transpose()?,
            at: self.kernel.now,
        })
    }

    /// Keeps what was said in a conversation of which nothing else is known.
    pub fn observe(&self, session: &SessionId, said: &[Said]) -> Done<Observed> {
        self.observe_at(session, None, said)
    }

    /// The same for a conversation that takes place in a directory, as far as it is about no project yet. One that is new
    /// began with its first turn, which may be long ago.
    pub fn observe_at(&self, session: &SessionId, dir: Option<PathBuf>, said: &[Said]) -> Done<Observed> {
        let _reading = self.kernel.reading_of(session);
        let now = self.kernel.now;
        let began = said.iter().map(|said| said.at.map_or(now, |at| input::time(at, now))).min();
        let is_about = self.find(session)?.is_some_and(|state| state.session.project.is_some());
        let dir = dir.filter(|_| !is_about);
        let new = self.checked(&StartSession { dir, ..StartSession::new(session.clone()) })?;
        self.keep(&NewSession { at: began.unwrap_or(self.kernel.now), ..new }, said)
    }

    /// Keeps what was said, word for word but for secrets and what memory itself had put in front. Everything is
    /// validated first; then the session is opened and the turns are appended in one transaction.
    /// A session that begins with it has its opening from then on.
    pub fn observe_in(&self, start: &StartSession, said: &[Said]) -> Done<Observed> {
        let _reading = self.kernel.reading_of(&start.id);
        let observed = self.keep(&self.checked(start)?, said)?;
        if let Some(state) = self.find(&start.id)?.filter(|state| state.opening.is_none())
            && let Err(error) = self.opened(&state)
        {
            tracing::warn!(%error, "what the session begins with is computed later");
        }
        Ok(observed)
    }

    /// Where nothing was said, there is no session to open.
    fn keep(&self, session: &NewSession, said: &[Said]) -> Done<Observed> {
        let mut redacted = Vec::new();
        let turns: Vec<Turn> =
            said.iter().map(|said| self.turn(&session.id, said, &mut redacted)).collect::<Done<_>>()?;
        let Sifted { kept: turns, unkept: off_record } = self.sift(session, turns)?;
        if turns.is_empty() {
            return Ok(Observed { due: None, kept: 0, off_record, redacted: Vec::new(), turns });
        }
        let kept = self.turns.append_to(session, &turns)?;
        Ok(Observed { due: self.due(&session.id)?, kept, off_record, redacted, turns })
    }

    /// Without what is off the record, in the project that is named now or was when the session began.
    fn sift(&self, session: &NewSession, turns: Vec<Turn>) -> Done<Sifted> {
        let known = || Ok::<_, EngineError>(self.find(&session.id)?.and_then(|state| state.session.project));
        let project = session.project.clone().map_or_else(known, |named| Ok(Some(named)))?;
        self.off_record.sift(&session.id, project.as_deref(), turns)
    }

    /// Whether nothing is observed or given in a session at the moment.
    pub(crate) fn is_off_record(&self, session: &SessionId) -> Done<bool> {
        let project = self.find(session)?.and_then(|state| state.session.project);
        Ok(self.off_record.reason(Some(session), project.as_deref())?.is_some())
    }

    /// The turn for something that was said, if it can be kept; the kinds of secrets in it are added to `redacted`.
    fn turn(&self, session: &SessionId, said: &Said, redacted: &mut Vec<&'static str>) -> Done<Turn> {
        if said.role == Role::Summary {
            return Err(EngineError::invalid("the role", "cannot be `summary`: a summary is made by consolidating"));
        }
        let own = context::without_fence(&said.content);
        if own.trim().is_empty() {
            return Err(EngineError::NothingSaid);
        }
        let (content, kinds) = input::said(&own)?;
        redacted.extend(kinds.into_iter().filter(|kind| !redacted.contains(kind)).collect::<Vec<_>>());
        input::also_in(said.speaker.as_deref(), redacted);
        let speaker = said.speaker.as_deref().map(input::speaker).transpose()?;
        // The word for a role is no name: it is kept so that nobody takes it for one.
        let speaker = speaker.map(|name| shown_speaker(said.role.as_str(), Some(&name)));
        let id = said.id.as_ref().map_or_else(|| TurnId::new(self.kernel.new_id()), |id| TurnId::of_host(session, id));
        Ok(Turn {
            id,
            session: session.clone(),
            role: said.role,
            speaker,
            content,
            at: said.at.map_or(self.kernel.now, |at| input::time(at, self.kernel.now)),
        })
    }

    /// Whether a conversation is due for consolidation, and why.
    pub fn due(&self, session: &SessionId) -> Done<Option<Trigger>> {
        self.get(session)?;
        let rules = self.due_rules();
        let due = self.session_store.due_sessions(&rules, &Among::One(session.clone()))?;
        Ok(due.first().and_then(|backlog| rules.trigger(backlog)))
    }

    /// Every conversation that is due and had a turn lately, the latest first.
    pub fn all_due(&self, lately: jiff::SignedDuration) -> Done<Vec<(SessionId, Trigger)>> {
        self.due_by(&DueRules { ended: self.kernel.settings.enabled, ..self.due_rules() }, lately)
    }

    /// The conversations that are silent since this one began, for a minute at least: the person went on elsewhere.
    /// Nothing where silence makes nothing due.
    pub fn left_for(&self, session: &SessionId, lately: jiff::SignedDuration) -> Done<Vec<SessionId>> {
        let Some(state) = self.find(session)?.filter(|_| self.kernel.settings.policy.idle_minutes > 0) else {
            return Ok(Vec::new());
        };
        let a_minute_ago = self.kernel.now.checked_sub(LEFT_AFTER).unwrap_or(jiff::Timestamp::MIN);
        let silent_since = Some(a_minute_ago.min(state.session.created_at));
        let left = self.due_by(&DueRules { silent_since, ..DueRules::default() }, lately)?;
        Ok(left.into_iter().map(|(other, _)| other).filter(|other| other != session).collect())
    }

    fn due_by(&self, rules: &DueRules, lately: jiff::SignedDuration) -> Done<Vec<(SessionId, Trigger)>> {
        let since = self.kernel.now.checked_sub(lately).unwrap_or(jiff::Timestamp::MIN);
        let due = self.session_store.due_sessions(rules, &Among::UpdatedSince(since))?;
        Ok(due.into_iter().filter_map(|backlog| Some((backlog.session.clone(), rules.trigger(&backlog)?))).collect())
    }

    /// What makes a conversation due that goes on.
    fn due_rules(&self) -> DueRules {
        let every = self.kernel.settings.flush_every as u64;
        let flush = (every > 0 && self.kernel.settings.enabled).then_some(every);
        DueRules { flush, ..DueRules::of(&self.kernel.settings.policy, self.kernel.now) }
    }

    /// Marks a conversation as ended; whoever looks for what is due does the rest.
    pub fn mark_ended(&self, session: &SessionId) -> Done<()> {
        self.get(session)?;
        Ok(self.session_store.end_session(session, self.kernel.now)?)
    }

    /// What is still sent to the model, as far as it fits: the turns since the last compaction, behind the summary of
    /// those before it. Nothing is kept of a session off the record.
    pub fn window(&self, session: &SessionId, budget: usize) -> Done<(Vec<Turn>, usize)> {
        let (summary, said) = self.sent(session)?;
        Ok(fit(summary.as_ref(), &said, budget))
    }

    /// Whether what is sent takes more of the model's window than it should: time for a compaction.
    pub fn is_long(&self, session: &SessionId) -> Done<bool> {
        let policy = &self.kernel.settings.policy;
        let limit = policy.trigger_ratio * policy.context_window as f64;
        let (summary, said) = self.sent(session)?;
        let size: usize = summary.iter().chain(&said).map(|turn| tokens::estimate(&turn.content)).sum();
        Ok(limit > 0.0 && size as f64 > limit)
    }

    /// The summary of what was trimmed, where something was, and the turns since.
    fn sent(&self, session: &SessionId) -> Done<(Option<Turn>, Vec<Turn>)> {
        let Some(state) = self.find(session)? else { return Ok((None, Vec::new())) };
        let turns = self.turns.turns_after(session, state.kept_from)?.into_iter().map(|(_, turn)| turn);
        let (summaries, said): (Vec<Turn>, Vec<Turn>) = turns.partition(|turn| turn.role == Role::Summary);
        let is_trimmed = state.kept_from > Position::default();
        Ok((summaries.into_iter().next_back().filter(|_| is_trimmed), said))
    }

    /// Forgets what the session began with: the next turn computes it anew.
    pub fn reset(&self, session: &SessionId) -> Done<()> {
        self.get(session)?;
        Ok(self.session_store.reset_session(session)?)
    }

    /// All sessions, the latest first.
    pub fn all(&self) -> Done<Vec<SessionState>> {
        Ok(self.session_store.sessions()?)
    }

    /// A session and all that was said in it.
    pub fn conversation(&self, session: &SessionId) -> Done<(SessionState, Vec<Turn>)> {
        let state = self.get(session)?;
        let turns = self.turns.turns_after(session, Position::default())?;
        Ok((state, turns.into_iter().map(|(_, turn)| turn).collect()))
    }

    /// One session, without what was said in it.
    pub fn get(&self, session: &SessionId) -> Done<SessionState> {
        let unknown = || EngineError::NoSession { session: session.clone() };
        self.session_store.session(session)?.ok_or_else(unknown)
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A conversation that takes place where nothing is given, and that is not noted either.
fn unrecorded(new: NewSession) -> Started {
    Started { session: new.id, system_prompt: new.base_prompt.unwrap_or_default(), context: String::new() }
}

/// A host's title in one line, without secrets, within the limit.
pub(crate) fn session_title(given: &str) -> Done<String> {
    input::title(&title::cut(&given.split_whitespace().collect::<Vec<_>>().join(" ")))
}
