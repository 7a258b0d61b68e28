//! What the core asks of the world. Every port is small, synchronous and complete: no method has a default that does
//! nothing, and a missing capability is another trait.

mod backups;
mod conversations;
mod documents;
mod embedder;
mod error;
mod jobs;
mod model;
mod reflection;
mod vault;
mod work;

use jiff::Timestamp;

use crate::model::{
    Change, ContentHash, DocumentName, DocumentVersion, Entry, EntryId, EntryVersion, Memory, Namespace, Position,
    Project, ProjectVersion, RecallId, Session, SessionId, Task, TaskVersion, Turn, TurnId,
};
use crate::recall::{Candidate, Filter, RecallRecord, Terms};
use crate::text::redact::redact;

pub use backups::{Backups, CopyCheck};
pub use conversations::{Conversations, Lease, NewSession, Progress, SessionPage, Spent};
pub use documents::{DocumentError, Documents};
pub use embedder::{EmbedFor, Embedder};
pub use error::{Loss, StoreError};
pub use jobs::{Doings, Job, Jobs, KEPT_RUNS, Pulse, Run, RunOutcome};
pub use model::{
    Breaker, Brief, ExtractBrief, Finish, Message, Model, ModelError, Purpose, Reply, SummaryBrief, ToolCall, ToolSpec,
};
pub use reflection::{Applied, Dropped, Pass, PassOutcome, ReflectBrief, ReflectFact, Reflections, TurnsOf};
pub use vault::{Made, MadeBy, Vault, VectorSet, Vectors};
pub use work::Work;

/// The time.
pub trait Clock: Send + Sync {
    /// Now, in whole milliseconds.
    fn now(&self) -> Timestamp;
}

/// New identifiers.
pub trait Ids: Send + Sync {
    /// Sixteen characters of `a-z2-7` that were never given before and whose first six differ, nearly always.
    fn next(&self) -> String;
}

type Stored<T> = Result<T, StoreError>;

/// One step of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A new entry. The same text without a key, active in the same place, is left alone instead.
    Insert(Entry),
    /// The next version of an entry whose version is still `entry.version`.
    Update(Entry),
    /// A document's new text, or its removal.
    Document {
        /// Which document.
        name: DocumentName,
        /// The text without its secrets, or nothing where the file was removed.
        text: Option<String>,
        /// The digest of the file.
        hash: ContentHash,
        /// What can be found of it; `None` leaves that to the next look at the file.
        bullets: Option<Vec<Entry>>,
    },
    /// A conversation is consolidated up to `to`, if it still stands at `from`. Failures are forgotten.
    Consolidated {
        /// The conversation.
        session: SessionId,
        /// Where it stands.
        from: Position,
        /// The last turn that was captured.
        to: Position,
        /// From where on turns are still sent to the model.
        kept_from: Position,
        /// The summary that stands for the others, as a turn of its own.
        summary: Option<Turn>,
    },
    /// A conversation was searched up to `to` for what should have been stored, if it still stands at `from`.
    Filled {
        /// The conversation.
        session: SessionId,
        /// Where it stands.
        from: Position,
        /// The last turn that was looked at.
        to: Position,
    },
    /// A pass of reflection, kept with the change that it made.
    Reflected(Box<Pass>),
    /// Something was erased: the change says so, and nothing else.
    Erased,
    /// The next version of a task whose version is still `task.version`; 0 is a new one.
    Task(Task),
    /// The next version of a project whose version is still `project.version`; 0 is a new one.
    Project(Project),
}

impl Op {
    /// A document's new text, or its removal. A secret that a person keeps in their file stays out of its history.
    pub fn document(name: DocumentName, text: Option<String>) -> Self {
        let hash = text.as_deref().map_or_else(ContentHash::missing, ContentHash::of);
        let text = text.map(|text| redact(&text).text.into_owned());
        Self::Document { name, text, hash, bullets: None }
    }
}

/// One page of a listing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// How many at most.
    pub limit: usize,
    /// Where the previous page ended.
    pub cursor: Option<String>,
}

/// What a page holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, utoipa::ToSchema)]
pub struct Listing {
    /// Newest first.
    pub memories: Vec<Memory>,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}

