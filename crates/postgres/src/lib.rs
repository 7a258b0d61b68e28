//! The shared store: a memory on PostgreSQL 15 or later, or an engine that speaks its protocol, for several machines and people.
//!
//! Goes in: logged operations. Comes out: memories. Never happens: SQL outside this crate, a write that is confirmed before the
//! server has it, or a row of another space.
//!
//! **Spaces.** A space is one person's whole memory: all that a SQLite file would hold. (The namespaces of the core, such as
//! `user/facts`, are addresses within it.) Every row has the name of its space, which leads every key and index, so that an
//! engine can distribute by it. Every statement binds it, and row-level security holds for roles that do not bypass it.
//!
//! **One writer of a space at a time.** A transaction that writes locks the row of its space first (`transaction.rs`). So numbers,
//! positions and marks grow in the order of commits, without sequences; what was checked is true until the commit; no two
//! transactions wait for each other; and nothing compares the clocks of machines: leases and whatever else depends on time goes
//! by the server's (`reach.rs`). Spaces do not wait for each other, and
//! readers wait for nobody.
//!
//! **Derived rows.** There are no triggers: a transaction notes which rows it wrote (`derived.rs`) and writes once, before the
//! commit, what the word index and the vectors need to know.

mod activity;
mod address;
mod ahead;
mod answers;
mod backlogs;
mod breakers;
mod candidates;
mod change_tokens;
mod changes;
mod connection;
mod derived;
mod documents;
mod entries;
mod erase;
mod erase_repeats;
mod erase_scope;
mod error;
mod feed;
mod filter;
mod health;
mod history;
mod index;
mod injections;
mod jobs;
mod joined;
mod leases;
mod ledger;
mod line_sources;
mod mutes;
mod off_record;
mod open;
mod pool;
mod projects;
mod reach;
mod recalls;
mod reflections;
mod retention;
mod reviews;
mod rows;
mod sessions;
mod table_copy;
mod tasks;
mod threads;
mod tls;
mod transaction;
mod transfer;
mod turns;
mod undo;
mod values;
mod vault;
mod vectors;
mod versioned;
mod wait;
mod withdrawals;
mod words;

use std::sync::Arc;

use throughline_core::model::MachineId;
use throughline_core::ports::{Clock, Replying, Store, StoreError};
use throughline_stores::words::Cache;

use connection::Connection;
use error::Sql;
use pool::{Between, Effort, Pool};
use recalls::Bookkeeper;
use transaction::Transaction;
use words::Worker;

pub use address::{Address, AddressError, DEFAULT_SPACE};
pub use documents::PostgresDocuments;
pub use erase::BEYOND_ERASING;
pub use reach::ServerClock;
pub use table_copy::PostgresTarget;

type Stored<T> = Result<T, StoreError>;

/// A memory on a server.
pub struct PostgresStore {
    bookkeeper: Arc<Bookkeeper>,
    worker: Arc<Worker>,
    pool: Arc<Pool>,
    /// What this process keeps of the word index.
    words: Arc<Cache>,
    machine: MachineId,
    /// How long its writes wait for others.
    effort: Effort,
}

impl PostgresStore {
    /// Connects, brings the schema up to date, and begins the space where it is new. What its callers say the time is decides
    /// when leases end: for those who make up time.
    pub fn open(address: Address) -> Stored<Self> {
        Ok(Self::over(Pool::open(address, None)?))
    }

    /// The same where the server's time decides. `machine` is the clock of this machine, which may be wrong; the clock that it
    /// gives is right, and is that which callers go by.
    pub fn open_by_server_time(address: Address, machine: Arc<dyn Clock>) -> Stored<(Self, ServerClock)> {
        let pool = Pool::open(address, Some(Arc::clone(&machine)))?;
        let clock = pool.clock().cloned().unwrap_or_else(|| ServerClock::of(machine));
        Ok((Self::over(pool), clock))
    }

    /// The same for a space that an unfinished copy may be in.
    fn open_unfinished(address: Address) -> Stored<Self> {
        Ok(Self::over(Pool::open_unfinished(address)?))
    }

    fn over(pool: Pool) -> Self {
        let pool = Arc::new(pool);
        Self {
            bookkeeper: Arc::new(Bookkeeper::new(Arc::clone(&pool))),
            worker: Arc::new(Worker::new(Arc::clone(&pool))),
            pool,
            words: Arc::default(),
            machine: MachineId::new(""),
            effort: Effort::Confirmed,
        }
    }

    /// The same store on this machine: what is kept by machine is this one's.
    pub fn on_machine(self, machine: MachineId) -> Self {
        Self { machine, ..self }
    }

    /// How often this process waited for the server so far, besides connecting.
    pub fn round_trips(&self) -> u64 {
        self.pool.round_trips()
    }

    /// How often this thread waited for a server so far, besides connecting: what others log meanwhile does not count.
    pub fn round_trips_here() -> u64 {
        connection::waited()
    }

    /// Reads on a connection of its own; each statement is a snapshot of its own.
    fn read<T>(&self, doing: &'static str, work: impl Fn(&Connection) -> Sql<T>) -> Stored<T> {
        self.pool.read(doing, work)
    }

    /// Reads several statements in one snapshot.
    fn snapshot<T>(&self, doing: &'static str, work: impl Fn(&Connection) -> Sql<T>) -> Stored<T> {
        self.pool.snapshot(doing, work)
    }

    /// Writes in one transaction: all of it, or nothing.
    fn write<T>(&self, doing: &'static str, work: impl FnMut(&Transaction<'_>) -> Sql<T>) -> Stored<T> {
        self.write_with(self.effort, doing, work)
    }

    fn write_with<T>(
        &self,
        effort: Effort,
        doing: &'static str,
        work: impl FnMut(&Transaction<'_>) -> Sql<T>,
    ) -> Stored<T> {
        self.write_between(effort, doing, &Between::default(), work)
    }

    /// The same where it is known what `work` asks first, and what follows.
    fn write_between<T>(
        &self,
        effort: Effort,
        doing: &'static str,
        between: &Between<'_>,
        work: impl FnMut(&Transaction<'_>) -> Sql<T>,
    ) -> Stored<T> {
        let written = self.pool.write_between(doing, effort, between, work)?;
        if written.has_upkeep {
            self.worker.nudge();
        }
        Ok(written.value)
    }
}

impl Replying for PostgresStore {
    fn for_replies(&self) -> Arc<dyn Store> {
        Arc::new(Self {
            bookkeeper: Arc::clone(&self.bookkeeper),
            worker: Arc::clone(&self.worker),
            pool: Arc::clone(&self.pool),
            words: Arc::clone(&self.words),
            machine: self.machine.clone(),
            effort: Effort::Brief,
        })
    }
}
