//! Projects. Changed by operations like everything else ([`Op::Project`](super::Op::Project)); read here.

use crate::model::{Name, Project};

use super::Stored;

/// Projects, each with its directory on this machine.
pub trait Projects {
    /// All projects, whatever their status, by name.
    fn projects(&self) -> Stored<Vec<Project>>;
    /// One project.
    fn project(&self, name: &Name) -> Stored<Option<Project>>;
}
