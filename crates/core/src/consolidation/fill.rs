//! The end of a conversation, or a pause in one that may never end: what the assistant should have stored is stored, a
//! summary goes to the archive, and the task it was about is brought up to date. Done twice, it is done once.

use serde::Serialize;

use crate::consolidation::facts::{self, Fact, FactKind};
use crate::consolidation::{Consolidation, ConsolidationService, plan};
use crate::error::Done;
use crate::input;
use crate::kernel::{Race as _, Worker, conflict, retry};
use crate::model::{
    Entry, EntryId, Layer, Namespace, Person, Position, Role, SessionId, SessionState, Source, Task, TaskId, Turn, Verb,
};
use crate::ports::{Brief, ExtractBrief, Model, Op};
use crate::sessions::{settled, without_others};
use crate::tasks;
use crate::text::{redact::redact, tokens};

/// What somebody stored in this conversation and shares this much with a fact is that fact in other words.
const IN_OTHER_WORDS: f64 = 0.5;

/// The tag of what the archive keeps of a conversation.
pub(crate) const SESSION_TAG: &str = "session";

/// What a model is given to look back on at once, in tokens: the oldest first, the rest the next time.
const FILL_TOKENS: usize = 16_000;

/// What a task's state may grow to by itself, in tokens.
const TASK_TOKENS: usize = 2000;

/// What came of looking back on a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Filled {
    /// Knowledge that nobody had stored.
    pub facts: Vec<EntryId>,
    /// Knowledge that was corrected.
    pub superseded: Vec<EntryId>,
    /// The summary in the archive, where it is new or changed.
    pub summary: Option<EntryId>,
    /// The task that was brought up to date.
    pub task: Option<TaskId>,
}

/// What came of ending a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Ended {
    /// Which conversation.
    pub session: SessionId,
    /// What became of the turns that were left.
    pub consolidation: Consolidation,
    /// What was stored; nothing where somebody else was at it.
    pub filled: Option<Filled>,
}

