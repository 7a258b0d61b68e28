//! Embedding memories: entries, bullets and turns get vectors in batches, newest first.

mod baseline;

pub use baseline::Baseline;

/// As many characters of a memory are embedded: models cut longer texts, or refuse them.
pub const EMBEDDED_CHARS: usize = 2_000;
