//! Copies of the database: written, proved by restoring them on the side, pruned by name, and brought back.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use throughline_core::clock_trust::Trust;
use throughline_core::ports::{Backups, Clock as _, Erased, Erasure, StoreError};
use throughline_core::text::count;

use crate::background::IsStopped;
use crate::world::{Home, World, WorldClock, backups_of};

/// Why a copy could not be made or brought back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A copy cannot be used.
    #[error("cannot use {}", path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// What the store said.
        #[source]
        source: StoreError,
    },
    /// The store has no files that could be copied.
    #[error("this memory is kept in a store without backups")]
    Unsupported,
    /// Restored on the side, the copy is not sound.
    #[error("{} cannot be relied on: {}", path.display(), problems.join("; "))]
    Unsound {
        /// The copy.
        path: PathBuf,
        /// What is wrong with it.
        problems: Vec<String>,
    },
    /// A file could not be moved or removed.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
}

impl BackupError {
    /// What to try next.
    pub(crate) fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Store(source) | Self::Copy { source, .. } => return source.hint().unwrap_or("try again".into()),
            Self::Unsound { .. } => "nothing was changed; `backups/` may hold another copy",
            Self::Unsupported => {
                "back it up where it is kept, such as with `pg_dump`; `throughline export` writes everything to a file"
            }
            Self::Io { .. } => "check that you may read and write there, and that there is room",
        })
    }
}

/// The backups of a store that has some.
fn supported(backups: Option<&Arc<dyn Backups>>) -> Result<&dyn Backups, BackupError> {
    backups.map(|backups| &**backups).ok_or(BackupError::Unsupported)
}

/// The right to write copies of the database or to erase from them: whoever comes later waits, in this process or another.
/// So no copy is made of what is just being erased, and no two copies take the same name. Ends when it is dropped.
pub(crate) struct Turn {
    /// Locked.
    _lock: File,
}

impl Turn {
    /// Waits for it.
    pub(crate) fn take(home: &Home) -> Result<Self, BackupError> {
        let failed = |source| BackupError::Io { doing: "wait for others who write backups", source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(home.backups().with_extension("lock")).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Self { _lock: file })
    }
}

/// What a copy holds, once it was restored on the side.
pub(crate) struct Proved {
    /// Memories.
    pub(crate) memories: u64,
    /// Turns of conversations.
    pub(crate) turns: u64,
}

impl Proved {
    /// `2 memories, 1 turn`.
    pub(crate) fn in_words(&self) -> String {
        format!("{}, {}", count(self.memories, "memory", "memories"), count(self.turns, "turn", "turns"))
    }
}

/// A dated file in the backups directory that does not exist yet.
pub(crate) fn dated(world: &World) -> PathBuf {
    let stamp = world.now().strftime("%Y-%m-%d-%H%M%S").to_string();
    unused(&world.home.backups(), &format!("memory-{stamp}"))
}

fn unused(directory: &Path, name: &str) -> PathBuf {
    let named = |suffix: &str| directory.join(format!("{name}{suffix}.db"));
    let numbered = (2..).map(|n| named(&format!("-{n}")));
    std::iter::once(named("")).chain(numbered).find(|path| !path.exists()).unwrap_or_else(|| named(""))
}

/// A copy in the backups directory.
#[derive(serde::Serialize)]
pub(crate) struct Copy {
    /// The file's name.
    pub(crate) name: String,
    /// When it was written.
    pub(crate) written_at: Timestamp,
    /// How large it is.
    pub(crate) bytes: u64,
}

