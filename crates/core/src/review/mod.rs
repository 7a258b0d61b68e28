//! Review: what was learnt without being asked, until somebody has seen it.
//!
//! In: what consolidation and reflection left in rows. Out: each memory with its evidence and what it replaced, and a
//! verdict on it. Nothing is held back while it is unseen: it counts as known, with the trust of its source.

mod replaced;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError};
use crate::kernel::{Kernel, Race as _, conflict, retry};
use crate::memories::place::Placement;
use crate::memories::{Edit, MemoryService};
use crate::model::{
    Document, DocumentName, Entry, EntryId, Importance, Kind, Layer, Memory, Namespace, Significance, Source, Status,
    Verb,
};
use crate::ports::{self, Op, Page, Unseen};
use crate::recall::{Filter, RecallService, Retrieved};
use crate::sessions::SessionService;
use crate::text::bullets;

/// A rule has this significance at least.
const RULE: i64 = 4;

/// As many as are counted.
const MOST_COUNTED: usize = 1000;

/// So many turns are shown as evidence.
const MOST_EVIDENCE: usize = 5;

/// Shorter texts stand in too many turns by chance.
const SHORTEST_QUOTE: usize = 8;

/// What a person says about something that was learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is right.
    Keep,
    /// It is right in other words.
    Edit,
    /// It is not wanted: what it replaced stands again.
    Drop,
    /// It always holds.
    Rule,
}

/// A turn that a memory came from.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Evidence {
    /// The turn in the shape of a memory, its fields at the same level.
    #[serde(flatten)]
    pub turn: Memory,
    /// Who said it, where that is known.
    pub speaker: Option<String>,
    /// What the conversation is about.
    pub title: Option<String>,
}

/// Something that was learnt and not seen yet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ReviewItem {
    /// What is known now.
    pub memory: Memory,
    /// The turns that it came from.
    pub evidence: Vec<Evidence>,
    /// What it took the place of: dropping it brings that back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Memory>,
    /// What else it took the place of, where several became one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_replaced: Vec<Memory>,
}

/// What was learnt and not seen yet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ReviewListing {
    /// The newest first.
    pub items: Vec<ReviewItem>,
    /// How many there are, up to 1000.
    pub count: usize,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}

/// The receipt for a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Reviewed {
    /// The memory as it now is; what was dropped as it was.
    pub memory: Memory,
    /// What was said about it.
    pub verdict: Verdict,
    /// What stands again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<Memory>,
}

/// What was learnt and not seen yet, and verdicts on it.
#[derive(Clone, Copy)]
pub struct ReviewService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) candidates: &'e dyn ports::Candidates,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) reviews: &'e dyn ports::Reviews,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) memories: MemoryService<'e>,
    pub(crate) recall: RecallService<'e>,
    pub(crate) sessions: SessionService<'e>,
}

