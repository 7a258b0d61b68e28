//! Which database this is and how far it is: an id, and a count of transactions that never goes back.
//!
//! It is read in two ways: through the write-ahead log, as every query does, and from the database file alone. The two tell
//! whether file and log belong together, which SQLite itself does not check.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row};

/// How often a file that cannot be read is read again, and how long apart: another process may be writing to it.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(5);

/// The one row of `store_identity`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Random; a copy has the id of what it is a copy of.
    pub(crate) id: String,
    /// Transactions so far.
    pub(crate) writes: i64,
    /// What the file alone said when the last of them began.
    pub(crate) base: i64,
    /// When a copy was last restored here, in milliseconds; 0 is never.
    pub(crate) restored_at: i64,
}

impl Identity {
    /// Whether this is the same database, with everything that it had when it was `earlier`, or one that somebody restored
    /// since.
    pub(crate) fn follows(&self, earlier: &Self) -> bool {
        self.is_later(earlier) || self.restored_at > earlier.restored_at
    }

    /// Whether this is the same database, with everything that it had when it was `earlier`.
    pub(crate) fn is_later(&self, earlier: &Self) -> bool {
        self.id == earlier.id && self.writes >= earlier.writes
    }

    fn is_well_formed(&self) -> bool {
        self.id.len() == 32 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

const COLUMNS: &str = "id, writes, base, restored_at";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Identity> {
    Ok(Identity { id: row.get(0)?, writes: row.get(1)?, base: row.get(2)?, restored_at: row.get(3)? })
}

/// As every query sees it.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Identity> {
    connection.prepare_cached(&format!("SELECT {COLUMNS} FROM store_identity"))?.query_row([], from_row)
}

/// Counts a transaction that began when the file alone said `base`.
pub(crate) fn count(connection: &Connection, base: i64) -> rusqlite::Result<Identity> {
    let sql = format!("UPDATE store_identity SET writes = writes + 1, base = max(base, ?) RETURNING {COLUMNS}");
    connection.prepare_cached(&sql)?.query_row([base], from_row)
}

/// Makes it another one.
pub(crate) fn set(connection: &Connection, identity: &Identity) -> rusqlite::Result<()> {
    let sql = "UPDATE store_identity SET id = ?, writes = ?, base = ?, restored_at = ?";
    let Identity { id, writes, base, restored_at } = identity;
    connection.execute(sql, (id, writes, base, restored_at)).map(drop)
}

/// What a database file says without its log.
#[derive(Debug)]
pub(crate) enum Bare {
    /// This; nothing where everything is still in the log.
    Says(Option<Identity>),
    /// It cannot be read by itself: damaged, or in the middle of being written.
    Unreadable,
}

/// Whether a file and its log belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// They do; the file counts this many transactions.
    Fits(i64),
    /// They do not: one of them was replaced.
    Broken,
    /// The file alone does not tell.
    Unknown,
}

impl Bare {
    /// Whether what is seen through the log rests on this file. The file is read first, so it is never ahead.
    pub(crate) fn pairs_with(&self, seen: &Identity) -> Pairing {
        match self {
            Self::Unreadable => Pairing::Unknown,
            Self::Says(None) if seen.base == 0 => Pairing::Fits(0),
            Self::Says(None) => Pairing::Broken,
            Self::Says(Some(bare)) if !bare.is_well_formed() => Pairing::Unknown,
            Self::Says(Some(bare)) => {
                let fits = bare.id == seen.id && (seen.base..=seen.writes).contains(&bare.writes);
                if fits { Pairing::Fits(bare.writes) } else { Pairing::Broken }
            }
        }
    }
}

/// Reads the database file without its log. SQLite does the reading: it alone may open the file in this process.
pub(crate) struct BareReader {
    uri: String,
    connection: Mutex<Option<Connection>>,
}

impl BareReader {
    pub(crate) fn new(path: &Path) -> Self {
        Self { uri: format!("file:{}?immutable=1", percent_encoded(path)), connection: Mutex::new(None) }
    }

    /// What the file says now, and not what was read of it before.
    pub(crate) fn read(&self) -> Bare {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = kept.take()
            && let Ok(identity) = read_again(&connection)
        {
            *kept = Some(connection);
            return Bare::Says(Some(identity));
        }
        for nth in 0..TRIES {
            match self.read_anew() {
                Ok((connection, identity)) => {
                    *kept = Some(connection);
                    return Bare::Says(Some(identity));
                }
                Err(error) if error.to_string().contains("no such table") => return Bare::Says(None),
                Err(error) => {
                    tracing::debug!(%error, nth, "the database file cannot be read by itself");
                    std::thread::sleep(PAUSE);
                }
            }
        }
        Bare::Unreadable
    }

    /// Lets go of the file.
    pub(crate) fn close(&self) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn read_anew(&self) -> rusqlite::Result<(Connection, Identity)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&self.uri, flags)?;
        let identity = read(&connection)?;
        Ok((connection, identity))
    }
}

/// Reads on a connection that is open, after it forgot all pages. A file that was moved is an error.
fn read_again(connection: &Connection) -> rusqlite::Result<Identity> {
    if has_moved(connection)? {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    }
    connection.execute_batch("PRAGMA shrink_memory")?;
    read(connection)
}

/// Whether the file that a connection has open is no longer the one at its path.
#[cfg(unix)]
pub(crate) fn has_moved(connection: &Connection) -> rusqlite::Result<bool> {
    let mut moved = 0;
    connection.file_control(rusqlite::DEFAULT_NAME, rusqlite::FileControl::HasMoved(&mut moved))?;
    Ok(moved != 0)
}

/// An open file cannot be moved there.
#[cfg(not(unix))]
pub(crate) fn has_moved(_: &Connection) -> rusqlite::Result<bool> {
    Ok(false)
}

fn percent_encoded(path: &Path) -> String {
    let mut uri = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            // A path of Windows: `C:\a` is `/C:/a` in an address.
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    if cfg!(windows) { format!("/{uri}") } else { uri }
}
