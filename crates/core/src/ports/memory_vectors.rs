//! Vectors of memories: entries, bullets of documents, and turns of the person and the assistant.
//!
//! A set holds the vectors of one model. It is searched from its first vector on: vectors only add to what words find. The
//! working set is the one that new memories are embedded for; a set of an earlier model stays until the working set is
//! complete. A vector goes with its memory, and when its text changes.

use crate::embedding::Baseline;
use crate::model::{EntryId, Kind};
use crate::recall::{CandidateMark, Filter};
use crate::vault::Packed;

use super::{MadeBy, Stored, VectorSetId};

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySet {
    /// Its name, which the store gave it.
    pub id: VectorSetId,
    /// The embedder.
    pub by: MadeBy,
    /// What cosines are measured against.
    pub baseline: Baseline,
    /// Whether new memories are embedded for it.
    pub is_working: bool,
}

impl MemorySet {
    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.baseline.mean.len()
    }
}

/// A memory that has no vector in the working set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedMemory {
    /// An entry, bullet or turn.
    pub id: EntryId,
    /// The text to embed: the beginning of its content.
    pub text: String,
}

/// What an embedder made of a memory: its vector, or why it was refused.
pub type MemoryVector = (UnembeddedMemory, Result<Packed, String>);

/// Vectors of memories.
pub trait MemoryVectors {
    /// All sets, the oldest first.
    fn memory_sets(&self) -> Stored<Vec<MemorySet>>;
    /// Makes the set of this model and dimension the working set, and creates it if needed; an existing one keeps its
    /// baseline. Of the other sets, only the one with the most vectors stays.
    fn begin_memory_set(&self, by: &MadeBy, baseline: &Baseline) -> Stored<MemorySet>;
    /// Memories without a vector in the working set that were not refused: entries and bullets before turns, about the
    /// newest first; at most [`EMBEDDED_CHARS`](crate::embedding::EMBEDDED_CHARS) characters of each. Without a working set, all.
    fn unembedded_memories(&self, limit: usize) -> Stored<Vec<UnembeddedMemory>>;
    /// How many memories [`unembedded_memories`](Self::unembedded_memories) gives in all. Cheap.
    fn count_unembedded_memories(&self) -> Stored<u64>;
    /// Keeps vectors and refusals in one transaction. Leaves out memories that are gone, and those whose text is no longer
    /// the one that was embedded.
    fn keep_memory_vectors(&self, set: &VectorSetId, made: &[MemoryVector]) -> Stored<()>;
    /// Removes all other sets if this is the working set and is complete; gives whether it is.
    fn finish_memory_set(&self, set: &VectorSetId) -> Stored<bool>;
    /// How many vectors a set has, and how many memories its model refused.
    fn count_memory_vectors(&self, set: &VectorSetId) -> Stored<(u64, u64)>;
    /// The memories nearest to `query` that the filter admits, with their cosines, the nearest first. Approximate in large
    /// sets. Empty for an unknown set or a query of another dimension.
    fn nearest_memories(
        &self,
        set: &VectorSetId,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Stored<Vec<(EntryId, Kind, f64)>>;
    /// The cosine of each of these memories with `query`, in order; `None` for one without a vector in the set.
    fn cosines(&self, set: &VectorSetId, query: &[f32], marks: &[CandidateMark]) -> Stored<Vec<Option<f64>>>;
}
