//! What PostgreSQL says, in the words of the port.

use throughline_core::ports::StoreError;
use throughline_index::IndexError;
use tokio_postgres::error::SqlState;

/// Why something could not be done on a connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// What the server or the connection to it reports.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// A stored value that this program cannot read.
    #[error("a stored value cannot be read")]
    Unreadable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What the word index reports.
    #[error(transparent)]
    Index(IndexError),
    /// What the port has a word for.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server lacks what is asked of it.
    #[error("the server is {0}; PostgreSQL 15 or later is needed")]
    OldServer(String),
    /// Nothing came back in time.
    #[error("the server does not answer")]
    Silent,
}

/// What is done on a connection.
pub(crate) type Sql<T> = Result<T, Error>;

/// An error of the index may be one of ours that passed through it.
impl From<IndexError> for Error {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Store(source) => match source.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Index(IndexError::Store(other)),
            },
            other => Self::Index(other),
        }
    }
}

pub(crate) fn as_index(error: Error) -> IndexError {
    IndexError::Store(Box::new(error))
}

pub(crate) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Unreadable(Box::new(error))
}

impl Error {
    fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Postgres(error) => error.code(),
            _ => None,
        }
    }

    /// Whether the connection is lost, or the server is about to end it.
    pub(crate) fn is_broken(&self) -> bool {
        match self {
            Self::Silent => true,
            Self::Postgres(error) => match error.code() {
                None => error.is_closed() || error.as_db_error().is_none(),
                Some(state) => {
                    let ending = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW];
                    ending.contains(state) || state.code().starts_with("08")
                }
            },
            _ => false,
        }
    }

    /// Whether the server took the transaction back for another one's sake: the same again may succeed.
    pub(crate) fn is_to_be_repeated(&self) -> bool {
        let states = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        self.state().is_some_and(|state| states.contains(state))
    }

    /// The error of the port, with what was tried.
    pub(crate) fn while_doing(self, doing: &'static str) -> StoreError {
        if self.state() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
            return StoreError::Busy;
        }
        if self.state() == Some(&SqlState::DISK_FULL) {
            return StoreError::Full;
        }
        match self {
            Self::Store(error) => error,
            other => StoreError::Failed { doing, source: Box::new(other) },
        }
    }
}
