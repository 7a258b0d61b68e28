//! Sessions: begin, context for each message, observe what was said, reset, end.

use serde::Serialize;

use crate::context::{self, Context, Part};
use crate::model::{EntryId, Kind, Position, Role, SessionId, SessionState, Task, TaskId, TaskStatus, Turn, TurnId};
use crate::ports::{Among, NewSession};
use crate::recall::{AskedBy, Hit};
use crate::session::{DueRules, Trigger};
use crate::text::{redact::redact, tokens};

use super::find::ContextRequest;
use super::{Done, Engine, EngineError, InjectAt, prepare};

/// A profile that a person made longer is cut here when it is injected, in tokens.
const PROFILE_TOKENS: usize = 2000;

/// What a task's working state may take of the prompt, in tokens.
const TASK_TOKENS: usize = 1000;

/// Memories that were shown already make room for so many others at most.
const MOST_SHOWN: usize = 100;

/// A conversation that begins, or goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct StartSession {
    /// Its identifier.
    pub id: SessionId,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The task it is about.
    pub task: Option<String>,
    /// The host's own system prompt.
    pub system_prompt: Option<String>,
}

impl StartSession {
    /// A conversation of which nothing else is known.
    pub fn new(id: SessionId) -> Self {
        Self { id, project: None, task: None, system_prompt: None }
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
}

/// The receipt for what was said.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Observed {
    /// The turns that were given.
    pub turns: Vec<Turn>,
    /// How many of them are new.
    pub kept: usize,
    /// Whether the conversation is due for consolidation, and why.
    pub due: Option<Trigger>,
}

impl Engine {
    /// Begins a session, or finds it begun: its memory is computed once, and stays as it is until a reset.
    pub fn start_session(&self, start: &StartSession) -> Done<Started> {
        let state = self.store.open_session(&self.checked(start)?)?;
        self.started(&state)
    }

    /// Begins a session that nobody else has: where its name is taken, a number follows it.
    pub fn start_new_session(&self, start: &StartSession) -> Done<Started> {
        let mut new = self.checked(start)?;
        let mut nth = 1;
        loop {
            if let Some(state) = self.store.open_new_session(&new)? {
                return self.started(&state);
            }
            nth += 1;
            new.id = format!("{}-{nth}", start.id).parse()?;
        }
    }

    /// A session to open, if what is said about it can be kept.
    fn checked(&self, start: &StartSession) -> Done<NewSession> {
        let task = start.task.as_deref().and_then(|reference| self.task(reference).ok());
        // A host's own name for a task is kept as it is; a task brings its project along.
        let given = start.project.as_deref().map(prepare::project).transpose()?;
        let project = given.or_else(|| task.as_ref()?.project.clone());
        let named = start.task.as_deref().map(prepare::title).transpose()?;
        let task = task.map(|task| task.id.to_string()).or(named);
        Ok(NewSession {
            id: start.id.clone(),
            project,
            task,
            base_prompt: start.system_prompt.as_deref().map(|prompt| redact(prompt).text.into_owned()),
            at: self.clock.now(),
        })
    }

    fn started(&self, state: &SessionState) -> Done<Started> {
        let opening = self.opening_of(state)?;
        let system_prompt = context::system_prompt(&state.base_prompt, &opening);
        Ok(Started { session: state.session.id.clone(), system_prompt, context: opening })
    }

    /// The memory that a session began with; computed now if it was not.
    fn opening_of(&self, state: &SessionState) -> Done<String> {
        match &state.opening {
            Some(opening) => Ok(opening.clone()),
            None => {
                let task = self.task_of_state(state);
                Ok(self.store.set_opening(&state.session.id, &self.opening(task.as_ref()).0)?)
            }
        }
    }

    /// The open task that a conversation is about.
    pub(super) fn task_of(&self, session: &SessionId) -> Done<Option<Task>> {
        Ok(self.store.session(session)?.and_then(|state| self.task_of_state(&state)))
    }

    pub(super) fn task_of_state(&self, state: &SessionState) -> Option<Task> {
        let id = TaskId::new(state.session.task.as_deref()?);
        let task = self.store.task(&id).unwrap_or_else(|error| {
            tracing::warn!(%error, "the task cannot be read; going on without it");
            None
        });
        task.filter(|task| task.status == TaskStatus::Open)
    }

