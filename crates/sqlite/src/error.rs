//! What SQLite says, in the words of the port.

use rusqlite::{Error, ErrorCode, ffi};
use throughline_core::ports::{ReadOnly, StoreError};

/// Turns a SQLite error into the port's, with what was tried.
pub(crate) fn while_doing(doing: &'static str) -> impl Fn(Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        // A database that was moved is read-only to SQLite too.
        Some(ErrorCode::ReadOnly) if extended(&error) != Some(ffi::SQLITE_READONLY_DBMOVED) => {
            StoreError::ReadOnly { why: ReadOnly::Directory }
        }
        _ if is_damage(&error) => StoreError::Damaged { source: Some(Box::new(error)) },
        _ => StoreError::Failed { doing, source: Box::new(error) },
    }
}

/// Whether the file itself is damaged. An index of words that is (`SQLITE_CORRUPT_VTAB`) is not: it can be made anew.
fn is_damage(error: &Error) -> bool {
    let extended = extended(error);
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => extended != Some(ffi::SQLITE_CORRUPT_VTAB),
        Some(ErrorCode::NotADatabase) => true,
        _ => matches!(extended, Some(ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS)),
    }
}

fn extended(error: &Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

/// The error of opening a file, without the file's path.
pub(crate) fn without_path(error: Error) -> Error {
    match error {
        Error::SqliteFailure(code, Some(_)) if code.code == ErrorCode::CannotOpen => Error::SqliteFailure(code, None),
        other => other,
    }
}

/// A stored value that this program cannot read.
pub(crate) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
}

/// Whether a unique index refused the row.
pub(crate) fn is_taken(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Whether the row was refused because its key is taken.
pub(crate) fn is_key_taken(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(_, Some(message)) if message.contains("entries_by_key"))
}

/// Whether somebody else holds the lock.
pub(crate) fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
