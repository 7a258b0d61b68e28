//! Changes: what a single verb altered, who asked for it, and every version that it left behind.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ChangeId, ContentHash, DocumentName, Entry, Source, spelled};

/// Who made a change, and through what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Actor {
    /// Person, assistant or program.
    pub who: Source,
    /// The surface: `cli`, `editor`, later `panel`, `mcp`.
    pub via: String,
}

impl Actor {
    /// An actor on a surface.
    pub fn new(who: Source, via: &str) -> Self {
        Self { who, via: via.to_owned() }
    }
}

/// What was done, in the word that every surface uses for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A memory was added, or stored again under its key.
    Remember,
    /// A memory was changed.
    Edit,
    /// A memory was made inactive, or a bullet removed.
    Forget,
    /// An earlier version was brought back.
    Restore,
    /// The last change was reverted.
    Undo,
    /// A document was written.
    Write,
    /// An export was read in.
    Import,
    /// A conversation was consolidated.
    Consolidate,
    /// A memory was erased: that it happened is all that is left.
    Erase,
    /// A memory was replaced because it was wrong.
    Correct,
    /// Memories that say the same became one.
    Merge,
    /// A task was added or changed.
    Task,
    /// A task was done: its working state went to the archive.
    Done,
    /// A project was added or changed.
    Project,
    /// A conversation was searched for what the assistant should have stored, and summed up.
    Fill,
    /// Memory was looked back on: distilled, merged, pruned, promoted.
    Reflect,
    /// A person said what becomes of something that was learnt.
    Review,
}

spelled!(Verb, "verb", "remember, edit, forget, restore, undo, write, import, consolidate, erase, correct, merge, task, done, project, fill, reflect, review", {
    Remember => "remember", Edit => "edit", Forget => "forget", Restore => "restore", Undo => "undo",
    Write => "write", Import => "import", Consolidate => "consolidate", Erase => "erase", Correct => "correct", Merge => "merge",
    Task => "task", Done => "done", Project => "project", Fill => "fill", Reflect => "reflect", Review => "review",
});

/// One change: the unit of history and of undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Change {
    /// Its identifier.
    pub id: ChangeId,
    /// Who made it.
    pub actor: Actor,
    /// What was done.
    pub verb: Verb,
    /// When.
    pub at: Timestamp,
    /// The change that this one reverted.
    pub undoes: Option<ChangeId>,
}

/// One version of an entry, with the change that made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EntryVersion {
    /// The entry as it was then.
    pub entry: Entry,
    /// What made it so.
    pub change: Change,
}

/// One version of a document, with the change that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DocumentVersion {
    /// Which document.
    pub name: DocumentName,
    /// Counts versions, from 1.
    pub version: u32,
    /// The text, or nothing where the file was removed.
    pub text: Option<String>,
    /// The digest of the text.
    pub hash: ContentHash,
    /// What made it so.
    pub change: Change,
}