    /// Who the person is, what was going on and where the task stands, with the reasons. What cannot be read is left
    /// out, and said.
    pub(super) fn opening(&self, task: Option<&Task>) -> (String, Vec<Part>) {
        let mut parts = Vec::new();
        if !self.settings.enabled {
            return (String::new(), parts);
        }
        let profile = self.profile().unwrap_or_else(|error| {
            tracing::warn!(%error, "the profile cannot be read; going on without it");
            None
        });
        let working = self.working().unwrap_or_else(|error| {
            tracing::warn!(%error, "working memory cannot be read; going on without it");
            None
        });
        let profile = profile.map(|(text, usage)| {
            let safe = redact(&text).text.into_owned();
            let text = tokens::cut(&safe, PROFILE_TOKENS).to_owned();
            let why = format!("who the person is, {usage}");
            parts.push(Part { what: "profile", id: None, why, tokens: tokens::estimate(&text) });
            text
        });
        let working = working.map(|working| {
            let safe = redact(&working.content).text.into_owned();
            let text = tokens::cut(&safe, self.settings.working.max_tokens).to_owned();
            let why = format!("what was going on; expires {}", working.expires_at);
            parts.push(Part { what: "working", id: None, why, tokens: tokens::estimate(&text) });
            text
        });
        let task = task.map(|task| {
            let text = tokens::cut(format!("{}\n\n{}", task.title, task.state).trim(), TASK_TOKENS).to_owned();
            let why = format!("where the task {} stands", task.id);
            parts.push(Part { what: "task", id: None, why, tokens: tokens::estimate(&text) });
            text
        });
        let text = context::opening(profile.as_deref(), working.as_deref(), task.as_deref(), self.settings.greeting);
        (text, parts)
    }

    /// What to send to the model for this message; noted in the log, and not repeated while it is still in view.
    pub fn context(&self, session: &SessionId, message: &str) -> Done<Context> {
        let state = self.state(session)?;
        let opening = self.opening_of(&state)?;
        let mut answer = Context {
            system_prompt: context::system_prompt(&state.base_prompt, &opening),
            message: Some(message.to_owned()),
            ..Context::default()
        };
        if !self.settings.enabled || self.settings.inject_at == InjectAt::Off {
            return Ok(answer);
        }
        let request = ContextRequest {
            session: Some(session.clone()),
            project: state.session.project,
            message: Some(message.to_owned()),
            ..ContextRequest::default()
        };
        let given = self.unseen(session, &request, message).and_then(|hits| {
            self.inject(session, message, &hits, &mut answer)?;
            Ok(hits)
        });
        match given {
            Ok(hits) => {
                let given: Vec<EntryId> = answer.parts.iter().filter_map(|part| part.id.clone()).collect();
                answer.recall_id = Some(self.note((AskedBy::Message, Some(session)), message, &hits, &given));
            }
            Err(error) => tracing::warn!(%error, "nothing can be recalled; going on without"),
        }
        Ok(answer)
    }

    /// What fits a message and does not stand in view already.
    fn unseen(&self, session: &SessionId, request: &ContextRequest, message: &str) -> Done<Vec<Hit>> {
        let shows_again = self.settings.inject_repeat || self.settings.inject_at == InjectAt::SystemPrompt;
        let shown = if shows_again { Vec::new() } else { self.store.injected(session)? };
        let limit = self.settings.recall_limit;
        let mut hits = self.find_for(request, message, limit + shown.len().min(MOST_SHOWN))?;
        hits.retain(|hit| !shown.contains(&hit.memory.entry.id));
        // Passages stand behind the memories and take no memory's place.
        let (memories, passages): (Vec<_>, Vec<_>) =
            hits.into_iter().partition(|hit| hit.memory.entry.kind != Kind::Chunk);
        Ok(memories.into_iter().take(limit).chain(passages).collect())
    }

    fn inject(&self, session: &SessionId, message: &str, hits: &[Hit], answer: &mut Context) -> Done<()> {
        if self.settings.inject_at == InjectAt::SystemPrompt {
            let (block, parts) = context::memory_block(hits, self.settings.recall_max_tokens);
            answer.system_prompt = context::system_prompt(&answer.system_prompt, &block);
            answer.parts.extend(parts);
            return Ok(());
        }
        let (text, parts) = context::message(message, hits, self.settings.recall_max_tokens);
        let given: Vec<EntryId> = parts.iter().filter_map(|part| part.id.clone()).collect();
        if !given.is_empty() {
            self.store.note_injected(session, &given)?;
        }
        answer.message = Some(text);
        answer.parts.extend(parts);
        Ok(())
    }

