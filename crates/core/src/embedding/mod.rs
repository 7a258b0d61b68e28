//! Embedding memories: entries, bullets and turns get vectors in batches, the newest first; a question gets its vector
//! while it is being answered.
//!
//! Goes in: an embedder, and how much may be done at once. Comes out: what was done and what is left. Never happens: two
//! runs at a time, a question that fails because its vector does not come, one bad text that keeps others from theirs.

mod baseline;
pub(crate) mod calls;
mod query;
mod run;

use crate::kernel::Kernel;
use crate::models::ModelService;
use crate::ports::{self, Embedders};

pub use baseline::Baseline;

/// As many characters of a memory are embedded: models cut longer texts, or refuse them.
pub const EMBEDDED_CHARS: usize = 2_000;

/// Vectors of memories, and of questions.
#[derive(Clone, Copy)]
pub struct EmbeddingService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) vectors: &'e dyn ports::MemoryVectors,
    pub(crate) models: ModelService<'e>,
    pub(crate) embedders: &'e dyn Embedders,
}
