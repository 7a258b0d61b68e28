//! The way to the server: connections to it, whether it is there, and its time.
//!
//! A caller waits in vain once, and no longer than the patience of the address: while a statement runs, a server that says
//! nothing is asked on another connection whether it is there. A slow statement is waited for as long as it is.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use throughline_core::ports::Clock;
use tokio::runtime::Handle;
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::{Error, Sql};
use crate::open;

/// Asks for the server's time, in milliseconds.
pub(crate) const ITS_TIME: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The way to one database, for one space.
pub(crate) struct Reach {
    pub(crate) address: Address,
    tls: MakeRustlsConnect,
    runtime: Handle,
    /// How often the server was waited for, besides connecting.
    pub(crate) round_trips: AtomicU64,
    /// Tells by how much the clock of this machine is behind the server's, where that decides.
    clock: OnceLock<ServerClock>,
}

impl Reach {
    pub(crate) fn new(address: Address, tls: MakeRustlsConnect, runtime: Handle) -> Self {
        Self { address, tls, runtime, round_trips: AtomicU64::new(0), clock: OnceLock::new() }
    }

    /// From here on, the server's time decides, whatever this clock of the machine says.
    pub(crate) fn go_by_server(&self, machine: Arc<dyn Clock>) {
        let _ = self.clock.set(ServerClock::of(machine));
    }

    /// The server's time, where that decides.
    pub(crate) fn clock(&self) -> Option<&ServerClock> {
        self.clock.get()
    }

    /// What the clock of the machine says, before the server is asked for its time.
    pub(crate) fn before(&self) -> Option<Timestamp> {
        self.clock().map(|clock| clock.machine.now())
    }

    /// The server said its time, in an answer to what was asked at `before`.
    pub(crate) fn heard(&self, before: Option<Timestamp>, its_time: Option<&str>) {
        if let (Some(clock), Some(before)) = (self.clock(), before)
            && let Some(its) = its_time.and_then(|its| its.parse().ok())
        {
            clock.correct(before.as_millisecond(), its);
        }
    }

    /// Connects until then, at the latest.
    pub(crate) fn connect(self: &Arc<Self>, deadline: Instant) -> Sql<Connection> {
        let usual = self.address.config.get_connect_timeout().copied().unwrap_or(self.address.patience);
        let patience = usual.min(deadline.saturating_duration_since(Instant::now()));
        let (config, tls) = (self.address.config.clone(), self.tls.clone());
        let client = self.within(patience, |sender| async move {
            match config.connect(tls).await {
                Ok((client, connection)) => {
                    let _ = sender.send(Ok(client));
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection ended");
                    }
                }
                Err(error) => {
                    let _ = sender.send(Err(error));
                }
            }
        });
        let connection = Connection::new(client.ok_or(Error::Silent)??, Arc::clone(self));
        open::equip(&connection, patience)?;
        Ok(connection)
    }

    /// Whether the server answers anybody. One that has no room left for connections does.
    pub(crate) fn is_there(&self, patience: Duration) -> bool {
        let (config, tls) = (self.address.config.clone(), self.tls.clone());
        let asked = self.within(patience, |sender| async move {
            let _ = sender.send(ask(config, tls).await);
        });
        tracing::debug!(is_there = matches!(asked, Some(Ok(()))), "the server was asked whether it is there");
        match asked {
            None => false,
            Some(Ok(())) => true,
            Some(Err(error)) => error.as_db_error().is_some() && !Error::Postgres(error).is_broken(),
        }
    }

    /// What a task sends within this time. A server may take a connection and say nothing.
    fn within<T: Send, F>(
        &self,
        patience: Duration,
        task: impl FnOnce(std::sync::mpsc::SyncSender<T>) -> F,
    ) -> Option<T>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        self.runtime.spawn(task(sender));
        receiver.recv_timeout(patience).ok()
    }
}

/// Connects and asks for nothing: a pooler answers by itself as long as nobody asks the server.
async fn ask(config: Config, tls: MakeRustlsConnect) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = config.connect(tls).await?;
    let driven = tokio::spawn(connection);
    let asked = client.simple_query("SELECT 1").await;
    drop(client);
    let _ = driven.await;
    asked.map(drop)
}

/// The server's time, as far as its answers tell: the clock of this machine and what that is behind.
#[derive(Clone)]
pub struct ServerClock {
    machine: Arc<dyn Clock>,
    /// Milliseconds.
    ahead: Arc<AtomicI64>,
}

impl ServerClock {
    /// One that goes by this clock until the server says something else.
    pub(crate) fn of(machine: Arc<dyn Clock>) -> Self {
        Self { machine, ahead: Arc::default() }
    }

    /// A time by the clock of this machine, as the server would say it.
    pub fn corrected(&self, at: Timestamp) -> Timestamp {
        let ahead = SignedDuration::from_millis(self.ahead.load(Ordering::Relaxed));
        at.checked_add(ahead).unwrap_or(at)
    }

    /// The server said its time between two looks at the clock. What that does not rule out is kept, so that time goes on evenly.
    fn correct(&self, before: i64, its: i64) {
        let after = self.machine.now().as_millisecond();
        let (least, most) = (its - after.max(before), its - before);
        let known = self.ahead.load(Ordering::Relaxed);
        if known < least || most < known {
            self.ahead.store(least + (most - least) / 2, Ordering::Relaxed);
        }
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        self.corrected(self.machine.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that stands, an hour late.
    struct Late;

    impl Clock for Late {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(1_000_000 - 3600).unwrap()
        }
    }

    #[track_caller]
    fn check(clock: &ServerClock, took: i64, its: i64, expected: i64) {
        clock.correct(Late.now().as_millisecond() - took, its);
        assert_eq!(clock.now().as_millisecond(), expected);
    }

    #[test]
    fn server_time_is_taken_from_its_answers() {
        let clock = ServerClock { machine: Arc::new(Late), ahead: Arc::default() };
        check(&clock, 0, 1_000_000_000, 1_000_000_000);
        // An answer that came late does not say more.
        check(&clock, 500, 999_999_900, 1_000_000_000);
        check(&clock, 20, 1_000_000_030, 1_000_000_040);
        // The machine's clock was set.
        check(&clock, 2, 1_000_500_000, 1_000_500_001);
    }
}
