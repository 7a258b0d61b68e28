//! Vectors of the vault's chunks.

use crate::model::EntryId;
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

/// The provider of the model that is a part of the program.
pub const BUILTIN: &str = "builtin";

impl MadeBy {
    /// Whether the model that is a part of the program made them.
    pub fn is_builtin(&self) -> bool {
        self.provider == BUILTIN
    }

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
    /// Its name, which the store gave it.
    pub id: VectorSetId,
    /// Who made them.
    pub by: MadeBy,
    /// How many numbers each has.
    pub dimension: usize,
    /// Whether searches use it. One does, at most.
    pub is_serving: bool,
    /// How many there are.
    pub vectors: u64,
}

/// Names a set of vectors. Only the store that gave it knows what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSetId(String);

impl VectorSetId {
    /// A store's own spelling.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The store's own spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A place among the chunks, in the store's own order. Only the store that gave it knows what it says; the default is the
/// beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkMark(String);

impl ChunkMark {
    /// A store's own spelling; empty is the beginning.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The store's own spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands in front of every chunk.
    pub fn is_start(&self) -> bool {
        self.0.is_empty()
    }
}

/// What an embedder made of some chunks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// Vectors, all of one length.
    pub vectors: Vec<(EntryId, Packed)>,
    /// Chunks that were refused, and why.
    pub refused: Vec<(EntryId, String)>,
}

/// Vectors of chunks. The set that a model is at work on is the one that does not serve yet, else the one that serves.
pub trait Vectors {
    /// The sets there are, complete or not, the oldest first.
    fn vector_sets(&self) -> Stored<Vec<VectorSet>>;
    /// How many chunks this model refused.
    fn refused(&self, by: &MadeBy) -> Stored<u64>;
    /// Chunks after a mark that have no vector in the set that this model is at work on and were not refused, each with
    /// the text to embed, and the mark behind them. A chunk that comes in meanwhile may stand in front of a mark: whoever
    /// wants all of them begins again until there are none.
    fn without_vector(
        &self,
        by: &MadeBy,
        after: &ChunkMark,
        limit: usize,
    ) -> Stored<(Vec<(EntryId, String)>, ChunkMark)>;
    /// Keeps what a model made, in one transaction; what belongs to a chunk that is gone by now is left out. Vectors of
    /// a length that is new for the model begin a set, in the place of one that was never completed.
    fn keep_vectors(&self, by: &MadeBy, made: &Made) -> Stored<()>;
    /// If the set that this model is at work on is complete, searches use it from now on and every other is gone, in
    /// one transaction; whether it was.
    fn serve_if_complete(&self, by: &MadeBy) -> Stored<bool>;
    /// The passages nearest to `query` in this set, with their cosines, the nearest first.
    fn nearest(&self, set: &VectorSetId, query: &[f32], limit: usize) -> Stored<Vec<(Passage, f64)>>;
}
