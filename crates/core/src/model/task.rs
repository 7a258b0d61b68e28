//! Tasks: what the person means to get done.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, EntryId, TaskId, spelled};

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// Somebody is at it, or will be.
    Open,
    /// It is completed; its working state is in the archive.
    Done,
    /// It is not wanted any more. What links to it keeps its link.
    Removed,
}

spelled!(TaskStatus, "status of a task", "open, done, removed", {
    Open => "open", Done => "done", Removed => "removed",
});

/// Something the person means to get done, with a working state of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Task {
    /// Its identifier; memories link to it by this.
    pub id: TaskId,
    /// What is to be done.
    pub title: String,
    /// How far it is.
    pub status: TaskStatus,
    /// Where it stands, in words: goes to the archive when the task is done.
    #[serde(default)]
    pub state: String,
    /// The project it belongs to.
    #[serde(default)]
    pub project: Option<String>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was done.
    #[serde(default)]
    pub done_at: Option<Timestamp>,
    /// What the archive keeps of it.
    #[serde(default)]
    pub archive: Option<EntryId>,
    /// Counts changes, from 1.
    pub version: u32,
}

/// One version of a task, with the change that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskVersion {
    /// The task as it was then.
    pub task: Task,
    /// What made it so.
    pub change: Change,
}
