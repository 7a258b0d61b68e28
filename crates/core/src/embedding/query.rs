//! Vectors of a question.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::embedding::EmbeddingService;
use crate::embedding::calls::{EmbedCalls, Trouble};
use crate::error::{Done, chain};
use crate::ports::{EmbedFor, MemorySet, ModelError};
use crate::text::redact::redact;
use crate::vault::unit;

impl EmbeddingService<'_> {
    /// A unit vector for each text, and the set that they can be compared with. `None` without an embedder, without a set,
    /// and if the embedder fails, which is logged once per process: words decide alone then. How long a remote embedder
    /// may take is up to [`Embedders`](crate::ports::Embedders).
    pub fn query_vectors(&self, texts: &[&str]) -> Option<(MemorySet, Vec<Vec<f32>>)> {
        if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
            return None;
        }
        let sets = self.fullest_first().unwrap_or_else(|error| {
            warn_once(&chain(&error));
            Vec::new()
        });
        for set in sets {
            let Some(embedder) = self.embedders.for_questions(&set.by) else { continue };
            if !texts.iter().all(|text| embedder.knows(text)) {
                continue;
            }
            let calls = EmbedCalls { models: self.models, embedder: &*embedder };
            match embedded(&calls, texts, set.dimension()) {
                Ok(vectors) => return Some((set, vectors)),
                Err(error) => warn_once(&error.to_string()),
            }
        }
        None
    }

    /// While another model's vectors are being made, those of the earlier one are more.
    fn fullest_first(&self) -> Done<Vec<MemorySet>> {
        let mut sets = self.vectors.memory_sets()?;
        if sets.len() > 1 {
            let count = |set: &MemorySet| self.vectors.count_memory_vectors(&set.id).map(|(vectors, _)| vectors);
            let counts = sets.iter().map(count).collect::<Result<Vec<_>, _>>()?;
            let mut counted: Vec<(u64, MemorySet)> = counts.into_iter().zip(sets).collect();
            counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            sets = counted.into_iter().map(|(_, set)| set).collect();
        }
        Ok(sets)
    }
}

fn embedded(calls: &EmbedCalls<'_>, texts: &[&str], dimension: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let texts: Vec<String> = texts.iter().map(|text| redact(text).text.into_owned()).collect();
    let vectors = calls.embed(&texts, EmbedFor::Searching, Some(dimension)).map_err(Trouble::into_error)?;
    Ok(vectors.iter().map(|vector| unit(vector)).collect())
}

fn warn_once(why: &str) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if WARNED.swap(true, Ordering::Relaxed) {
        tracing::debug!(why, "a question has no vector");
    } else {
        tracing::warn!(why, "a question has no vector: words decide alone");
    }
}
