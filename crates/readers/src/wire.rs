//! What goes over the pipes between a process and its reader: messages, each its length in four bytes and then JSON.

use std::ffi::OsString;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use throughline_core::transfer::formats::{Format, Found, ImportError};

use crate::limits::Limits;
use crate::{Contents, Skip};

/// What is to be read.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    /// A file for the vault.
    Document {
        /// Its path.
        path: String,
    },
    /// What another program wrote.
    Export(ExportQuestion),
}

/// What another program wrote, and how it is read.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExportQuestion {
    /// What it is called.
    pub(crate) name: String,
    /// Where it is; none where its bytes follow, in messages up to an empty one.
    pub(crate) path: Option<OsString>,
    /// Whether it is an archive.
    pub(crate) is_archive: bool,
    /// What it is said to be.
    pub(crate) format: Option<Format>,
    /// What reading it may take.
    pub(crate) limits: Limits,
}

/// What a file of the vault says, or why that is not known.
pub(crate) type Answer = Result<Contents, Skip>;

/// A piece of what an export holds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Piece {
    /// Some of it; all pieces, joined, are the whole.
    Part(Found),
    /// There is no more of it, or it cannot be read.
    End(Option<ImportError>),
}

/// Writes a message.
pub(crate) fn send(to: &mut dyn Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(message)?;
    to.flush()
}

/// Writes a value as a message.
pub(crate) fn send_json(to: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    send(to, &serde_json::to_vec(value)?)
}

/// Reads a message of at most `most` bytes; none at the end.
pub(crate) fn receive(from: &mut dyn Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    let mut message = Vec::new();
    from.take(length as u64).read_to_end(&mut message)?;
    if message.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some(message)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_or_an_error() {
        let mut wire = Vec::new();
        send(&mut wire, b"one").unwrap();
        send(&mut wire, b"").unwrap();
        let mut whole = &wire[..];
        assert_eq!(receive(&mut whole, 9).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(receive(&mut whole, 9).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(receive(&mut whole, 9).unwrap(), None);
        assert!(receive(&mut &wire[..5], 9).is_err(), "cut off");
        assert_eq!(receive(&mut &wire[..], 2).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