impl ReviewService<'_> {
    /// What was learnt and not seen yet, the newest first.
    pub fn list(&self, limit: usize, cursor: Option<&str>) -> Done<ReviewListing> {
        self.documents.notice_all()?;
        let page = self.reviews.unseen(&Page { limit, cursor: cursor.map(str::to_owned) })?;
        let is_whole = cursor.is_none() && page.cursor.is_none() && limit > 0;
        let count = if is_whole { page.unseen.len() } else { self.count()? };
        let items = page.unseen.into_iter().map(|unseen| self.item(unseen)).collect::<Done<_>>()?;
        Ok(ReviewListing { items, count, cursor: page.cursor })
    }

    fn count(&self) -> Done<usize> {
        Ok(self.reviews.unseen(&Page { limit: MOST_COUNTED, cursor: None })?.unseen.len())
    }

    /// Takes back that something was seen: it is new again. What a verdict changed is for an undo to revert.
    pub fn reopen(&self, reference: &str) -> Done<Memory> {
        self.documents.notice_all()?;
        let id = self.memories.show(reference)?.entry.id;
        self.reviews.note_unseen(&id)?;
        self.memories.show(id.as_str())
    }

    fn item(&self, Unseen { memory, change }: Unseen) -> Done<ReviewItem> {
        let replaced = self.replaced_by(&memory.entry, change.as_ref())?;
        let mut replaced = replaced.into_iter().map(|former| Memory::new(former, 0, None));
        let evidence = self.evidence(&memory.entry)?;
        Ok(ReviewItem { memory, evidence, replaced: replaced.next(), also_replaced: replaced.collect() })
    }

    /// The turns that a memory came from; for a line of a document, those that have its very words.
    fn evidence(&self, entry: &Entry) -> Done<Vec<Evidence>> {
        let ids = entry.provenance.iter().map(|turn| EntryId::new(turn.as_str())).take(MOST_EVIDENCE);
        let mut found: Vec<Retrieved> = Vec::new();
        for id in ids {
            found.extend(self.recall.said(&id)?);
        }
        let needle = entry.content.trim_end_matches(['.', '。', '!']);
        if found.is_empty() && needle.chars().count() >= SHORTEST_QUOTE {
            let filter = Filter { kinds: vec![Kind::Turn], source: Some(Source::User), ..Filter::default() };
            found = self.candidates.contains(&[needle.to_owned()], &filter, 1)?;
        }
        found.into_iter().map(|turn| self.as_evidence(turn)).collect()
    }

    fn as_evidence(&self, turn: Retrieved) -> Done<Evidence> {
        let title = turn.memory.entry.session.as_ref().map(|session| self.sessions.title(session)).transpose()?;
        Ok(Evidence { turn: turn.memory, speaker: turn.speaker, title })
    }

    /// Says what becomes of something that was learnt. `content` is what it says from now on, and belongs to an edit.
    pub fn decide(&self, reference: &str, verdict: Verdict, content: Option<&str>) -> Done<Reviewed> {
        self.documents.notice_all()?;
        let entry = self.memories.show(reference)?.entry;
        match (verdict, content) {
            (Verdict::Edit, None) => Err(EngineError::invalid("an edit", "needs the new content")),
            (Verdict::Edit, Some(content)) => self.stand(&entry, verdict, Some(content)),
            (_, Some(_)) => Err(EngineError::invalid("the content", "belongs to the verdict `edit` alone")),
            (Verdict::Keep | Verdict::Rule, None) => self.stand(&entry, verdict, None),
            (Verdict::Drop, None) => self.drop_it(&entry),
        }
    }

    /// The memory stands, by the person's word.
    fn stand(&self, entry: &Entry, verdict: Verdict, content: Option<&str>) -> Done<Reviewed> {
        let importance = (verdict == Verdict::Rule).then(|| entry.importance.max(rule()));
        let edit = Edit { content: content.map(str::to_owned), importance, ..Edit::default() };
        let standing = match (entry.kind, verdict) {
            (Kind::Bullet, Verdict::Keep) => entry.id.clone(),
            (Kind::Bullet, _) => self.memories.edit(entry.id.as_str(), &edit)?.memory.entry.id,
            (_, Verdict::Rule) => match self.move_to_profile(entry)? {
                Some(line) => line,
                None => self.vouch(&entry.id, &edit)?,
            },
            _ => self.vouch(&entry.id, &edit)?,
        };
        self.reviews.note_seen(&standing, self.kernel.now)?;
        Ok(Reviewed { memory: self.memories.show(standing.as_str())?, verdict, restored: Vec::new() })
    }

    /// An entry that the person vouches for is their word.
    fn vouch(&self, id: &EntryId, edit: &Edit) -> Done<EntryId> {
        let decide = |placement: &mut Placement| {
            let entry = self.memories.memory(id)?.entry;
            let (edited, _) = self.memories.edited(&entry, edit)?;
            let is_as_before = *edit == Edit::default();
            let updated_at = if is_as_before { entry.updated_at } else { edited.updated_at };
            let next = Entry { source: Source::User, updated_at, ..edited };
            if next != entry {
                self.memories.plan_entry_edit(&entry, next, placement)?;
            }
            Ok(())
        };
        self.memories.write_placed(Verb::Review, &decide)?;
        Ok(id.clone())
    }

    /// A rule that belongs to no project goes to the profile, which every session begins with; none if it does not
    /// fit, or there is no profile.
    fn move_to_profile(&self, entry: &Entry) -> Done<Option<EntryId>> {
        let Some(namespace) = self.kernel.settings.namespace.as_ref() else { return Ok(None) };
        if entry.project.is_some() || entry.layer != Layer::Knowledge {
            return Ok(None);
        }
        let name = DocumentName::profile(namespace);
        let says = |text: &str| bullets::parse(&name, text).into_iter().find(|line| line.content == entry.content);
        retry(
            || conflict(&entry.id),
            || {
                let before = self.documents.current_document(&name)?;
                let after = bullets::with_added(&before.text, &entry.content, entry.importance.max(rule()));
                if self.documents.check_identity(&name, &after).is_err() || says(&after).is_none() {
                    return Ok(Some(None));
                }
                let ops = [Op::Update(self.memories.retired(&self.memories.memory(&entry.id)?.entry))];
                let done = self.documents.commit(Verb::Review, &ops, &[(before, after.clone())]).unless_outrun()?;
                Ok(done.flatten().map(|_| says(&after).map(|line| line.id)))
            },
        )
    }

    /// The memory goes, and what it replaced stands again: one change.
    fn drop_it(&self, entry: &Entry) -> Done<Reviewed> {
        let dropped = self.memories.memory(&entry.id)?;
        let change = self.written_by(entry)?;
        let replaced = self.replaced_by(entry, change.as_ref())?;
        if replaced.is_empty() {
            self.memories.forget(entry.id.as_str())?;
            return Ok(Reviewed { memory: dropped, verdict: Verdict::Drop, restored: Vec::new() });
        }
        retry(
            || conflict(&entry.id),
            || {
                let (ops, documents) = self.plan_return(entry, &replaced)?;
                Ok(self.documents.commit(Verb::Review, &ops, &documents).unless_outrun()?.flatten().map(|_| ()))
            },
        )?;
        let back = replaced.iter().map(|former| Ok(self.entries.memory(&former.id)?)).collect::<Done<Vec<_>>>()?;
        let restored: Vec<Memory> = back.into_iter().flatten().collect();
        for memory in &restored {
            self.reviews.note_seen(&memory.entry.id, self.kernel.now)?;
        }
        Ok(Reviewed { memory: dropped, verdict: Verdict::Drop, restored })
    }

    /// What taking a replacement back does to entries and documents.
    fn plan_return(&self, entry: &Entry, replaced: &[Entry]) -> Done<Return> {
        let mut documents: Vec<(Document, String)> = Vec::new();
        let mut ops = Vec::new();
        match document_of(entry) {
            // What gives a key up comes before what takes it back.
            None => ops.push(Op::Update(self.memories.retired(&self.memories.memory(&entry.id)?.entry))),
            Some(name) => {
                let before = self.documents.current_document(name)?;
                let here = replaced.iter().find(|former| document_of(former) == Some(name));
                let after = without_line(name, &before.text, &entry.id, here);
                documents.push((before, after));
            }
        }
        for former in replaced {
            match document_of(former) {
                None => {
                    let current = self.memories.memory(&former.id)?.entry;
                    let now = self.kernel.now;
                    ops.push(Op::Update(Entry { status: Status::Active, updated_at: now, ..current }));
                }
                Some(name) if document_of(entry) == Some(name) => {}
                Some(name) => {
                    let before = self.documents.current_document(name)?;
                    let after = bullets::with_added(&before.text, &former.content, former.importance);
                    documents.push((before, after));
                }
            }
        }
        Ok((ops, documents))
    }
}

/// What taking a replacement back does: operations on entries, and documents with their next texts.
type Return = (Vec<Op>, Vec<(Document, String)>);

/// The document whose line an entry is.
fn document_of(entry: &Entry) -> Option<&DocumentName> {
    match (entry.kind, &entry.namespace) {
        (Kind::Bullet, Namespace::Document(name)) => Some(name),
        _ => None,
    }
}

/// A text without a line, or with what stood in its place before.
fn without_line(name: &DocumentName, text: &str, id: &EntryId, former: Option<&Entry>) -> String {
    let Some(line) = bullets::parse(name, text).into_iter().find(|line| line.id == *id) else { return text.to_owned() };
    match former {
        Some(former) => bullets::with_replaced(text, &line, &former.content, former.importance),
        None => bullets::without(text, &line),
    }
}

fn rule() -> Importance {
    Significance::new(RULE).map(Importance::from).unwrap_or_default()
}
