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
mod entries;
mod erase;
mod error;
mod filter;
mod functions;
mod health;
mod history;
mod index;
mod injections;
mod jobs;
mod leases;
mod ledger;
#[cfg(test)]
mod migration_tests;
mod open;
mod projects;
mod recalls;
mod reflections;
mod rows;
mod sessions;
mod tasks;
mod transfer;
mod turns;
mod undo;
mod vault;
mod vectors;
mod versioned;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use throughline_core::model::MachineId;
use throughline_core::ports::StoreError;

use error::while_doing;
use recalls::Bookkeeper;

pub use backup::{Drill, drill, restore};
pub use erase::erase_in_backup;
pub use open::Durability;

type Stored<T> = Result<T, StoreError>;

/// A memory in one SQLite file.
pub struct SqliteStore {
    /// First, so that it is done before the last connection closes and folds the log away.
    bookkeeper: Bookkeeper,
    path: PathBuf,
    durability: Durability,
    machine: MachineId,
    /// Connections that nobody is using. A reader takes one, or opens one; they all see the same file.
    idle: Mutex<Vec<Connection>>,
    /// Threads of one process queue here, so that only processes compete for SQLite's own lock.
    writing: Mutex<()>,
}

impl SqliteStore {
    /// Opens or creates the database at `path`, bringing its schema up to date; a copy of an older one goes to
    /// `backups` first.
    pub fn open(path: &Path, backups: &Path, durability: Durability) -> Stored<Self> {
        let mut connection = open::connect(path, durability)?;
        if let Some(saved) = open::migrate(&mut connection, &open::MIGRATIONS, Some(backups))? {
            tracing::info!(backup = %saved.display(), "the schema was brought up to date");
        }
        if erase::is_unswept(&connection).map_err(while_doing("open the database"))? && !erase::sweep(&connection) {
            tracing::warn!("something was erased, and its traces cannot be swept away while another process reads");
        }
        Ok(Self {
            path: path.to_owned(),
            durability,
            machine: MachineId::new(""),
            idle: Mutex::new(vec![connection]),
            writing: Mutex::new(()),
            bookkeeper: Bookkeeper::new(path),
        })
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
        let connection = self.take()?;
        let outcome = work(&connection).map_err(while_doing(doing));
        self.give_back(connection);
        outcome
    }

    /// Writes in one `BEGIN IMMEDIATE` transaction: all of it, or nothing.
    fn write<T>(&self, doing: &'static str, work: impl FnOnce(&Transaction<'_>) -> Stored<T>) -> Stored<T> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = self.take()?;
        let outcome = in_transaction(&mut connection, doing, work);
        self.give_back(connection);
        outcome
    }

    fn take(&self) -> Stored<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| open::connect(&self.path, self.durability), Ok)
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    doing: &'static str,
    work: impl FnOnce(&Transaction<'_>) -> Stored<T>,
) -> Stored<T> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(while_doing(doing))?;
    let value = work(&transaction)?;
    transaction.commit().map_err(while_doing(doing))?;
    Ok(value)
}
