//! Connections to the server: taken by whoever reads or writes, replaced when they are lost.
//!
//! A read that meets a lost connection is repeated on another one, and so is a write that was not committed. Whether a write was
//! committed whose answer was lost, the server tells afterwards by the token of its transaction.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use throughline_core::ports::{Clock, StoreError};
use tokio::runtime::Runtime;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;
use crate::answers::{Answers, Question};
use crate::connection::Connection;
use crate::error::{Error, Sql};
use crate::feed::{CHANNEL, Feed};
use crate::reach::{Reach, ServerClock};
use crate::transaction::{Transaction, was_committed};
use crate::values::values;
use crate::{Stored, ahead, open, tls};

/// Connections that are kept for whoever comes next.
const MOST_IDLE: usize = 8;

/// How often something is tried while the server cannot be reached or takes transactions back, and how long apart at first; each
/// pause is twice the one before.
const ATTEMPTS: u32 = 8;
const PAUSE: Duration = Duration::from_millis(25);

/// A server that kept somebody waiting in vain counts as away for so long: what a command asks next fails at once, instead of each of
/// its questions waiting as long again. One that refuses at once is tried every time.
const AWAY: Duration = Duration::from_secs(3);

/// How long a write on the way to a reply waits for another writer.
const BRIEF: Duration = Duration::from_millis(100);

/// How much a write matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Somebody waits for its confirmation.
    Confirmed,
    /// Somebody waits for a reply, which does not depend on it: durable, but not worth a long wait.
    Brief,
    /// A log, or derived data: not worth a sync of the server or a long wait.
    Log,
}

/// How long a log waits for another writer.
const LOG: Duration = Duration::from_secs(3);

impl Effort {
    /// What holds for its transaction.
    fn settings(self) -> String {
        let patience = |patience: Duration| format!("SET LOCAL lock_timeout = {};", patience.as_millis());
        match self {
            Self::Confirmed => String::new(),
            Self::Brief => patience(BRIEF),
            Self::Log => patience(LOG) + " SET LOCAL synchronous_commit = off;",
        }
    }

    fn attempts(self) -> u32 {
        if self == Self::Brief { 2 } else { ATTEMPTS }
    }
}

/// Tells of the transaction when it is committed.
const NOTIFY: &str = "SELECT pg_notify($2, $1)";

/// Connections to one database, for one space.
pub(crate) struct Pool {
    reach: Arc<Reach>,
    tls: MakeRustlsConnect,
    idle: Mutex<Vec<Connection>>,
    /// Whether the server tells others of what is written.
    notifies: AtomicBool,
    feed: Feed,
    /// When it was given up last.
    given_up: Mutex<Option<Instant>>,
    /// Drives the connections.
    runtime: Option<Runtime>,
}

impl Pool {
    /// Connects, and brings the schema up to date. With a clock of this machine, the server's time decides.
    pub(crate) fn open(address: Address, machine: Option<Arc<dyn Clock>>) -> Stored<Self> {
        Self::open_with(address, machine, open::prepare)
    }

    /// The same for a space that an unfinished copy may be in.
    pub(crate) fn open_unfinished(address: Address) -> Stored<Self> {
        Self::open_with(address, None, open::prepare_unfinished)
    }

    fn open_with(
        address: Address,
        machine: Option<Arc<dyn Clock>>,
        prepare: fn(&Connection) -> Sql<()>,
    ) -> Stored<Self> {
        // The server decides how much is done at once; here, one thread passes messages on.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Failed { doing: "start a thread", source: Box::new(error) })?;
        let tls = tls::encrypting(address.root_certificates.as_deref())?;
        let reach = Reach::new(address, tls.clone(), runtime.handle().clone());
        machine.into_iter().for_each(|machine| reach.go_by_server(machine));
        let pool = Self {
            reach: Arc::new(reach),
            tls,
            idle: Mutex::default(),
            notifies: AtomicBool::new(false),
            feed: Feed::new(),
            given_up: Mutex::default(),
            runtime: Some(runtime),
        };
        let can_notify = pool.read("open the memory", |connection| {
            prepare(connection)?;
            open::can_notify(connection)
        })?;
        pool.notifies.store(can_notify && pool.address().notifies, Ordering::Relaxed);
        // What it takes to open is a part of connecting.
        pool.reach.round_trips.store(0, Ordering::Relaxed);
        Ok(pool)
    }

    /// How often the server was waited for so far, besides connecting.
    pub(crate) fn round_trips(&self) -> u64 {
        self.reach.round_trips.load(Ordering::Relaxed)
    }

    /// The server's time, where that decides.
    pub(crate) fn clock(&self) -> Option<&ServerClock> {
        self.reach.clock()
    }

