//! The vault as a store keeps it: documents with their chunks.
//!
//! Everything here is derived from files that stay where they are: nothing is versioned, and what is removed is gone.

use crate::model::VaultId;
use crate::vault::{Chunk, UnreadFile, VaultDocument};

use super::Stored;

/// Documents and chunks.
pub trait Vault {
    /// All documents, by path.
    fn vault_documents(&self) -> Stored<Vec<VaultDocument>>;
    /// Puts documents in the place of those with the same ids, each with all its chunks, all in one transaction. A chunk
    /// that was there keeps its vectors.
    fn replace_documents(&self, documents: &[(VaultDocument, Vec<Chunk>)]) -> Stored<()>;
    /// Notes that a document was looked at and is unchanged.
    fn restamp_document(&self, document: &VaultDocument) -> Stored<()>;
    /// Removes documents with their chunks, index, vectors and counts, and remembers these paths as left out; gives how
    /// many documents there were.
    fn remove_documents(&self, ids: &[VaultId], left_out: &[String]) -> Stored<u64>;
    /// The paths that a person took out for good.
    fn left_out(&self) -> Stored<Vec<String>>;
    /// These paths are not left out any more.
    fn take_in_again(&self, paths: &[String]) -> Stored<()>;
    /// The chunks of a document, in order.
    fn chunks_of(&self, document: &VaultId) -> Stored<Vec<Chunk>>;
    /// Files that gave no text when they were last read, by path.
    fn unread_files(&self) -> Stored<Vec<UnreadFile>>;
    /// Notes files that gave no text, in the place of what was noted of them before, and forgets those at `others`.
    fn note_unread_files(&self, unread: &[UnreadFile], others: &[String]) -> Stored<()>;
    /// How many documents and chunks there are.
    fn vault_size(&self) -> Stored<(u64, u64)>;
}
