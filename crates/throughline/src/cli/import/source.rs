//! Where an export comes from: a file, an archive, standard input. What is in it is told by another process; only an export of
//! our own is read here.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Cursor, Read};
use std::path::Path;

use throughline_core::engine::{self, EngineError};
use throughline_core::transfer::formats::{self, Format, Found, ImportError};
use throughline_readers::{self as readers, Limits, Reader};

use super::super::failure::Failure;
use crate::file_reader;

/// A file that can be read, or what came on standard input.
pub(super) enum Source<'a> {
    File(&'a Path),
    Input(Vec<u8>),
}

impl<'a> Source<'a> {
    /// Standard input is read, a file only looked at. Neither may have more than a file of an export ever has.
    pub(super) fn open(path: &'a Path) -> Result<Self, Failure> {
        let reading = |error: std::io::Error| {
            let hint = "give what `throughline export` wrote, a file or folder that docs/importing.md lists, or `-`";
            Failure::new(format!("cannot read {}: {error}", path.display()), hint)
        };
        let too_large = || reading(std::io::Error::other(format!("it is larger than {} MB", formats::MAX_FILE >> 20)));
        if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            std::io::stdin().take(formats::MAX_FILE + 1).read_to_end(&mut bytes).map_err(reading)?;
            return if bytes.len() as u64 > formats::MAX_FILE { Err(too_large()) } else { Ok(Self::Input(bytes)) };
        }
        // A pipe or a device would be read for ever.
        let about = std::fs::metadata(path).map_err(reading)?;
        if !about.is_file() {
            return Err(reading(std::io::Error::other("it is neither a file nor a folder")));
        }
        if about.len() > formats::MAX_FILE {
            return Err(too_large());
        }
        File::open(path).map_err(reading)?;
        Ok(Self::File(path))
    }

    /// What it holds, told by another process.
    pub(super) fn found(&self, reader: &mut Reader, name: &str, format: Option<Format>) -> Result<Found, ImportError> {
        let source = match self {
            Self::File(path) => readers::Source::File(path),
            Self::Input(bytes) => readers::Source::Bytes(bytes),
        };
        reader.export(readers::Export { name, source, is_archive: false, format }, Limits::COMMAND)
    }

    /// An export of our own, as it streams in.
    pub(super) fn own(&self) -> Result<engine::Export, Failure> {
        let bad = |problem: String| Failure::from(EngineError::BadExport { problem });
        let text: Box<dyn Read + '_> = match self {
            Self::File(path) => Box::new(File::open(path).map_err(|error| bad(error.to_string()))?),
            Self::Input(bytes) => Box::new(Cursor::new(bytes)),
        };
        let mut text = BufReader::with_capacity(1 << 20, text.take(formats::MAX_FILE));
        if text.fill_buf().is_ok_and(|first| first.starts_with(b"\xef\xbb\xbf")) {
            text.consume(3);
        }
        serde_json::from_reader(text).map_err(|error| bad(error.to_string()))
    }
}

/// What the known files of an archive hold, told by another process.
pub(super) fn archive(reader: &mut Reader, path: &Path, format: Option<Format>) -> Result<Found, ImportError> {
    let name = path.file_name().map_or(Cow::Borrowed(""), |name| name.to_string_lossy());
    let source = readers::Source::File(path);
    reader.export(readers::Export { name: &name, source, is_archive: true, format }, Limits::COMMAND)
}

/// Whether a file begins like an archive.
pub(super) fn is_archive(path: &Path) -> bool {
    let mut first = [0; 4];
    let is_file = std::fs::metadata(path).is_ok_and(|file| file.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && formats::is_archive(&first)
}

/// A process that reads files of others.
pub(super) fn reader() -> Result<Reader, Failure> {
    file_reader::reader().map_err(|error| Failure::io("find this program", &error))
}
