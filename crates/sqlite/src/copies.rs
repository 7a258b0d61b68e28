//! Backups beside a database: which is the newest, and how one is brought back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::Connection;
use throughline_core::ports::{Backups, CopyCheck, Erased, Erasure, StoreError};

use crate::backup::{self, put_in_place, scratch, target_of_restore};
use crate::error::while_doing;
use crate::files::{Files, Stamp};
use crate::identity::{self, Identity};
use crate::open::{self, Durability, Make};
use crate::watch::{copy_log, present};
use crate::{SqliteStore, Stored, erase};

/// Transactions that other processes may make while a copy is put in the place of a database that they use.
const ROOM: i64 = 1_000_000;

/// The names of databases that were in the way, and of those that could not be read.
const REPLACED: &str = "before-restore-";
const DAMAGED: &str = "damaged-";

/// The backups of one database, whether that can be opened or not.
pub struct SqliteBackups {
    database: PathBuf,
    directory: PathBuf,
    store: Option<Arc<SqliteStore>>,
}

impl SqliteBackups {
    /// Backups in `directory` of the database at `database`.
    pub fn new(database: &Path, directory: &Path) -> Self {
        Self { database: database.to_owned(), directory: directory.to_owned(), store: None }
    }

    /// The same for a database that this process has open.
    pub fn of(store: Arc<SqliteStore>, database: &Path, directory: &Path) -> Self {
        Self { store: Some(store), ..Self::new(database, directory) }
    }

    fn open(&self) -> Stored<Arc<SqliteStore>> {
        let opened = || SqliteStore::open(&self.database, &self.directory, Durability::Full).map(Arc::new);
        self.store.as_ref().map_or_else(opened, |store| Ok(Arc::clone(store)))
    }

    /// Keeps what is at the path among the backups. Gives where, and who it is if it can stay and be overwritten.
    fn put_aside(&self, stamp: &str) -> Stored<(Option<PathBuf>, Option<Live>)> {
        if present(Files::of(&self.database).stamps().main).is_err() {
            return Ok((self.move_aside(stamp)?, None));
        }
        let aside = unused(&self.directory, &format!("{REPLACED}{stamp}"));
        let kept = SqliteStore::open(&self.database, &self.directory, Durability::Full)
            .and_then(|store| store.backup(&aside, &mut |_, _| true))
            .and_then(|()| Live::of(&self.database));
        match kept {
            Ok(live) => Ok((Some(aside), Some(live))),
            Err(StoreError::Damaged { .. } | StoreError::Lost { .. }) => Ok((self.move_aside(stamp)?, None)),
            Err(error) => Err(error),
        }
    }

    /// Moves whatever there is of a database that cannot be read; gives where the first of its files is.
    fn move_aside(&self, stamp: &str) -> Stored<Option<PathBuf>> {
        let aside = Files::of(&unused(&self.directory, &format!("{DAMAGED}{stamp}")));
        let mut moved = None;
        for (from, to) in Files::of(&self.database).all().into_iter().zip(aside.all()) {
            match std::fs::rename(from, to) {
                Ok(()) => moved = moved.or_else(|| Some(to.to_owned())),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed("move the damaged database aside", error)),
            }
        }
        Ok(moved)
    }

    /// Puts a prepared copy where there is no database: it appears whole.
    fn put_new(&self, prepared: &Path) -> Stored<()> {
        match std::fs::rename(prepared, &self.database) {
            Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
                put_in_place(&open::connect_to_copy(prepared)?, &mut target_of_restore(&self.database)?)
            }
            renamed => renamed.map_err(|error| failed("put the backup in its place", error)),
        }
    }

    /// Overwrites a database that other processes may have open, in one transaction.
    fn put_over(&self, prepared: &Path) -> Stored<()> {
        let mut live = target_of_restore(&self.database)?;
        put_in_place(&open::connect_to_copy(prepared)?, &mut live)?;
        copy_log(&live).map(drop).map_err(while_doing("restore a backup"))
    }
}

impl Backups for SqliteBackups {
    fn write_copy(&self, target: &Path, progress: &mut dyn FnMut(u64, u64) -> bool) -> Stored<()> {
        self.open()?.backup(target, progress)
    }

    fn check_copy(&self, copy: &Path) -> Stored<CopyCheck> {
        backup::drill(copy)
    }

    fn restore_copy(&self, copy: &Path, stamp: &str, at: Timestamp) -> Stored<Option<PathBuf>> {
        let prepared = scratch(&self.directory.join("restored.db"), "partial");
        let restored = prepare(copy, &prepared, at).and_then(|()| {
            let (kept, live) = self.put_aside(stamp)?;
            match live {
                Some(live) => live.take_over(&prepared).and_then(|()| self.put_over(&prepared)),
                None => self.put_new(&prepared),
            }?;
            Ok(kept)
        });
        backup::remove_scratch(&prepared);
        restored
    }

    fn erase_in_copy(&self, copy: &Path, erasure: &Erasure) -> Stored<Erased> {
        erase::erase_in_backup(copy, erasure)
    }

    fn newest_copy(&self) -> Option<String> {
        newest(&self.directory)
    }
}