    /// Waits until somebody may have written: see [`Feed::wait`].
    pub(crate) fn wait_for_change(&self, usual: Duration, longest: Duration) {
        let runtime = self.runtime.as_ref().filter(|_| self.notifies.load(Ordering::Relaxed));
        match runtime {
            Some(runtime) => self.feed.wait((usual, longest), |listener| {
                runtime.spawn(listener.listen(self.address().clone(), self.tls.clone()));
            }),
            None => std::thread::sleep(usual),
        }
    }

    /// Where the database is, and which space of it this is for.
    pub(crate) fn address(&self) -> &Address {
        &self.reach.address
    }

    /// Reads on a connection of its own; each statement is a snapshot of its own, or of what this thread reads ahead.
    pub(crate) fn read<T>(&self, doing: &'static str, work: impl Fn(&Connection) -> Sql<T>) -> Stored<T> {
        if let Some(read) = self.read_ahead(&work) {
            return read.map_err(|error| error.while_doing(doing));
        }
        self.repeat(Effort::Confirmed, |deadline| {
            let connection = self.take(deadline).map_err(Failed::before)?;
            let outcome = work(&connection);
            self.give_back(connection);
            outcome.map_err(Failed::before)
        })
        .map_err(|error| error.while_doing(doing))
    }

    /// Reads in the snapshot of this thread; `None` if it has none, or if it failed.
    fn read_ahead<T>(&self, work: impl Fn(&Connection) -> Sql<T>) -> Option<Sql<T>> {
        let (ahead, began) = (ahead::of(self)?, Instant::now());
        ahead.connection.wait_until(began + self.address().patience);
        let outcome = work(&ahead.connection);
        self.note(began, &outcome);
        if outcome.is_ok() || ahead.connection.answers().is_gathering() {
            return Some(outcome);
        }
        drop(ahead);
        ahead::end(self);
        None
    }

    /// Reads several statements in one snapshot.
    pub(crate) fn snapshot<T>(&self, doing: &'static str, work: impl Fn(&Connection) -> Sql<T>) -> Stored<T> {
        if let Some(read) = self.read_ahead(&work) {
            return read.map_err(|error| error.while_doing(doing));
        }
        self.read(doing, |connection| {
            // Neither has anything to say that the statements in between do not.
            connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
            let outcome = work(connection);
            connection.send("ROLLBACK")?;
            outcome
        })
    }

