//! A run: memories without a vector get one, a batch at a time, the newest first.

use crate::embedding::calls::{EmbedCalls, Trouble};
use crate::embedding::{Baseline, EmbeddingService};
use crate::error::{Done, EngineError};
use crate::kernel::Worker;
use crate::model::EntryId;
use crate::ports::{EmbedFor, Embedder, Holder, MadeBy, MemorySet, MemoryVector, ModelError, StoreError};
use crate::vault::{Embedded, EmbeddingProgress};

/// Texts that an embedder is given at once.
const BATCH: usize = 32;

/// One run at a time holds this lease.
const LEASE: &str = "embed memories";

impl EmbeddingService<'_> {
    /// How far a model is with the memories.
    pub fn progress(&self, by: &MadeBy) -> Done<EmbeddingProgress> {
        let missing = self.vectors.count_unembedded_memories()?;
        let working = self.vectors.memory_sets()?.into_iter().find(|set| set.is_working);
        let (embedded, refused) = match &working {
            Some(set) => self.vectors.count_memory_vectors(&set.id)?,
            None => (0, 0),
        };
        let of = embedded + refused + missing;
        let is_own = working.is_some_and(|set| set.by.is_same(by));
        let (embedded, refused) = if is_own { (embedded, refused) } else { (0, 0) };
        Ok(EmbeddingProgress { model: by.to_string(), embedded, refused, of })
    }

    /// How far the model is that memories were last embedded by; `None` before the first run.
    pub fn last_progress(&self) -> Done<Option<EmbeddingProgress>> {
        let working = self.vectors.memory_sets()?.into_iter().find(|set| set.is_working);
        working.map(|set| self.progress(&set.by)).transpose()
    }

    /// How many memories have no vector of the model that they were last embedded by; all before the first run. Cheap.
    pub fn queued(&self) -> Done<u64> {
        Ok(self.vectors.count_unembedded_memories()?)
    }

    /// How many memories a run of this model would embed. Cheap where the model has a set.
    pub fn waiting(&self, by: &MadeBy) -> Done<u64> {
        let is_begun = self.vectors.memory_sets()?.iter().any(|set| set.is_working && set.by.is_same(by));
        if is_begun { Ok(self.vectors.count_unembedded_memories()?) } else { Ok(self.progress(by)?.missing()) }
    }

    /// Embeds about `most` of the memories that have no vector. Keeps every batch at once, whatever happens next. `None`
    /// where another run is at it. `progress` is told how many are done and how many there are before each batch, and says
    /// whether to go on.
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

    /// Whether a run is under way whose holder is not gone. Takes no lease.
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
        let mut run = Run {
            service: self,
            calls: EmbedCalls { models: self.models, embedder },
            set: None,
            dimension: None,
            last: Vec::new(),
        };
        loop {
            let seen = done.embedded + done.refused;
            done.missing = self.waiting(&by)?;
            if !progress(seen, seen + done.missing) || seen >= most {
                break;
            }
            if !is_still_alone()? {
                return Ok(None);
            }
            if done.missing == 0 {
                // Also a set that was complete all along: those of other models go.
                self.finish(&by)?;
                break;
            }
            match run.batch(&by) {
                Ok(made) if made.is_empty() => break,
                Ok(made) => {
                    let refused = made.iter().filter(|(_, outcome)| outcome.is_err()).count() as u64;
                    done.refused += refused;
                    done.embedded += made.len() as u64 - refused;
                }
                Err(Failed::Engine(error)) => return Err(error),
                Err(Failed::Embedder(error)) => {
                    done.problem = Some(error.to_string());
                    break;
                }
            }
        }
        Ok(Some(done))
    }

    fn finish(&self, by: &MadeBy) -> Done<()> {
        let own = self.vectors.memory_sets()?.into_iter().find(|set| set.is_working && set.by.is_same(by));
        own.map(|set| self.vectors.finish_memory_set(&set.id)).transpose()?;
        Ok(())
    }
}

/// Why a batch was not embedded.
enum Failed {
    /// The embedder: what was kept is kept, the rest is tried again later.
    Embedder(ModelError),
    /// The store.
    Engine(EngineError),
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self::Embedder(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

/// What one run knows by now.
struct Run<'a> {
    service: &'a EmbeddingService<'a>,
    calls: EmbedCalls<'a>,
    set: Option<MemorySet>,
    dimension: Option<usize>,
    /// The batch before.
    last: Vec<EntryId>,
}

impl Run<'_> {
    /// Embeds and keeps the next batch; empty at the end.
    fn batch(&mut self, by: &MadeBy) -> Result<Vec<MemoryVector>, Failed> {
        let mut set = match self.set.take() {
            Some(set) => set,
            None => self.working_set(by)?,
        };
        let memories = self.service.vectors.unembedded_memories(BATCH)?;
        let ids: Vec<EntryId> = memories.iter().map(|memory| memory.id.clone()).collect();
        if ids == self.last {
            // None of them could be kept.
            return Ok(Vec::new());
        }
        self.last = ids;
        let texts: Vec<String> = memories.iter().map(|memory| memory.text.clone()).collect();
        let outcomes = self.calls.outcomes(&texts, &mut self.dimension)?;
        if self.dimension.is_some_and(|found| found != set.dimension()) {
            // The name of the set's model, and another model: its vectors have another length.
            set = self.begin(by)?;
        }
        let made: Vec<MemoryVector> = memories.into_iter().zip(outcomes).collect();
        self.service.vectors.keep_memory_vectors(&set.id, &made)?;
        self.set = Some(set);
        Ok(made)
    }

    /// The working set, if it is of this model; else a new one.
    fn working_set(&self, by: &MadeBy) -> Result<MemorySet, Failed> {
        let sets = self.service.vectors.memory_sets()?;
        match sets.into_iter().find(|set| set.is_working && set.by == *by) {
            Some(set) => Ok(set),
            None => self.begin(by),
        }
    }

    fn begin(&self, by: &MadeBy) -> Result<MemorySet, Failed> {
        let vectors = self.calls.embed(&Baseline::texts(), EmbedFor::Storing, None).map_err(Trouble::into_error)?;
        Ok(self.service.vectors.begin_memory_set(by, &Baseline::of(&vectors))?)
    }
}
