//! Why the memory could not be opened.

use std::path::PathBuf;

use throughline_core::model::{NameError, UnknownSpelling};
use throughline_core::ports::{DocumentError, StoreError};

use crate::config::ConfigError;

/// Why the memory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No home directory can be found.
    #[error("cannot tell where the memory should be kept")]
    NoHome,
    /// `THROUGHLINE_NOW` is set, but not to a time.
    #[error("`THROUGHLINE_NOW` is `{given}`, which is not an RFC 3339 time")]
    BadNow {
        /// What it is set to.
        given: String,
    },
    /// The system gives no random bytes, and a secret that can be guessed is none.
    #[error("the system gives no random bytes")]
    NoChance,
    /// A directory could not be made or protected.
    #[error("cannot prepare {}", path.display())]
    Directory {
        /// Which one.
        path: PathBuf,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// The token's file is not its owner's alone.
    #[error("the token in {} can be read by others", path.display())]
    OpenToken {
        /// The file.
        path: PathBuf,
    },
    /// The config file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `memory.user_namespace` is not a safe name.
    #[error("`memory.user_namespace` is not usable")]
    Namespace(#[source] NameError),
    /// `memory.tools` names a tool that does not exist.
    #[error("`memory.tools` is not usable")]
    Tools(#[source] UnknownSpelling),
    /// The store.
    #[error("cannot use {}", path.display())]
    Store {
        /// The database file.
        path: PathBuf,
        /// What the store said.
        #[source]
        source: StoreError,
    },
    /// `store.url` is no address of a server.
    #[error("`store.url` is not usable")]
    StoreUrl(#[source] super::store::AddressError),
    /// The store on a server.
    #[error("cannot use the memory at {server}")]
    Server {
        /// The server, the database and the space; no password.
        server: String,
        /// What the store said.
        #[source]
        source: StoreError,
    },
    /// The documents.
    #[error(transparent)]
    Documents(#[from] DocumentError),
}

impl OpenError {
    /// Whether a server keeps the memory and cannot be reached for now, as far as that can be told.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Self::Server { source: StoreError::Failed { .. }, .. })
    }

    /// Whether something is wrong with what is stored, and not with the disk, the settings or the way there.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Store { source: StoreError::Damaged { .. } | StoreError::Lost { .. }, .. })
    }

    /// What to try next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoChance => Some("restart the machine; nothing was changed".to_owned()),
            Self::NoHome => Some("set `THROUGHLINE_HOME` to a directory of your choice".to_owned()),
            Self::BadNow { .. } => Some("write it as in `2026-03-01T12:00:00Z`, or unset it".to_owned()),
            Self::Directory { .. } => Some("check that you may write there, or set `THROUGHLINE_HOME`".to_owned()),
            Self::OpenToken { path } => {
                Some(format!("`chmod 600 {}`; or remove it: a new one is made", path.display()))
            }
            Self::Tools(_) => Some("`throughline tool list` shows them; or use \"default\" or \"all\"".to_owned()),
            Self::Config(error) => error.hint().map(std::borrow::Cow::into_owned),
            Self::Namespace(error) => Some(error.hint().to_owned()),
            Self::Store { source, .. } => source.hint().map(std::borrow::Cow::into_owned),
            Self::StoreUrl(_) => {
                Some("write it as in `postgres://USER@HOST/DATABASE`; see docs/postgres.md".to_owned())
            }
            Self::Server { source: StoreError::Failed { .. }, .. } => Some(
                "check that the server runs, and the name, the password and the rights there; see docs/postgres.md"
                    .to_owned(),
            ),
            Self::Server { source, .. } => source.hint().map(std::borrow::Cow::into_owned),
            Self::Documents(error) => error.hint().map(str::to_owned),
        }
    }
}