/// The copies in the backups directory, newest first.
pub(crate) fn list(home: &Home) -> std::io::Result<Vec<Copy>> {
    let files = match std::fs::read_dir(home.backups()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let mut copies = Vec::new();
    for file in files {
        let file = file?;
        let (name, about) = (file.file_name().to_string_lossy().into_owned(), file.metadata()?);
        if about.is_file() && name.ends_with(".db") {
            let written_at = Timestamp::try_from(about.modified()?).unwrap_or_default();
            copies.push(Copy { name, written_at, bytes: about.len() });
        }
    }
    copies.sort_by(|a, b| (b.written_at, &b.name).cmp(&(a.written_at, &a.name)));
    Ok(copies)
}

/// Restores a copy on the side and checks it.
pub(crate) fn prove(home: &Home, path: &Path) -> Result<Proved, BackupError> {
    prove_with(supported(backups_of(home).as_ref())?, path)
}

fn prove_with(backups: &dyn Backups, path: &Path) -> Result<Proved, BackupError> {
    let unusable = |source| BackupError::Copy { path: path.to_owned(), source };
    let check = backups.check_copy(path).map_err(unusable)?;
    if !check.problems.is_empty() {
        return Err(BackupError::Unsound { path: path.to_owned(), problems: check.problems });
    }
    Ok(Proved { memories: check.stats.knowledge + check.stats.archive, turns: check.stats.turns })
}

/// Copies the database to a file, which must not exist. `progress` is told how many pages are done of how many, and says
/// whether to go on.
pub(crate) fn write(world: &World, path: &Path, progress: &mut dyn FnMut(u64, u64) -> bool) -> Result<(), BackupError> {
    Ok(supported(world.backups.as_ref())?.write_copy(path, progress)?)
}

/// Erases from a copy.
pub(crate) fn erase_in(world: &World, copy: &Path, erasure: &Erasure) -> Result<Erased, BackupError> {
    Ok(supported(world.backups.as_ref())?.erase_in_copy(copy, erasure)?)
}

/// Whether there is no database, or nothing in it.
pub(crate) fn is_gone(home: &Home) -> bool {
    home.database().metadata().map_or(true, |found| found.len() == 0)
}

/// A copy as a person names it: a file, or one of the backups by its name alone.
pub(crate) fn named(home: &Home, copy: &Path) -> PathBuf {
    let among_backups = home.backups().join(copy);
    if !copy.exists() && copy.components().count() == 1 && among_backups.exists() {
        return among_backups;
    }
    std::path::absolute(copy).unwrap_or_else(|_| copy.to_owned())
}

/// Copies the database to a file, unless that is there, and proves the copy. One that cannot be brought back does not
/// stay: it would only take the place of one that can. Whoever calls this has their turn.
fn write_proved(world: &World, path: &Path, is_stopped: IsStopped<'_>) -> Result<Proved, BackupError> {
    let backups = supported(world.backups.as_ref())?;
    if !path.exists() {
        backups.write_copy(path, &mut |_, _| !is_stopped())?;
    }
    prove_with(backups, path).inspect_err(|_| {
        if let Err(error) = std::fs::remove_file(path) {
            tracing::warn!(%error, "a backup that is not sound stays behind");
        }
    })
}

/// Writes a proved copy, as a person asks for it; gives where.
pub(crate) fn by_hand(world: &World) -> Result<PathBuf, BackupError> {
    let _turn = Turn::take(&world.home)?;
    let path = dated(world);
    write_proved(world, &path, &|| false)?;
    Ok(path)
}

/// Writes an automatic copy, proves it, and removes those of its kind that are one too many, if the clock can be trusted.
/// Gives what was done, in words; nothing if it was stopped first.
pub(crate) fn automatic(world: &World, trust: Trust, is_stopped: IsStopped<'_>) -> Result<Option<String>, BackupError> {
    let _turn = Turn::take(&world.home)?;
    let name = automatic_name(world.engine.now());
    let proved = match write_proved(world, &world.home.backups().join(&name), is_stopped) {
        Err(BackupError::Store(StoreError::TakenBack)) => return Ok(None),
        proved => proved?,
    };
    let told = format!("wrote {name} and restored it on the side: {}", proved.in_words());
    if let Some(wait) = trust.wait() {
        return Ok(Some(format!("{told}; no older one is removed {wait}")));
    }
    match prune(&world.home.backups(), world.config.config.server.keep_backups, &name)? {
        0 => Ok(Some(told)),
        removed => Ok(Some(format!("{told}; removed {}", count(removed as u64, "that was older", "that were older")))),
    }
}

fn prune(directory: &Path, keep: u32, just_made: &str) -> Result<usize, BackupError> {
    let failed = |doing| move |source| BackupError::Io { doing, source };
    let files = std::fs::read_dir(directory).map_err(failed("look at the backups"))?.flatten();
    let names: Vec<String> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    let surplus = surplus(&names, keep, just_made);
    for name in &surplus {
        std::fs::remove_file(directory.join(name)).map_err(failed("remove an old backup"))?;
    }
    Ok(surplus.len())
}

/// Puts a copy in the place of the database, which is kept as a backup first. Gives where that is, if there was one.
///
/// The copy is proved before anything is touched. A database that is too damaged to be copied is moved aside as it is.
pub(crate) fn restore(home: &Home, copy: &Path, stamp: &str) -> Result<(Proved, Option<PathBuf>), BackupError> {
    let backups = backups_of(home);
    let backups = supported(backups.as_ref())?;
    let proved = prove_with(backups, copy)?;
    let _turn = Turn::take(home)?;
    // Processes that lost the database know by this time that it was restored since: the real one.
    let kept = backups.restore_copy(copy, stamp, WorldClock::real().now())?;
    Ok((proved, kept))
}

/// The automatic backups that are one too many, oldest first: all but the newest `keep` of those that are not from the
/// future. Names that are not ours are never among them, nor is the one that was just made.
fn surplus<'a>(names: &'a [String], keep: u32, just_made: &str) -> Vec<&'a str> {
    let mut ours: Vec<&str> = names.iter().map(String::as_str).filter(|name| is_automatic(name)).collect();
    ours.sort_unstable();
    ours.retain(|name| *name < just_made);
    let kept = usize::try_from(keep).unwrap_or(usize::MAX).saturating_sub(1);
    ours.truncate(ours.len().saturating_sub(kept));
    ours
}

