//! Copies of the database: made by SQLite, proved by restoring them on the side, pruned by name, and brought back.

use std::path::{Path, PathBuf};

use throughline_core::ports::StoreError;
use throughline_core::steady::Trust;
use throughline_server::{automatic_name, surplus};
use throughline_sqlite::{Durability, SqliteStore, drill};

use crate::world::{Home, World, private_file};

/// Why a copy could not be made or brought back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
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
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Store(error) => error.hint().unwrap_or("try again"),
            Self::Unsound { .. } => "nothing was changed; `backups/` may hold another copy",
            Self::Io { .. } => "check that you may read and write there, and that there is room",
        }
    }
}

/// What a copy holds, once it was restored on the side.
pub(crate) struct Proved {
    /// Memories.
    pub(crate) memories: u64,
    /// Turns of conversations.
    pub(crate) turns: u64,
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

/// Restores a copy on the side and checks it.
pub(crate) fn prove(path: &Path) -> Result<Proved, BackupError> {
    let drill = drill(path)?;
    if !drill.problems.is_empty() {
        return Err(BackupError::Unsound { path: path.to_owned(), problems: drill.problems });
    }
    Ok(Proved { memories: drill.stats.knowledge + drill.stats.archive, turns: drill.stats.turns })
}

/// Writes an automatic copy, proves it, and removes those of its kind that are one too many, if the clock can be trusted.
/// Gives what was done, in words.
pub(crate) fn automatic(world: &World, trust: Trust) -> Result<String, BackupError> {
    let name = automatic_name(world.engine.now());
    let path = world.home.backups().join(&name);
    if !path.exists() {
        world.store.backup(&path, &mut |_, _| {})?;
    }
    let proved = prove(&path).inspect_err(|_| {
        // A copy that cannot be brought back only takes the place of one that can.
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(%error, "a backup that is not sound stays behind");
        }
    })?;
    let Proved { memories, turns } = proved;
    let told = format!("wrote {name} and restored it on the side: {memories} memories, {turns} turns");
    match trust {
        Trust::Waiting { doubt, left } => {
            Ok(format!("{told}; no older one is removed for {} min: {doubt}", left.as_secs().div_ceil(60)))
        }
        Trust::Trusted => match prune(&world.home.backups(), world.config.config.server.keep_backups, &name)? {
            0 => Ok(told),
            removed => Ok(format!("{told}; removed {removed} that were older")),
        },
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
    let proved = prove(copy)?;
    let kept = if home.database().exists() { Some(put_aside(home, stamp)?) } else { None };
    let made = private_file(&home.database());
    made.map_err(|error| BackupError::Io { doing: "make the database", source: std::io::Error::other(error) })?;
    throughline_sqlite::restore(copy, &home.database())?;
    // An older schema is brought up to date now, and not by whoever comes next.
    SqliteStore::open(&home.database(), &home.backups(), Durability::Full)?;
    Ok((proved, kept))
}

fn put_aside(home: &Home, stamp: &str) -> Result<PathBuf, BackupError> {
    let aside = unused(&home.backups(), &format!("before-restore-{stamp}"));
    let copied = SqliteStore::open(&home.database(), &home.backups(), Durability::Full)
        .and_then(|store| store.backup(&aside, &mut |_, _| {}));
    match copied {
        Ok(()) => Ok(aside),
        Err(StoreError::Damaged { .. }) => {
            let aside = unused(&home.backups(), &format!("damaged-{stamp}"));
            for end in ["", "-wal", "-shm"] {
                let with_end = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
                match std::fs::rename(with_end(&home.database()), with_end(&aside)) {
                    Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                        return Err(BackupError::Io { doing: "move the damaged database aside", source });
                    }
                    _ => {}
                }
            }
            Ok(aside)
        }
        Err(error) => Err(error.into()),
    }
}
