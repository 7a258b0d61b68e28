//! Crashes of every kind, with writers of every kind: processes that are killed, power that is cut, disks that fail.
//!
//! Goes in: the real program, a number of cycles, a seed. Comes out: what was confirmed, and what the memory then fails to keep.
//! Never happens: a check that asks the writers; all of them look at what is stored.
//!
//! - [`writers`]: one writer for each way in
//! - [`promises`]: what was confirmed, and whether a memory keeps it
//! - [`kills`]: processes are killed
//! - [`tracer`]: runs the program, records what it does to its files, or makes it fail
//! - [`log`], [`disk`], [`power`]: a recording, and the directory after a power cut at any moment of it
//! - [`faults`]: disks that are full, broken or read-only for a while

pub mod disk;
pub mod faults;
pub mod kills;
pub mod log;
pub mod power;
pub mod promises;
pub mod tracer;
pub mod writers;

use std::path::Path;

use tempfile::TempDir;

use crate::Failure;

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Kills, power cuts or faults.
    pub cycles: usize,
    /// Recordings that were made for them.
    pub recordings: usize,
    /// Power cuts while something was not synced.
    pub unsettled: usize,
    /// Writes that were confirmed.
    pub confirmed: usize,
    /// Writes that were refused.
    pub refused: usize,
    /// Everything that is wrong.
    pub problems: Vec<String>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cycles, recordings, unsettled, confirmed, refused, problems } = self;
        write!(f, "cycles {cycles} · confirmed {confirmed}")?;
        for (name, count) in [("recordings", recordings), ("with unsynced writes", unsettled), ("refused", refused)] {
            if *count > 0 {
                write!(f, " · {name} {count}")?;
            }
        }
        write!(f, " · problems {}", problems.len())
    }
}

/// A temporary directory without links in its path, in memory where that is possible: no cycle needs a real disk.
fn workplace() -> Result<TempDir, Failure> {
    let in_memory = Path::new("/dev/shm");
    let directory = if in_memory.is_dir() { in_memory.to_owned() } else { std::env::temp_dir().canonicalize()? };
    Ok(tempfile::Builder::new().prefix("throughline-").tempdir_in(directory)?)
}
