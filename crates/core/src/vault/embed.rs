//! Vectors for the vault: every passage gets one, a batch at a time, while the vectors of an earlier model serve.
//!
//! Goes in: an embedder, and how much may be done at once. Comes out: what was done and what is left. Never happens: two
//! runs at a time, a set that serves before it is complete, one bad text that keeps the others from their vectors.

use serde::Serialize;

use crate::embedding::calls::{EmbedCalls, Trouble};
use crate::error::Done;
use crate::kernel::Worker;
use crate::model::EntryId;
use crate::ports::{ChunkMark, EmbedFor, Embedder, Holder, Made, MadeBy, ModelError, VectorSet};
use crate::vault::{EmbeddingProgress, VaultService};

/// Texts that an embedder is given at once.
const EMBED_BATCH: usize = 32;

/// Who is at it holds this lease.
const LEASE: &str = "embed the vault";

/// What became of embedding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Embedded {
    /// Provider and model.
    pub model: String,
    /// Passages, or memories, that have a vector now and had none before.
    pub embedded: u64,
    /// How many were refused in this run: they have no vector, and are not tried again.
    pub refused: u64,
    /// How many have none yet.
    pub missing: u64,
    /// Why, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl VaultService<'_> {
    /// The sets of vectors there are.
    pub fn vector_sets(&self) -> Done<Vec<VectorSet>> {
        Ok(self.vectors.vector_sets()?)
    }

    /// How far a model is. Only what is of this model counts, and of its newest set.
    pub fn embedding_progress(&self, by: &MadeBy) -> Done<EmbeddingProgress> {
        let (_, of) = self.vault_store.vault_size()?;
        let mut own: Vec<VectorSet> =
            self.vectors.vector_sets()?.into_iter().filter(|set| set.by.is_same(by)).collect();
        own.reverse();
        own.sort_by_key(|set| set.is_serving);
        let embedded = own.first().map_or(0, |set| set.vectors);
        Ok(EmbeddingProgress { model: by.to_string(), embedded, refused: self.vectors.refused(by)?, of })
    }

    /// Gives passages a vector of this embedder, about `most` of them at the most: a daemon comes back for the rest. What
    /// is kept is kept, whatever happens next. The vectors of another model serve until the last of the new ones is
    /// there. Nothing where somebody else is at it. `progress` is told how far it is before each batch, and says whether
    /// to go on.
    pub fn embed_missing(
        &self,
        embedder: &dyn Embedder,
        worker: &Worker<'_>,
        most: u64,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Done<Option<Embedded>> {
        let done = self.kernel.with_lease(LEASE, worker, |hold| self.embed_alone(embedder, hold, most, progress))?;
        Ok(done.flatten())
    }

    /// Whether somebody who is not gone is giving passages their vectors at the moment. Only looks: nobody is kept from
    /// beginning.
    pub fn is_embedding(&self, is_gone: &dyn Fn(&Holder) -> bool) -> Done<bool> {
        let held = self.kernel.leases.lease(LEASE)?;
        Ok(held.is_some_and(|lease| lease.until > self.kernel.now && !is_gone(&lease.holder)))
    }

    fn embed_alone(
        &self,
        embedder: &dyn Embedder,
        is_still_alone: &dyn Fn() -> Done<bool>,
        most: u64,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Done<Option<Embedded>> {
        let by = MadeBy::of(embedder);
        let mut done = Embedded { model: by.to_string(), ..Embedded::default() };
        let mut total = self.embedding_progress(&by)?.missing();
        let (mut after, mut dimension) = (ChunkMark::default(), None);
        let calls = EmbedCalls { models: self.models, embedder };
        loop {
            if !progress(done.embedded, total) {
                break;
            }
            let (batch, end) = self.vectors.without_vector(&by, &after, EMBED_BATCH)?;
            if batch.is_empty() {
                // Also a set that was complete all along: those that were begun beside it go.
                if self.vectors.serve_if_complete(&by)? || after.is_start() {
                    break;
                }
                // Another length begins anew, behind what was looked at; and files come in meanwhile.
                (after, total) = (ChunkMark::default(), done.embedded + self.embedding_progress(&by)?.missing());
                continue;
            }
            if done.embedded + done.refused >= most {
                break;
            }
            if !is_still_alone()? {
                return Ok(None);
            }
            let made = match made_of(&calls, batch, &mut dimension) {
                Ok(made) => made,
                Err(error) => {
                    done.problem = Some(error.to_string());
                    break;
                }
            };
            self.vectors.keep_vectors(&by, &made)?;
            done.embedded += made.vectors.len() as u64;
            done.refused += made.refused.len() as u64;
            after = end;
        }
        done.missing = self.embedding_progress(&by)?.missing();
        Ok(Some(done))
    }

    /// The vector of a query, as long as those it is compared with.
    pub(crate) fn embed_query(
        &self,
        query: String,
        embedder: &dyn Embedder,
        dimension: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let calls = EmbedCalls { models: self.models, embedder };
        let vectors = calls.embed(&[query], EmbedFor::Searching, Some(dimension)).map_err(Trouble::into_error)?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}

/// What an embedder makes of a batch of chunks.
fn made_of(
    calls: &EmbedCalls<'_>,
    batch: Vec<(EntryId, String)>,
    dimension: &mut Option<usize>,
) -> Result<Made, ModelError> {
    let (ids, texts): (Vec<EntryId>, Vec<String>) = batch.into_iter().unzip();
    let mut made = Made::default();
    for (id, outcome) in ids.into_iter().zip(calls.outcomes(&texts, dimension)?) {
        match outcome {
            Ok(vector) => made.vectors.push((id, vector)),
            Err(why) => made.refused.push((id, why)),
        }
    }
    Ok(made)
}
