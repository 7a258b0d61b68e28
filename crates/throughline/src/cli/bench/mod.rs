//! `throughline bench recall|memory|speed`: measured through the engine that everybody uses, in a home of its own.

mod cached;
mod dataset;
mod features;
mod meaning;
mod memory;
mod recall;
mod score;
mod speed;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use clap::Subcommand;
use jiff::Timestamp;
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Source};
use throughline_core::ports::{Clock, Store};
use throughline_documents::FileDocuments;

use super::Answer;
use super::failure::Failure;
use crate::world::{Durability, RandomIds, store_at};

/// Measure retrieval quality or speed
#[derive(Subcommand)]
pub(super) enum Bench {
    /// Answer the questions of a data set and score them
    Recall(recall::RecallBench),
    /// Feed the conversations of a data set and score what an assistant is given for each question
    Memory(memory::MemoryBench),
    /// Measure latencies at a size of your choice
    Speed(speed::SpeedBench),
}

impl Bench {
    pub(super) fn run(self) -> Answer {
        match self {
            Self::Recall(bench) => bench.run(),
            Self::Memory(bench) => bench.run(),
            Self::Speed(bench) => bench.run(),
        }
    }
}

/// A clock that is set to the time of each question.
#[derive(Default)]
struct SetClock(AtomicI64);

impl SetClock {
    fn set(&self, to: Timestamp) {
        self.0.store(to.as_millisecond(), Ordering::Relaxed);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// The directory of a measured memory.
enum Place {
    /// Gone when it is dropped.
    Temporary(tempfile::TempDir),
    Kept(PathBuf),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Temporary(directory) => directory.path(),
            Self::Kept(directory) => directory,
        }
    }
}

/// A memory to measure.
struct Laboratory {
    engine: Engine,
    store: Arc<dyn Store>,
    clock: Arc<SetClock>,
    directory: Place,
}

impl Laboratory {
    /// In a temporary directory.
    fn open(durability: Durability) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().map_err(|error| Failure::io("make a temporary directory", &error))?;
        Self::open_at(Place::Temporary(directory), durability)
    }

    fn open_at(directory: Place, durability: Durability) -> Result<Self, Failure> {
        let store = store_at(&directory.path().join("memory.db"), durability)?;
        let documents = FileDocuments::open(directory.path()).map_err(crate::world::OpenError::from)?;
        let clock = Arc::new(SetClock::default());
        let engine = Engine::new(
            Arc::clone(&store),
            Arc::new(documents),
            Arc::clone(&clock) as _,
            Arc::new(RandomIds),
            Settings::default(),
            Actor::new(Source::User, "bench"),
        );
        Ok(Self { engine, store, clock, directory })
    }
}

/// The value below which a share of the sorted values lies.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

/// Milliseconds since `start`.
fn elapsed_ms(start: std::time::Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}
