//! Vectors of the vault's chunks.

use crate::vault::{Packed, Passage};

use super::{Embedder, Stored};

/// Who makes vectors. Two that differ in their address alone are the same: a model may move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeBy {
    /// The provider, as in the config.
    pub provider: String,
    /// The model, as the provider knows it.
    pub model: String,
    /// Where it is asked, without any password; nothing at the provider's usual address.
    pub base_url: Option<String>,
}

impl MadeBy {
    /// The maker that an embedder is.
    pub fn of(embedder: &dyn Embedder) -> Self {
        Self {
            provider: embedder.provider().to_owned(),
            model: embedder.name().to_owned(),
            base_url: embedder.base_url().map(str::to_owned),
        }
    }

    /// Whether both name the same model, wherever it is.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.provider, &self.model) == (&other.provider, &other.model)
    }
}

impl std::fmt::Display for MadeBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSet {
    /// The set's name in the store.
    pub row: i64,
    /// Who made them.
    pub by: MadeBy,
    /// How many numbers each has.
    pub dimension: usize,
    /// Whether searches use it. One does, at most.
    pub is_serving: bool,
    /// How many there are.
    pub vectors: u64,
}

/// What an embedder made of some chunks, each by the name that [`Vectors::without_vector`] gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// Vectors, all of one length.
    pub vectors: Vec<(i64, Packed)>,
    /// Chunks that were refused, and why.
    pub refused: Vec<(i64, String)>,
}

/// Vectors of chunks. The set that a model is at work on is the one that does not serve yet, else the one that serves.
pub trait Vectors {
    /// The sets there are, complete or not, the oldest first.
    fn vector_sets(&self) -> Stored<Vec<VectorSet>>;
    /// How many chunks this model refused.
    fn refused(&self, by: &MadeBy) -> Stored<u64>;
    /// Chunks after `after` that have no vector in the set that this model is at work on and were not refused, in
    /// order: a name for each and the text to embed.
    fn without_vector(&self, by: &MadeBy, after: i64, limit: usize) -> Stored<Vec<(i64, String)>>;
    /// Keeps what a model made, in one transaction; what belongs to a chunk that is gone by now is left out. Vectors of
    /// a length that is new for the model begin a set, in the place of one that was never completed.
    fn keep_vectors(&self, by: &MadeBy, made: &Made) -> Stored<()>;
    /// If the set that this model is at work on is complete, searches use it from now on and every other is gone, in
    /// one transaction; whether it was.
    fn serve_if_complete(&self, by: &MadeBy) -> Stored<bool>;
    /// The passages nearest to `query` in this set, with their cosines, the nearest first.
    fn nearest(&self, set: i64, query: &[f32], limit: usize) -> Stored<Vec<(Passage, f64)>>;
}
