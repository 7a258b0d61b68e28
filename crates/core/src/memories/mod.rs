//! Remember, edit, forget, erase.

mod about;
mod bulk;
mod correct;
mod edit;
mod erase;
mod fold;
mod mute;
pub(crate) mod place;
mod remember;
mod scope;

use serde::Serialize;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::{Kernel, Race as _, conflict, retry};
use crate::model::{
    Bullet, DocumentName, Entry, EntryId, Importance, Kind, Layer, Memory, Namespace, SessionId, Source, Status, Turn,
    TurnId, Verb,
};
use crate::ports::{self, Documents, Listing, Op, Page};
use crate::recall::{Filter, RecallService, check_range};
use crate::text::bullets;
use crate::threads::ThreadService;

pub use about::About;
pub(crate) use bulk::revived;
pub use bulk::{BulkAction, BulkDone, BulkFailure, WhyNot};
pub use correct::{Correction, Replaced};
pub use erase::{ErasedMemory, ErasurePreview};
pub use fold::{Fold, FoldedCopy};
pub(crate) use remember::Stored;
pub use scope::{ErasedScope, ScopePreview, ScopeWords};

/// A turn is known by so many first characters of its id, as a memory is.
const SHORTEST_TURN: usize = 6;

/// A memory to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// The memory itself.
    pub content: String,
    /// Its key; storing again under it updates.
    pub key: Option<String>,
    /// Its layer.
    pub layer: Layer,
    /// How much it matters.
    pub importance: Option<Importance>,
    /// Labels and links.
    pub tags: Vec<String>,
    /// The project it is about.
    pub project: Option<String>,
    /// Whose word it is.
    pub source: Source,
    /// The conversation it came from.
    pub session: Option<SessionId>,
    /// The turns it came from.
    pub provenance: Vec<TurnId>,
}

impl NewMemory {
    /// Knowledge in the person's own words.
    pub fn fact(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            key: None,
            layer: Layer::Knowledge,
            importance: None,
            tags: Vec::new(),
            project: None,
            source: Source::User,
            session: None,
            provenance: Vec::new(),
        }
    }
}

/// What became of a memory that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is new.
    Created,
    /// It replaced what its key or id stood for.
    Updated,
    /// It was there already.
    Unchanged,
}

impl Outcome {
    /// Its one spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

/// The receipt for a memory that was stored or changed.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Remembered {
    /// The memory as it now is, its fields at the same level.
    #[serde(flatten)]
    pub memory: Memory,
    /// What became of it.
    pub outcome: Outcome,
    /// The memories that it replaced: entries that are inactive now, lines that are in the history of their document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<EntryId>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<&'static str>,
}

/// What to change of a memory; what is not given stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edit {
    /// The text.
    pub content: Option<String>,
    /// The key; `Some(None)` removes it.
    pub key: Option<Option<String>>,
    /// The weight.
    pub importance: Option<Importance>,
    /// All labels.
    pub tags: Option<Vec<String>>,
    /// The project; `Some(None)` removes it.
    pub project: Option<Option<String>>,
    /// The version that the writer saw; another one is a conflict.
    pub expected_version: Option<u32>,
}

/// The receipt for a memory that was forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Forgotten {
    /// Which.
    pub id: EntryId,
    /// Whether it was forgotten before.
    pub already: bool,
}

/// Memories: remember, list, show, edit, forget, correct, merge, erase.
#[derive(Clone, Copy)]
pub struct MemoryService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) bundles: &'e dyn ports::Transfer,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) eraser: &'e dyn ports::Eraser,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) candidates: &'e dyn ports::Candidates,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) task_store: &'e dyn ports::Tasks,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) mutes: &'e dyn ports::Mutes,
    pub(crate) files: &'e dyn Documents,
    pub(crate) documents: DocumentService<'e>,
    /// The same documents for verbs that read: a write that would wait for another writer gives up soon.
    pub(crate) noticing: DocumentService<'e>,
    pub(crate) recall: RecallService<'e>,
    pub(crate) threads: ThreadService<'e>,
}

