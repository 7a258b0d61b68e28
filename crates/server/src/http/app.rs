//! What every handler has at hand.

use std::sync::Arc;

use jiff::{Timestamp, Zoned};
use throughline_core::engine::Engine;
use throughline_core::model::{Actor, Source};
use throughline_core::when;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::envelope::RequestIds;
use crate::Host;
use crate::access::{Links, Names, Passes, Token};
use crate::problem::{Code, Problem};

/// Requests that are served at once.
const AT_ONCE: usize = 64;

/// What every handler has at hand.
pub(crate) struct App {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) token: Token,
    pub(crate) passes: Passes,
    pub(crate) links: Links,
    pub(crate) names: Names,
    /// Room for requests; who finds none is told to come again.
    pub(crate) places: Semaphore,
    pub(crate) request_ids: RequestIds,
    /// Cancelled when the daemon is asked to stop: whatever would go on for ever ends with it.
    pub(crate) stopping: CancellationToken,
}

impl App {
    /// Everything at hand, for a daemon that is reached under these names.
    pub(crate) fn new(host: Arc<dyn Host>, token: Token, names: Names) -> Result<Self, Problem> {
        let request_ids = RequestIds::new(host.secret()?);
        let passes = Passes::new(token.clone());
        let (links, places, stopping) = (Links::default(), Semaphore::new(AT_ONCE), CancellationToken::new());
        Ok(Self { host, token, passes, links, names, places, request_ids, stopping })
    }

    /// A fresh one-time link to the panel.
    pub(crate) fn link(&self) -> Result<String, Problem> {
        let code = self.links.issue(self.host.secret()?, self.host.engine().now());
        Ok(format!("{}/open?code={code}", self.names.url()))
    }

    /// Now, where the person is.
    pub(crate) fn now(&self) -> Zoned {
        self.host.engine().now().to_zoned(self.host.zone())
    }

    /// A moment as people write it.
    pub(crate) fn when(&self, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
        Ok(text.map(|text| when::parse(text, &self.now())).transpose()?)
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
