//! What a worker prints: a line only after the verb has returned, so that each line is a promise of the memory.

use serde::{Deserialize, Serialize};
use throughline_core::model::{EntryId, Status};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// How many operations this life of the worker has begun.
    pub op: u64,
    /// What was acknowledged.
    #[serde(flatten)]
    pub said: Said,
}

/// What must be true from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Said {
    /// A memory that only this life of the worker changes has this very version.
    Own {
        /// Which.
        id: EntryId,
        /// The version that the verb made.
        version: u32,
        /// Its text.
        content: String,
        /// Whether it can be recalled.
        status: Status,
    },
    /// A memory that everybody changes got this text, in a version up to the one on the receipt: the receipt shows the
    /// memory as it is, and somebody else may have been there in between.
    Shared {
        /// Which.
        id: EntryId,
        /// The key that everybody writes under.
        key: String,
        /// The version on the receipt.
        version: u32,
        /// The text, which nobody else writes.
        content: String,
    },
    /// A memory that everybody changes was made inactive, and by nobody else.
    Dropped {
        /// Which.
        id: EntryId,
        /// The key that it had.
        key: String,
    },
    /// The profile has this line, or no longer has it.
    Profile {
        /// The line, which nobody else writes.
        line: String,
        /// Whether it is there.
        present: bool,
    },
    /// The worker was asked to stop and did.
    Stopped,
    /// A verb failed. Never acceptable: the worker only asks for what must succeed.
    Error {
        /// What was tried, and what was said.
        error: String,
    },
}

impl Said {
    /// Whether a version of an entry stands behind it.
    pub fn is_entry_version(&self) -> bool {
        matches!(self, Self::Own { .. } | Self::Shared { .. } | Self::Dropped { .. })
    }
}