impl MemoryService<'_> {
    /// Memories that pass the filter, newest first. Lines of working memory are no memories: they render its threads.
    /// Never waits for a writer: what a file says that could not be indexed now is listed later.
    pub fn list(&self, filter: &Filter, page: &Page) -> Done<Listing> {
        check_range(filter)?;
        self.noticing.notice_all_or_warn();
        let listing = self.entries.list(&Filter { without_working: true, ..filter.clone() }, page)?;
        let mutes = self.mutes.mutes()?;
        let memories = listing.memories.into_iter().map(|memory| memory.with_mutes(&mutes)).collect();
        Ok(Listing { memories, ..listing })
    }

    /// One memory. Never waits for a writer.
    pub fn show(&self, reference: &str) -> Done<Memory> {
        self.noticing.notice_all_or_warn();
        let id = self.resolve(reference)?;
        self.with_mutes(self.memory(&id)?)
    }

    /// The one memory that `reference` names: an id, an exact key, or the beginning of an id.
    pub(crate) fn resolve(&self, reference: &str) -> Done<EntryId> {
        let mut ids = self.entries.resolve(reference)?;
        match ids.len() {
            1 => Ok(ids.remove(0)),
            0 => Err(EngineError::NotFound { reference: reference.to_owned() }),
            _ => Err(EngineError::Ambiguous { what: "memories", reference: reference.to_owned(), ids }),
        }
    }

    /// The one turn that `reference` names, an id or the first six characters of one at least, and the active memories
    /// that came from it. None where it names no turn, or several.
    pub fn turn_named(&self, reference: &str) -> Done<Option<(Turn, Vec<EntryId>)>> {
        if reference.len() < SHORTEST_TURN {
            return Ok(None);
        }
        let mut turns = self.turns.turns_named(reference, 2)?;
        let turn = match (turns.pop(), turns.pop()) {
            (Some(turn), None) => turn,
            (_, Some(first)) if first.id.as_str() == reference => first,
            _ => return Ok(None),
        };
        let of_session = Filter { session: Some(turn.session.clone()), ..Filter::recallable(self.kernel.now) };
        let listed = self.entries.list(&of_session, &Page { limit: usize::MAX, cursor: None })?;
        let came = listed.memories.into_iter().filter(|memory| memory.entry.provenance.contains(&turn.id));
        let came = came.map(|memory| memory.entry.id).collect();
        Ok(Some((turn, came)))
    }

    /// Stores many memories without keys as one change, in one transaction: for bulk loads.
    pub fn remember_all(&self, news: &[NewMemory]) -> Done<usize> {
        let mut ops = Vec::with_capacity(news.len());
        for new in news {
            if new.key.is_some() || new.layer == Layer::Identity {
                return Err(EngineError::invalid("a bulk load", "takes neither keys nor identity"));
            }
            ops.push(Op::Insert(self.draft(new)?.0));
        }
        Ok(self.kernel.apply(Verb::Remember, &ops)?.len())
    }

    /// The entry that `new` asks for, checked and with secrets taken out.
    pub(crate) fn draft(&self, new: &NewMemory) -> Done<(Entry, Vec<&'static str>)> {
        let (content, mut redacted) = input::content(&new.content)?;
        let names = new.key.iter().chain(&new.tags).chain(&new.project);
        input::also_in(names.map(String::as_str), &mut redacted);
        let key = new.key.as_deref().map(input::key).transpose()?;
        let mut labels = input::labels(&new.tags)?;
        if let Some(project) = &new.project {
            input::set_once("project", &mut labels.project, input::project(project)?)?;
        }
        let now = self.kernel.now;
        let entry = Entry {
            id: EntryId::new(self.kernel.new_id()),
            kind: Kind::Entry,
            namespace: self.kernel.facts(),
            layer: new.layer,
            key,
            content,
            source: new.source,
            status: Status::Active,
            importance: new.importance.unwrap_or_default(),
            tags: labels.tags,
            session: new.session.clone(),
            task: labels.task,
            project: labels.project,
            created_at: now,
            updated_at: now,
            expires_at: None,
            supersedes: Vec::new(),
            provenance: new.provenance.clone(),
            version: 1,
        };
        Ok((entry, redacted))
    }

    pub(crate) fn receipt(&self, id: &EntryId, outcome: Outcome, redacted: Vec<&'static str>) -> Done<Remembered> {
        Ok(Remembered { memory: self.memory(id)?, outcome, superseded: Vec::new(), redacted })
    }

    /// The receipt of an entry as it was written: another process may have changed it since. A new one has no use yet.
    fn receipt_of(&self, written: Entry, outcome: Outcome, redacted: Vec<&'static str>) -> Done<Remembered> {
        let known = if outcome == Outcome::Created { None } else { self.entries.memory(&written.id)? };
        let memory = match known {
            Some(Memory { recall_count, last_recalled_at, muted, muted_in, .. }) => {
                Memory { muted, muted_in, ..Memory::new(written, recall_count, last_recalled_at) }
            }
            None => Memory::new(written, 0, None),
        };
        Ok(Remembered { memory, outcome, superseded: Vec::new(), redacted })
    }

    pub(crate) fn memory(&self, id: &EntryId) -> Done<Memory> {
        self.entries.memory(id)?.ok_or_else(|| EngineError::NotFound { reference: id.to_string() })
    }

    /// A memory with an edit applied, and the kinds of secrets that were taken out.
    pub(crate) fn edited(&self, entry: &Entry, edit: &Edit) -> Done<(Entry, Vec<&'static str>)> {
        let mut next = Entry { updated_at: self.kernel.now, ..entry.clone() };
        let mut redacted = Vec::new();
        if let Some(text) = &edit.content {
            (next.content, redacted) = input::content(text)?;
        }
        if let Some(importance) = edit.importance {
            next.importance = importance;
        }
        let others = (edit.key.is_some(), edit.tags.is_some(), edit.project.is_some());
        if entry.kind == Kind::Bullet && others != (false, false, false) {
            return Err(EngineError::invalid("a line of a document", "has a text and a weight, and nothing else"));
        }
        if let Some(key) = &edit.key {
            next.key = key.as_deref().map(input::key).transpose()?;
        }
        if let Some(tags) = &edit.tags {
            let labels = input::labels(tags)?;
            next.tags = labels.tags;
            next.project = labels.project.or(next.project);
            next.task = labels.task.or(next.task);
        }
        let names = edit.key.iter().flatten().chain(edit.tags.iter().flatten()).chain(edit.project.iter().flatten());
        input::also_in(names.map(String::as_str), &mut redacted);
        if let Some(project) = &edit.project {
            next.project = project.as_deref().map(input::project).transpose()?;
        }
        Ok((next, redacted))
    }

    /// Makes a memory inactive: never recalled again, kept for audit. A bullet leaves its document.
    pub fn forget(&self, reference: &str) -> Done<Forgotten> {
        self.with_room(|| self.forget_one(reference))
    }

    /// Removes something, also where nothing else is written: on a full disk, for which the store keeps some room, and beside
    /// somebody who keeps its log long.
    fn with_room<T>(&self, remove: impl Fn() -> Done<T>) -> Done<T> {
        let _removing = Removing::begin(self.eraser);
        loop {
            match remove() {
                Err(error) if error.is_full() && self.eraser.make_room() => {}
                outcome => return outcome,
            }
        }
    }

    fn forget_one(&self, reference: &str) -> Done<Forgotten> {
        let id = self.resolve(reference)?;
        let forgotten = |already: bool| Forgotten { id: id.clone(), already };
        retry(
            || conflict(reference),
            || {
                let entry = self.memory(&id)?.entry;
                if entry.status == Status::Inactive {
                    return Ok(Some(forgotten(true)));
                }
                if let (Kind::Bullet, Namespace::Document(name)) = (entry.kind, &entry.namespace) {
                    self.documents.rewrite(name, Verb::Forget, &|current| {
                        Ok(bullet_in(name, &current.text, &id).map(|bullet| bullets::without(&current.text, &bullet)))
                    })?;
                    return Ok(Some(forgotten(false)));
                }
                let applied = self.kernel.apply(Verb::Forget, &[Op::Update(self.retired(&entry))]).unless_outrun()?;
                Ok(applied.map(|_| forgotten(false)))
            },
        )
    }
}

