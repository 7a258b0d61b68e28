//! What a consolidation writes: the timeline, facts, documents and the pointer, in one transaction; and what it retires.

use jiff::{SignedDuration, Timestamp};

use crate::clock_trust;
use crate::consolidation::facts::{Fact, FactKind};
use crate::consolidation::{ConsolidationService, plan};
use crate::documents::{IdentityUsage, working};
use crate::error::{Done, EngineError};
use crate::kernel::{Race as _, conflict, retry};
use crate::model::{
    ContentHash, Document, DocumentName, Entry, EntryId, Importance, Kind, Layer, Namespace, Position, Role,
    SessionState, Source, Status, Turn, TurnId, Verb,
};
use crate::ports::{Op, Page, StoreError};
use crate::recall::{Filter, similarity};
use crate::sessions::{Standing, settled};
use crate::text::{bullets, tokens};

use super::new_facts::{NewFacts, SAME_FACT};
use super::{Batch, Compaction};

/// What `{ns}/patterns` may grow to by itself, in characters.
const PATTERNS_LIMIT: usize = 4000;
/// At most so many chunks of the timeline are retired at once; the next run takes the others.
const RETIRED_AT_ONCE: usize = 500;

/// What was retired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retired {
    /// Chunks of the timeline.
    pub chunks: usize,
    /// Whether the next run may find others.
    pub may_be_more: bool,
}