impl ConsolidationService<'_> {
    /// Ends a conversation; saying more opens it again.
    pub fn end(&self, session: &SessionId, model: &dyn Model, worker: &Worker<'_>) -> Done<Ended> {
        self.sessions.get(session)?;
        let consolidation = self.run(session, model, None, worker)?;
        let filled = self.fill(session, model, worker)?;
        self.session_store.end_session(session, self.kernel.now)?;
        Ok(Ended { session: session.clone(), consolidation, filled })
    }

    /// Looks back on a conversation if enough was said since the last time; nothing where somebody else is at it.
    pub fn flush(&self, session: &SessionId, model: &dyn Model, worker: &Worker<'_>) -> Done<Option<Filled>> {
        self.sessions.get(session)?;
        let is_due = self.sessions.is_flush_due(session)?;
        if is_due { self.fill(session, model, worker) } else { Ok(Some(Filled::default())) }
    }

    /// Looks back on a conversation; nothing where somebody else is at it.
    pub fn fill(&self, session: &SessionId, model: &dyn Model, worker: &Worker<'_>) -> Done<Option<Filled>> {
        if !self.kernel.settings.enabled {
            return Ok(Some(Filled::default()));
        }
        let filled = self.alone(session, worker, |is_still_alone| self.fill_alone(session, model, is_still_alone))?;
        Ok(filled.flatten())
    }

    fn fill_alone(
        &self,
        session: &SessionId,
        model: &dyn Model,
        is_still_alone: &dyn Fn() -> Done<bool>,
    ) -> Done<Option<Filled>> {
        let state = self.sessions.get(session)?;
        let (from, person) = (state.filled, self.speakers().person_in(&state)?);
        let turns = within(FILL_TOKENS, self.turns.turns_after(session, from)?);
        let last = turns.last().map(|(at, _)| *at);
        let said: Vec<Turn> =
            turns.into_iter().map(|(_, turn)| turn).filter(|turn| turn.role != Role::Summary).collect();
        let said = without_others(&said, &person);
        let facts = self.ask_fill(&said, model);
        if !is_still_alone()? {
            return Ok(None);
        }
        // A model that failed is asked again the next time, about the same turns.
        let reached = last.filter(|_| facts.is_some());
        let facts = facts.unwrap_or_default();
        retry(
            || conflict(session),
            || {
                // Another worker that took the lease over has looked back on these turns: nothing is left to write.
                if self.sessions.get(session)?.filled != from {
                    return Ok(Some(None));
                }
                let written =
                    self.write_fill(session, (&said, &person), &facts, (from, reached)).unless_outrun_or_taken()?;
                Ok(written.map(Some))
            },
        )
    }

    /// What the person corrected or explicitly stated; nothing where the model could not say.
    fn ask_fill(&self, said: &[Turn], model: &dyn Model) -> Option<Vec<Fact>> {
        if !said.iter().any(|turn| turn.role == Role::User) {
            return Some(Vec::new());
        }
        let brief = Brief::Fill(ExtractBrief { turns: said.to_vec(), known: self.related(said) });
        let reply = self.models.ask(model, &brief, &mut |_| true).map_err(|error| error.to_string());
        match reply.and_then(|reply| facts::parse(&reply, said).map_err(|error| error.to_string())) {
            Ok(mut facts) => {
                facts.retain(|fact| !matches!(fact.kind, FactKind::Decision | FactKind::FollowUp));
                Some(facts)
            }
            Err(error) => {
                tracing::warn!(error, "a conversation was not searched for what should have been stored");
                None
            }
        }
    }

    fn write_fill(
        &self,
        session: &SessionId,
        (said, person): (&[Turn], &Person),
        facts: &[Fact],
        (from, reached): (Position, Option<Position>),
    ) -> Done<Filled> {
        let state = self.sessions.get(session)?;
        let new = self.new_facts(&state, said, facts, IN_OTHER_WORDS)?;
        let mut ops = new.ops(&self.memories);
        let mut filled = Filled {
            facts: new.entries.iter().map(|(entry, _)| entry.id.clone()).collect(),
            superseded: new.wrong.iter().map(|entry| entry.id.clone()).collect(),
            ..Filled::default()
        };
        let window = self.turns.turns_after(session, state.kept_from)?;
        let summary = window.iter().rev().map(|(_, turn)| turn).find(|turn| turn.role == Role::Summary);
        if let Some(summary) = summary {
            let kept = self.summary_ops(&state, &summary.content, std::slice::from_ref(summary))?;
            (filled.summary, filled.task) = (kept.entry, kept.task);
            ops.extend(kept.ops);
        }
        if let Some(to) = reached.filter(|to| *to > from) {
            ops.extend(settled(&state, person));
            ops.push(Op::Filled { session: session.clone(), from, to });
        }
        if !ops.is_empty() {
            let stored = self.kernel.apply(Verb::Fill, &ops)?;
            // What the store knew already is not new.
            filled.facts.retain(|id| stored.iter().any(|entry| entry.id == *id));
        }
        Ok(filled)
    }

    /// Keeps a summary of a conversation in the archive, and brings its task up to date. Names the entry that keeps it.
    pub(crate) fn keep_summary(&self, session: &SessionId, text: &str) -> Done<Option<EntryId>> {
        retry(
            || conflict(session),
            || {
                let kept = self.summary_ops(&self.sessions.get(session)?, &input::content(text)?.0, &[])?;
                let standing = kept.entry.or(kept.known);
                if kept.ops.is_empty() {
                    return Ok(Some(standing));
                }
                let applied = self.kernel.apply(Verb::Fill, &kept.ops).unless_outrun_or_taken()?;
                Ok(applied.map(|_| standing))
            },
        )
    }

    /// What keeping a summary takes; nothing where it is kept already.
    fn summary_ops(&self, state: &SessionState, text: &str, turns: &[Turn]) -> Done<Kept> {
        let (session, at) = (&state.session.id, state.session.updated_at);
        let namespace = Namespace::Session(session.clone());
        let key = format!("session_{session}");
        let content = plan::timeline_text(at, redact(text).text.trim());
        let known = self.entries.keyed(&namespace, state.session.project.as_deref(), &key)?;
        let mut kept = Kept::default();
        match known {
            Some(known) if without_date(&known.content) == without_date(&content) => kept.known = Some(known.id),
            // What an assistant or a person summed up in their own words stands.
            Some(known) if self.kernel.actor.who == Source::System && known.source != Source::System => {
                kept.known = Some(known.id);
            }
            Some(known) => {
                kept.entry = Some(known.id.clone());
                let provenance = turns.iter().map(|turn| turn.id.clone()).collect();
                let next = Entry { content, created_at: at, updated_at: self.kernel.now, provenance, ..known };
                kept.ops.push(Op::Update(next));
            }
            None => {
                let entry = self.system_entry(state, turns, namespace, Layer::Archive, content);
                kept.entry = Some(entry.id.clone());
                let tags = vec![SESSION_TAG.to_owned()];
                let source = self.kernel.actor.who;
                kept.ops.push(Op::Insert(Entry { key: Some(key), tags, source, created_at: at, ..entry }));
            }
        }
        if let Some(task) = tasks::open(self.task_store, state.session.task.as_deref())? {
            let next = plan::task_state(&task.state, session, at, text, TASK_TOKENS);
            if next != task.state {
                kept.task = Some(task.id.clone());
                kept.ops.push(Op::Task(Task { state: next, updated_at: self.kernel.now, ..task }));
            }
        }
        Ok(kept)
    }
}

/// What keeping a summary takes.
#[derive(Default)]
struct Kept {
    ops: Vec<Op>,
    /// The entry, where it is new or changed.
    entry: Option<EntryId>,
    /// The entry that says it already.
    known: Option<EntryId>,
    task: Option<TaskId>,
}

/// The first turns that fit, one at least.
fn within(max_tokens: usize, mut turns: Vec<(Position, Turn)>) -> Vec<(Position, Turn)> {
    let mut room = max_tokens;
    let fits = turns.iter().take_while(|(_, turn)| {
        let size = tokens::estimate(&turn.content);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    let kept = fits.count().max(1);
    turns.truncate(kept);
    turns
}

fn without_date(content: &str) -> &str {
    content.split_once("] ").map_or(content, |(_, text)| text)
}
