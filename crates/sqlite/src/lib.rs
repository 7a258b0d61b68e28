//! The default store: one SQLite file, used by any number of processes at once.
//!
//! Goes in: logged operations. Comes out: memories. Never happens: SQL outside this crate, a write that is confirmed
//! before it is durable, or a reader of the database file that is not SQLite (a plain read drops SQLite's locks).

mod activity;
mod backlogs;
mod backup;
mod breakers;
mod candidates;
mod change_tokens;
mod changes;
mod compare;
mod copies;
mod entries;
mod erase;
mod erase_repeats;
mod erase_scope;
mod error;
mod establish;
mod files;
mod filter;
mod functions;
mod health;
mod hindrance;
mod history;
mod identity;
mod index;
mod injections;
mod jobs;
mod leases;
mod ledger;
mod line;
mod line_sources;
#[cfg(test)]
mod migration_tests;
mod mutes;
mod off_record;
mod open;
mod pool;
mod projects;
mod recalls;
mod reflections;
mod reserve;
mod retention;
mod reviews;
mod room;
mod rows;
mod sessions;
mod table_copy;
mod tasks;
mod threads;
mod transfer;
mod turns;
mod undo;
mod vault;
mod vectors;
mod versioned;
mod watch;
mod withdrawals;
mod words;

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};
use throughline_core::model::MachineId;
use throughline_core::ports::{ReadOnly, ReadingAhead, ReadsAhead, Replying, Store, StoreError, Upcoming};
use throughline_stores::words::Cache;

use error::while_doing;
use pool::{Effort, Pool, Sharing};
use recalls::Bookkeeper;
use reserve::Reserve;
use words::Worker;

pub use compare::{PlainFts5, index_bytes};
pub use copies::{SqliteBackups, check_for_remains};
pub use open::Durability;
pub use table_copy::{FileCalls, SqliteSource, SqliteTarget};

type Stored<T> = Result<T, StoreError>;

/// A memory in one SQLite file.
pub struct SqliteStore {
    /// First, so that it is done before the last connection closes and folds the log away.
    bookkeeper: Arc<Bookkeeper>,
    /// Before the pool, for the same reason.
    worker: Arc<Worker>,
    pool: Arc<Pool>,
    /// What this process keeps of the word index.
    words: Arc<Cache>,
    machine: MachineId,
    /// How long its writes wait for others.
    effort: Effort,
}

impl SqliteStore {
    /// Opens or creates the database at `path`, bringing its schema up to date; a copy of an older one goes to
    /// `backups` first. Beside existing backups, one that is missing or empty is not made anew.
    pub fn open(path: &Path, backups: &Path, durability: Durability) -> Stored<Self> {
        let store = Self::over(Pool::open(path, backups, durability)?);
        if store.read(|connection| Ok(Worker::is_due_at_first(connection)), "look at the word index")? {
            store.worker.nudge();
        }
        Ok(store)
    }

    /// The same for a memory that somebody lives with: on a full disk it can be opened, and something can be removed from it. One that
    /// cannot be written, or that a newer program wrote, is opened to be read.
    pub fn open_or_read(path: &Path, backups: &Path, durability: Durability) -> Stored<Self> {
        let to_read = |why| Pool::open_to_read(path, backups, why).map(Self::over);
        if reserve::is_read_only(path) {
            return to_read(ReadOnly::Directory);
        }
        let reserve = Reserve::beside(path);
        let mut opened = Self::open(path, backups, durability);
        if opened.is_err() && reserve.is_disk_full() {
            opened = match opened {
                Err(_) if reserve.give_to_open() => Self::open(path, backups, durability),
                _ => Err(StoreError::Full),
            };
        }
        match opened {
            Ok(store) => {
                reserve.keep();
                Ok(store)
            }
            Err(StoreError::TooNew { found, known }) => to_read(ReadOnly::Newer { found, known }),
            Err(error) => Err(error),
        }
    }

    /// Why nothing can be written, where that is so.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.pool.read_only()
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

    /// The same store on this machine: what is kept by machine is this one's. A store that is only ever opened on one
    /// machine needs no name for it.
    pub fn on_machine(self, machine: MachineId) -> Self {
        Self { machine, ..self }
    }

    /// Writes a verified copy to `target` while everybody goes on. `progress` is told how many pages are done, and says
    /// whether to go on: if not, there is no copy, and the error is [`StoreError::TakenBack`].
    pub fn backup(&self, target: &Path, progress: &mut dyn FnMut(u64, u64) -> bool) -> Stored<()> {
        self.bookkeeper.flush();
        self.read(|connection| Ok(backup::copy(connection, target, progress)), "back up")?
    }

    /// Reads several statements in one snapshot.
    fn snapshot<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>, doing: &'static str) -> Stored<T> {
        self.read(|connection| work(&*connection.unchecked_transaction()?), doing)
    }

    /// Reads on a connection of its own, in one snapshot if `work` is one statement.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>, doing: &'static str) -> Stored<T> {
        self.pool.read(work, doing)
    }

    /// Writes in a `BEGIN IMMEDIATE` transaction, which it may share: all of it, or nothing.
    fn write<T>(&self, doing: &'static str, work: impl FnOnce(&Connection) -> Stored<T>) -> Stored<T> {
        self.write_with(Sharing::Shared, doing, work)
    }

    /// The same in a transaction of its own.
    fn write_alone<T>(&self, doing: &'static str, work: impl FnOnce(&Connection) -> Stored<T>) -> Stored<T> {
        self.write_with(Sharing::Alone, doing, work)
    }

    fn write_with<T>(
        &self,
        sharing: Sharing,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Stored<T>,
    ) -> Stored<T> {
        let (value, is_due) = self.pool.write(doing, (self.effort, sharing), |transaction| {
            let value = work(transaction)?;
            Ok((value, Worker::is_due(transaction)))
        })?;
        if is_due {
            self.worker.nudge();
        }
        Ok(value)
    }
}

impl Replying for SqliteStore {
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

impl ReadsAhead for SqliteStore {
    /// A file is near: what is asked for is read then.
    fn read_ahead(&self, _: &Upcoming<'_>) -> ReadingAhead {
        ReadingAhead::default()
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    doing: &'static str,
    work: impl FnOnce(&Connection) -> Stored<T>,
) -> Stored<T> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(while_doing(doing))?;
    let value = work(&transaction)?;
    transaction.commit().map_err(while_doing(doing))?;
    Ok(value)
}
