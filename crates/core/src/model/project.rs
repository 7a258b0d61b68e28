//! Projects: places where work is done.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, Name, Status};

/// A place where work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Project {
    /// Its name; memories link to it by this.
    pub name: Name,
    /// Its directory on this machine, as an absolute path.
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

/// One version of a project, with the change that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProjectVersion {
    /// The project as it was then.
    pub project: Project,
    /// What made it so.
    pub change: Change,
}
