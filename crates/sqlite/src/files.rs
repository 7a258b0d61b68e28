//! The files of a database, seen from outside: whether each is still the one that was opened.
//!
//! Never happens: opening one of them. Closing a file again would drop the locks that SQLite holds on it in this process.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use throughline_core::ports::StoreError;

use crate::Stored;

/// The database, its write-ahead log and the index of that.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) main: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) index: PathBuf,
}

/// What the file system says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: (u64, u64),
    pub(crate) length: u64,
    modified: (i64, i64),
}

/// The three files at one moment; nothing for one that is not there or cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamps {
    pub(crate) main: Option<Stamp>,
    pub(crate) log: Option<Stamp>,
    pub(crate) index: Option<Stamp>,
}

impl Files {
    /// The files of the database at `path`.
    pub(crate) fn of(path: &Path) -> Self {
        let beside = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        Self { main: path.to_owned(), log: beside("-wal"), index: beside("-shm") }
    }

    /// All three, the database last: a log never gets its first frame before its database has its first page.
    pub(crate) fn stamps(&self) -> Stamps {
        let (index, log) = (Stamp::of(&self.index), Stamp::of(&self.log));
        Stamps { main: Stamp::of(&self.main), log, index }
    }

    /// The three paths.
    pub(crate) fn all(&self) -> [&Path; 3] {
        [&self.main, &self.log, &self.index]
    }
}

/// How much a log may grow beside somebody of ours who reads one state of the database for long.
pub(crate) struct Growth {
    log: PathBuf,
    most: u64,
}

impl Growth {
    /// From now on by so many bytes.
    pub(crate) fn begin(log: PathBuf, bytes: u64) -> Self {
        let most = Stamp::of(&log).map_or(0, |log| log.length) + bytes;
        Self { log, most }
    }

    /// An error once it has grown by more.
    pub(crate) fn check(&self, doing: &'static str) -> Stored<()> {
        if Stamp::of(&self.log).is_none_or(|log| log.length <= self.most) {
            return Ok(());
        }
        let source = "it takes too long: so much is written meanwhile that the write-ahead log has become long".into();
        Err(StoreError::Failed { doing, source })
    }
}

impl Stamp {
    /// Looks at a file without opening it, and without following a link.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match std::fs::symlink_metadata(path) {
            Ok(found) => Some(Self::from(&found)),
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::debug!(%error, "a file of the database cannot be looked at");
                }
                None
            }
        }
    }

    #[cfg(unix)]
    fn from(found: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let modified = (found.mtime(), found.mtime_nsec());
        Self { file: (found.dev(), found.ino()), length: found.len(), modified }
    }

    /// An open file can be neither moved nor replaced there.
    #[cfg(not(unix))]
    fn from(found: &std::fs::Metadata) -> Self {
        let modified = found.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.map_or((0, 0), |at| (at.as_secs() as i64, i64::from(at.subsec_nanos())));
        Self { file: (0, 0), length: found.len(), modified }
    }

    /// Whether both are the same file, whatever it holds.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }
}
