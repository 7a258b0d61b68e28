//! Changes: logged operations on everything that is kept, applied whole or not at all, and undone.

use crate::model::{
    Change, ContentHash, DocumentName, Entry, EntryId, Position, Project, SessionId, Task, Thread, Turn, TurnId,
};
use crate::text::redact::redact;

use super::{ErasureMark, Pass, Stored};

/// Changes: applied in one transaction, logged, undone.
pub trait Changes {
    /// Applies all of a change or nothing; durable when it returns. Gives the entries as they now are, in order.
    /// A change that is there already, and not undone, goes on: long work is one change in several transactions. One
    /// that an import brought along does not: it is a conflict, as one that was undone is.
    ///
    /// `last` runs when everything is in place and before it is committed: a document's file is written there, so
    /// that no other process meets the file without its version. Its `false` takes the whole change back. It must not
    /// call the store: a write would wait for this one for ever, and a read sees what was there before.
    fn apply(&self, change: &Change, ops: &[Op], last: &mut dyn FnMut() -> bool) -> Stored<Vec<Entry>>;
    /// The newest changes first.
    fn changes(&self, limit: usize) -> Stored<Vec<Change>>;
    /// The newest change that is not undone, nor itself an undo.
    fn undoable(&self) -> Stored<Option<Undoable>>;
    /// What was erased so far: read before anything that a change is made of, and given back with it
    /// ([`Op::Unerased`]).
    fn erasure_mark(&self) -> Stored<ErasureMark>;
}

/// One step of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A new entry. One without a key that says the same as an active one in the same place is not stored: that one is
    /// given instead. A store tells by a unique key on [`Entry::text_digest`], so that it holds for concurrent writers.
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
    /// Who the person is in a conversation, unless that is known already.
    Person {
        /// The conversation.
        session: SessionId,
        /// Their name as a speaker.
        name: String,
    },
    /// The turns that a line of a document came from, beside those that are known. Has no effect of its own: nothing to undo.
    LineSources {
        /// The line.
        line: EntryId,
        /// The turns.
        turns: Vec<TurnId>,
    },
    /// A pass of reflection, kept with the change that it made.
    Reflected(Box<Pass>),
    /// Something was erased: the change says so, and nothing else.
    Erased,
    /// Nothing was erased since a mark; otherwise the change fails with
    /// [`StoreError::Erased`](super::StoreError::Erased). Whatever is made of stored texts carries it, so that what was
    /// erased in the meantime does not come back.
    Unerased(ErasureMark),
    /// The next version of a task whose version is still `task.version`; 0 is a new one.
    Task(Task),
    /// The next version of a thread whose version is still `thread.version`; 0 is a new one. A conversation that has
    /// one already is a conflict.
    Thread(Thread),
    /// The next version of a project whose version is still `project.version`; 0 is a new one.
    Project(Project),
}

impl Op {
    /// A document's new text, or its removal. A secret that a person keeps in their file stays out of its history, and so
    /// does a NUL character, which not every store can keep.
    pub fn document(name: DocumentName, text: Option<String>) -> Self {
        let hash = text.as_deref().map_or_else(ContentHash::missing, ContentHash::of);
        let text = text.map(|text| redact(&text.replace('\0', "")).text.into_owned());
        Self::Document { name, text, hash, bullets: None }
    }
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
    /// Each thread that it touched, as it is now, and as it was before.
    pub threads: Vec<(Thread, Option<Thread>)>,
    /// Each project that it touched, as it is now, and as it was before.
    pub projects: Vec<(Project, Option<Project>)>,
}
