//! Connections to one database: taken by whoever reads or writes, dropped when the database is lost, opened anew when a sound
//! one is back.
//!
//! Never happens: a write that is confirmed and is not in the database at the path, or a database that is made where one
//! was lost.

pub(crate) mod bound;
mod effort;
mod reading;
#[cfg(test)]
mod tests;
mod trim;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use throughline_core::ports::{Loss, ReadOnly, StoreError};

use crate::error::while_doing;
use crate::establish::{Refusal, establish};
use crate::files::{Files, Stamps};
use crate::identity::{self, BareReader};
use crate::line::Line;
use crate::open::{self, Durability, Make};
use crate::reserve::Reserve;
use crate::room::{self, Room};
use crate::watch::{Generation, Known, Role, Trouble, Watch, copy_log, present};
use crate::{Stored, copies};
use bound::Bounds;
use reading::Reader;
use write::Batch;

pub(crate) use effort::{Effort, Sharing};

/// How often something is tried on a database that is lost and found again in between: several processes that copy their logs
/// at the same time can look like somebody who meddles.
const ATTEMPTS: u32 = 8;

/// How long a reader waits for room. One that reads while it reads, or writes, must not wait for itself.
const READING: Duration = Duration::from_secs(1);

/// How often recovering looks whether the last old connection was given back, and how long apart.
const LOOKS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(5);

/// A database that was found unusable is examined again when its files change, and after so many requests anyway.
const PATIENCE: u32 = 1000;

/// A process whose end somebody waits for leaves a log that is shorter than this, in frames.
const LONG_LOG: u64 = 128;

/// Files that somebody puts back come one after the other: they are examined when none has changed for this long.
const CALM: Duration = Duration::from_millis(100);
const LONGEST_WAIT: u32 = 20;

/// Connections to one database.
pub(crate) struct Pool {
    watch: Watch,
    backups: PathBuf,
    durability: Durability,
    state: Mutex<State>,
    /// Threads of one process queue here, so that only processes compete for SQLite's own lock.
    writing: Line<Batch>,
    /// As many read at once as there are processors, and a few that wait for the disk.
    reading: Room,
    /// Room for removing things on a full disk.
    pub(crate) reserve: Reserve,
    /// How long the log may become.
    pub(crate) bounds: Bounds,
    /// How long the log was when something was refused because of it; 0 where nothing is.
    refused_at: AtomicU64,
    /// Whether somebody waits for the end of this process.
    is_ending: AtomicBool,
    /// One thread at a time tries to find the database again.
    recovering: Mutex<()>,
    /// Where nothing can be written.
    reader: Option<Reader>,
}

enum State {
    /// Connections that nobody is using. A reader takes one, or opens one; they all see the same file.
    Sound {
        known: Generation,
        idle: Vec<Connection>,
        /// As few were idle at some time since the last trim: the first so many were not used since.
        least: usize,
    },
    Lost(Lost),
    /// Nothing is ever written.
    Reading,
}

impl State {
    fn with(known: Known, connection: Connection) -> Self {
        Self::Sound { known: Arc::new(known), idle: vec![connection], least: 1 }
    }
}

struct Lost {
    trouble: Trouble,
    /// What was open before.
    last: Generation,
    /// Connections to what is left, where that may still be saved.
    idle: Vec<Connection>,
    /// The files that were found unusable, and how often they were not examined again.
    tried: Option<(Stamps, u32)>,
    /// Whether the log of this program says so already.
    is_told: bool,
}

impl Lost {
    /// Whether these files were found unusable already, and need not be examined again yet.
    fn is_tried(&mut self, now: &Stamps) -> bool {
        match &mut self.tried {
            Some((stamps, skipped)) if stamps == now && *skipped < PATIENCE => {
                *skipped += 1;
                true
            }
            _ => false,
        }
    }
}

impl Pool {
    /// Opens or makes the database at `path`, bringing its schema up to date.
    pub(crate) fn open(path: &Path, backups: &Path, durability: Durability) -> Stored<Self> {
        let files = Files::of(path);
        copies::may_begin(&files, backups)?;
        let watch = Watch { bare: BareReader::new(path), files };
        let (known, connection) = establish(&watch, backups, durability, Make::New, None).map_err(Refusal::at_open)?;
        let state = State::with(known, connection);
        Ok(Self::with(watch, backups, durability, state, None))
    }

