//! What is derived from documents and texts, kept up to date and rebuilt.

use crate::model::{ContentHash, DocumentName, Entry};

use super::Stored;

/// Keeps what [`Candidates`](super::Candidates) searches: derived, and rebuilt at will.
pub trait Index {
    /// Replaces the bullets that are known of a document, and the stamp of this machine's file that they were read at. A bullet that was known
    /// keeps its source and its dates.
    fn replace_bullets(
        &self,
        name: &DocumentName,
        hash: &ContentHash,
        stamp: Option<&str>,
        bullets: &[Entry],
    ) -> Stored<()>;
    /// Whether this process began upkeep of the index that is not done: one that ends does not wait for it.
    fn has_upkeep(&self) -> bool;
    /// Does the upkeep that is left, unless others are at it.
    fn keep_up(&self) -> Stored<()>;
    /// Rebuilds everything from the rows; reports how far it is.
    fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Stored<u64>;
}
