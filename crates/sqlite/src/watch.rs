//! Whether the files that connections have open are still the database at the path, with what was confirmed in it.
//!
//! SQLite does not notice when its files are moved, deleted or overwritten: it goes on writing to a file that nobody will
//! find. So every write looks before its first statement and again after its commit, before anybody is told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use throughline_core::ports::Loss;

use crate::error::is_busy;
use crate::files::{Files, Stamp, Stamps};
use crate::identity::{self, Bare, BareReader, Count, Identity, Pairing};

/// A log that is longer than this is copied into the database file.
pub(crate) const MOST_FRAMES: u64 = 4000;

/// A database that is larger than this is not checked whenever its log was copied into it: that takes longer than copying.
const LARGEST_CHECKED: u64 = 16 << 20;

/// How often a file is checked that others write to meanwhile.
const CHECKS: u32 = 3;

/// How often a changed file is looked at again before it counts as changed by somebody else: another process may be in the
/// middle of copying its log into it, which takes as long as the disk does.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// The header of a log, and that of each frame in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The database is not the one that was opened.
    Lost(Loss),
    /// The log or its index is not the one that was opened; the database is.
    Log,
    /// Somebody wrote to the database file, or it cannot be read by itself: it has to be checked.
    Touched,
}

impl Trouble {
    /// What it is called until it is over.
    pub(crate) fn loss(self) -> Loss {
        match self {
            Self::Lost(loss) => loss,
            Self::Log => Loss::Incomplete,
            Self::Touched => Loss::Damaged,
        }
    }
}

/// Who looks. Only writers judge a file that was changed and still counts the same, and only they take note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
}

/// What the file alone counts when a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) counted: i64,
    /// How much of it survives a loss of power for sure; 0 where nothing is known.
    pub(crate) synced: i64,
}

/// What connections were opened on, and how it was when last looked at.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) main: Stamp,
    log: Stamp,
    index: Stamp,
    page_size: u64,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    main: Stamp,
    /// What the file alone counted.
    bare: i64,
    /// Whether the file has been the same for two looks: until then, another process may still be copying its log into it.
    is_settled: bool,
    /// How many frames of the log were copied, where that is known. It is noted when a copy ends: the file may change until then, also
    /// after two looks that came within one tick of the file system's clock.
    copied: Option<i64>,
    identity: Identity,
}

impl Seen {
    fn settle(&mut self, connection: &Connection) {
        if !self.is_settled {
            (self.is_settled, self.copied) = (true, copied(connection));
        }
    }
}

impl Known {
    /// Nothing where one of the files is not there.
    pub(crate) fn of(stamps: &Stamps, page_size: u64, bare: i64, identity: Identity) -> Option<Self> {
        let (main, log, index) = (stamps.main?, stamps.log?, stamps.index?);
        let seen = Mutex::new(Seen { main, bare, is_settled: false, copied: None, identity });
        Some(Self { main, log, index, page_size, seen })
    }

    /// The last state that was seen or confirmed.
    pub(crate) fn identity(&self) -> Identity {
        self.seen().identity.clone()
    }

    /// How long a log of so many frames is.
    pub(crate) fn log_length(&self, frames: u64) -> u64 {
        log_length(frames, self.page_size)
    }

    /// Whether a database file is the one that was opened.
    pub(crate) fn is_file(&self, main: Option<Stamp>) -> bool {
        main.is_some_and(|main| main.is_same_file(&self.main))
    }