    /// Opens the database at `path` to read it.
    pub(crate) fn open_to_read(path: &Path, backups: &Path, why: ReadOnly) -> Stored<Self> {
        let reader = Reader::open(path, why)?;
        let watch = Watch { bare: BareReader::new(path), files: Files::of(path) };
        Ok(Self::with(watch, backups, Durability::Full, State::Reading, Some(reader)))
    }

    fn with(watch: Watch, backups: &Path, durability: Durability, state: State, reader: Option<Reader>) -> Self {
        let (writing, reading, recovering) = (Line::default(), Room::default(), Mutex::new(()));
        let (backups, is_ending, state) = (backups.to_owned(), AtomicBool::new(false), Mutex::new(state));
        let reserve = Reserve::beside(&watch.files.main);
        let (bounds, refused_at) = (Bounds::USUAL, AtomicU64::new(0));
        Self {
            watch,
            backups,
            durability,
            state,
            writing,
            reading,
            reserve,
            bounds,
            refused_at,
            is_ending,
            recovering,
            reader,
        }
    }

    /// Why nothing can be written, where that is so.
    pub(crate) fn read_only(&self) -> Option<ReadOnly> {
        self.reader.as_ref().map(|reader| reader.why)
    }

    /// The files of the database.
    pub(crate) fn files(&self) -> &Files {
        &self.watch.files
    }

    /// From here on little is kept, and connections and a short log are left as they are.
    pub(crate) fn ending(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
        if let State::Sound { idle, .. } = &*self.state()
            && let Err(error) = idle.iter().try_for_each(open::keep_little)
        {
            tracing::debug!(%error, "as many pages are kept as before");
        }
    }

