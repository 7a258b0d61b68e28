//! A file that one process holds locked while it lives, and that others can look at.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// A look at a lock holds it for a moment, so taking it is tried again: so often, and so long apart.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// Locks a file, making it where it is missing; nothing if another process holds it. The lock ends with the file handle.
pub(crate) fn take(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// The same, waiting for as long as another process holds it.
pub(crate) fn wait(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    file.lock()?;
    Ok(file)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether somebody holds the lock, which may be this process.
pub(crate) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}
