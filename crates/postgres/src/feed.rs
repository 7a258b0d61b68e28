//! Whether somebody wrote, on whichever machine: told by the server where it notifies, and looked for elsewhere. A notification
//! comes with the commit that it tells of, in the order of commits.

use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;

/// What a writer calls and a listener hears; the space is the payload.
pub(crate) const CHANNEL: &str = "throughline";

/// How long a line that was lost is left alone.
const PAUSE: Duration = Duration::from_secs(5);

/// How changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nobody asked yet.
    Closed,
    /// It is being opened.
    Opening,
    /// Every change is told.
    Open,
    /// It was lost then, or could not be opened.
    Lost(Instant),
}

struct State {
    line: Line,
    /// Changes that were told of, and those that somebody waited for.
    told: u64,
    heard: u64,
}

/// The changes that a server tells of.
pub(crate) struct Feed {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    told: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something may have changed: also where the line is open only now, or was lost.
    fn tell(&self, line: Line) {
        let mut state = self.state();
        state.line = line;
        state.told += 1;
        self.told.notify_all();
    }
}

impl Feed {
    pub(crate) fn new() -> Self {
        let state = State { line: Line::Closed, told: 0, heard: 0 };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), told: Condvar::new() }) }
    }

    /// Waits for the next change, or for as long as somebody waits who is told of none. `open` begins to listen.
    pub(crate) fn wait(&self, (usual, longest): (Duration, Duration), open: impl FnOnce(Listener)) {
        let mut state = self.shared.state();
        let is_closed = match state.line {
            Line::Closed => true,
            Line::Lost(when) => when.elapsed() >= PAUSE,
            Line::Opening | Line::Open => false,
        };
        if is_closed {
            state.line = Line::Opening;
            drop(state);
            open(Listener(Arc::clone(&self.shared)));
            state = self.shared.state();
        }
        let began = Instant::now();
        while state.told == state.heard {
            let patience = if state.line == Line::Open { longest } else { usual };
            let Some(left) = patience.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else { break };
            state = self.shared.told.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.heard = state.told;
    }
}

/// Hears what the server tells.
pub(crate) struct Listener(Arc<Shared>);

impl Listener {
    /// Listens until the line is lost.
    pub(crate) async fn listen(self, address: Address, tls: MakeRustlsConnect) {
        if let Err(error) = self.hear(&address, tls).await {
            tracing::debug!(%error, "the server does not tell of changes; they are looked for");
        }
        self.0.tell(Line::Lost(Instant::now()));
    }

    async fn hear(&self, address: &Address, tls: MakeRustlsConnect) -> Result<(), tokio_postgres::Error> {
        let (client, mut connection) = address.config.connect(tls).await?;
        let (shared, space) = (Arc::clone(&self.0), address.space.clone());
        let heard = tokio::spawn(async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message? {
                    AsyncMessage::Notification(told) if told.payload() == space => shared.tell(Line::Open),
                    _ => {}
                }
            }
            Ok(())
        });
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        self.0.tell(Line::Open);
        // The connection ends with the client.
        let heard = heard.await;
        drop(client);
        heard.unwrap_or(Ok(()))
    }
}