impl ConsolidationService<'_> {
    /// Writes the summary, the facts, working memory and the pointer as one change.
    pub(super) fn write_consolidation(&self, batch: &Batch, text: &str, facts: &[Fact]) -> Done<Option<Compaction>> {
        let summary = plan::split(text);
        let running = plan::running(batch.earlier(), &summary.own, self.kernel.settings.policy.summary_max_tokens);
        let working = plan::working(self.lately(batch), &summary, self.kernel.settings.working.max_tokens);
        let kept_from = self.kept_from(batch);
        let has_timeline = self.kernel.settings.enabled && !summary.own.is_empty();
        let mut has_documents = true;
        retry(
            || conflict(&batch.state.session.id),
            || {
                let mut ops: Vec<Op> = Vec::new();
                if has_timeline {
                    ops.push(Op::Insert(self.timeline_entry(batch, &summary.own)));
                }
                let new_facts = if self.kernel.settings.enabled {
                    self.new_facts(&batch.state, &batch.own(), facts, SAME_FACT)?
                } else {
                    NewFacts::default()
                };
                ops.extend(new_facts.ops(&self.memories));
                ops.push(self.pointer(batch, kept_from, &running));
                ops.extend(settled(&batch.state, &batch.person));
                let documents =
                    if has_documents { self.documents_of(batch, &working, &new_facts.entries)? } else { Vec::new() };
                let entries = match self.documents.commit(Verb::Consolidate, &ops, &documents) {
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
                    committed => committed.unless_outrun()?.flatten(),
                };
                let Some(entries) = entries else { return Ok(None) };
                let is_new = |entry: &Entry| entry.status == Status::Active;
                let mut ids = entries.into_iter().filter(is_new).map(|entry| entry.id);
                let (tokens_before, tokens_after) = sizes(batch, kept_from, &running);
                Ok(Some(Some(Compaction {
                    summary: summary.own.clone(),
                    compacted: batch.turns.len(),
                    tokens_before,
                    tokens_after,
                    timeline: if has_timeline { ids.next() } else { None },
                    facts: ids.collect(),
                    documents: documents.into_iter().map(|(before, _)| before.name).collect(),
                })))
            },
        )
    }

    /// Archives the raw turns: nothing is lost, and the window can move on. Working memory stays as it was.
    pub(super) fn write_raw(&self, batch: &Batch) -> Done<Option<Compaction>> {
        let text = plan::raw(&batch.turns);
        let earlier = batch.earlier().unwrap_or_default();
        let kept_from = self.kept_from(batch);
        let mut ops = Vec::new();
        if self.kernel.settings.enabled {
            ops.push(Op::Insert(self.timeline_entry(batch, &text)));
        }
        ops.push(self.pointer(batch, kept_from, earlier));
        match self.kernel.apply(Verb::Consolidate, &ops) {
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(entries) => {
                let (tokens_before, tokens_after) = sizes(batch, kept_from, earlier);
                Ok(Some(Compaction {
                    compacted: batch.turns.len(),
                    tokens_before,
                    tokens_after,
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

    /// What the same conversation was about before, where that was not long ago.
    fn lately<'a>(&self, batch: &'a Batch) -> Option<&'a str> {
        batch.earlier_turn().filter(|turn| self.is_fresh(turn.at)).map(|turn| turn.content.as_str())
    }

    fn kept_from(&self, batch: &Batch) -> Position {
        let standing = Standing { window: &batch.window, consolidated: batch.state.consolidated };
        standing.kept_from(batch.state.kept_from, self.kernel.settings.policy.keep_recent_turns)
    }

    /// Moves the pointer to the last turn that was captured; the summary becomes a turn, where there is one.
    fn pointer(&self, batch: &Batch, kept_from: Position, summary: &str) -> Op {
        let (session, from) = (batch.state.session.id.clone(), batch.state.consolidated);
        let summary = (!summary.is_empty()).then(|| self.summary_turn(batch, summary));
        Op::Consolidated { session, from, to: batch.to, kept_from, summary }
    }

    fn summary_turn(&self, batch: &Batch, text: &str) -> Turn {
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

    fn timeline_entry(&self, batch: &Batch, text: &str) -> Entry {
        let session = &batch.state.session.id;
        // It happened when it was said, however late it is summed up.
        let at = batch.said_last();
        let content = plan::timeline_text(at, text);
        let namespace = Namespace::Session(session.clone());
        let entry = self.system_entry(&batch.state, &batch.turns, namespace, Layer::Archive, content);
        Entry { key: Some(plan::timeline_key(session, entry.id.as_str())), created_at: at, ..entry }
    }

    /// The documents that change: working memory, and what was explicitly said about the person, where it fits.
    fn documents_of(&self, batch: &Batch, working: &str, facts: &[(Entry, FactKind)]) -> Done<Vec<(Document, String)>> {
        let Some(namespace) = self.kernel.settings.namespace.as_ref().filter(|_| self.kernel.settings.enabled) else {
            return Ok(Vec::new());
        };
        let mut documents = Vec::new();
        if self.keeps_working() && self.is_fresh(batch.said_last()) && !working.is_empty() {
            let after = working::render(working, self.kernel.now, self.kernel.settings.working);
            documents.extend(self.current(&DocumentName::working(namespace))?.map(|before| (before, after)));
        }
        let about = |kinds: &[FactKind]| -> Vec<&Entry> {
            facts.iter().filter(|(_, kind)| kinds.contains(kind)).map(|(entry, _)| entry).collect()
        };
        for (name, entries) in [
            (DocumentName::profile(namespace), about(&[FactKind::Identity])),
            (DocumentName::patterns(namespace), about(&[FactKind::Preference, FactKind::Constraint])),
        ] {
            if entries.is_empty() {
                continue;
            }
            let Some(before) = self.current(&name)? else { continue };
            let after = with_facts(&before, &entries);
            if after != before.text {
                documents.push((before, after));
            }
        }
        Ok(documents)
    }

    /// A document as it is; nothing where it cannot be read, which is said and costs that document alone.
    fn current(&self, name: &DocumentName) -> Done<Option<Document>> {
        let missing = || Document { name: name.clone(), text: String::new(), hash: ContentHash::missing() };
        match self.documents.get(name) {
            Ok(found) => Ok(Some(found.unwrap_or_else(missing))),
            Err(EngineError::Document(error)) => {
                tracing::warn!(%error, "a document cannot be read; going on without");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Retires automatic chunks of the timeline that are older than their retention, unless they matter. Nothing where
    /// the time is not confirmed: a clock that was set wrong must not make everything old at once.
    pub(crate) fn retire_if_confirmed(&self) -> Done<Retired> {
        if self.kernel.settings.policy.retention_days == 0 || !self.is_time_confirmed()? {
            return Ok(Retired::default());
        }
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
        let mut page = Page { limit: RETIRED_AT_ONCE, cursor: None };
        let mut ops = Vec::new();
        // What stays for ever must not stand in front of what goes.
        while ops.len() < RETIRED_AT_ONCE {
            let listing = self.entries.list(&filter, &page)?;
            let old = listing.memories.into_iter().map(|memory| memory.entry);
            // An old conversation that was summed up lately stays as long as any other.
            let old = old.filter(|entry| is_passing_chunk(entry) && entry.updated_at < until);
            ops.extend(old.map(|entry| Op::Update(Entry { status: Status::Inactive, updated_at: now, ..entry })));
            page.cursor = listing.cursor;
            if page.cursor.is_none() {
                break;
            }
        }
        if !ops.is_empty() {
            self.kernel.apply(Verb::Forget, &ops)?;
        }
        Ok(Retired { chunks: ops.len(), may_be_more: page.cursor.is_some() })
    }
}

/// Whether consolidation itself put it into the timeline, and nobody said that it matters.
fn is_passing_chunk(entry: &Entry) -> bool {
    let is_chunk = entry.key.as_ref().is_some_and(|key| key.starts_with("ctx_"));
    is_chunk && entry.source == Source::System && entry.importance.significance().value() < 4
}

/// A document with facts that it does not say yet, as far as they fit.
pub(crate) fn with_facts(document: &Document, facts: &[&Entry]) -> String {
    let mut text = document.text.clone();
    for fact in facts {
        let known = bullets::parse(&document.name, &text)
            .iter()
            .any(|bullet| similarity(&bullet.content, &fact.content) >= SAME_FACT);
        let longer = bullets::with_added(&text, &fact.content, Importance::default());
        let fits = if document.name.is_profile() {
            !IdentityUsage::of(&longer).is_over()
        } else {
            longer.chars().count() <= PATTERNS_LIMIT
        };
        if !known && fits {
            text = longer;
        }
    }
    text
}

/// Tokens that were sent before, and that are sent now.
fn sizes(batch: &Batch, kept_from: Position, summary: &str) -> (usize, usize) {
    let size = |turn: &Turn| tokens::estimate(&turn.content);
    let before = batch.window.iter().map(|(_, turn)| size(turn)).sum();
    let kept = batch.window.iter().filter(|(at, turn)| *at > kept_from && turn.role != Role::Summary);
    (before, tokens::estimate(summary) + kept.map(|(_, turn)| size(turn)).sum::<usize>())
}
