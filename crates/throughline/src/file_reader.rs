//! This program again, as a process that reads files which others made and which may harm it.

use throughline_core::transfer::formats::{Found, ImportError};
use throughline_readers::{Export, Limits, Reader};

use crate::world::program;

/// The argument with which this program reads files for another of its kind.
pub const FILE_READER: &str = "file-reader";

/// A reader; its process starts with the first file.
pub(crate) fn reader() -> std::io::Result<Reader> {
    Ok(Reader::new(program()?, &[FILE_READER]))
}

/// Reads one export, in a process of its own.
pub(crate) fn read_export(export: Export<'_>, limits: Limits) -> Result<Found, ImportError> {
    let unstarted = |error: std::io::Error| ImportError::Unreadable {
        name: export.name.to_owned(),
        problem: format!("its reader could not be started: {error}"),
        may_pass: true,
    };
    reader().map_err(unstarted)?.export(export, limits)
}