/// Entries: kept as rows, changed only by logged operations.
pub trait Entries {
    /// Applies all of a change or nothing; durable when it returns. Gives the entries as they now are, in order.
    /// A change that is there already, and not undone, goes on: long work is one change in several transactions. One
    /// that an import brought along does not: it is a conflict, as one that was undone is.
    ///
    /// `last` runs when everything is in place and before it is committed: a document's file is written there, so
    /// that no other process meets the file without its version. Its `false` takes the whole change back. It must not
    /// call the store: a write would wait for this one for ever, and a read sees what was there before.
    fn apply(&self, change: &Change, ops: &[Op], last: &mut dyn FnMut() -> bool) -> Stored<Vec<Entry>>;
    /// One memory by its id.
    fn memory(&self, id: &EntryId) -> Stored<Option<Memory>>;
    /// The active entry with this key.
    fn keyed(&self, namespace: &Namespace, project: Option<&str>, key: &str) -> Stored<Option<Entry>>;
    /// Every id that `reference` may mean: an exact id, else exact keys (active first), else an id's beginning.
    fn resolve(&self, reference: &str) -> Stored<Vec<EntryId>>;
    /// Memories that pass the filter, newest first.
    fn list(&self, filter: &Filter, page: &Page) -> Stored<Listing>;
    /// Removes every trace of what is named; durable when it returns. Gives what could not be reached.
    fn erase(&self, erasure: &Erasure) -> Stored<Erased>;
}

/// What to remove for good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erasure {
    /// Memories, with their history, index and log rows.
    pub memories: Vec<EntryId>,
    /// Turns of conversations.
    pub turns: Vec<TurnId>,
    /// Bullets, by their text, in every kept version of their document.
    pub bullets: Vec<(DocumentName, String)>,
}

/// What erasing removed, and what it could not reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Erased {
    /// Versions of entries and of documents that held the text.
    pub versions: u64,
    /// Rows of the recall log that returned it.
    pub recalls: u64,
    /// Turns of conversations.
    pub turns: u64,
    /// Places that may still hold the text, as a person would find them.
    pub unreached: Vec<String>,
}

/// What undoing a change takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Undoable {
    /// The change.
    pub change: Change,
    /// Each entry that it touched, as it is now, and as it was before (nothing: it did not exist).
    pub entries: Vec<(Entry, Option<Entry>)>,
    /// Each document that it touched: its name, the digest it left, and the text before.
    pub documents: Vec<(DocumentName, ContentHash, Option<String>)>,
    /// Each task that it touched, as it is now, and as it was before.
    pub tasks: Vec<(Task, Option<Task>)>,
    /// Each project that it touched, as it is now, and as it was before.
    pub projects: Vec<(Project, Option<Project>)>,
}

/// A document as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its name.
    pub name: DocumentName,
    /// The digest of the newest version; [`ContentHash::missing`] where the file was removed.
    pub hash: ContentHash,
    /// The file's stamp when its bullets were last indexed.
    pub stamp: Option<String>,
}

/// History: every version of everything.
pub trait History {
    /// All versions of an entry, oldest first.
    fn entry_versions(&self, id: &EntryId) -> Stored<Vec<EntryVersion>>;
    /// All versions of a document, oldest first.
    fn document_versions(&self, name: &DocumentName) -> Stored<Vec<DocumentVersion>>;
    /// When a document was last changed; nothing where that was never noticed.
    fn document_changed_at(&self, name: &DocumentName) -> Stored<Option<Timestamp>>;
    /// Every document that was ever seen, as it was last seen.
    fn known_documents(&self) -> Stored<Vec<KnownDocument>>;
    /// The newest changes first.
    fn changes(&self, limit: usize) -> Stored<Vec<Change>>;
    /// The newest change that is not undone, nor itself an undo.
    fn undoable(&self) -> Stored<Option<Undoable>>;
}

/// What to look for, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The analysed query.
    pub terms: Terms,
    /// What may be found.
    pub filter: Filter,
    /// How many candidates at most.
    pub limit: usize,
}

/// The words index: derived, and rebuilt at will.
pub trait Index {
    /// Candidates by BM25, best first.
    fn search(&self, search: &Search) -> Stored<Vec<Candidate>>;
    /// Candidates that contain one of `needles` literally, case of ASCII letters aside; most needles first.
    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Candidate>>;
    /// Replaces the bullets that are known of a document, and the stamp they were read at. A bullet that was known
    /// keeps its source and its dates.
    fn replace_bullets(
        &self,
        name: &DocumentName,
        hash: &ContentHash,
        stamp: Option<&str>,
        bullets: &[Entry],
    ) -> Stored<()>;
    /// Rebuilds everything from the rows; reports how far it is.
    fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Stored<u64>;
}

