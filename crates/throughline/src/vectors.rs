//! Embedding passages of the vault and memories: here and now, or in a run of this program that outlives the command.
//!
//! One run of each at a time, whoever starts it. A run in the background that met a problem is not repeated at once: a
//! search costs no failing request.

use std::time::Duration;

use jiff::SignedDuration;
use throughline_core::engine::{Embedded, EngineError, Worker, chain};
use throughline_core::ports::{Breaker, MadeBy};
use throughline_core::vault::EmbeddingProgress;

use crate::background::detached;
use crate::embedders::EmbedderSetupError;
use crate::world::World;
use crate::{daemon, embedders, processes};

/// How often a run looks whether another is done.
const PAUSE: Duration = Duration::from_millis(100);

/// How long nothing is begun in the background after a run that met a problem, and under which name that is kept.
const REST: SignedDuration = SignedDuration::from_mins(10);
const RUNS: &str = "embedding in the background";

/// So many memories without a vector are worth a run in the background.
pub(crate) const PILE: u64 = 16;

/// What is embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// Passages of the vault.
    Passages,
    /// Entries, bullets and turns.
    Memories,
}

/// How much is done, and how long another run is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// About so many at the most.
    pub(crate) most: u64,
    /// So long.
    pub(crate) patience: Duration,
}

impl Effort {
    /// Everything, after the run that is at it if that ends soon.
    pub(crate) const WHOLE: Self = Self { most: u64::MAX, patience: Duration::from_secs(10) };
}

/// What came of embedding.
pub(crate) enum Embedding {
    /// This run did what it could.
    Ran(Embedded),
    /// Another run is at it, and so much is left.
    Busy(Embedded),
}

impl Embedding {
    /// For somebody who asked for vectors: where another run is at it, that is why there are none.
    pub(crate) fn told(self) -> Embedded {
        match self {
            Self::Ran(done) => done,
            Self::Busy(left) => Embedded { problem: Some("another run is making vectors".to_owned()), ..left },
        }
    }
}

/// Embeds what has no vector; nothing where no embedder is set up. Also what a job of a daemon calls, with an effort of
/// its own, until nothing is missing. `progress` hears how far it is, and says whether to go on.
pub(crate) fn embed(
    world: &World,
    of: Of,
    effort: Effort,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Option<Embedding>, EngineError> {
    let embedder = match embedders::for_indexing(world) {
        Ok(None) => return Ok(None),
        Ok(Some(embedder)) => embedder,
        Err(error) => return Ok(Some(Embedding::Ran(not_set_up(&error)))),
    };
    let worker = Worker { holder: processes::holder(), is_gone: &processes::is_gone };
    let mut waited = Duration::ZERO;
    loop {
        let done = match of {
            Of::Passages => world.engine.vault().embed_missing(&*embedder, &worker, effort.most, progress)?,
            Of::Memories => world.engine.embedding().embed_missing(&*embedder, &worker, effort.most, progress)?,
        };
        if let Some(done) = done {
            let until = done.problem.as_ref().and_then(|_| world.engine.now().checked_add(REST).ok());
            let breaker = Breaker { failures: u32::from(until.is_some()), open_until: until };
            // A run that had nothing to do says nothing about the embedder.
            let has_asked = done.problem.is_some() || done.embedded + done.refused > 0;
            if has_asked && world.engine.models().breaker(RUNS).unwrap_or_default() != breaker {
                world.engine.models().keep_breaker(RUNS, &breaker);
            }
            return Ok(Some(Embedding::Ran(done)));
        }
        if waited >= effort.patience {
            return Ok(Some(Embedding::Busy(left(world, of, &MadeBy::of(&*embedder))?)));
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

/// What a run would have to do for the vault; nothing where no embedder is set up.
pub(crate) fn to_do(world: &World) -> Result<Option<Embedded>, EngineError> {
    match embedders::made_by(world) {
        Ok(by) => by.map(|by| left(world, Of::Passages, &by)).transpose(),
        Err(error) => Ok(Some(not_set_up(&error))),
    }
}

fn left(world: &World, of: Of, by: &MadeBy) -> Result<Embedded, EngineError> {
    let missing = match of {
        Of::Passages => world.engine.vault().embedding_progress(by)?.missing(),
        Of::Memories => world.engine.embedding().waiting(by)?,
    };
    Ok(Embedded { model: by.to_string(), missing, ..Embedded::default() })
}

fn not_set_up(error: &EmbedderSetupError) -> Embedded {
    Embedded { problem: Some(format!("{}; {}", chain(error), error.hint())), ..Embedded::default() }
}

/// Begins to give passages their vectors in the background, where some have none of the embedder that is set up; says
/// how far that is. A failure to look is no failure of the command.
pub(crate) fn start_if_due(world: &World) -> Option<EmbeddingProgress> {
    let due = match due(world) {
        Ok(due) => due,
        Err(error) => {
            tracing::warn!(%error, "how many passages have a vector could not be told");
            None
        }
    };
    // A daemon sees to it by itself.
    if due.is_some()
        && !daemon::is_running(&world.home)
        && !rests(world)
        && !world.engine.vault().is_embedding(&processes::is_gone).unwrap_or(true)
    {
        detached(world, &["vault", "reembed", "--json"]);
    }
    due
}

/// How far the embedder that is set up is, while it is not done.
pub(crate) fn due(world: &World) -> Result<Option<EmbeddingProgress>, EngineError> {
    // What is wrong with the settings is said by the search itself.
    let Ok(Some(by)) = embedders::made_by(world) else { return Ok(None) };
    let progress = world.engine.vault().embedding_progress(&by)?;
    let serves = world.engine.vault().vector_sets()?.into_iter().any(|set| set.is_serving && set.by.is_same(&by));
    let is_done = progress.missing() == 0 && (serves || progress.embedded == 0);
    Ok((!is_done).then_some(progress))
}

/// Whether the last run met a problem a short while ago.
fn rests(world: &World) -> bool {
    let until = world.engine.models().breaker(RUNS).and_then(|breaker| breaker.open_until);
    until.is_some_and(|until| until > world.engine.now())
}

/// How many memories wait for a vector of the embedder that is set up; 0 where none is.
pub(crate) fn waiting_memories(world: &World) -> Result<u64, EngineError> {
    let Ok(Some(by)) = embedders::made_by(world) else { return Ok(0) };
    world.engine.embedding().waiting(&by)
}

/// Begins to embed memories in the background where so many wait for it. A failure to look is no failure of the command.
pub(crate) fn start_memories(world: &World, pile: u64) {
    // Most commands end here: a count, and no model is loaded.
    let queued = world.engine.embedding().queued().unwrap_or_else(|error| {
        tracing::warn!(%error, "how many memories have a vector could not be told");
        0
    });
    if queued >= pile.max(1)
        && !daemon::is_running(&world.home)
        && !rests(world)
        && !world.engine.embedding().is_embedding(&processes::is_gone).unwrap_or(true)
        && matches!(embedders::made_by(world), Ok(Some(_)))
    {
        detached(world, &["reindex", "--vectors", "--json"]);
    }
}
