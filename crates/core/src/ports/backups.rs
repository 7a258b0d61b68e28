//! Copies of a store: files that a person may move, keep and bring back.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Erased, Erasure, StoreStats, Stored};

/// Copies of a store. A store without files has none of them, and all that needs one is left out.
///
/// Paths are those of copies, chosen by the caller; where the store itself is stays below the port.
pub trait Backups: Send + Sync {
    /// Writes a whole, checked copy to `target`, which must not exist, while everybody goes on. `progress` is told how many
    /// pages are done, and says whether to go on: if not, there is no copy, and the error is
    /// [`StoreError::TakenBack`](super::StoreError::TakenBack).
    fn write_copy(&self, target: &Path, progress: &mut dyn FnMut(u64, u64) -> bool) -> Stored<()>;
    /// Restores a copy on the side and checks it, as if it were needed; leaves nothing behind.
    fn check_copy(&self, copy: &Path) -> Stored<CopyCheck>;
    /// Puts a copy in the place of the store, whole or not at all. What was there is kept among the backups under a name
    /// that ends in `stamp`; gives where. Processes that have the store open go on with the copy.
    fn restore_copy(&self, copy: &Path, stamp: &str, at: Timestamp) -> Stored<Option<PathBuf>>;
    /// Erases from a copy; one of an older schema is left alone, and said to be.
    fn erase_in_copy(&self, copy: &Path, erasure: &Erasure) -> Stored<Erased>;
    /// The name of the newest copy among the backups.
    fn newest_copy(&self) -> Option<String>;
}

/// What restoring a copy on the side showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyCheck {
    /// What is wrong with it; nothing when it can be relied on.
    pub problems: Vec<String>,
    /// What it holds.
    pub stats: StoreStats,
}
