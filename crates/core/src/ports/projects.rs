//! Projects. Changed by operations like everything else ([`Op::Project`](super::Op::Project)); read here.

use std::collections::HashSet;

use serde::Serialize;

use crate::model::{EntryId, Name, Project};

use super::Stored;

/// A directory that is a project by itself, and what it is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ProjectRoot {
    /// The name of the project.
    pub name: Name,
    /// The directory, as an absolute path.
    pub dir: String,
}

/// Projects, each with its directory on this machine.
pub trait Projects {
    /// All registered projects, whatever their status, by name.
    fn projects(&self) -> Stored<Vec<Project>>;
    /// One registered project.
    fn project(&self, name: &Name) -> Stored<Option<Project>>;
    /// Every name that a project, a session or an entry gives, sorted.
    fn project_names(&self) -> Stored<Vec<String>>;
    /// The directories of this machine that are projects by themselves, by name.
    fn roots(&self) -> Stored<Vec<ProjectRoot>>;
    /// Names a directory of this machine, whatever it was called before. A name that another one has is a conflict.
    fn name_root(&self, root: &ProjectRoot) -> Stored<()>;
    /// The lines of a project's memory file that the person accepted or this memory wrote.
    fn accepted_lines(&self, project: &Name) -> Stored<HashSet<EntryId>>;
    /// Accepts lines of a project's memory file. Idempotent.
    fn accept_lines(&self, project: &Name, lines: &[EntryId]) -> Stored<()>;
}
