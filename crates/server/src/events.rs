//! What changed, told to whoever listens: the panel looks again instead of asking again and again.
//!
//! Goes in: change tokens of the store, taken while somebody listens: twice a second, or when the store is told of a change. Comes out: server-sent events. Other
//! processes' changes and those of a person's editor arrive like our own. Never happens: the text of a memory in an event.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::StreamExt as _;
use jiff::Timestamp;
use serde::Serialize;
use throughline_core::model::ChangeId;
use throughline_core::ports::{ChangeTokens, Watched};
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;
use tokio_util::sync::CancellationToken;

use crate::Host;
use crate::problem::{Code, Problem};

/// Listeners at once.
const MOST: usize = 32;

/// How often tokens are taken while somebody listens, and how often where the store is told of changes: files of projects are
/// looked at, too.
const EVERY: Duration = Duration::from_millis(500);
const AT_LEAST: Duration = Duration::from_secs(2);

/// How often a listener hears that the line is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Events that a slow listener may be behind; then it hears that something changed, and not what.
const BEHIND: usize = 64;

/// What a listener is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Changed {
    /// `memories`, `documents`, `sessions` …; all of them for a listener that was too slow.
    kinds: Vec<&'static str>,
    /// The newest change.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeId>,
    at: Timestamp,
}

/// Everybody who listens.
pub(crate) struct Events {
    host: Arc<dyn Host>,
    sender: broadcast::Sender<Changed>,
    listeners: Arc<AtomicUsize>,
    /// The last tokens; nothing while nobody listens.
    last: Mutex<Option<ChangeTokens>>,
    stop: CancellationToken,
}

/// One of them; leaves when it is dropped.
struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Events {
    pub(crate) fn new(host: Arc<dyn Host>, stop: CancellationToken) -> Self {
        let (sender, _) = broadcast::channel(BEHIND);
        Self { host, sender, listeners: Arc::default(), last: Mutex::new(None), stop }
    }

    /// Takes tokens until it is stopped, while somebody listens.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            if !self.is_watched() {
                tokio::select! { () = self.stop.cancelled() => return, () = tokio::time::sleep(EVERY) => {} }
                continue;
            }
            let events = Arc::clone(&self);
            let waited = tokio::task::spawn_blocking(move || events.wait());
            tokio::select! { () = self.stop.cancelled() => return, _ = waited => {} }
            let events = Arc::clone(&self);
            let _ = tokio::task::spawn_blocking(move || events.look()).await;
        }
    }

    /// Whether a client listens, or has just left: only then a thread has something to do.
    fn is_watched(&self) -> bool {
        self.listeners.load(Ordering::SeqCst) > 0 || self.last.try_lock().map_or(true, |last| last.is_some())
    }

    /// Waits until it is time to look again.
    fn wait(&self) {
        let is_heard = self.listeners.load(Ordering::SeqCst) > 0;
        let waited = is_heard && self.host.engine().health().wait_for_change(EVERY, AT_LEAST).is_ok();
        if !waited {
            std::thread::sleep(EVERY);
        }
    }

    /// Compares the tokens with the last ones, and tells what differs. The first look only begins.
    fn look(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.listeners.load(Ordering::SeqCst) == 0 {
            *last = None;
            return;
        }
        let engine = self.host.engine();
        let tokens = match engine.health().pulse_of_all() {
            Ok(tokens) => tokens,
            Err(error) => {
                // Told once: whoever looks again hears what is wrong.
                if last.take().is_some() {
                    tracing::warn!(%error, "whether anything changed could not be told");
                    let _ = self.sender.send(Changed {
                        kinds: Watched::names(Watched::ALL),
                        change: None,
                        at: engine.now(),
                    });
                }
                return;
            }
        };
        let kinds = last.as_ref().map(|last| tokens.since(last)).unwrap_or_default();
        if !kinds.is_empty() {
            let change = engine.history().changes(1).ok().and_then(|mut newest| newest.pop()).map(|change| change.id);
            let _ = self.sender.send(Changed { kinds, change, at: engine.now() });
        }
        *last = Some(tokens);
    }

    /// Listens from now on: what changes after this has returned is heard.
    pub(crate) async fn listen(
        self: &Arc<Self>,
    ) -> Result<Sse<impl futures_util::Stream<Item = Result<Event, Infallible>> + use<>>, Problem> {
        let seat = self.seat()?;
        let receiver = self.sender.subscribe();
        let (events, host) = (Arc::clone(self), Arc::clone(&self.host));
        let _ = tokio::task::spawn_blocking(move || events.look()).await;
        let told = move |changed: Result<Changed, _>| {
            let _seat = &seat;
            let everything = || Changed { kinds: Watched::names(Watched::ALL), change: None, at: host.engine().now() };
            let changed = changed.unwrap_or_else(|_| everything());
            Ok(Event::default().event("change").data(serde_json::to_string(&changed).unwrap_or_default()))
        };
        let stop = self.stop.clone();
        let stream = BroadcastStream::new(receiver).map(told).take_until(stop.cancelled_owned());
        Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
    }

    fn seat(&self) -> Result<Seat, Problem> {
        let taken = |now: usize| (now < MOST).then_some(now + 1);
        let full = |_| Problem::new(Code::Busy, "too many listen already", "close a panel that is open elsewhere");
        self.listeners.fetch_update(Ordering::SeqCst, Ordering::SeqCst, taken).map_err(full)?;
        Ok(Seat(Arc::clone(&self.listeners)))
    }
}
