//! Export and import.

use crate::model::{
    Change, DocumentVersion, EntryId, EntryVersion, Memory, Mute, Project, ProjectVersion, Session, Task, TaskVersion,
    Thread, ThreadVersion, Turn,
};

use super::{ErasureMark, Stored};

/// Everything at once, for export and import.
pub trait Transfer {
    /// Everything that the store holds, in a stable order.
    fn bundle(&self) -> Stored<Bundle>;
    /// Takes in a bundle under `change`, in one transaction; what is there already stays, and what is inactive only
    /// because what brought it here was undone comes back. Nothing may have been erased since the mark, as with
    /// [`Op::Unerased`](super::Op::Unerased). `last` as in [`Changes::apply`](super::Changes::apply); it is given the receipt,
    /// so that a dry run is the import itself, rolled back.
    fn adopt(
        &self,
        change: &Change,
        bundle: &Bundle,
        since: &ErasureMark,
        last: &mut dyn FnMut(&Adopted) -> bool,
    ) -> Stored<Adopted>;
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
    /// Every turn, session by session, each in its order.
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// Every task, whatever its status.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Every version of every task, oldest first.
    #[serde(default)]
    pub task_history: Vec<TaskVersion>,
    /// Every thread, whatever its status.
    #[serde(default)]
    pub threads: Vec<Thread>,
    /// Every version of every thread, oldest first.
    #[serde(default)]
    pub thread_history: Vec<ThreadVersion>,
    /// Every project, whatever its status.
    #[serde(default)]
    pub projects: Vec<Project>,
    /// Every version of every project, oldest first.
    #[serde(default)]
    pub project_history: Vec<ProjectVersion>,
    /// Memories that are never given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutes: Vec<Mute>,
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
    /// Threads that are new here, or back.
    pub threads: u64,
    /// Projects that are new here, or back.
    pub projects: u64,
}