/// The name of an automatic backup, which sorts by its time.
fn automatic_name(at: Timestamp) -> String {
    format!("auto-{}.db", at.strftime("%Y-%m-%d-%H%M%S"))
}

/// `auto-2026-03-01-120000.db`, and nothing else.
fn is_automatic(name: &str) -> bool {
    let Some(stamp) = name.strip_prefix("auto-").and_then(|rest| rest.strip_suffix(".db")) else { return false };
    let shape = |(at, byte): (usize, u8)| if matches!(at, 4 | 7 | 10) { byte == b'-' } else { byte.is_ascii_digit() };
    stamp.len() == 17 && stamp.bytes().enumerate().all(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-{text}:00Z").parse().unwrap()
    }

    #[test]
    fn only_our_own_oldest_backups_are_surplus() {
        let made: Vec<String> = (1..=9).map(|day| automatic_name(at(&format!("03-0{day}T12:00")))).collect();
        let others = ["memory-2026-01-01-120000.db", "auto-.db", "auto-2026-01-01-120000.db.bak", "auto-x.db", "notes"];
        let names: Vec<String> = made.iter().cloned().chain(others.map(str::to_owned)).rev().collect();
        assert_eq!(surplus(&names, 7, &made[8]), [made[0].as_str(), made[1].as_str()]);
        assert_eq!(surplus(&names, 1, &made[8]).len(), 8, "the one just made stays");
        assert_eq!(surplus(&names, 100, &made[8]), [""; 0]);
        assert_eq!(surplus(&names, 3, &made[4]), [made[0].as_str(), made[1].as_str()], "the future is left alone");
        assert_eq!(automatic_name(at("03-01T12:00")), "auto-2026-03-01-120000.db");
    }
}
