//! What a consolidation writes: thread, facts, summary and pointer, in one transaction; and what it retires.

use jiff::{SignedDuration, Timestamp};

use crate::clock_trust;
use crate::consolidation::facts::Fact;
use crate::consolidation::{ConsolidationService, plan};
use crate::error::{Done, EngineError};
use crate::kernel::{Race as _, conflict, retry};
use crate::memories::place::Placement;
use crate::model::{
    Entry, EntryId, Importance, Kind, Layer, Namespace, Role, SessionState, Source, Status, Thread, ThreadId, Turn,
    TurnId, Verb,
};
use crate::ports::{ErasureMark, Op, Page, StoreError, SummaryOf};
use crate::recall::Filter;
use crate::sessions::settled;
use crate::threads;

use super::new_facts::NewFacts;
use super::{Batch, Compaction, Summed};

/// At most so many chunks of the timeline are retired at once; the next run takes the others.
const RETIRED_AT_ONCE: usize = 500;

/// What somebody stored in this conversation and shares this much with a fact is that fact in other words.
const IN_OTHER_WORDS: f64 = 0.5;

/// What was retired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retired {
    /// Chunks of the timeline.
    pub chunks: usize,
    /// Whether the next run may find others.
    pub may_be_more: bool,
}

impl ConsolidationService<'_> {
    /// Writes the thread, the facts, the summary and the pointer as one change; none if another worker has
    /// consolidated these turns.
    pub(super) fn write_consolidation(
        &self,
        batch: &Batch,
        (summed, of): (&Summed, SummaryOf),
        facts: &[Fact],
    ) -> Done<Option<Compaction>> {
        let max_tokens = self.kernel.settings.policy.summary_max_tokens;
        let earlier = batch.earlier.as_ref().map(|turn| turn.content.as_str());
        let summary = plan::summary(earlier, threads::without_title(&summed.text), of, max_tokens);
        let turns = batch.new_turns();
        let mut has_documents = true;
        retry(
            || conflict(&batch.state.session.id),
            || {
                let mut planned = self.planned(batch, &turns, &summary, (facts, has_documents))?;
                let thread = self.thread_change(batch, (&summed.carried, of), has_documents)?;
                planned.done.thread = thread.ops.iter().find_map(|op| of_session(op, &batch.state));
                planned.ops.extend(thread.ops);
                let mut documents = thread.documents;
                documents.extend(planned.facts.documents());
                let committed = match self.documents.commit(Verb::Consolidate, &planned.ops, &documents) {
                    Err(EngineError::Document(error)) => {
                        tracing::warn!(%error, "a document cannot be written; going on without");
                        has_documents = false;
                        return Ok(None);
                    }
                    // The pointer moved: another worker has consolidated these turns.
                    Err(EngineError::Store(StoreError::Conflict { what }))
                        if what == batch.state.session.id.as_str() =>
                    {
                        return Ok(Some(None));
                    }
                    committed => committed.unless_outrun_or_taken()?.flatten(),
                };
                let Some(stored) = committed else { return Ok(None) };
                let mut done = planned.done;
                done.facts = planned.facts.stored(&stored);
                done.documents = documents.into_iter().map(|(before, _)| before.name).collect();
                Ok(Some(Some(done)))
            },
        )
    }

    /// The entries, the task and the pointer that a consolidation writes.
    fn planned(
        &self,
        batch: &Batch,
        turns: &[Turn],
        summary: &plan::Summary,
        (facts, has_documents): (&[Fact], bool),
    ) -> Done<Planned> {
        let sent = batch.size(batch.state.kept_from);
        let mut done = Compaction {
            summary: summary.new.clone(),
            compacted: turns.len(),
            tokens_before: sent,
            tokens_after: sent,
            ..Compaction::default()
        };
        let mut ops: Vec<Op> = Vec::new();
        let mut new_facts = NewFacts::default();
        if self.kernel.settings.enabled {
            if !summary.new.is_empty() {
                let entry = self.timeline_entry(batch, turns, &summary.new);
                done.timeline = Some(entry.id.clone());
                ops.push(Op::Insert(entry));
            }
            if !summary.running.is_empty() {
                let kept = self.summary_ops(&batch.state, &summary.running, turns)?;
                (done.archived, done.task) = (kept.entry, kept.task);
                ops.extend(kept.ops);
            }
            let placement = if has_documents { Placement::default() } else { Placement::without_documents() };
            new_facts = self.new_facts(&batch.state, &batch.own(), facts, IN_OTHER_WORDS, placement)?;
        }
        done.superseded = new_facts.superseded();
        ops.extend(new_facts.ops());
        ops.extend(self.pointer(batch, &summary.running));
        ops.extend(settled(&batch.state, &batch.person));
        Ok(Planned { ops, done, facts: new_facts })
    }

    /// What becomes of the conversation's thread.
    fn thread_change(
        &self,
        batch: &Batch,
        (text, of): (&str, SummaryOf),
        has_documents: bool,
    ) -> Done<threads::ThreadChange> {
        if !self.kernel.settings.enabled {
            return Ok(threads::ThreadChange::default());
        }
        let session = &batch.state.session.id;
        let is_its = |thread: &Thread| thread.session == *session;
        let edit = match threads::draft(text, self.kernel.settings.working.max_tokens) {
            threads::Draft::Open { title, content } if self.is_fresh(batch.said_last()) => {
                let known = self.threads.of(session)?;
                let is_known = known
                    .is_some_and(|known| known.title == title && known.content == content && known.rendered.is_some());
                let next = self.threads.next(&batch.state, batch.said_last(), &title, &content)?;
                next.filter(|_| !is_known).map(|next| threads::ThreadEdit::Put(Box::new(next)))
            }
            threads::Draft::Open { .. } => None,
            threads::Draft::Nothing if of == SummaryOf::NewTurns && !batch.closes() => None,
            threads::Draft::Finished | threads::Draft::Nothing => {
                self.threads.of(session)?.map(|_| threads::ThreadEdit::Close(&is_its))
            }
        };
        match edit {
            None => Ok(threads::ThreadChange::default()),
            Some(edit) if has_documents => self.threads.plan(&edit),
            Some(edit) => self.threads.plan_rows(&edit),
        }
    }

    /// Archives the raw turns: nothing is lost, and the pointer moves on. Working memory stays as it was.
    pub(super) fn write_raw(&self, batch: &Batch) -> Done<Option<Compaction>> {
        let turns = batch.new_turns();
        let text = plan::raw(&turns);
        let mut ops = Vec::new();
        if self.kernel.settings.enabled {
            ops.push(Op::Insert(self.timeline_entry(batch, &turns, &text)));
        }
        ops.extend(self.pointer(batch, ""));
        match self.kernel.apply(Verb::Consolidate, &ops) {
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(entries) => {
                let sent = batch.size(batch.state.kept_from);
                Ok(Some(Compaction {
                    compacted: turns.len(),
                    tokens_before: sent,
                    tokens_after: sent,
                    timeline: entries.first().map(|entry| entry.id.clone()),
                    summary: text,
                    ..Compaction::default()
                }))
            }
        }
    }

    /// Whether what was said then is still of use to the next conversation.
    fn is_fresh(&self, said: Timestamp) -> bool {
        let ttl = SignedDuration::from_hours(24 * i64::from(self.kernel.settings.working.ttl_days));
        self.kernel.now.duration_since(said) < ttl
    }

    /// Moves the pointer to the last turn that was captured; the summary becomes a turn, where there is a new one. Only if
    /// nothing was erased since the turns were read: the model may have seen it.
    fn pointer(&self, batch: &Batch, summary: &str) -> [Op; 2] {
        let (session, from) = (batch.state.session.id.clone(), batch.state.consolidated);
        let is_known = batch.earlier.as_ref().is_some_and(|earlier| earlier.content == summary);
        let summary = (!summary.is_empty() && !is_known).then(|| self.summary_turn(batch, summary));
        let to = Op::Consolidated { session, from, to: batch.to(), kept_from: batch.state.kept_from, summary };
        [to, Op::Unerased(batch.since.clone())]
    }

    pub(super) fn summary_turn(&self, batch: &Batch, text: &str) -> Turn {
        Turn {
            id: TurnId::new(self.kernel.new_id()),
            session: batch.state.session.id.clone(),
            role: Role::Summary,
            speaker: None,
            content: text.to_owned(),
            at: self.kernel.now,
        }
    }

    pub(crate) fn system_entry(
        &self,
        state: &SessionState,
        turns: &[Turn],
        namespace: Namespace,
        layer: Layer,
        content: String,
    ) -> Entry {
        let now = self.kernel.now;
        Entry {
            id: EntryId::new(self.kernel.new_id()),
            kind: Kind::Entry,
            namespace,
            layer,
            key: None,
            content,
            source: Source::System,
            status: Status::Active,
            importance: Importance::default(),
            tags: Vec::new(),
            session: Some(state.session.id.clone()),
            task: state.session.task.clone(),
            project: state.session.project.clone(),
            created_at: now,
            updated_at: now,
            expires_at: None,
            supersedes: Vec::new(),
            provenance: turns.iter().map(|turn| turn.id.clone()).collect(),
            version: 1,
        }
    }

    fn timeline_entry(&self, batch: &Batch, turns: &[Turn], text: &str) -> Entry {
        let session = &batch.state.session.id;
        // It happened when it was said, however late it is summed up.
        let at = batch.said_last();
        let content = plan::timeline_text(at, text);
        let namespace = Namespace::Session(session.clone());
        let entry = self.system_entry(&batch.state, turns, namespace, Layer::Archive, content);
        Entry { key: Some(plan::timeline_key(session, entry.id.as_str())), created_at: at, ..entry }
    }

    /// Retires automatic chunks of the timeline that are older than their retention, unless they matter. Nothing where
    /// the time is not confirmed: a clock that was set wrong must not make everything old at once.
    pub(crate) fn retire_if_confirmed(&self) -> Done<Retired> {
        let policy = &self.kernel.settings.policy;
        if (policy.retention_days, policy.turns_retention_days) == (0, 0) || !self.is_time_confirmed()? {
            return Ok(Retired::default());
        }
        self.sessions.remove_old_turns()?;
        self.retire()
    }

    /// Whether the store was in use when [`clock_trust::confirming_use`] asks for it.
    pub fn is_time_confirmed(&self) -> Done<bool> {
        let (from, until) = clock_trust::confirming_use(self.kernel.now);
        Ok(self.activity.was_in_use(from, until)?)
    }

    /// Retires automatic chunks of the timeline that are older than their retention, unless they matter: some hundreds at
    /// once. Whoever calls it trusts the clock.
    pub fn retire(&self) -> Done<Retired> {
        let days = self.kernel.settings.policy.retention_days;
        if days == 0 || !self.kernel.settings.enabled {
            return Ok(Retired::default());
        }
        let now = self.kernel.now;
        let Ok(until) = now.checked_sub(SignedDuration::from_hours(24 * i64::from(days))) else {
            return Ok(Retired::default());
        };
        let filter = Filter { layers: vec![Layer::Archive], until: Some(until), ..Filter::recallable(now) };
        self.kernel.unless_erased(|since| self.retire_all(&filter, until, since))
    }

    fn retire_all(&self, filter: &Filter, until: Timestamp, since: &ErasureMark) -> Done<Retired> {
        let now = self.kernel.now;
        let mut page = Page { limit: RETIRED_AT_ONCE, cursor: None };
        let mut ops = Vec::new();
        // What stays for ever must not stand in front of what goes.
        while ops.len() < RETIRED_AT_ONCE {
            let listing = self.entries.list(filter, &page)?;
            let old = listing.memories.into_iter().map(|memory| memory.entry);
            // An old conversation that was summed up lately stays as long as any other.
            let old = old.filter(|entry| is_passing_chunk(entry) && entry.updated_at < until);
            ops.extend(old.map(|entry| Op::Update(Entry { status: Status::Inactive, updated_at: now, ..entry })));
            page.cursor = listing.cursor;
            if page.cursor.is_none() {
                break;
            }
        }
        let chunks = ops.len();
        if chunks > 0 {
            ops.push(Op::Unerased(since.clone()));
            self.kernel.apply(Verb::Forget, &ops)?;
        }
        Ok(Retired { chunks, may_be_more: page.cursor.is_some() })
    }
}

/// Whether consolidation itself put it into the timeline, and nobody said that it matters.
fn is_passing_chunk(entry: &Entry) -> bool {
    let is_chunk = entry.key.as_ref().is_some_and(|key| key.starts_with("ctx_"));
    is_chunk && entry.source == Source::System && entry.importance.significance().value() < 4
}

/// What a consolidation writes, and what is told of it.
struct Planned {
    ops: Vec<Op>,
    done: Compaction,
    facts: NewFacts,
}

/// The thread of a conversation, where an operation is about it.
fn of_session(op: &Op, state: &SessionState) -> Option<ThreadId> {
    match op {
        Op::Thread(thread) if thread.session == state.session.id => Some(thread.id.clone()),
        _ => None,
    }
}

impl Batch {
    /// Whether the last that the person said is that it is finished.
    fn closes(&self) -> bool {
        let said = self.own().into_iter().rfind(|turn| turn.role == Role::User);
        said.is_some_and(|turn| threads::is_closing(&turn.content))
    }
}