    /// Writes in one transaction: all of it, or nothing. `work` may be done again, as long as its transaction is not sealed.
    pub(crate) fn write<T>(
        &self,
        doing: &'static str,
        effort: Effort,
        work: impl FnMut(&Transaction<'_>) -> Sql<T>,
    ) -> Stored<Written<T>> {
        self.write_between(doing, effort, &Between::default(), work)
    }

    /// The same where it is known what `work` asks first, and what follows.
    pub(crate) fn write_between<T>(
        &self,
        doing: &'static str,
        effort: Effort,
        between: &Between<'_>,
        mut work: impl FnMut(&Transaction<'_>) -> Sql<T>,
    ) -> Stored<Written<T>> {
        ahead::end(self);
        self.repeat(effort, |deadline| self.try_to_write((effort, deadline), between, &mut work))
            .map_err(|error| error.while_doing(doing))
    }

    fn try_to_write<T>(
        &self,
        (effort, deadline): (Effort, Instant),
        between: &Between<'_>,
        work: &mut impl FnMut(&Transaction<'_>) -> Sql<T>,
    ) -> Result<Written<T>, Failed> {
        let connection = Rc::new(self.take(deadline).map_err(Failed::before)?);
        let first = Answers::gathered_by(&connection, between.first);
        let next = if ahead::is_read(self) { Answers::gathered_by(&connection, between.next) } else { Vec::new() };
        let outcome = self.written(&connection, (effort, deadline), (first, next), work);
        if outcome.is_err() && connection.roll_back().is_err() {
            return outcome;
        }
        Rc::into_inner(connection).into_iter().for_each(|connection| ahead::go_on(self, connection));
        outcome
    }

    fn written<T>(
        &self,
        connection: &Rc<Connection>,
        (effort, deadline): (Effort, Instant),
        (first, next): (Vec<Question>, Vec<Question>),
        work: &mut impl FnMut(&Transaction<'_>) -> Sql<T>,
    ) -> Result<Written<T>, Failed> {
        let transaction = Transaction::begin(connection, &effort.settings(), first).map_err(Failed::before)?;
        if self.notifies.load(Ordering::Relaxed) {
            transaction.post(NOTIFY, &values![CHANNEL]).map_err(Failed::before)?;
        }
        let value = work(&transaction).map_err(|error| Failed { error, is_final: transaction.is_sealed() })?;
        match transaction.commit(next) {
            Ok(()) => {}
            Err(error) if error.is_broken() => {
                if !self.find_out(&transaction, deadline)? {
                    return Err(Failed { error, is_final: transaction.is_sealed() });
                }
            }
            Err(error) => return Err(Failed { error, is_final: transaction.is_sealed() }),
        }
        Ok(Written { value, has_upkeep: transaction.has_upkeep() })
    }

    /// Whether a transaction was committed whose answer was lost.
    fn find_out(&self, transaction: &Transaction<'_>, deadline: Instant) -> Result<bool, Failed> {
        let asked = self.insist(Effort::Confirmed, deadline, |deadline| {
            let connection = self.take(deadline).map_err(Failed::before)?;
            let outcome = was_committed(&connection, transaction.number(), transaction.token());
            self.give_back(connection);
            outcome.map_err(Failed::before)
        });
        // Nobody knows: to do it again could do it twice.
        asked.map_err(|error| Failed { error, is_final: true })
    }

    /// Tries something once, unless the server is known to be away.
    pub(crate) fn once<T>(&self, attempt: impl FnOnce(Instant) -> Sql<T>) -> Sql<T> {
        if self.given_up().is_some_and(|at| at.elapsed() < AWAY) {
            return Err(Error::Silent);
        }
        let began = Instant::now();
        let outcome = attempt(began + self.address().patience);
        self.note(began, &outcome);
        outcome
    }

    /// Notes a server that kept somebody waiting in vain.
    fn note<T>(&self, began: Instant, outcome: &Sql<T>) {
        if outcome.as_ref().is_err_and(Error::is_broken) && began.elapsed() > self.address().patience / 2 {
            *self.given_up() = Some(Instant::now());
        }
    }

    /// Tries again what a lost connection or the server's own reasons ended, unless the server is known to be away.
    fn repeat<T>(&self, effort: Effort, attempt: impl FnMut(Instant) -> Result<T, Failed>) -> Sql<T> {
        self.once(|deadline| self.insist(effort, deadline, attempt))
    }

    fn insist<T>(
        &self,
        effort: Effort,
        deadline: Instant,
        mut attempt: impl FnMut(Instant) -> Result<T, Failed>,
    ) -> Sql<T> {
        let mut pause = PAUSE;
        for _ in 1..effort.attempts() {
            match attempt(deadline) {
                Err(Failed { error, is_final: false })
                    if (error.is_broken() || error.is_to_be_repeated()) && Instant::now() + pause < deadline =>
                {
                    tracing::debug!(%error, "trying again");
                    // Others were open to the same server.
                    if error.is_broken() {
                        self.idle().clear();
                    }
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                outcome => return outcome.map_err(|failed| failed.error),
            }
        }
        attempt(deadline).map_err(|failed| failed.error)
    }

    /// A connection for something that has to be done by then.
    pub(crate) fn take(&self, deadline: Instant) -> Sql<Connection> {
        loop {
            // Not in the condition of a loop: the guard would be held until its end.
            let idle = self.idle().pop();
            match idle {
                Some(connection) if !connection.is_closed() => {
                    connection.wait_until(deadline);
                    return Ok(connection);
                }
                Some(_) => {}
                None => return self.reach.connect(deadline),
            }
        }
    }

    pub(crate) fn give_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < MOST_IDLE && !connection.is_closed() {
            idle.push(connection);
        }
    }

    fn given_up(&self) -> MutexGuard<'_, Option<Instant>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    /// A store may be dropped on a thread of another runtime, where this one must not be waited for.
    fn drop(&mut self) {
        tracing::debug!(round_trips = self.round_trips(), "the store is closed");
        self.idle().clear();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What is asked around the statements of a transaction, together with others.
pub(crate) struct Between<'b> {
    /// Reads what `work` asks first: that is asked together with the lock. What is read so is as it was before `work` wrote.
    pub(crate) first: &'b dyn Fn(&Connection),
    /// Reads what is asked when it is committed: that is asked together with the commit, for a thread that reads ahead.
    pub(crate) next: &'b dyn Fn(&Connection),
}

impl Default for Between<'_> {
    fn default() -> Self {
        Self { first: &|_| (), next: &|_| () }
    }
}

/// What a transaction gave that is committed.
pub(crate) struct Written<T> {
    pub(crate) value: T,
    /// Whether the word index has something to do.
    pub(crate) has_upkeep: bool,
}

/// Why an attempt ended.
struct Failed {
    error: Error,
    /// Whether something was done outside the store meanwhile, so that it must not be done again.
    is_final: bool,
}

impl Failed {
    fn before(error: Error) -> Self {
        Self { error, is_final: false }
    }
}