/// Lasts as long as this thread removes something.
struct Removing<'e>(&'e dyn ports::Eraser);

impl<'e> Removing<'e> {
    fn begin(eraser: &'e dyn ports::Eraser) -> Self {
        eraser.removing(true);
        Self(eraser)
    }
}

impl Drop for Removing<'_> {
    fn drop(&mut self) {
        self.0.removing(false);
    }
}

/// The bullet with this id, if the document still has it.
pub(crate) fn bullet_in(name: &DocumentName, text: &str, id: &EntryId) -> Option<Bullet> {
    bullets::parse(name, text).into_iter().find(|bullet| bullet.id == *id)
}

/// What is stored under a key again: the new text and source; weight and labels stay where none are given.
fn successor(known: &Entry, draft: Entry, importance: Option<Importance>) -> Entry {
    Entry {
        id: known.id.clone(),
        importance: importance.unwrap_or(known.importance),
        tags: if draft.tags.is_empty() { known.tags.clone() } else { draft.tags },
        task: draft.task.or_else(|| known.task.clone()),
        session: draft.session.or_else(|| known.session.clone()),
        created_at: known.created_at,
        supersedes: known.supersedes.clone(),
        provenance: known.provenance.clone(),
        version: known.version,
        ..draft
    }
}

fn same_but_for_time(a: &Entry, b: &Entry) -> bool {
    let b = Entry { updated_at: a.updated_at, ..b.clone() };
    *a == b
}