    /// Whether nobody wrote to the database file since the last look.
    pub(crate) fn is_untouched(&self, main: Option<Stamp>) -> bool {
        main == Some(self.seen().main)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the files of one database.
pub(crate) struct Watch {
    pub(crate) files: Files,
    pub(crate) bare: BareReader,
}

type Looked<T = ()> = Result<T, Trouble>;

const DAMAGED: Trouble = Trouble::Lost(Loss::Damaged);
const REPLACED: Trouble = Trouble::Lost(Loss::Replaced);

impl Watch {
    /// Whether the files at the path are those that were opened; gives the database file as it is now.
    pub(crate) fn look_at_files(&self, known: &Known) -> Looked<Stamp> {
        let now = self.files.stamps();
        let main = present(now.main)?;
        if !known.is_file(Some(main)) {
            return Err(REPLACED);
        }
        let is_same = |file: Option<Stamp>, opened: &Stamp| file.is_some_and(|file| file.is_same_file(opened));
        let has_log = is_same(now.log, &known.log) && is_same(now.index, &known.index);
        if has_log { Ok(main) } else { Err(Trouble::Log) }
    }

    /// Whether a connection's files are those at the path, and nobody overwrote them.
    pub(crate) fn look(&self, known: &Known, connection: &Connection, role: Role) -> Looked {
        let main = self.look_at_files(known)?;
        if identity::has_moved(connection).unwrap_or(true) {
            return Err(REPLACED);
        }
        if known.seen().main == main {
            if role == Role::Writer {
                known.seen().settle(connection);
            }
            return Ok(());
        }
        self.explain(known, connection, main, (role, false))
    }

    /// A file that was changed is explained by a log that was copied into it: then it counts more transactions, or the copy that
    /// it was last seen in has ended. `is_ours` says that this thread did that, and is done.
    fn explain(&self, known: &Known, connection: &Connection, main: Stamp, (role, is_ours): (Role, bool)) -> Looked {
        if role == Role::Reader {
            // A reader has its snapshot, whatever is being copied into the file, and meets damage by itself.
            let seen = known.identity();
            let is_other = matches!(self.bare.glance().counts(&seen.id, known.seen().bare), Count::Other);
            return if is_other { Err(REPLACED) } else { Ok(()) };
        }
        for _ in 0..LOOKS {
            let found = self.bare.read();
            let mut seen = known.seen();
            let counted = match found.counts(&seen.identity.id, seen.bare) {
                Count::Of(counted) => counted,
                Count::Other => return Err(REPLACED),
                Count::Unknown => return Err(Trouble::Touched),
            };
            let copied = copied(connection);
            let has_ended = copied.is_some() && seen.copied.is_some() && copied != seen.copied;
            if counted > seen.bare || !seen.is_settled || has_ended {
                (seen.main, seen.bare, seen.is_settled, seen.copied) = (main, counted, is_ours, copied);
                return Ok(());
            }
            drop(seen);
            std::thread::sleep(PAUSE);
        }
        Err(Trouble::Touched)
    }

    /// What the file alone counts and a loss of power does not take from it. Only a log that was copied as a whole is followed by
    /// a sync of the file: what is read there while a part of a log is copied may be gone afterwards, and is still in the log.
    pub(crate) fn synced(&self, known: &Known, connection: &Connection) -> i64 {
        let is_copied = || log_state(connection).is_ok_and(|log| log.frames == log.copied);
        if !is_copied() {
            return 0;
        }
        let bare = self.bare.read();
        match bare.counts(&known.identity().id, 0) {
            // Another process may have begun to copy what was written meanwhile.
            Count::Of(counted) if is_copied() => counted,
            _ => 0,
        }
    }

    /// Looks inside a transaction that is about to write: nobody else can write until it ends. Gives what the file alone
    /// counts.
    pub(crate) fn before(&self, known: &Known, transaction: &Connection) -> Looked<i64> {
        self.look(known, transaction, Role::Writer)?;
        let bare = self.bare.read();
        let now = identity::read(transaction).map_err(|_| DAMAGED)?;
        let base = match bare.pairs_with(&now, &bare) {
            Pairing::Fits(base) => base,
            Pairing::Broken => return Err(REPLACED),
            Pairing::Unknown => return Err(Trouble::Touched),
        };
        let mut seen = known.seen();
        if !now.follows(&seen.identity) {
            return Err(REPLACED);
        }
        seen.identity = now;
        Ok(base)
    }

    /// Looks after a commit, before anybody is told of it. `base` is what the file alone counted when it began.
    pub(crate) fn after(&self, known: &Known, connection: &Connection, written: &Identity, base: i64) -> Looked {
        self.look(known, connection, Role::Writer)?;
        match self.bare.read().counts(&written.id, base) {
            Count::Of(_) => {}
            Count::Other => return Err(REPLACED),
            Count::Unknown => return Err(Trouble::Touched),
        }
        known.seen().identity = written.clone();
        let frames = self.log_frames(known, connection)?;
        if frames >= MOST_FRAMES { self.copy_log(known, connection) } else { Ok(()) }
    }

    /// How many frames the log has, if its file is long enough for them.
    pub(crate) fn log_frames(&self, known: &Known, connection: &Connection) -> Looked<u64> {
        let frames = match log_state(connection) {
            Ok(log) => u64::try_from(log.frames).unwrap_or(0),
            // Another process is reading the log anew, and knows better in a moment.
            Err(error) if is_busy(&error) => 0,
            Err(_) => return Err(DAMAGED),
        };
        let expected = known.log_length(frames);
        match Stamp::of(&self.files.log) {
            Some(log) if log.length >= expected => Ok(frames),
            // Emptied by another process between the two looks, after everything was copied into the file.
            Some(_) if self.is_all_in_file(known) => Ok(0),
            Some(_) => Err(Trouble::Lost(Loss::Incomplete)),
            None => Err(Trouble::Log),
        }
    }

    /// Whether the file alone has everything that was seen.
    fn is_all_in_file(&self, known: &Known) -> bool {
        let seen = known.identity();
        matches!(self.bare.read().counts(&seen.id, seen.writes), Count::Of(_))
    }

    /// Whether all of the log is in the file, so that the next write begins it anew. It is tried so often: most who read end
    /// in a moment.
    pub(crate) fn is_log_done(&self, known: &Known, connection: &Connection, tries: u32) -> Looked<bool> {
        for nth in 0..tries {
            if nth > 0 {
                std::thread::sleep(PAUSE);
            }
            self.copy_log(known, connection)?;
            if log_state(connection).is_ok_and(|log| log.frames == log.copied) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies the log into the file, as far as no reader stands in the way; looks right before and right behind.
    fn copy_log(&self, known: &Known, connection: &Connection) -> Looked {
        self.look(known, connection, Role::Writer)?;
        let is_complete = copy_log(connection).unwrap_or_else(|error| {
            tracing::warn!(%error, "the write-ahead log was not copied into the database");
            false
        });
        match present(Stamp::of(&self.files.main))? {
            main if known.is_untouched(Some(main)) => Ok(()),
            main if known.is_file(Some(main)) => {
                self.explain(known, connection, main, (Role::Writer, true))?;
                if is_complete { self.check_file(main, connection) } else { Ok(()) }
            }
            _ => Err(REPLACED),
        }
    }

    /// Checks the file into which all of the log was just copied: what somebody did to it meanwhile cannot be seen from
    /// outside.
    fn check_file(&self, main: Stamp, connection: &Connection) -> Looked {
        match self.damage_of_file(connection, main.length <= LARGEST_CHECKED) {
            Ok(damage) if damage.is_empty() => Ok(()),
            Err(error) if is_busy(&error) => Ok(()),
            _ => Err(DAMAGED),
        }
    }

    /// What is wrong with the file by itself, where it has all of the log and nobody writes meanwhile; else nothing.
    pub(crate) fn damage_of_file(&self, connection: &Connection, is_thorough: bool) -> rusqlite::Result<Vec<String>> {
        for _ in 0..CHECKS {
            let before = (log_state(connection)?, identity::read(connection)?);
            if before.0.frames != before.0.copied {
                break;
            }
            let is_whole = matches!(self.bare.read(), Bare::Says(Some(bare)) if bare.is_whole());
            let damage = if is_thorough { self.bare.damage() } else { Ok(Vec::new()) };
            let after = (log_state(connection)?, identity::read(connection)?);
            // Otherwise another process copied the log of what was written since, and may have been in the middle of it.
            if before == after {
                return if is_whole { damage } else { Ok(vec!["parts of it are older than others".to_owned()]) };
            }
        }
        Ok(Vec::new())
    }
}

/// How much of a log was copied into its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogState {
    pub(crate) frames: i64,
    pub(crate) copied: i64,
}

/// How long a log of so many frames is.
pub(crate) fn log_length(frames: u64, page_size: u64) -> u64 {
    if frames == 0 { 0 } else { LOG_HEADER + frames * (FRAME_HEADER + page_size) }
}

pub(crate) fn log_state(connection: &Connection) -> rusqlite::Result<LogState> {
    let state = |row: &rusqlite::Row<'_>| Ok(LogState { frames: row.get(1)?, copied: row.get(2)? });
    connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?.query_row([], state)
}

/// How many frames were copied; nothing where that cannot be told now.
fn copied(connection: &Connection) -> Option<i64> {
    log_state(connection).ok().map(|log| log.copied)
}

/// Copies the log into the database file; says whether all of it is there.
pub(crate) fn copy_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (is_busy, frames, copied): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(!is_busy && frames == copied)
    })
}

/// A database file that is there and not empty.
pub(crate) fn present(main: Option<Stamp>) -> Looked<Stamp> {
    match main {
        None => Err(Trouble::Lost(Loss::Missing)),
        Some(main) if main.length == 0 => Err(Trouble::Lost(Loss::Empty)),
        Some(main) => Ok(main),
    }
}

/// What is known of a generation of connections, shared by all of them.
pub(crate) type Generation = Arc<Known>;
