//! Turns that wait for the server that keeps the memory: written to the home while it cannot be reached, delivered when it is
//! back.
//!
//! A file for each observation, its owner's alone and synced before anybody is told that it is kept, without secrets. Every turn
//! has a name, so that what is delivered twice is kept once: a process that is killed between delivering and removing a file
//! does no harm, nor do two that deliver at the same time.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use throughline_core::engine::{EngineError, Observed, Said, StartSession, chain};
use throughline_core::model::{Role, SessionId};
use throughline_core::off_record::asks_not_to_be_kept;
use throughline_core::ports::{ErasureScope, Ids as _, StoreError};
use throughline_core::text::redact;
use throughline_server::Kept;

use crate::exports::write_private;
use crate::world::{Home, OpenError, RandomIds, World, private_directory};

/// What may wait at most: files, and bytes in all of them.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 << 20;

/// What stands in the place of a message that asks not to be kept: it asks the same, and says nothing else.
const OFF_RECORD: &str = "Off the record.";

/// Why something cannot wait.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpoolError {
    /// Too much waits already.
    #[error("too much waits for the server already, in {}", directory.display())]
    Full {
        /// Where.
        directory: PathBuf,
    },
    /// It could not be written.
    #[error("cannot write to {}", directory.display())]
    Io {
        /// Where.
        directory: PathBuf,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// The directory could not be made.
    #[error(transparent)]
    Directory(#[from] OpenError),
}

impl From<SpoolError> for StoreError {
    fn from(error: SpoolError) -> Self {
        Self::Failed { doing: "keep what was said until the server is back", source: Box::new(error) }
    }
}

/// How a conversation is opened when its turns are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// By somebody who says what it is about.
    Host,
    /// By a hook, which knows its directory.
    Hook,
}

/// Turns of one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Waiting {
    by: By,
    session: SessionId,
    title: Option<String>,
    project: Option<String>,
    dir: Option<PathBuf>,
    task: Option<String>,
    person: Option<String>,
    turns: Vec<WaitingTurn>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct WaitingTurn {
    id: String,
    role: Role,
    speaker: Option<String>,
    content: String,
    at: Timestamp,
}

/// What became of what waited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Delivered {
    /// Turns that are in the memory now and were not before.
    pub(crate) turns: usize,
    /// Files that could not be kept, and stay aside.
    pub(crate) refused: usize,
    /// The conversations that are due for consolidation with them.
    pub(crate) due: Vec<SessionId>,
}

/// What waits in a home.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    directory: PathBuf,
}

