//! A memory in a temporary directory, filled with made-up memories.

use std::path::Path;
use std::sync::Arc;

use throughline::synthetic::{self, Dice};
use throughline::world::{Durability, RandomIds, WorldClock, store_at};
use throughline_core::engine::{Engine, NewMemory, Settings};
use throughline_core::model::{Actor, Name, Source};
use throughline_documents::FileDocuments;

use crate::Failure;

/// Memories made in one transaction.
const BATCH: u64 = 5_000;

/// The engine as the command line wires it, on the memory in `home`.
pub(crate) fn open(home: &Path, durability: Durability) -> Result<Engine, Failure> {
    let store = store_at(&home.join("memory.db"), durability)?;
    let documents = Arc::new(FileDocuments::open(home)?);
    let clock = Arc::new(WorldClock::from_environment()?);
    let settings = Settings { namespace: Some(Name::user_namespace("user")?), ..Settings::default() };
    let actor = Actor::new(Source::User, "bench");
    Ok(Engine::new(store, documents, clock, Arc::new(RandomIds), settings, actor))
}

/// The same texts for the same seed, a batch at a time.
pub(crate) fn texts(count: u64, mut each: impl FnMut(Vec<String>) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut dice = Dice::new(1);
    let mut left = count;
    while left > 0 {
        let batch = left.min(BATCH);
        each((0..batch).map(|_| synthetic::memory(&mut dice)).collect())?;
        left -= batch;
    }
    Ok(())
}

/// Fills a memory as an import does.
pub(crate) fn fill(engine: &Engine, count: u64) -> Result<(), Failure> {
    texts(count, |texts| {
        let news: Vec<NewMemory> = texts.into_iter().map(NewMemory::fact).collect();
        engine.memories().remember_all(&news)?;
        Ok(())
    })
}
