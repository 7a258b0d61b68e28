//! What the archive keeps of a conversation: one summary, rewritten as the conversation goes on, and its task.

use crate::consolidation::{ConsolidationService, plan};
use crate::error::Done;
use crate::input;
use crate::kernel::{Race as _, conflict, retry};
use crate::model::{Entry, EntryId, Layer, Namespace, SessionId, SessionState, Source, Task, TaskId, Turn, Verb};
use crate::ports::Op;
use crate::tasks;
use crate::text::redact::redact;

/// The tag of what the archive keeps of a conversation.
pub(crate) const SESSION_TAG: &str = "session";

/// What a task's state may grow to by itself, in tokens.
const TASK_TOKENS: usize = 2000;

/// What keeping a summary takes.
#[derive(Default)]
pub(super) struct KeptSummary {
    pub(super) ops: Vec<Op>,
    /// The entry, where it is new or changed.
    pub(super) entry: Option<EntryId>,
    /// The entry that says it already.
    known: Option<EntryId>,
    pub(super) task: Option<TaskId>,
}

impl ConsolidationService<'_> {
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

    /// The entry that keeps the summary of a conversation, where there is one.
    pub fn summary_of(&self, session: &SessionId) -> Done<Option<EntryId>> {
        let project = self.sessions.get(session)?.session.project;
        let namespace = Namespace::Session(session.clone());
        let known = self.entries.keyed(&namespace, project.as_deref(), &format!("session_{session}"))?;
        Ok(known.map(|entry| entry.id))
    }

    /// The operations that keep a summary; none if it is kept already.
    pub(super) fn summary_ops(&self, state: &SessionState, text: &str, turns: &[Turn]) -> Done<KeptSummary> {
        let (session, at) = (&state.session.id, state.session.updated_at);
        let namespace = Namespace::Session(session.clone());
        let key = format!("session_{session}");
        let content = plan::timeline_text(at, redact(text).text.trim());
        let known = self.entries.keyed(&namespace, state.session.project.as_deref(), &key)?;
        let mut kept = KeptSummary::default();
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

fn without_date(content: &str) -> &str {
    content.split_once("] ").map_or(content, |(_, text)| text)
}
