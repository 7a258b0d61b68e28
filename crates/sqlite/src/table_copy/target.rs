//! A new database that a memory is copied to. It is written beside its place, under a name of its own, and moved there when it
//! is complete: what is at the place is a whole memory, or nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::OptionalExtension as _;
use throughline_core::model::MachineId;
use throughline_core::ports::{Index as _, StoreError};
use throughline_stores::copy::{Begun, Row, Rows, Table, Target};

use super::Tables;
use crate::error::while_doing;
use crate::files::Files;
use crate::open::Durability;
use crate::{SqliteStore, Stored};

const BEGINNING: &str = "begin a copy";
const WRITING: &str = "write a table";
const FINISHING: &str = "finish a copy";

/// How often is looked whether the database is closed, and how long apart.
const LOOKS: u32 = 6000;
const PAUSE: Duration = Duration::from_millis(5);

/// What is done to files from outside: no database file is opened here but by SQLite.
#[derive(Clone, Copy)]
pub struct FileCalls {
    /// Makes an empty file that is its owner's alone; one that is there stays as it is.
    pub make_private: fn(&Path) -> std::io::Result<()>,
    /// Makes a rename in a directory durable.
    pub sync_directory: fn(&Path) -> std::io::Result<()>,
}

/// A file that a memory is copied to.
pub struct SqliteTarget {
    files: FileCalls,
    place: PathBuf,
    unfinished: PathBuf,
    machine: MachineId,
    store: Mutex<Option<SqliteStore>>,
}

impl SqliteTarget {
    /// A memory is to be at `place`; what is kept by machine for `machine` will be that of the file.
    pub fn new(place: &Path, machine: MachineId, files: FileCalls) -> Self {
        let mut unfinished = place.as_os_str().to_owned();
        unfinished.push(".copying");
        Self { files, place: place.to_owned(), unfinished: unfinished.into(), machine, store: Mutex::default() }
    }

    /// Opens what an earlier run left, or begins.
    fn open(&self) -> Stored<SqliteStore> {
        // No backups of its own: those beside it are of other memories.
        let directory = self.unfinished.parent().unwrap_or(Path::new("."));
        (self.files.make_private)(&self.unfinished).map_err(failed(BEGINNING))?;
        let store = SqliteStore::open(&self.unfinished, directory, Durability::Full)?;
        store.write_alone(BEGINNING, |connection| {
            let sql = "CREATE TABLE IF NOT EXISTS copying (mark TEXT NOT NULL) STRICT";
            connection.execute_batch(sql).map_err(while_doing(BEGINNING))
        })?;
        Ok(store)
    }

    /// Closes the database. The last connection, which a thread that works in the background may have for a moment, folds the log
    /// into the file and syncs it.
    fn close(&self, store: SqliteStore) -> Stored<()> {
        let (pool, log) = (Arc::downgrade(&store.pool), Files::of(&self.unfinished).log);
        drop(store);
        for _ in 0..LOOKS {
            if pool.strong_count() == 0 && log.metadata().map_or(true, |log| log.len() == 0) {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(failed(FINISHING)(std::io::Error::other("another program has the copy open")))
    }

    fn remove(&self) -> Stored<()> {
        for file in Files::of(&self.unfinished).all().into_iter().chain([self.reserve().as_path()]) {
            match std::fs::remove_file(file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(BEGINNING)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn reserve(&self) -> PathBuf {
        let mut name = self.unfinished.as_os_str().to_owned();
        name.push(".reserve");
        name.into()
    }

    fn with<T>(&self, work: impl FnOnce(&SqliteStore) -> Stored<T>) -> Stored<T> {
        match &*self.store() {
            Some(store) => work(store),
            None => Err(failed(WRITING)(std::io::Error::other("the copy was not begun"))),
        }
    }

    fn store(&self) -> MutexGuard<'_, Option<SqliteStore>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows for SqliteTarget {
    fn count(&self, table: &Table) -> Stored<u64> {
        // The one row of this table is always there; it is written last of all runs.
        if table.name == "memory" {
            return Ok(0);
        }
        self.with(|store| {
            store.read(
                |connection| Ok(Tables { connection, machine: &self.machine, growth: None }.count(table)),
                WRITING,
            )?
        })
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Stored<()>) -> Stored<()> {
        self.with(|store| {
            store.read(
                |connection| Ok(Tables { connection, machine: &self.machine, growth: None }.each(table, row)),
                WRITING,
            )?
        })
    }
}

impl Target for SqliteTarget {
    fn begin(&self, mark: &str) -> Stored<Begun> {
        if Files::of(&self.place).all().iter().any(|file| file.symlink_metadata().is_ok()) {
            return Ok(Begun::Refused);
        }
        let mut store = self.open()?;
        let known = |store: &SqliteStore| -> Stored<Option<String>> {
            let sql = "SELECT mark FROM copying";
            store.read(|connection| connection.query_row(sql, [], |row| row.get(0)).optional(), BEGINNING)
        };
        let mut begun = Begun::Resumed;
        if known(&store)?.as_deref() != Some(mark) {
            self.close(store)?;
            self.remove()?;
            store = self.open()?;
            store.write_alone(BEGINNING, |connection| {
                connection.execute("INSERT INTO copying (mark) VALUES (?)", [mark]).map_err(while_doing(BEGINNING))
            })?;
            begun = Begun::New;
        }
        *self.store() = Some(store);
        Ok(begun)
    }

    fn put(&self, table: &Table, rows: &[Row]) -> Stored<()> {
        self.with(|store| {
            store.write_alone(WRITING, |connection| {
                let mut rows = rows.iter();
                rows.try_for_each(|row| super::insert(connection, table, row, &self.machine))
                    .map_err(while_doing(WRITING))
            })
        })
    }

    fn finish(&self) -> Stored<()> {
        let Some(store) = self.store().take() else { return Ok(()) };
        store.rebuild(&mut |_, _| {})?;
        store.write_alone(FINISHING, |connection| {
            connection.execute_batch("DROP TABLE copying").map_err(while_doing(FINISHING))
        })?;
        self.close(store)?;
        let directory = self.place.parent().unwrap_or(Path::new("."));
        std::fs::rename(&self.unfinished, &self.place)
            .and_then(|()| (self.files.sync_directory)(directory))
            .map_err(failed(FINISHING))?;
        self.remove()
    }
}

fn failed(doing: &'static str) -> impl Fn(std::io::Error) -> StoreError {
    move |error| StoreError::Failed { doing, source: Box::new(error) }
}