/// Makes a file of what a copy holds, of the current schema, that says that it was restored.
fn prepare(copy: &Path, prepared: &Path, at: Timestamp) -> Stored<()> {
    let preparing = while_doing("restore a backup");
    let mut file = target_of_restore(prepared)?;
    put_in_place(&open::connect_to_copy(copy)?, &mut file)?;
    open::migrate(&mut file, &open::MIGRATIONS, None)?;
    let was = identity::read(&file).map_err(&preparing)?;
    let restored_at = at.as_millisecond().max(was.restored_at + 1);
    let now = Identity { writes: was.writes + 1, base: 0, restored_at, ..was };
    identity::set(&file, &now).map_err(&preparing)?;
    // A copy may come from anywhere: which files erasing rewrites is not for it to say.
    file.execute("DELETE FROM exports", []).map_err(&preparing)?;
    file.pragma_update(None, "journal_mode", "delete").map_err(preparing)
}

/// What stays of a database whose content is replaced: who it is, and which files are noted as exports.
struct Live {
    identity: Identity,
    exports: Vec<String>,
}

impl Live {
    fn of(database: &Path) -> Stored<Self> {
        let reading = while_doing("restore a backup");
        let connection = open::connect(database, Durability::Full, Make::Nothing)?;
        let identity = identity::read(&connection).map_err(&reading)?;
        Ok(Self { identity, exports: exports(&connection).map_err(reading)? })
    }

    /// Makes a prepared copy the next state of this database.
    fn take_over(self, prepared: &Path) -> Stored<()> {
        let taking = while_doing("restore a backup");
        let mut file = target_of_restore(prepared)?;
        let transaction = file.transaction().map_err(&taking)?;
        let copy = identity::read(&transaction).map_err(&taking)?;
        let writes = self.identity.writes.max(copy.writes) + ROOM;
        let restored_at = copy.restored_at.max(self.identity.restored_at + 1);
        identity::set(&transaction, &Identity { writes, restored_at, ..self.identity }).map_err(&taking)?;
        for path in self.exports {
            transaction.execute("INSERT INTO exports (path) VALUES (?)", [path]).map_err(&taking)?;
        }
        transaction.commit().map_err(taking)
    }
}

fn exports(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.prepare("SELECT path FROM exports")?.query_map([], |row| row.get(0))?.collect()
}

/// Refuses to make a new memory beside the remains of another one: its backups, or a log without its database.
pub(crate) fn may_begin(files: &Files, backups: &Path) -> Stored<()> {
    let stamps = files.stamps();
    let Err(missing) = present(stamps.main) else { return Ok(()) };
    let has_log = stamps.log.is_some_and(|log| log.length > 0);
    // In a directory that the two share, a backup cannot be told from the database of somebody else.
    let is_shared = files.main.parent() == Some(backups);
    if has_log || (!is_shared && databases(backups).next().is_some()) {
        return Err(StoreError::Lost { loss: missing.loss(), backup: newest(backups) });
    }
    Ok(())
}

/// Refuses to make a new memory at `database` where there are backups of another one.
pub fn check_for_remains(database: &Path, backups: &Path) -> Stored<()> {
    may_begin(&Files::of(database), backups)
}

/// The name of the newest backup, by the time at which it was written; one that a restore left only where there is no other.
pub(crate) fn newest(backups: &Path) -> Option<String> {
    let written = |path: &PathBuf| path.metadata().and_then(|found| found.modified()).ok();
    let named = databases(backups).filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let is_usable = !name.starts_with(DAMAGED) && present(Stamp::of(&path)).is_ok();
        is_usable.then(|| (!name.starts_with(REPLACED), written(&path), name))
    });
    named.max().map(|(.., name)| name)
}

/// The databases in a directory.
fn databases(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let files = directory.read_dir().into_iter().flatten().flatten().map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|end| end == "db"))
}

/// A name in a directory that nothing has yet.
fn unused(directory: &Path, name: &str) -> PathBuf {
    let named = |suffix: &str| directory.join(format!("{name}{suffix}.db"));
    let numbered = (2..).map(|n| named(&format!("-{n}")));
    std::iter::once(named("")).chain(numbered).find(|path| !path.exists()).unwrap_or_else(|| named(""))
}

fn failed(doing: &'static str, error: std::io::Error) -> StoreError {
    StoreError::Failed { doing, source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_newest_backup_is_the_one_that_was_written_last_and_can_be_used() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(newest(directory.path()), None);
        let write = |name: &str, text: &str, age: u64| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
        };
        write("damaged-now.db", "x", 0);
        write("empty.db", "", 0);
        write("notes.txt", "x", 0);
        assert_eq!(newest(directory.path()), None);
        write("before-restore-now.db", "x", 0);
        assert_eq!(newest(directory.path()).as_deref(), Some("before-restore-now.db"));
        write("memory-b.db", "x", 30);
        write("auto-a.db", "x", 20);
        write("before-schema-8.db", "x", 40);
        assert_eq!(newest(directory.path()).as_deref(), Some("auto-a.db"));
        assert_eq!(newest(&directory.path().join("nowhere")), None);
    }
}