    /// Whether somebody waits for the end of this process.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Reads on a connection of its own, in one snapshot if `work` is one statement.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
        doing: &'static str,
    ) -> Stored<T> {
        let _place = self.reading.enter(READING);
        if let Some(reader) = &self.reader {
            let connection = reader.take()?;
            let outcome = work(&connection).map_err(while_doing(doing));
            reader.give_back(connection);
            return outcome;
        }
        for _ in 0..ATTEMPTS {
            let held = self.take()?;
            match self.watch.look(&held.known, &held.connection, Role::Reader) {
                Ok(()) => {
                    let outcome = work(&held.connection).map_err(while_doing(doing));
                    return self.settle(outcome, held);
                }
                Err(trouble) => self.lose(held, trouble),
            }
        }
        Err(self.lost())
    }

    /// A connection, as long as the database is there; tries to find it again where it is not.
    fn take(&self) -> Stored<Held> {
        if let Some(held) = self.take_sound()? {
            return Ok(held);
        }
        self.recover()?;
        self.take_sound()?.ok_or_else(|| self.lost())
    }

    fn take_sound(&self) -> Stored<Option<Held>> {
        let (known, idle) = match &mut *self.state() {
            State::Sound { known, idle, least } => {
                let connection = idle.pop();
                *least = idle.len().min(*least);
                (Arc::clone(known), connection)
            }
            State::Lost(_) | State::Reading => return Ok(None),
        };
        let connection = idle.map_or_else(|| self.connect(&known), |connection| Ok(Some(connection)))?;
        Ok(connection.map(|connection| Held { known, connection, is_hurried: false }))
    }

    /// One more connection to what is open; none if that is lost.
    fn connect(&self, known: &Generation) -> Stored<Option<Connection>> {
        // First a look: to open another database that is at the path by now would already write to it.
        let trouble = match self.watch.look_at_files(known) {
            Err(trouble) => trouble,
            Ok(_) => match open::connect_beside(&self.watch.files.main, self.durability) {
                Ok(connection) => return Ok(Some(connection)),
                Err(error) => match self.trouble_behind(&error, known) {
                    Some(trouble) => trouble,
                    None => return Err(error),
                },
            },
        };
        self.lose_all(known, trouble);
        Ok(None)
    }

    /// Gives a connection back after its work. An error may be the first sign of damage: then nothing is written any more.
    fn settle<T>(&self, outcome: Stored<T>, held: Held) -> Stored<T> {
        match outcome.as_ref().err().and_then(|error| self.trouble_behind(error, &held.known)) {
            None => {
                self.give_back(held);
                outcome
            }
            Some(trouble) => {
                self.lose(held, trouble);
                Err(self.error(trouble.loss()))
            }
        }
    }

    fn trouble_behind(&self, error: &StoreError, known: &Known) -> Option<Trouble> {
        let trouble = match error {
            StoreError::Failed { .. } | StoreError::ReadOnly { .. } => self.watch.look_at_files(known).err(),
            StoreError::Damaged { .. } => {
                Some(self.watch.look_at_files(known).err().unwrap_or(Trouble::Lost(Loss::Damaged)))
            }
            _ => None,
        };
        if trouble.is_some() {
            tracing::debug!(%error, ?trouble, "a sign that the database is damaged or gone");
        }
        trouble
    }

    fn give_back(&self, held: Held) {
        let Held { known, connection, is_hurried } = held;
        if is_hurried && open::unhurry(&connection, self.durability).is_err() {
            return discard(vec![connection]);
        }
        match &mut *self.state() {
            State::Sound { known: current, idle, .. } if Arc::ptr_eq(current, &known) && room::is_free(idle.len()) => {
                idle.push(connection);
            }
            State::Lost(lost) if lost.trouble == Trouble::Log && Arc::ptr_eq(&lost.last, &known) => {
                lost.idle.push(connection);
            }
            _ => discard(vec![connection]),
        }
    }

    /// Nothing is read or written any more, until the database is found again.
    fn lose(&self, held: Held, trouble: Trouble) {
        self.lose_all(&held.known, trouble);
        self.give_back(held);
    }

    fn lose_all(&self, lost: &Generation, trouble: Trouble) {
        let mut state = self.state();
        if let State::Sound { known, idle, .. } = &mut *state
            && Arc::ptr_eq(known, lost)
        {
            tracing::debug!(?trouble, "the database is not what it was; looking for it again");
            let (last, mut idle) = (Arc::clone(known), std::mem::take(idle));
            if trouble != Trouble::Log {
                discard(std::mem::take(&mut idle));
            }
            *state = State::Lost(Lost { trouble, last, idle, tried: None, is_told: false });
        }
    }

    /// Opens the database anew if a sound one is at the path: the one that was lost, or one that somebody restored.
    fn recover(&self) -> Stored<()> {
        let _one = self.recovering.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.watch.files.stamps();
        let (last, trouble, idle) = match &mut *self.state() {
            State::Sound { .. } | State::Reading => return Ok(()),
            State::Lost(lost) => {
                if lost.is_tried(&now) {
                    return Err(self.error(lost.trouble.loss()));
                }
                (Arc::clone(&lost.last), lost.trouble, std::mem::take(&mut lost.idle))
            }
        };
        self.watch.bare.close();
        if trouble == Trouble::Log {
            save_log(&last, &now, &idle);
        }
        discard(idle);
        if let Err(missing) = present(now.main) {
            return Err(self.remain(missing.loss(), Some(now)));
        }
        let now = self.calm(now, &last);
        if !is_given_back(&last) {
            return Err(self.remain(trouble.loss(), None));
        }
        match establish(&self.watch, &self.backups, self.durability, Make::Nothing, Some(&last.identity())) {
            Ok((known, connection)) => {
                let mut state = self.state();
                if matches!(&*state, State::Lost(lost) if lost.is_told) {
                    tracing::info!("the memory database is back");
                }
                *state = State::with(known, connection);
                Ok(())
            }
            Err(refusal) => {
                tracing::debug!(?refusal, "the database cannot be used");
                self.watch.bare.close();
                let loss = match (trouble.loss(), refusal.loss(last.is_file(now.main))) {
                    // Without its log, a database is an older one.
                    (Loss::Incomplete, Some(Loss::Replaced)) if last.is_file(now.main) => Loss::Incomplete,
                    (before, found) => found.unwrap_or(before),
                };
                let after = self.watch.files.stamps();
                Err(self.remain(loss, (after.main == now.main).then_some(after)))
            }
        }
    }

    /// Waits until nobody changes the files any more, and a database that is back has its log; gives them as they then are.
    fn calm(&self, mut now: Stamps, last: &Known) -> Stamps {
        for _ in 0..LONGEST_WAIT {
            std::thread::sleep(CALM);
            let again = self.watch.files.stamps();
            let is_whole = again.log.is_some() || !last.is_file(again.main);
            if again == now && is_whole {
                break;
            }
            now = again;
        }
        now
    }

    /// It is still lost. `tried` are the files that were examined, if they did not change meanwhile.
    fn remain(&self, loss: Loss, tried: Option<Stamps>) -> StoreError {
        if let State::Lost(lost) = &mut *self.state() {
            // What is only suspected stays that, so that the log can still be saved.
            if lost.trouble != Trouble::Log || loss != Loss::Incomplete {
                lost.trouble = Trouble::Lost(loss);
            }
            lost.tried = tried.map(|stamps| (stamps, 0));
            if !std::mem::replace(&mut lost.is_told, true) {
                tracing::error!("the memory database {loss}: nothing can be stored or read until it is back");
            }
        }
        self.error(loss)
    }

    /// Why nothing can be done now.
    fn lost(&self) -> StoreError {
        let loss = match &*self.state() {
            State::Lost(lost) => lost.trouble.loss(),
            // It was found and lost again in the meantime.
            State::Sound { .. } | State::Reading => Loss::Replaced,
        };
        self.error(loss)
    }

    fn error(&self, loss: Loss) -> StoreError {
        StoreError::Lost { loss, backup: copies::newest(&self.backups) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    /// The last connection that closes copies the log into the file: not into one that the log does not belong to, and not a
    /// short one if somebody waits for the end of the process. Copying waits for the disk several times, and whoever comes
    /// next reads a short log in a moment.
    fn drop(&mut self) {
        match self.state.get_mut().unwrap_or_else(PoisonError::into_inner) {
            State::Lost(lost) => discard(std::mem::take(&mut lost.idle)),
            State::Reading => {}
            State::Sound { known, idle, .. } => {
                let frames = idle.first().map_or(Ok(0), |connection| {
                    let looked = self.watch.look(known, connection, Role::Writer);
                    looked.and_then(|()| self.watch.log_frames(known, connection))
                });
                match frames {
                    Ok(frames) if frames < LONG_LOG && *self.is_ending.get_mut() => {
                        self.watch.bare.leave_open();
                        std::mem::forget(std::mem::take(idle));
                    }
                    Ok(_) => {}
                    Err(_) => discard(std::mem::take(idle)),
                }
            }
        }
    }
}

/// A connection that is in use.
struct Held {
    known: Generation,
    connection: Connection,
    /// It does not wait for long, and may not sync.
    is_hurried: bool,
}

/// Waits until nobody has a connection to what was lost: it would share its locks and its index with new ones. Whoever asks
/// holds it, and so does the state.
fn is_given_back(last: &Generation) -> bool {
    (0..LOOKS).any(|_| {
        let is_free = Arc::strong_count(last) <= 2;
        if !is_free {
            std::thread::sleep(PAUSE);
        }
        is_free
    })
}

/// Closes connections and leaves their files as they are.
fn discard(connections: Vec<Connection>) {
    for connection in connections {
        if let Err(error) = open::close_quietly(&connection, true) {
            tracing::debug!(%error, "a connection may copy its log when it closes");
        }
    }
}

/// A log that was deleted is still open here: what is in it goes into the database, as long as that is in its place, nobody
/// wrote to it since and no other log was begun.
fn save_log(last: &Known, now: &Stamps, idle: &[Connection]) {
    let has_no_other = now.log.is_none_or(|log| log.length == 0);
    if let Some(connection) = idle.first()
        && has_no_other
        && last.is_untouched(now.main)
        && !identity::has_moved(connection).unwrap_or(true)
    {
        let saved = copy_log(connection);
        tracing::info!(?saved, "the write-ahead log was gone; what it held was copied into the database");
    }
}
