//! The thread of an MCP server on standard input and output that consolidates and reflects with the client's model. No call
//! of a tool waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use throughline_core::engine::EngineError;
use throughline_core::ports::{ChangeTokens, SamplingClient};

use super::SamplingClients;
use crate::world::{Home, World, uptime};
use crate::{background, config, models};

/// How often changes are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// How often due work is looked for although nothing changed: silence makes conversations due.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// How long work that is under way is waited for at the end.
const LAST_WORK: Duration = Duration::from_secs(10);

/// The thread, from the first client that offers sampling to the end of the process.
pub(crate) struct Sampler {
    clients: Arc<SamplingClients>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Sampler {
    pub(crate) fn start(home: Home, client: Arc<dyn SamplingClient>) -> std::io::Result<Self> {
        let (clients, stop) = (Arc::new(SamplingClients::default()), Arc::new(AtomicBool::new(false)));
        clients.add(client);
        let rounds = Rounds { home, clients: Arc::clone(&clients), world: None, seen: None, looked: Duration::ZERO };
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("sampling".to_owned()).spawn(move || rounds.run(&stopped))?;
        Ok(Self { clients, stop, thread })
    }

    pub(crate) fn add(&self, client: Arc<dyn SamplingClient>) {
        self.clients.add(client);
    }

    /// Has the thread end, and waits for it, but not for ever: what it does not finish is begun again by another process.
    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let began = uptime();
        while !self.thread.is_finished() && uptime().saturating_sub(began) < LAST_WORK {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

struct Rounds {
    home: Home,
    clients: Arc<SamplingClients>,
    /// Opened once the person chose sampling, and anew when the config changes.
    world: Option<World>,
    seen: Option<ChangeTokens>,
    looked: Duration,
}

impl Rounds {
    fn run(mut self, stop: &AtomicBool) {
        let is_stopped = || stop.load(Ordering::Relaxed);
        while !is_stopped() {
            if let Err(error) = self.round(&is_stopped) {
                tracing::warn!(%error, "what is due was not consolidated; it is tried again");
            }
            std::thread::park_timeout(LOOK);
        }
    }

    fn round(&mut self, is_stopped: background::IsStopped<'_>) -> Result<(), EngineError> {
        if self.clients.current(&self.home).is_none() || !self.is_chosen() {
            return Ok(());
        }
        let Some(world) = &self.world else { return Ok(()) };
        let (tokens, now) = (world.engine.health().pulse().ok(), uptime());
        if tokens == self.seen && now.saturating_sub(self.looked) < LOOK_EVERY {
            return Ok(());
        }
        (self.seen, self.looked) = (tokens, now);
        background::work_due(world, is_stopped)
    }

    /// Whether the config says that clients' models are asked; if so, the memory is open.
    fn is_chosen(&mut self) -> bool {
        let Ok(loaded) = config::load(&self.home.config) else { return false };
        if !models::uses_sampling(&loaded.config) {
            self.world = None;
            return false;
        }
        if self.world.as_ref().is_none_or(|world| world.config != loaded) {
            self.seen = None;
            self.world = match World::open() {
                Ok(world) => Some(World { sampling: Arc::clone(&self.clients), ..world }),
                Err(error) => {
                    tracing::warn!(%error, "the memory cannot be opened; it is tried again");
                    None
                }
            };
        }
        self.world.is_some()
    }
}
