//! Why the index could not answer.

use crate::store::SegmentId;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The bytes of a segment are not what was written.
    #[error("segment {segment} is damaged: {what}")]
    Corrupt {
        /// Which one.
        segment: SegmentId,
        /// What does not fit.
        what: &'static str,
    },
    /// A segment was written by a newer program.
    #[error("segment {segment} has format {found}; this program knows format {known}")]
    Format {
        /// Which one.
        segment: SegmentId,
        /// Its format.
        found: u16,
        /// The only one that this program reads.
        known: u16,
    },
    /// The store failed.
    #[error("cannot read or write segments")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Bytes that do not decode; the caller knows which segment they are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Corrupt(pub(crate) &'static str);

impl Corrupt {
    pub(crate) fn of(self, segment: SegmentId) -> IndexError {
        IndexError::Corrupt { segment, what: self.0 }
    }
}
