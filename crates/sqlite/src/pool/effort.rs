//! How long a write waits for others, and what it may share with them.

use std::time::Duration;

use crate::open;

/// How long a write on the way to a reply waits for another writer: less than half of what a hook may take.
const BRIEF: Duration = Duration::from_millis(100);

/// How much a write matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Somebody waits for its confirmation.
    Confirmed,
    /// Somebody waits for a reply, which does not depend on it: durable, but not worth a long wait.
    Brief,
    /// A log: not worth a sync or a long wait.
    Log(Duration),
}

/// Whether a write may share a transaction with others of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// It may: it is short.
    Shared,
    /// It takes long, or a file changes with it.
    Alone,
}

impl Effort {
    /// How long another writer is waited for.
    pub(crate) fn patience(self) -> Duration {
        match self {
            Self::Confirmed => open::BUSY_TIMEOUT,
            Self::Brief => BRIEF,
            Self::Log(patience) => patience,
        }
    }
}
