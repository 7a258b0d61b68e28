//! Which database this is and how far it is: an id, and a count of transactions that never goes back.
//!
//! It is read in two ways: through the write-ahead log, as every query does, and from the database file alone. The two tell
//! whether file and log belong together, which SQLite itself does not check.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row};

use crate::health;

/// How often a file that cannot be read is read again, and how long apart: another process may be writing to it.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// Who a database says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Random; a copy has the id of what it is a copy of.
    pub(crate) id: String,
    /// Transactions so far.
    pub(crate) writes: i64,
    /// What the file alone said, and had synced, when the last of them began.
    pub(crate) base: i64,
    /// How often the log was copied into the file.
    pub(crate) epoch: i64,
    /// The last even and the last odd epoch, as their own pages say.
    pub(crate) marks: (i64, i64),
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

    /// Whether it looks like a row of ours: what is read of a file that is being written may be anything.
    fn is_well_formed(&self) -> bool {
        self.id.len() == 32 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Whether its parts are of one age. While a log is being copied into a file, those of the file are not.
    pub(crate) fn is_whole(&self) -> bool {
        let earlier = self.epoch - 1;
        self.marks == if self.epoch % 2 == 0 { (self.epoch, earlier) } else { (earlier, self.epoch) }
    }
}

const COLUMNS: &str = "id, writes, base, epoch, restored_at, (SELECT epoch FROM store_epoch_even), \
    (SELECT epoch FROM store_epoch_odd)";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Identity> {
    Ok(Identity {
        id: row.get(0)?,
        writes: row.get(1)?,
        base: row.get(2)?,
        epoch: row.get(3)?,
        restored_at: row.get(4)?,
        marks: (row.get(5)?, row.get(6)?),
    })
}

/// As every query sees it.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Identity> {
    connection.prepare_cached(&format!("SELECT {COLUMNS} FROM store_identity"))?.query_row([], from_row)
}

/// Counts a transaction that began when the file alone had `base` synced. The first since the log was copied begins an epoch.
pub(crate) fn count(connection: &Connection, base: i64) -> rusqlite::Result<Identity> {
    let sql = "UPDATE store_identity SET writes = writes + 1, epoch = epoch + (base < ?1), base = max(base, ?1) \
               RETURNING epoch";
    let epoch: i64 = connection.prepare_cached(sql)?.query_row([base], |row| row.get(0))?;
    let mark = if epoch % 2 == 0 { "store_epoch_even" } else { "store_epoch_odd" };
    let sql = format!("UPDATE {mark} SET epoch = ?1 WHERE epoch < ?1");
    connection.prepare_cached(&sql)?.execute([epoch])?;
    read(connection)
}

/// Makes it another one, that was restored.
pub(crate) fn set(connection: &Connection, identity: &Identity) -> rusqlite::Result<()> {
    let sql = "UPDATE store_identity SET id = ?, writes = ?, base = ?, restored_at = ?";
    let Identity { id, writes, base, restored_at, .. } = identity;
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
    /// Whether what is seen through the log rests on a file that said this `before` it was looked at, and now says what this
    /// is. Both only ever count on: the log was written on a file that said no more than now, and says no less than before.
    pub(crate) fn pairs_with(&self, seen: &Identity, before: &Self) -> Pairing {
        match (before, self) {
            (Self::Says(before), Self::Says(now)) => {
                let is_ours = |bare: &Option<Identity>| bare.as_ref().is_none_or(|bare| bare.id == seen.id);
                let writes = |bare: &Option<Identity>| bare.as_ref().map_or(0, |bare| bare.writes);
                if [before, now].into_iter().flatten().any(|bare| !bare.is_well_formed()) {
                    Pairing::Unknown
                } else if is_ours(before) && is_ours(now) && writes(before) <= seen.writes && seen.base <= writes(now) {
                    Pairing::Fits(writes(now))
                } else {
                    Pairing::Broken
                }
            }
            _ => Pairing::Unknown,
        }
    }

    /// How many transactions a file of the database `id` counts, if it counts at least `at_least`.
    pub(crate) fn counts(&self, id: &str, at_least: i64) -> Count {
        match self {
            Self::Unreadable => Count::Unknown,
            Self::Says(None) if at_least == 0 => Count::Of(0),
            Self::Says(Some(bare)) if bare.id == id && bare.writes >= at_least => Count::Of(bare.writes),
            Self::Says(_) => Count::Other,
        }
    }
}

