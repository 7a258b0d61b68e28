//! One plain text file in a directory that is already open.
//!
//! Never happens: waiting for a pipe, following a link, reading more than the limit.

use std::io::{self, Read};

use cap_std::fs::Dir;
use throughline_core::model::ContentHash;

use crate::failure::Failure;
use crate::sys;

/// Documents are short and read whole.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;
pub(crate) const TOO_LARGE: &str = "it is larger than 1 MiB";
const NOT_UTF8: &str = "it is not UTF-8";

/// What is looked at to tell whether it is still the same may be larger: clients keep much in their files.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The text of the file, or nothing where there is none.
pub(crate) fn read(dir: &Dir, file: &str) -> Result<Option<String>, Failure> {
    read_up_to(MAX_BYTES, dir, file)
}

fn read_up_to(limit: u64, dir: &Dir, file: &str) -> Result<Option<String>, Failure> {
    let opened = match sys::open_file(dir, file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if sys::is_not_plain(&error) => return Err(Failure::NotPlain),
        Err(error) => return Err(Failure::Io("read", error)),
    };
    if !opened.metadata().map_err(Failure::io("read"))?.is_file() {
        return Err(Failure::NotPlain);
    }
    // The limit holds for what is read, not for the size that was announced: the file may be growing.
    let mut bytes = Vec::new();
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(Failure::io("read"))?;
    if bytes.len() as u64 > limit {
        return Err(Failure::NotText(TOO_LARGE));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| Failure::NotText(NOT_UTF8))
}

/// The digest of the file, or nothing where it is missing, not plain or not text.
pub(crate) fn hash(dir: &Dir, file: &str) -> Option<ContentHash> {
    read_up_to(LARGEST, dir, file).ok().flatten().map(|text| ContentHash::of(&text))
}