    /// Keeps what was said, word for word but for secrets and what memory itself had put in front.
    pub fn observe(&self, session: &SessionId, said: &[Said]) -> Done<Observed> {
        let turns: Vec<Turn> = said.iter().map(|said| self.turn(session, said)).collect::<Done<_>>()?;
        let kept = self.store.append(&turns)?;
        Ok(Observed { due: self.due(session)?, kept, turns })
    }

    fn turn(&self, session: &SessionId, said: &Said) -> Done<Turn> {
        let own = context::without_fence(&said.content);
        if own.trim().is_empty() {
            return Err(EngineError::invalid("what was said", "is empty"));
        }
        let id = said.id.as_ref().map_or_else(|| TurnId::new(self.ids.next()), |id| TurnId::of_host(session, id));
        Ok(Turn {
            id,
            session: session.clone(),
            role: said.role,
            speaker: said.speaker.as_deref().map(prepare::speaker).transpose()?,
            content: redact(&own).text.into_owned(),
            at: said.at.unwrap_or_else(|| self.clock.now()),
        })
    }

    /// Whether a conversation is due for consolidation, and why.
    pub fn due(&self, session: &SessionId) -> Done<Option<Trigger>> {
        self.state(session)?;
        let rules = self.due_rules();
        let due = self.store.due_sessions(&rules, &Among::One(session.clone()))?;
        Ok(due.first().and_then(|backlog| rules.trigger(backlog)))
    }

    /// Every conversation that is due and had a turn lately, the latest first.
    pub fn all_due(&self, lately: jiff::SignedDuration) -> Done<Vec<(SessionId, Trigger)>> {
        let since = self.clock.now().checked_sub(lately).unwrap_or(jiff::Timestamp::MIN);
        let rules = DueRules { ended: self.settings.enabled, ..self.due_rules() };
        let due = self.store.due_sessions(&rules, &Among::UpdatedSince(since))?;
        Ok(due.into_iter().filter_map(|backlog| Some((backlog.session.clone(), rules.trigger(&backlog)?))).collect())
    }

    /// What makes a conversation due that goes on.
    fn due_rules(&self) -> DueRules {
        let flush = self.settings.flush_every as u64;
        let flush = (flush > 0 && self.settings.enabled).then_some(flush);
        DueRules { flush, ..DueRules::of(&self.settings.policy, self.clock.now()) }
    }

    /// Marks a conversation as ended; whoever looks for what is due does the rest.
    pub fn mark_ended(&self, session: &SessionId) -> Done<()> {
        self.state(session)?;
        Ok(self.store.end_session(session, self.clock.now())?)
    }

    /// What is still sent to the model: the latest summary and the turns since, as far as they fit.
    pub fn window(&self, session: &SessionId, budget: usize) -> Done<(Vec<Turn>, usize)> {
        let state = self.state(session)?;
        let turns = self.store.turns_after(session, state.kept_from)?.into_iter().map(|(_, turn)| turn);
        Ok(crate::session::fit(&turns.collect::<Vec<_>>(), budget))
    }

    /// Forgets what the session began with: the next turn computes it anew.
    pub fn reset_session(&self, session: &SessionId) -> Done<()> {
        self.state(session)?;
        Ok(self.store.reset_session(session)?)
    }

    /// All sessions, the latest first.
    pub fn sessions(&self) -> Done<Vec<SessionState>> {
        Ok(self.store.sessions()?)
    }

    /// A session and all that was said in it.
    pub fn conversation(&self, session: &SessionId) -> Done<(SessionState, Vec<Turn>)> {
        let state = self.state(session)?;
        let turns = self.store.turns_after(session, Position::default())?;
        Ok((state, turns.into_iter().map(|(_, turn)| turn).collect()))
    }

    /// One session, without what was said in it.
    pub fn state(&self, session: &SessionId) -> Done<SessionState> {
        let unknown = || EngineError::NoSession { session: session.clone() };
        self.store.session(session)?.ok_or_else(unknown)
    }
}