impl Spool {
    pub(crate) fn of(home: &Home) -> Self {
        Self { directory: home.data.join("spool") }
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// How many observations wait.
    pub(crate) fn count(&self) -> usize {
        self.files().len()
    }

    /// The names of the turns of a session that wait.
    pub(crate) fn waiting(&self, session: &SessionId) -> HashSet<String> {
        let of_session = |waiting: &Waiting| waiting.session == *session;
        let waiting = self.files().into_iter().filter_map(|path| read(&path)).filter(of_session);
        waiting.flat_map(|waiting| waiting.turns).map(|turn| turn.id).collect()
    }

    /// Keeps turns until the server is back; synced when it returns.
    pub(crate) fn put(&self, by: By, start: &StartSession, said: &[Said], now: &Zoned) -> Result<(), SpoolError> {
        private_directory(&self.directory)?;
        let name = RandomIds.next();
        let turn = |(nth, said): (usize, &Said)| {
            let is_unkept = said.role == Role::User && asks_not_to_be_kept(&said.content);
            let content =
                if is_unkept { OFF_RECORD.to_owned() } else { redact::redact(&said.content).text.into_owned() };
            WaitingTurn {
                id: said.id.clone().unwrap_or_else(|| format!("{name}:{nth}")),
                role: said.role,
                speaker: said.speaker.as_ref().map(|name| redact::redact(name).text.into_owned()),
                content,
                at: said.at.unwrap_or(now.timestamp()),
            }
        };
        let StartSession { id, title, project, dir, task, person, system_prompt: _ } = start.clone();
        let plain = |name: Option<String>| name.map(|name| redact::redact(&name).text.into_owned());
        let [title, project, task, person] = [title, project, task, person].map(plain);
        let turns = said.iter().enumerate().map(turn).collect();
        let waiting = Waiting { by, session: id, title, project, dir, task, person, turns };
        let failed = |source| SpoolError::Io { directory: self.directory.clone(), source };
        let text = serde_json::to_string(&waiting).map_err(|error| failed(error.into()))?;
        self.check_room(text.len() as u64)?;
        let path = self.directory.join(format!("{:015}-{name}.json", self.next_stamp(now)));
        write_private(&path, &text).map_err(failed)?;
        sync_directory(&self.directory).map_err(failed)
    }

    /// Brings what waits into the memory, the oldest first; stops where the store fails.
    pub(crate) fn deliver(&self, world: &World) -> Result<Delivered, EngineError> {
        let mut delivered = Delivered::default();
        for path in self.files() {
            let Some(waiting) = read(&path) else {
                // Another process may have delivered it.
                if path.symlink_metadata().is_ok() {
                    delivered.refused += 1;
                    set_aside(&path);
                }
                continue;
            };
            let session = waiting.session.clone();
            match waiting.observe(world) {
                Ok(observed) => {
                    delivered.turns += observed.kept;
                    delivered.due.extend(observed.due.map(|_| session));
                    if let Err(error) = std::fs::remove_file(&path) {
                        tracing::debug!(%error, "what was delivered is delivered again, and kept once");
                    }
                }
                Err(error @ EngineError::Store(_)) => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, file = %path.display(), "what waited cannot be kept, and is set aside");
                    delivered.refused += 1;
                    set_aside(&path);
                }
            }
        }
        Ok(delivered)
    }

    /// Names sort in the order in which they were given, whatever the clock does: turns of a conversation stay in order.
    fn next_stamp(&self, now: &Zoned) -> i64 {
        let stamp = |path: &PathBuf| path.file_name()?.to_str()?.split('-').next()?.parse::<i64>().ok();
        let last = self.files().last().and_then(stamp).unwrap_or(0);
        now.timestamp().as_millisecond().max(last.saturating_add(1))
    }

    fn check_room(&self, bytes: u64) -> Result<(), SpoolError> {
        let files = self.files();
        let length = |path: &PathBuf| path.symlink_metadata().map_or(0, |found| found.len());
        if files.len() >= MOST_FILES || files.iter().map(length).sum::<u64>() + bytes > MOST_BYTES {
            return Err(SpoolError::Full { directory: self.directory.clone() });
        }
        Ok(())
    }

    /// What waits, the oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = self.all();
        files.retain(|path| path.extension().is_some_and(|end| end == "json"));
        files
    }

    /// Everything, what was set aside included.
    fn all(&self) -> Vec<PathBuf> {
        let found = std::fs::read_dir(&self.directory).into_iter().flatten().flatten().map(|file| file.path());
        let mut files: Vec<PathBuf> = found.collect();
        files.sort();
        files
    }

    /// Removes what waits or was set aside of a conversation, or of everything; names what `is_left` finds in the rest, and what
    /// could not be removed.
    pub(crate) fn erase(&self, scope: Option<&ErasureScope>, is_left: &dyn Fn(&str) -> bool) -> Vec<String> {
        let erase = |path: PathBuf| {
            let is_its = match scope {
                Some(ErasureScope::Everything) => true,
                Some(ErasureScope::Session(id)) => read(&path).is_some_and(|waiting| waiting.session == *id),
                Some(ErasureScope::Project(_)) | None => false,
            };
            if is_its {
                return std::fs::remove_file(&path).err().map(|error| format!("{} ({error})", path.display()));
            }
            let is_named = text(&path).is_some_and(|text| is_left(&text));
            is_named.then(|| format!("{}, which was not taken into the memory", path.display()))
        };
        self.all().into_iter().filter_map(erase).collect()
    }
}

