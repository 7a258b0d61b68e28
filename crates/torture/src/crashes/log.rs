//! A recording: every change of a directory by any process, and every confirmation, in the order in which they happened.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use super::promises::Promise;
use crate::Failure;

/// Bytes of a header: kind, two lengths, padding, inode, offset.
const HEADER: usize = 32;

const CONFIRMED: u32 = 11;

/// One record. Paths are relative to the directory, which itself is the empty path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A file is made.
    Create {
        /// Its path.
        path: String,
        /// By which later records name it.
        inode: u64,
    },
    /// A directory is made.
    MakeDir {
        /// Its path.
        path: String,
    },
    /// Bytes are written.
    Write {
        /// To which file.
        inode: u64,
        /// Where in it.
        offset: u64,
        /// Which bytes.
        data: Vec<u8>,
    },
    /// A file gets another length.
    Truncate {
        /// Which.
        inode: u64,
        /// The length.
        size: u64,
    },
    /// The content of a file is durable.
    Sync {
        /// Which.
        inode: u64,
    },
    /// The names in a directory are durable.
    SyncDir {
        /// Which.
        path: String,
    },
    /// A name replaces another.
    Rename {
        /// What it was called.
        from: String,
        /// What it is called now.
        to: String,
    },
    /// Two names change places.
    Exchange {
        /// One.
        one: String,
        /// The other.
        other: String,
    },
    /// A file gets a second name.
    Link {
        /// The first.
        from: String,
        /// The second.
        to: String,
    },
    /// A name goes.
    Remove {
        /// Which.
        path: String,
    },
    /// Somebody was told that this is stored.
    Confirmed(Promise),
}

/// Where confirmations are written to.
#[derive(Debug)]
pub struct Confirmations(File);

impl Confirmations {
    /// Makes an empty recording.
    pub fn begin(path: &Path) -> Result<Self, Failure> {
        File::create(path)?;
        Ok(Self(OpenOptions::new().append(true).open(path)?))
    }

    /// Notes a confirmation behind everything that was changed before.
    pub fn note(&mut self, promise: &Promise) -> Result<(), Failure> {
        let text = serde_json::to_vec(promise)?;
        let mut record = Vec::with_capacity(HEADER + text.len());
        for number in [CONFIRMED, u32::try_from(text.len())?, 0, 0] {
            record.extend(number.to_ne_bytes());
        }
        record.extend([0; 16]);
        record.extend(text);
        self.0.lock()?;
        let written = self.0.write_all(&record);
        self.0.unlock()?;
        Ok(written?)
    }
}

/// Reads a recording.
pub fn read(path: &Path) -> Result<Vec<Record>, Failure> {
    let bytes = std::fs::read(path)?;
    let (mut rest, mut records) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        let (record, left) = parse(rest).ok_or("a recording ends in the middle of a record")?;
        records.push(record?);
        rest = left;
    }
    Ok(records)
}

fn parse(bytes: &[u8]) -> Option<(Result<Record, Failure>, &[u8])> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let word = |at: usize| header[at..].first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
    let long = |at: usize| header[at..].first_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
    let (kind, inode, offset) = (word(0)?, long(16)?, long(24)?);
    let (first, rest) = rest.split_at_checked(word(4)? as usize)?;
    let (second, rest) = rest.split_at_checked(word(8)? as usize)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let path = text(first);
    let record = match kind {
        1 => Record::Create { path, inode },
        2 => Record::MakeDir { path },
        3 => Record::Write { inode, offset, data: first.to_owned() },
        4 => Record::Truncate { inode, size: offset },
        5 => Record::Sync { inode },
        6 => Record::SyncDir { path },
        7 => Record::Rename { from: path, to: text(second) },
        8 => Record::Exchange { one: path, other: text(second) },
        9 => Record::Link { from: path, to: text(second) },
        10 => Record::Remove { path },
        CONFIRMED => return Some((serde_json::from_slice(first).map(Record::Confirmed).map_err(Into::into), rest)),
        other => return Some((Err(format!("a record of kind {other}").into()), rest)),
    };
    Some((Ok(record), rest))
}
