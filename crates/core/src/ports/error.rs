//! Why a store could not do what it was asked.

use std::borrow::Cow;

/// Why the store could not do what it was asked. No variant says where the store is: whoever opened it knows.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else changed it in between: read again and decide anew.
    #[error("`{what}` was changed by somebody else in the meantime")]
    Conflict {
        /// The id or key.
        what: String,
    },
    /// Something was erased since the change was decided: read again and decide anew.
    #[error("something was erased in the meantime")]
    Erased,
    /// Another active entry has the key.
    #[error("the key `{key}` is taken by another memory")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// The database cannot be opened: it is not a memory, or is damaged.
    #[error("the database is damaged or not a memory database")]
    Damaged {
        /// What the engine below said.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The database is not there, or is not the one that was opened. Nothing is confirmed until a sound one is back.
    #[error("the memory database {loss}: nothing can be stored or read until it is back")]
    Lost {
        /// What happened to it.
        loss: Loss,
        /// The name of the newest backup, if there is one.
        backup: Option<String>,
    },
    /// A memory is being copied there, and not all of it is there yet.
    #[error("the memory is not complete: it is being copied there, or that was interrupted")]
    HalfCopied,
    /// Written by a newer version of this program.
    #[error("the database was written by a newer version (schema {found}, this program knows {known})")]
    TooNew {
        /// The schema that the database has.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// Not where a listing ended.
    #[error("`{cursor}` did not come from a listing")]
    BadCursor {
        /// What was given.
        cursor: String,
    },
    /// The caller took the change back before it was committed.
    #[error("the change was taken back")]
    TakenBack,
    /// Somebody else has been writing for too long.
    #[error("another process has been writing for too long")]
    Busy,
    /// No room left.
    #[error("the disk is full")]
    Full,
    /// Somebody reads an old state of the database, and its log has become as long as it may.
    #[error(
        "nothing can be stored: the write-ahead log takes {megabytes} MB and cannot be shortened, because {reader} reads an old state"
    )]
    LogHeld {
        /// How long the log is.
        megabytes: u64,
        /// Who reads, in words.
        reader: String,
    },
    /// What is stored can be read, and nothing can be written.
    #[error("the memory can only be read: {why}")]
    ReadOnly {
        /// Why.
        why: ReadOnly,
    },
    /// Anything else that the engine below reports.
    #[error("cannot {doing}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What the engine below said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a store can only be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// Its directory cannot be written: by its rights, or because its file system is mounted so.
    Directory,
    /// A newer version of this program wrote it.
    Newer {
        /// The schema that the database has.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
}

impl std::fmt::Display for ReadOnly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory => f.write_str("its directory is read-only"),
            Self::Newer { found, known } => {
                write!(f, "a newer version wrote it (schema {found}, this program knows {known})")
            }
        }
    }
}

/// What happened to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// There is none.
    Missing,
    /// It holds nothing.
    Empty,
    /// Another database, or an older copy, is in its place.
    Replaced,
    /// A part of it is gone: what was stored last.
    Incomplete,
    /// Its content is damaged.
    Damaged,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::Empty => "is empty",
            Self::Replaced => "was replaced by another one or by an older copy",
            Self::Incomplete => "lost its write-ahead log",
            Self::Damaged => "is damaged",
        })
    }
}

impl Loss {
    fn hint(self, backup: Option<&str>) -> String {
        let or_restore = |first: &str| match backup {
            Some(name) => {
                format!("{first}, or restore the newest backup: `throughline backup --restore {name}`")
            }
            None => format!("{first}; there is no backup"),
        };
        match self {
            Self::Missing | Self::Empty => format!(
                "{}; to begin a new memory instead, move `backups/` and what is left of the old database away",
                or_restore("move the database back")
            ),
            Self::Replaced => format!(
                "{}; to go on with the one that is there now, start throughline again",
                or_restore("move the database back")
            ),
            Self::Incomplete => or_restore("put the log back"),
            Self::Damaged => or_restore("ask `throughline doctor` what is damaged"),
        }
    }
}

impl StoreError {
    /// Whether only writing fails for now: what is stored can still be read.
    pub fn is_unwritten(&self) -> bool {
        matches!(self, Self::Busy | Self::Full | Self::LogHeld { .. } | Self::ReadOnly { .. })
    }

    /// What to try next.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(match self {
            Self::Conflict { .. } | Self::Erased => "look at it again and repeat the command",
            Self::KeyTaken { .. } => "forget the other one, or choose another key",
            Self::Damaged { .. } => {
                "nothing was changed; `throughline doctor` says more, and `backups/` holds earlier copies"
            }
            Self::Lost { loss, backup } => return Some(Cow::Owned(loss.hint(backup.as_deref()))),
            Self::HalfCopied => "wait for `throughline copy`, or run the same copy again: it goes on where it stopped",
            Self::TooNew { .. } => "nothing was changed; install the newer version of throughline",
            Self::LogHeld { .. } => {
                "nothing was changed; end that process and repeat the command: forgetting and erasing work meanwhile"
            }
            Self::Full => "nothing that was confirmed is lost; free some space and repeat the command",
            Self::ReadOnly { why: ReadOnly::Directory } => {
                "nothing was changed; give yourself the right to write there, or mount it writable"
            }
            Self::ReadOnly { why: ReadOnly::Newer { .. } } => {
                "nothing was changed; install the newer version of throughline to write"
            }
            Self::BadCursor { .. } => "take the cursor that a listing gave, or leave `--cursor` out to begin anew",
            Self::Busy => "nothing was changed; try again when it is done",
            Self::TakenBack => return None,
            Self::Failed { .. } => "`throughline doctor` looks for the cause",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_names_the_newest_backup_and_how_to_restore_it() {
        for loss in [Loss::Missing, Loss::Empty, Loss::Replaced, Loss::Incomplete, Loss::Damaged] {
            let error = StoreError::Lost { loss, backup: Some("auto-1.db".to_owned()) };
            assert!(error.hint().unwrap().contains("`throughline backup --restore auto-1.db`"), "{error}");
            let error = StoreError::Lost { loss, backup: None };
            assert!(error.hint().unwrap().contains("no backup"), "{error}");
        }
    }
}
