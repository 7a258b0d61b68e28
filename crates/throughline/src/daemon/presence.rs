//! Whether a daemon runs on this home, and where: a file that it keeps locked while it lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};

use serde::{Deserialize, Serialize};

use crate::world::Home;

/// A daemon that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Its process.
    pub(crate) process: u32,
    /// Where it listens.
    pub(crate) url: String,
}

/// The right to be the daemon of this home; ends with the process.
pub(crate) struct Claim {
    file: File,
}

impl Claim {
    /// Takes the right, or gives who has it.
    pub(crate) fn take(home: &Home) -> std::io::Result<Result<Self, Option<Running>>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(home.daemon())?;
        match file.try_lock() {
            Ok(()) => Ok(Ok(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(Err(said(&mut file))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Says where the daemon listens.
    pub(crate) fn announce(&mut self, running: &Running) -> std::io::Result<()> {
        let text = serde_json::to_vec(running).unwrap_or_default();
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.flush()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
    }
}

/// The daemon that runs on this home, if one does.
pub(crate) fn find(home: &Home) -> Option<Running> {
    let mut file = File::open(home.daemon()).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => said(&mut file),
        _ => None,
    }
}

fn said(file: &mut File) -> Option<Running> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