/// What a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// So many transactions.
    Of(i64),
    /// It is another database, or an older state.
    Other,
    /// The file alone does not tell.
    Unknown,
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

    /// What the file says now, and not what was read of it before. Waits for whoever is writing to it.
    pub(crate) fn read(&self) -> Bare {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            match self.look(&mut kept) {
                Bare::Unreadable => std::thread::sleep(PAUSE),
                said => return said,
            }
        }
        tracing::debug!("the database file cannot be read by itself");
        Bare::Unreadable
    }

    /// The same without waiting.
    pub(crate) fn glance(&self) -> Bare {
        self.connection.try_lock().map_or(Bare::Unreadable, |mut kept| self.look(&mut kept))
    }

    fn look(&self, kept: &mut Option<Connection>) -> Bare {
        if let Some(connection) = kept.take()
            && let Ok(identity) = read_again(&connection)
        {
            *kept = Some(connection);
            return Bare::Says(Some(identity));
        }
        match self.read_anew() {
            Ok((connection, identity)) => {
                *kept = Some(connection);
                Bare::Says(Some(identity))
            }
            Err(error) if error.to_string().contains("no such table") => Bare::Says(None),
            Err(_) => Bare::Unreadable,
        }
    }

    /// What is wrong with the structure of the file alone, which has to hold everything.
    pub(crate) fn damage(&self) -> rusqlite::Result<Vec<String>> {
        self.close();
        health::damage(&self.read_anew()?.0)
    }

    /// Lets go of the file.
    pub(crate) fn close(&self) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Leaves the file open until the process ends.
    pub(crate) fn leave_open(&self) {
        std::mem::forget(self.connection.lock().unwrap_or_else(PoisonError::into_inner).take());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(epoch: i64, even: i64, odd: i64) -> Identity {
        Identity { id: "0".repeat(32), writes: 100, base: 50, epoch, marks: (even, odd), restored_at: 0 }
    }

    #[test]
    fn parts_of_one_age_are_told_from_those_of_several() {
        for (epoch, even, odd, is_whole) in [
            (1, 0, 1, true),
            (8, 8, 7, true),
            (9, 8, 9, true),
            (8, 6, 7, false),
            (7, 8, 7, false),
            (8, 8, 5, false),
            (9, 6, 9, false),
        ] {
            assert_eq!(identity(epoch, even, odd).is_whole(), is_whole, "{epoch} {even} {odd}");
        }
    }

    #[test]
    fn a_file_that_says_less_than_its_log_was_written_on_is_another_one() {
        let seen = identity(8, 8, 7);
        let says = |writes: i64| Bare::Says(Some(Identity { writes, ..identity(7, 6, 7) }));
        let pairing = |before: i64, now: i64| says(now).pairs_with(&seen, &says(before));
        assert_eq!(pairing(50, 50), Pairing::Fits(50));
        assert_eq!(pairing(100, 100), Pairing::Fits(100));
        assert_eq!(pairing(40, 50), Pairing::Fits(50), "a log was copied meanwhile");
        assert_eq!(pairing(100, 110), Pairing::Fits(110), "and written on");
        assert_eq!(pairing(49, 49), Pairing::Broken, "an older file");
        assert_eq!(pairing(101, 101), Pairing::Broken, "an older log");
        let other = Bare::Says(Some(Identity { id: "1".repeat(32), ..seen.clone() }));
        assert_eq!(other.pairs_with(&seen, &says(50)), Pairing::Broken, "another memory");
        let strange = Bare::Says(Some(Identity { id: "page".to_owned(), ..seen.clone() }));
        assert_eq!(strange.pairs_with(&seen, &says(50)), Pairing::Unknown, "not a row of ours");
        assert_eq!(Bare::Says(None).pairs_with(&seen, &Bare::Says(None)), Pairing::Broken);
        assert_eq!(Bare::Unreadable.pairs_with(&seen, &says(50)), Pairing::Unknown);
    }
}
