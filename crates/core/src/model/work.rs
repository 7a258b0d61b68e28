//! Tasks and projects: what the person is at, and where.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, EntryId, Name, Status, TaskId, spelled};

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

/// A section of a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemorySection {
    /// How things stand.
    #[default]
    Is,
    /// What took place.
    Happened,
    /// What is completed.
    Done,
}

spelled!(MemorySection, "section", "is, happened, done", { Is => "is", Happened => "happened", Done => "done" });

impl schemars::JsonSchema for MemorySection {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MemorySection".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": ["is", "happened", "done"] })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// A place where work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Project {
    /// Its name; memories link to it by this.
    pub name: Name,
    /// Its directory, as an absolute path.
    #[serde(default)]
    pub dir: Option<String>,
    /// Whether it is still registered.
    pub status: Status,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
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

/// One version of a project, with the change that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProjectVersion {
    /// The project as it was then.
    pub project: Project,
    /// What made it so.
    pub change: Change,
}
