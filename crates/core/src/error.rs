//! Why a verb could not be done, and what to try next.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::documents::IdentityUsage;
use crate::model::{DocumentName, EntryId, Name, NameError, SessionId, spelled};
use crate::ports::{DocumentError, StoreError};
use crate::recall::FilterError;

/// What kind of failure it is. Programs rely on these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// What was asked makes no sense.
    Invalid,
    /// There is no such thing.
    NotFound,
    /// The name stands for several things.
    Ambiguous,
    /// Somebody else changed it in the meantime, or has the name.
    Conflict,
    /// Identity has a hard limit.
    IdentityFull,
    /// Somebody else has been writing for too long.
    Busy,
    /// The database is not in its place; what was asked may be repeated when it is back.
    Unavailable,
    /// Something here is broken.
    Failed,
}

spelled!(ErrorCode, "code", "invalid, not_found, ambiguous, conflict, identity_full, busy, unavailable, failed", {
    Invalid => "invalid", NotFound => "not_found", Ambiguous => "ambiguous", Conflict => "conflict",
    IdentityFull => "identity_full", Busy => "busy", Unavailable => "unavailable", Failed => "failed",
});

/// Why a verb could not be done. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A turn without words.
    #[error("nothing was said")]
    NothingSaid,
    /// No memory by that name.
    #[error("no memory has the id or key `{reference}`")]
    NotFound {
        /// What was asked for.
        reference: String,
    },
    /// No conversation by that name.
    #[error("there is no session `{session}`")]
    NoSession {
        /// What was asked for.
        session: SessionId,
    },
    /// No line of a document by that name.
    #[error("no line of `{name}` has the id `{reference}`")]
    NoLine {
        /// What was asked for.
        reference: String,
        /// The document.
        name: DocumentName,
        /// What it says, so that a writer can choose.
        text: String,
    },
    /// No task by that name.
    #[error("no task has the id or title `{reference}`")]
    NoTask {
        /// What was asked for.
        reference: String,
    },
    /// No open thread by that name.
    #[error("no open thread has the id, conversation or title `{reference}`")]
    NoThread {
        /// What was asked for.
        reference: String,
    },
    /// No project by that name.
    #[error("no project is called `{name}`")]
    NoProject {
        /// What was asked for.
        name: String,
    },
    /// No document of the vault by that name.
    #[error("nothing in the vault is called `{reference}`")]
    NoVaultDocument {
        /// What was asked for.
        reference: String,
    },
    /// No recall by that name, or not any more.
    #[error("the log keeps no recall `{reference}`")]
    NoRecall {
        /// What was asked for.
        reference: String,
    },
    /// A project's memory file has no place to be.
    #[error("the project `{project}` has no directory")]
    NoDirectory {
        /// The project.
        project: Name,
    },
    /// The person took it out of the register.
    #[error("the project `{name}` in {dir} was removed")]
    ProjectRemoved {
        /// The project.
        name: Name,
        /// Its directory.
        dir: String,
    },
    /// More than one memory by that name.
    #[error("`{reference}` could mean {} {what}: {}", ids.len(), join(ids))]
    Ambiguous {
        /// What was looked for, in the plural.
        what: &'static str,
        /// What was asked for.
        reference: String,
        /// What it could mean.
        ids: Vec<EntryId>,
    },
    /// No version with that number.
    #[error("`{reference}` has no version {version}")]
    NoVersion {
        /// The memory or document.
        reference: String,
        /// What was asked for.
        version: u32,
    },
    /// What is erased is gone.
    #[error("the last change erased something, and that cannot be undone")]
    WasErased,
    /// Nothing is left to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// Nothing can be found in no time at all.
    #[error("`since` ({since}) is not before `until` ({until})")]
    EmptyRange {
        /// The beginning.
        since: Timestamp,
        /// The end.
        until: Timestamp,
    },
    /// A field has a value that cannot be stored.
    #[error("{field} {problem}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Identity belongs to a person, and no person is named.
    #[error("identity needs a namespace, and none is set")]
    NoNamespace,
    /// Memory is paused: nothing is observed or given.
    #[error("memory is paused{}", until.map(|until| format!(" until {until}")).unwrap_or_default())]
    Paused {
        /// When that ends by itself.
        until: Option<Timestamp>,
    },
    /// The channel or the directory is excluded: nothing is observed or given there.
    #[error("memory is off for this channel or directory")]
    Excluded,
    /// The person asked that their latest message is not remembered.
    #[error("the person asked that this is not remembered")]
    Unrecorded,
    /// A document below a name that is not the person's.
    #[error("`{name}` is not below `{own}`, where your documents are")]
    OtherNamespace {
        /// The document.
        name: DocumentName,
        /// The person's namespace.
        own: Name,
    },
    /// Identity has a hard limit.
    #[error("identity would grow to {} of {} characters {usage}; it now says:\n{current}", usage.chars, usage.limit)]
    IdentityFull {
        /// The profile.
        name: DocumentName,
        /// How full it would be.
        usage: IdentityUsage,
        /// What it says now, so that a writer can merge or evict.
        current: String,
    },
    /// A secret was left out of the version that is wanted back.
    #[error("a secret was left out of that version of `{name}` when it was kept")]
    LeftOut {
        /// The document.
        name: DocumentName,
    },
    /// The address is read, but not written this way.
    #[error("`{address}` cannot be written as a document")]
    NotWritable {
        /// The address.
        address: String,
    },
    /// This program does not know the format.
    #[error("cannot read the export: {problem}")]
    BadExport {
        /// What is wrong with it.
        problem: String,
    },
    /// A filter that makes no sense.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A name that is not safe.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A document.
    #[error(transparent)]
    Document(DocumentError),
}