impl Waiting {
    fn observe(self, world: &World) -> Result<Observed, EngineError> {
        let Self { by, session, title, project, dir, task, person, turns } = self;
        let said = |turn: WaitingTurn| {
            let WaitingTurn { id, role, speaker, content, at } = turn;
            Said { id: Some(id), role, speaker, content, at: Some(world.corrected(at)) }
        };
        let said: Vec<Said> = turns.into_iter().map(said).collect();
        match by {
            By::Hook => world.engine.sessions().observe_at(&session, dir, &said),
            By::Host => {
                let about = StartSession::new(session);
                world.engine.sessions().observe_in(&StartSession { title, project, dir, task, person, ..about }, &said)
            }
        }
    }
}

fn read(path: &Path) -> Option<Waiting> {
    serde_json::from_str(&text(path)?).ok()
}

/// What a file of ours says; nothing for a link or a pipe, which are not.
fn text(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Out of the way, and not lost.
fn set_aside(path: &Path) {
    if let Err(error) = std::fs::rename(path, path.with_extension("refused")) {
        tracing::warn!(%error, file = %path.display(), "what cannot be kept stays in the way");
    }
}

/// Makes it durable that a file is in a directory.
pub(crate) fn sync_directory(directory: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}

/// Gives every turn a name before it is first sent: if it is not known whether it arrived, it can be sent again.
fn named(said: &[Said]) -> Vec<Said> {
    let name = RandomIds.next();
    let with_name = |(nth, said): (usize, &Said)| {
        let id = said.id.clone().unwrap_or_else(|| format!("{name}:{nth}"));
        Said { id: Some(id), ..said.clone() }
    };
    said.iter().enumerate().map(with_name).collect()
}

impl World {
    /// Keeps what was said: in the memory or, where a server has it that cannot be reached, here until it can. While something
    /// waits, what comes later waits behind it: the turns of a conversation stay in order.
    pub(crate) fn observe(&self, start: &StartSession, said: &[Said]) -> Result<Kept, EngineError> {
        let is_free = self.deliver_waiting();
        if self.config.config.store.url.is_none() {
            return self.engine.sessions().observe_in(start, said).map(Kept::Stored);
        }
        let said = named(said);
        if !is_free {
            return self.wait(start, &said);
        }
        match self.engine.sessions().observe_in(start, &said) {
            Err(EngineError::Store(StoreError::Failed { .. })) => self.wait(start, &said),
            observed => observed.map(Kept::Stored),
        }
    }

    fn wait(&self, start: &StartSession, said: &[Said]) -> Result<Kept, EngineError> {
        let exclude = &self.engine.settings().exclude;
        if exclude.covers_channel(&start.id) || start.dir.as_ref().is_some_and(|dir| exclude.covers_directory(dir)) {
            return Ok(Kept::Waiting(0));
        }
        match Spool::of(&self.home).put(By::Host, start, said, &self.now()) {
            Ok(()) => Ok(Kept::Waiting(said.len())),
            Err(error) => {
                tracing::warn!(error = chain(&error), "what was said cannot wait for the server");
                Err(EngineError::Store(error.into()))
            }
        }
    }

    /// Brings what waited for the server into the memory; says whether nothing waits any more.
    pub(crate) fn deliver_waiting(&self) -> bool {
        let spool = Spool::of(&self.home);
        if spool.count() == 0 {
            return true;
        }
        match spool.deliver(self) {
            Ok(Delivered { turns, refused, due: _ }) => {
                tracing::info!(turns, refused, "what waited for the server is delivered");
                true
            }
            Err(error) => {
                tracing::warn!(error = chain(&error), "what waits for the server still waits");
                false
            }
        }
    }
}
