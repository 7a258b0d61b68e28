//! Times in which nothing is observed and nothing is given.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A time in which nothing is observed and nothing is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Pause {
    /// When it began.
    pub since: Timestamp,
    /// When it ends; none if it lasts until somebody ends it.
    pub until: Option<Timestamp>,
}

impl Pause {
    /// Whether a moment lies in it.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.since <= at && self.until.is_none_or(|until| at < until)
    }
}
