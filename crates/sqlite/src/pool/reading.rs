//! A database that can only be read: its directory is read-only, or a newer program wrote it. Nothing is looked after, since
//! nothing is written: no log is copied, no schema is changed, no recall is noted.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use throughline_core::ports::{ReadOnly, StoreError};

use crate::Stored;
use crate::files::{Files, Stamp};
use crate::open::{self, Locking};
use crate::room;

/// Connections that only read.
pub(super) struct Reader {
    files: Files,
    pub(super) why: ReadOnly,
    idle: Mutex<Vec<Connection>>,
}

impl Reader {
    /// Opens the database at a path, whatever program wrote it.
    pub(super) fn open(path: &Path, why: ReadOnly) -> Stored<Self> {
        let files = Files::of(path);
        let connection = connect(&files, why)?;
        let (found, known) = (open::schema_of(&connection)?, open::MIGRATIONS.len() as i64);
        if found < known {
            let source = format!("its schema is {found}, this program needs {known}").into();
            return Err(StoreError::Failed {
                doing: "read a memory of an older version that cannot be written",
                source,
            });
        }
        Ok(Self { files, why, idle: Mutex::new(vec![connection]) })
    }

    /// A connection; give it back afterwards.
    pub(super) fn take(&self) -> Stored<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| connect(&self.files, self.why), Ok)
    }

    pub(super) fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if room::is_free(idle.len()) && self.locking() == Locking::Usual {
            idle.push(connection);
        }
    }

    fn locking(&self) -> Locking {
        locking(&self.files, self.why)
    }
}

fn connect(files: &Files, why: ReadOnly) -> Stored<Connection> {
    open::connect_to_read(&files.main, locking(files, why))
}

/// SQLite reads a database with a log by the log's index, which it has to find or make. Without a log, and with nobody who could
/// begin one, it needs neither index nor locks.
fn locking(files: &Files, why: ReadOnly) -> Locking {
    let has_log = Stamp::of(&files.log).is_some_and(|log| log.length > 0);
    if why == ReadOnly::Directory && !has_log { Locking::None } else { Locking::Usual }
}
