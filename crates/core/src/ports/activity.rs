//! Activity: what was done when.

use jiff::Timestamp;
use serde::Serialize;

use super::Stored;

/// What was done when.
pub trait Activity {
    /// What was done between each of these times and the next; what comes after the last belongs to it.
    fn doings(&self, starts: &[Timestamp]) -> Stored<Vec<Doings>>;
    /// Whether this machine's own clock was read between two times: something was changed, asked or run here.
    fn was_in_use(&self, from: Timestamp, until: Timestamp) -> Stored<bool>;
}

/// What was done on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Doings {
    /// Memories that were stored.
    pub remembered: u64,
    /// Turns that were said.
    pub turns: u64,
    /// Recalls.
    pub recalls: u64,
    /// Changes.
    pub changes: u64,
}
