//! Memories that are never given, and can still be searched for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::EntryId;

/// A memory that is not given any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Mute {
    /// The entry, or the line of a document.
    pub memory: EntryId,
    /// The project in whose sessions it is not given; without one, it is given nowhere.
    #[serde(default)]
    pub project: Option<String>,
    /// Since when.
    pub at: Timestamp,
}
