//! `throughline mcp`: the memory for one assistant, on standard input and output.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Source};
use throughline_core::ports::{Ids as _, SamplingClient};
use throughline_server::mcp::{Keeper, serve_stdio};
use throughline_server::{Code, Problem};

use super::Answer;
use super::failure::Failure;
use super::reply::Reply;
use super::serve::signals;
use crate::sampling::Sampler;
use crate::world::{Home, OpenError, RandomIds, World, is_model_run, settings};
use crate::{config, vectors};

/// Serve one assistant on standard input and output, with the Model Context Protocol
///
/// An assistant starts this by itself; it ends when the assistant does.
#[derive(Args)]
pub(super) struct Mcp {}

impl Mcp {
    pub(super) fn run(self) -> Answer {
        if std::io::stdin().is_terminal() {
            let note = "assistants start this by themselves; `throughline connect` sets one up. Ctrl-D ends it";
            anstream::eprintln!("{} {note}", "note:".yellow().bold());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
        let memory = Arc::new(OnDemand::default());
        let serving = Arc::clone(&memory) as Arc<dyn Keeper>;
        runtime.block_on(async {
            let stop = signals().map_err(|error| Failure::io("listen for the signal to stop", &error))?;
            serve_stdio(serving, stop).await;
            Ok::<_, Failure>(())
        })?;
        // A read of standard input cannot be interrupted: nobody waits for it.
        runtime.shutdown_background();
        memory.end_sampling();
        memory.embed_later();
        drop(memory);
        Ok(Reply::silent())
    }
}

/// A memory that is opened when somebody first needs it.
#[derive(Default)]
struct OnDemand {
    world: Mutex<Option<World>>,
    sampler: Mutex<Option<Sampler>>,
}

impl OnDemand {
    fn with_world<T>(&self, work: impl FnOnce(&World) -> T) -> Result<T, Problem> {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = world.as_ref() {
            return Ok(work(world));
        }
        if is_model_run() {
            let hint = "nothing is stored or given in such a run";
            return Err(Problem::new(Code::Forbidden, "this assistant is run as a model of the memory itself", hint));
        }
        Ok(work(world.insert(World::open().map_err(problem)?)))
    }
}

impl OnDemand {
    /// Nobody is there to be asked any more.
    fn end_sampling(&self) {
        if let Some(sampler) = self.sampler.lock().unwrap_or_else(PoisonError::into_inner).take() {
            sampler.end();
        }
    }

    /// Has what the assistant stored embedded after this process.
    fn embed_later(&self) {
        if let Some(world) = self.world.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            vectors::start_memories(world, 1);
        }
    }
}

impl Keeper for OnDemand {
    fn settings(&self) -> Result<Settings, Problem> {
        // As if memory were off: no tools, resources or prompts.
        if is_model_run() {
            return Ok(Settings { enabled: false, ..Settings::default() });
        }
        let home = Home::find().map_err(problem)?;
        match config::find(&home.config).map_err(|error| problem(error.into()))? {
            Some(_) => config::load(&home.config)
                .map_err(OpenError::from)
                .and_then(|loaded| settings(&loaded))
                .map_err(problem),
            // The first run decides what the settings are.
            None => self.with_world(|world| world.engine.settings().clone()),
        }
    }

    fn engine(&self) -> Result<Engine, Problem> {
        self.with_world(|world| world.engine.acting(Actor::new(Source::Agent, "mcp")))
    }

    fn word(&self) -> Result<String, Problem> {
        Ok(RandomIds.next().chars().take(10).collect())
    }

    fn directory(&self) -> Option<PathBuf> {
        std::env::current_dir().and_then(|dir| dir.canonicalize()).ok()
    }

    fn offer_sampling(&self, client: Arc<dyn SamplingClient>) {
        let mut sampler = self.sampler.lock().unwrap_or_else(PoisonError::into_inner);
        match (sampler.as_ref(), Home::find()) {
            (Some(sampler), _) => sampler.add(client),
            (None, Ok(home)) => match Sampler::start(home, client) {
                Ok(started) => *sampler = Some(started),
                Err(error) => tracing::warn!(%error, "the client's model is not asked"),
            },
            (None, Err(error)) => tracing::warn!(%error, "the client's model is not asked"),
        }
    }
}

fn problem(error: OpenError) -> Problem {
    Problem::failed(&error, error.hint())
}
