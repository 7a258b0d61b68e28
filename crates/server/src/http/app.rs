//! What every handler has at hand.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use jiff::{Timestamp, Zoned};
use throughline_core::engine::Engine;
use throughline_core::when;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::envelope::RequestIds;
use super::starting::Starting;
use crate::Host;
use crate::access::{Links, Names, Passes, Token};
use crate::channels::{Board, ChannelSettings, webhook};
use crate::events::Events;
use crate::problem::Problem;
use crate::proxy::Proxy;
use crate::scheduler::Scheduler;

/// Requests that are served at once.
const AT_ONCE: usize = 64;

/// Searches under way at once, by processor: each takes some megabytes until it ends, and more of them find nothing faster.
/// Others wait in line, without a thread.
const SEARCHES_BY_PROCESSOR: usize = 4;

/// Replies of a model that are under way at once: each holds a thread until it ends.
const CHATS_AT_ONCE: usize = 8;

/// Imports that are under way or wait for their turn. Each may hold some hundred megabytes, so one is done at a time.
const IMPORTS_AT_ONCE: usize = 4;

/// What every handler has at hand.
pub(crate) struct App {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) token: Token,
    pub(crate) passes: Passes,
    pub(crate) links: Links,
    pub(crate) names: Names,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) events: Arc<Events>,
    /// Room for requests; who finds none is told to come again.
    pub(crate) places: Semaphore,
    /// Room for searches.
    searches: Semaphore,
    /// Room for replies of a model.
    pub(crate) chats: Arc<Semaphore>,
    /// Room for imports, and whose turn it is.
    imports: Arc<Semaphore>,
    import_turn: Arc<Semaphore>,
    /// Room for signed messages whose sender is not known yet.
    pub(crate) unverified: Semaphore,
    /// How channels are set up.
    pub(crate) channel_settings: ChannelSettings,
    /// How channels are.
    pub(crate) channels: Board,
    pub(crate) request_ids: RequestIds,
    /// Sessions that are not noted yet.
    pub(crate) starting: Starting,
    /// What the proxies know.
    pub(crate) proxy: Proxy,
    /// The description of the API, made from the routes.
    pub(crate) document: OnceLock<String>,
    /// Cancelled when the daemon is asked to stop: whatever would go on for ever ends with it.
    pub(crate) stop: CancellationToken,
    /// A planted bug, for the test that must notice it.
    #[cfg(test)]
    pub(crate) is_origin_check_off: bool,
}

impl App {
    /// Everything at hand, for a daemon that is reached under these names.
    pub(crate) fn new(host: Arc<dyn Host>, token: Token, names: Names) -> Result<Self, Problem> {
        let request_ids = RequestIds::new(host.secret()?);
        let passes = Passes::new(token.clone());
        let stop = CancellationToken::new();
        Ok(Self {
            scheduler: Arc::new(Scheduler::new(Arc::clone(&host), stop.clone())?),
            events: Arc::new(Events::new(Arc::clone(&host), stop.clone())),
            channel_settings: host.channels(),
            channels: Board::default(),
            host,
            token,
            passes,
            links: Links::default(),
            names,
            places: Semaphore::new(AT_ONCE),
            searches: Semaphore::new(SEARCHES_BY_PROCESSOR * available_parallelism().map_or(1, NonZero::get)),
            chats: Arc::new(Semaphore::new(CHATS_AT_ONCE)),
            imports: Arc::new(Semaphore::new(IMPORTS_AT_ONCE)),
            import_turn: Arc::new(Semaphore::new(1)),
            unverified: Semaphore::new(webhook::UNVERIFIED_AT_ONCE),
            request_ids,
            starting: Starting::default(),
            proxy: Proxy::default(),
            document: OnceLock::new(),
            stop,
            #[cfg(test)]
            is_origin_check_off: false,
        })
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

    /// Calls verbs on a thread that may block.
    pub(crate) async fn engine<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.host(move |host| work(host.engine())).await
    }

    /// Searches on a thread that may block, as soon as there is room.
    pub(crate) async fn search<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        // It is never closed.
        let _place = self.searches.acquire().await;
        self.engine(work).await
    }

    /// Waits for the turn of an import; one too many is told to come again. It is over when what this gives is dropped.
    pub(crate) async fn import_turn(&self) -> Result<impl Send + 'static, Problem> {
        let place = Arc::clone(&self.imports).try_acquire_owned().map_err(|_| super::busy("an import"))?;
        // It is never closed.
        let turn = Arc::clone(&self.import_turn).acquire_owned().await.ok();
        Ok::<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), Problem>((place, turn))
    }

    /// Asks the host on a thread that may block.
    pub(crate) async fn host<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&dyn Host) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let host = Arc::clone(&self.host);
        let done = tokio::task::spawn_blocking(move || work(&*host)).await;
        done.unwrap_or_else(|error| Err(Problem::unfinished(&error)))
    }
}
