//! The vault as a store keeps it: documents with their chunks, the words index over them, and their vectors.
//!
//! Everything here is derived from files that stay where they are: nothing is versioned, and what is removed is gone.

use crate::model::VaultId;
use crate::recall::Terms;
use crate::vault::{Chunk, Packed, Passage, VaultDocument};

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
    /// Removes documents with their chunks, index, vectors and counts; gives how many there were.
    fn remove_documents(&self, ids: &[VaultId]) -> Stored<u64>;
    /// Passages by BM25, best first.
    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>>;
}

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSet {
    /// Provider and model.
    pub model: String,
    /// How many numbers each has.
    pub dimension: usize,
    /// Whether searches use it. One does, at most.
    pub is_serving: bool,
}

/// Vectors of chunks.
pub trait Vectors {
    /// The sets there are, complete or not.
    fn vector_sets(&self) -> Stored<Vec<VectorSet>>;
    /// Chunks without a vector of this model, the oldest first: a name for each and the text to embed. And how many
    /// there are in all.
    fn without_vector(&self, model: &str, limit: usize) -> Stored<(Vec<(i64, String)>, u64)>;
    /// Keeps vectors of a model by the names that [`Vectors::without_vector`] gave, in one transaction; those whose
    /// chunk is gone by now are left out. A set begins with its first vectors; one of another dimension begins anew.
    fn keep_vectors(&self, model: &str, vectors: &[(i64, Packed)]) -> Stored<()>;
    /// From now on searches use this model's vectors, and those of every other are gone.
    fn serve_vectors(&self, model: &str) -> Stored<()>;
    /// The passages nearest to `query` by this model, with their cosines, the nearest first.
    fn nearest(&self, model: &str, query: &[f32], limit: usize) -> Stored<Vec<(Passage, f64)>>;
}
