//! What every handler has at hand.

use std::sync::Arc;

use throughline_core::engine::Engine;
use throughline_core::model::{Actor, Source};
use tokio_util::sync::CancellationToken;

use crate::Host;
use crate::access::{Links, Names, Passes, Token};
use crate::events::Events;
use crate::problem::{Code, Problem};
use crate::scheduler::Scheduler;

/// What every handler has at hand.
pub(crate) struct App {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) token: Token,
    pub(crate) passes: Passes,
    pub(crate) links: Links,
    pub(crate) names: Names,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) events: Arc<Events>,
    /// Done when the daemon stops.
    pub(crate) stop: CancellationToken,
}

impl App {
    /// A fresh one-time link to the panel.
    pub(crate) fn link(&self) -> Result<String, Problem> {
        let code = self.links.issue(self.host.secret()?, self.host.engine().now());
        Ok(format!("{}/open?code={code}", self.names.url()))
    }

    /// Calls verbs on a thread that may block; the engine is in the hands of the person, through this surface.
    pub(crate) async fn engine<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.host(move |host| work(&host.engine().acting(Actor::new(Source::User, "http")))).await
    }

    /// Asks the host on a thread that may block.
    pub(crate) async fn host<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&dyn Host) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let host = Arc::clone(&self.host);
        let done = tokio::task::spawn_blocking(move || work(&*host)).await;
        done.unwrap_or_else(|error| {
            tracing::error!(%error, "a request ended in the middle");
            Err(Problem::new(Code::Failed, "something here is broken", "`throughline doctor` looks for the cause"))
        })
    }
}