/// The recall log and the counts it adds to. Written behind the caller's back: a recall never waits for it.
pub trait Recalls {
    /// Notes a recall; written soon, at the latest when the store is closed.
    fn note(&self, recall: RecallRecord);
    /// The newest recalls first; of one conversation, where one is given.
    fn recalls(&self, session: Option<&SessionId>, limit: usize) -> Stored<Vec<RecallRecord>>;
    /// One recall, while the log keeps it.
    fn recall_record(&self, id: &RecallId) -> Stored<Option<RecallRecord>>;
}

/// Everything at once, for export and import.
pub trait Transfer {
    /// Everything that the store holds, in a stable order.
    fn bundle(&self) -> Stored<Bundle>;
    /// Takes in a bundle under `change`, in one transaction; what is there already stays, and what is inactive only
    /// because what brought it here was undone comes back. `last` as in [`Entries::apply`].
    fn adopt(&self, change: &Change, bundle: &Bundle, last: &mut dyn FnMut() -> bool) -> Stored<Adopted>;
    /// Remembers where an export was written, so that erasing can reach it.
    fn note_export(&self, path: &str) -> Stored<()>;
    /// Where exports were written.
    fn exports(&self) -> Stored<Vec<String>>;
}

/// All that a store holds, as data.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct Bundle {
    /// Every memory, whatever its status.
    pub memories: Vec<Memory>,
    /// Every version of every entry, oldest first.
    #[serde(default)]
    pub history: Vec<EntryVersion>,
    /// Every version of every document, oldest first.
    #[serde(default)]
    pub document_history: Vec<DocumentVersion>,
    /// Every session.
    #[serde(default)]
    pub sessions: Vec<Session>,
    /// Every turn, in order.
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// Every task, whatever its status.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Every version of every task, oldest first.
    #[serde(default)]
    pub task_history: Vec<TaskVersion>,
    /// Every project, whatever its status.
    #[serde(default)]
    pub projects: Vec<Project>,
    /// Every version of every project, oldest first.
    #[serde(default)]
    pub project_history: Vec<ProjectVersion>,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Adopted {
    /// Memories that are new here, or back after what brought them was undone.
    pub added: u64,
    /// Memories that were here already.
    pub kept: u64,
    /// Memories whose key is taken here: stored, but inactive.
    pub inactive: Vec<EntryId>,
    /// Turns that are new here.
    pub turns: u64,
    /// Tasks that are new here, or back.
    pub tasks: u64,
    /// Projects that are new here, or back.
    pub projects: u64,
}

/// Sizes and health.
pub trait Inspect {
    /// What the store holds.
    fn stats(&self) -> Stored<StoreStats>;
    /// Everything that is wrong, in words; nothing when all is well.
    fn check(&self) -> Stored<Vec<String>>;
    /// How far everything is.
    fn pulse(&self) -> Stored<Pulse>;
    /// What was done between each of these times and the next; what comes after the last belongs to it.
    fn doings(&self, starts: &[Timestamp]) -> Stored<Vec<Doings>>;
    /// Whether this machine's own clock was read between two times: something was changed, asked or run here.
    fn was_in_use(&self, from: Timestamp, until: Timestamp) -> Stored<bool>;
}

/// What the store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct StoreStats {
    /// Active entries of layer 1.
    pub knowledge: u64,
    /// Active entries of layer 2.
    pub archive: u64,
    /// Bullets of documents.
    pub bullets: u64,
    /// Entries that are kept for audit.
    pub inactive: u64,
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Changes.
    pub changes: u64,
    /// Recalls in the log.
    pub recalls: u64,
    /// Size of the database in bytes.
    pub bytes: u64,
}

/// All that a store is.
pub trait Store:
    Entries
    + History
    + Index
    + Recalls
    + Conversations
    + Progress
    + Reflections
    + Work
    + Vault
    + Vectors
    + Transfer
    + Inspect
    + Jobs
    + Send
    + Sync
{
}
impl<T> Store for T where
    T: Entries
        + History
        + Index
        + Recalls
        + Conversations
        + Progress
        + Reflections
        + Work
        + Vault
        + Vectors
        + Transfer
        + Inspect
        + Jobs
        + Send
        + Sync
{
}