/// What the store of the documents says is what the store says.
impl From<DocumentError> for EngineError {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Store(error) => Self::Store(error),
            other => Self::Document(other),
        }
    }
}

fn join(ids: &[EntryId]) -> String {
    ids.iter().take(8).map(EntryId::as_str).collect::<Vec<_>>().join(", ")
}

impl EngineError {
    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into() }
    }

    /// What to try next: `hint:` on the terminal, `hint` in JSON.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(match self {
            Self::NotFound { .. } => "`throughline list` shows every memory; an id needs its first six characters",
            Self::NothingSaid => "give the words; nothing was kept",
            Self::NoSession { .. } => "`throughline session list` shows the conversations there are",
            Self::NoLine { .. } => "a line's id follows from its text: look at the document again",
            Self::NoTask { .. } => "`throughline task list` shows the tasks there are",
            Self::NoThread { .. } => "`throughline working` shows the threads that are open",
            Self::NoProject { .. } => "`throughline project list` shows them; `throughline project add NAME` adds one",
            Self::NoVaultDocument { .. } => "`throughline vault list` shows the documents there are",
            Self::NoRecall { .. } => "the log keeps the latest recalls: see which it has",
            Self::NoDirectory { .. } => "`throughline project add NAME --dir DIR` says where it is",
            Self::ProjectRemoved { name, dir } => {
                return Some(format!("`throughline project add {name} --dir {dir}` brings it back").into());
            }
            Self::Ambiguous { .. } => "give more of the id",
            Self::NoVersion { .. } => "`throughline history` shows the versions there are",
            Self::WasErased => "`throughline undo --skip` leaves it; the next `undo` then reverts the change before",
            Self::NothingToUndo => "`throughline history` shows the changes that were made",
            Self::EmptyRange { .. } => "swap the two, or leave one out",
            Self::Invalid { .. } => "nothing was changed; correct it and try again",
            Self::NoNamespace => "set `user_namespace = \"user\"` under `[memory]` in the config file",
            Self::Paused { .. } => "`throughline resume` ends the pause",
            Self::Excluded => "`exclude` under `[memory]` in the config file names it",
            Self::Unrecorded => "nothing was stored; go on without storing it",
            Self::OtherNamespace { .. } => "write below your own namespace, or change `memory.user_namespace`",
            Self::IdentityFull { .. } => "merge or remove something first, or store this as knowledge instead",
            Self::LeftOut { .. } => {
                "nothing was changed; edit the file by hand, or leave that change with `throughline undo --skip`"
            }
            Self::NotWritable { .. } => "entries are written one by one: `throughline remember TEXT`",
            Self::BadExport { .. } => "it takes what `throughline export --format json` writes",
            Self::Filter(error) => error.hint(),
            Self::Name(error) => error.hint(),
            Self::Store(error) => return error.hint(),
            Self::Document(error) => return error.hint().map(Cow::Borrowed),
        }))
    }

    /// A word for programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            error if error.is_not_found() => ErrorCode::NotFound,
            Self::Ambiguous { .. } => ErrorCode::Ambiguous,
            Self::Store(StoreError::Conflict { .. } | StoreError::KeyTaken { .. })
            | Self::Document(
                DocumentError::Conflict { .. } | DocumentError::KeptBeside { .. } | DocumentError::Clash { .. },
            ) => ErrorCode::Conflict,
            Self::IdentityFull { .. } => ErrorCode::IdentityFull,
            Self::Store(StoreError::Busy | StoreError::LogHeld { .. }) => ErrorCode::Busy,
            Self::Store(StoreError::Lost { .. }) => ErrorCode::Unavailable,
            Self::Store(StoreError::BadCursor { .. }) => ErrorCode::Invalid,
            Self::Store(_) | Self::Document(_) => ErrorCode::Failed,
            _ => ErrorCode::Invalid,
        }
    }

    /// Whether there was no room left on the disk.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Store(StoreError::Full) => true,
            Self::Document(DocumentError::Io { source, .. }) => source.kind() == std::io::ErrorKind::StorageFull,
            _ => false,
        }
    }

    /// Whether the answer is "there is no such thing" and not a failure.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::NoSession { .. }
                | Self::NoTask { .. }
                | Self::NoThread { .. }
                | Self::NoLine { .. }
                | Self::NoProject { .. }
                | Self::NoVaultDocument { .. }
                | Self::NoRecall { .. }
                | Self::NoVersion { .. }
                | Self::NothingToUndo
        )
    }
}

/// An error with all its causes, on one line; a cause that only repeats what was said is left out.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

/// The outcome of a verb.
pub(crate) type Done<T> = Result<T, EngineError>;
