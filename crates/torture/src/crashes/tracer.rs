//! The program that runs the real program: it records what that does to a directory, or makes it fail.
//!
//! It stands between the program and the kernel, so it sees SQLite and document writes alike. What it may miss is found by
//! comparing the recording with the directory ([`Disk::differences`](super::disk::Disk::differences)).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::daemon::Program;

const SOURCE: &str = include_str!("tracer.c");

/// What happens to changes of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed (`SIGKILL`) in the place of a change, sometimes in the middle of it.
    Kill,
    /// The process is killed where it sends something over a socket: half of the time before, half of the time behind.
    KillAtMessage,
    /// `ENOSPC`: the disk is full. The first write still writes a part.
    Full,
    /// `EIO`: writes and syncs fail.
    Broken,
    /// `EROFS`: nothing can be changed.
    ReadOnly,
}

impl Fault {
    /// The faults of a disk.
    pub const OF_A_DISK: [Self; 3] = [Self::Full, Self::Broken, Self::ReadOnly];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::KillAtMessage => "message",
            Self::Full => "enospc",
            Self::Broken => "eio",
            Self::ReadOnly => "erofs",
        }
    }
}

/// The compiled tracer.
#[derive(Debug)]
pub struct Tracer {
    path: PathBuf,
}

impl Tracer {
    /// Compiles it into a directory.
    pub fn compile(directory: &Path) -> Result<Self, Failure> {
        let (source, path) = (directory.join("tracer.c"), directory.join("tracer"));
        std::fs::write(&source, SOURCE)?;
        let compiled = Command::new("cc").args(["-O2", "-o"]).args([&path, &source]).output()?;
        if !compiled.status.success() {
            return Err(format!("cc: {}", String::from_utf8_lossy(&compiled.stderr)).into());
        }
        Ok(Self { path })
    }

    fn trace(&self, program: &Program, root: &Path) -> Program {
        program.within_another(self.path.clone()).with("TORTURE_ROOT", root.to_string_lossy().into_owned())
    }

    /// The program, recorded.
    pub fn recording(&self, program: &Program, root: &Path, log: &Path) -> Program {
        self.trace(program, root).with("TORTURE_LOG", log.to_string_lossy().into_owned())
    }

    /// The program, whose changes fail after so many that go well. `duration` is how many fail; 0 means all.
    pub fn failing(&self, program: &Program, root: &Path, fault: Fault, after: u64, duration: u64) -> Program {
        let program = self.trace(program, root).with("TORTURE_FAULT", fault.as_str().to_owned());
        program.with("TORTURE_AFTER", after.to_string()).with("TORTURE_FOR", duration.to_string())
    }
}
