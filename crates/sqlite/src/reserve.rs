//! Room that is kept on the disk, so that a memory on a full one can still be opened and something can be removed from it: a
//! file of zeros, which is cut when there is need, and filled again when there is room. On systems that cannot say how much
//! room there is, nothing is kept.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How much is kept.
const KEPT: u64 = 2 << 20;

/// How much is given at once: enough to open a memory, and to remove something from one of usual size.
const GIVEN: u64 = 512 << 10;

/// Nothing is kept on a disk with less room than this.
const WORTHWHILE: u64 = 4 * KEPT;

/// A disk with less room than this is full: the index of a write-ahead log alone takes half of it.
const LITTLE: u64 = 64 << 10;

/// The room that is kept beside one database.
#[derive(Debug)]
pub(crate) struct Reserve {
    file: PathBuf,
    /// Whether this process removes something.
    removes: AtomicBool,
}

impl Reserve {
    /// The room for the database at this path.
    pub(crate) fn beside(database: &Path) -> Self {
        let mut name = database.as_os_str().to_owned();
        name.push(".reserve");
        Self { file: PathBuf::from(name), removes: AtomicBool::new(false) }
    }

    /// Whether the room that is left is only for opening the memory and for removing something from it: some was given up, and the
    /// disk has hardly more since.
    pub(crate) fn is_for_removing(&self) -> bool {
        let is_cut = (1..KEPT).contains(&self.kept());
        is_cut && !self.removes.load(Ordering::Relaxed) && available(&self.file).is_some_and(|left| left < KEPT)
    }

    /// Gives some up to remove something; whether there was any.
    pub(crate) fn give_to_remove(&self) -> bool {
        self.removes.store(true, Ordering::Relaxed);
        self.give_some()
    }

    /// Keeps room, unless it is kept already or there is little.
    pub(crate) fn keep(&self) {
        if self.kept() >= KEPT || available(&self.file).is_none_or(|available| available < WORTHWHILE) {
            return;
        }
        if let Err(error) = self.fill() {
            tracing::debug!(%error, "no room is kept for removing things from a full disk");
        }
    }

    /// Gives some of it up; whether there was any.
    fn give_some(&self) -> bool {
        let kept = self.kept();
        let left = kept.saturating_sub(GIVEN);
        let cut = |file: File| file.set_len(left).and_then(|()| file.sync_all());
        kept > 0 && OpenOptions::new().write(true).open(&self.file).and_then(cut).is_ok()
    }

    /// The same for a memory that cannot be opened: half of what is kept stays for removing things.
    pub(crate) fn give_to_open(&self) -> bool {
        self.kept() > KEPT / 2 && self.give_some()
    }

    /// Whether its disk has hardly any room left.
    pub(crate) fn is_disk_full(&self) -> bool {
        available(&self.file).is_some_and(|available| available < LITTLE)
    }

    /// A link is not ours: what it leads to is neither cut nor filled.
    fn kept(&self) -> u64 {
        std::fs::symlink_metadata(&self.file).ok().filter(|found| found.is_file()).map_or(0, |found| found.len())
    }

    /// Written, not only made long: a hole takes no room.
    fn fill(&self) -> Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        }
        options.open(&self.file)?.write_all(&vec![0; KEPT as usize])
    }
}

/// How much room somebody without special rights has beside a file.
#[cfg(unix)]
fn available(file: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(file.parent()?).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn available(_: &Path) -> Option<u64> {
    None
}

/// Whether a database is there and this process can write neither it nor a log beside it.
#[cfg(unix)]
pub(crate) fn is_read_only(database: &Path) -> bool {
    use rustix::fs::{Access, access};
    use rustix::io::Errno;
    let is_refused =
        |path: &Path| matches!(access(path, Access::WRITE_OK), Err(Errno::ROFS | Errno::ACCESS | Errno::PERM));
    let exists = std::fs::symlink_metadata(database).is_ok_and(|found| found.len() > 0);
    exists && (is_refused(database) || database.parent().is_some_and(is_refused))
}

#[cfg(not(unix))]
pub(crate) fn is_read_only(database: &Path) -> bool {
    std::fs::symlink_metadata(database).is_ok_and(|found| found.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_is_neither_cut_nor_filled() {
        let directory = tempfile::tempdir().unwrap();
        let notes = directory.path().join("notes.md");
        std::fs::write(&notes, "- tea\n").unwrap();
        let reserve = Reserve::beside(&directory.path().join("memory.db"));
        std::os::unix::fs::symlink(&notes, directory.path().join("memory.db.reserve")).unwrap();
        reserve.keep();
        assert!(!reserve.give_to_remove() && !reserve.give_to_open());
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), "- tea\n");
    }

    #[test]
    fn room_is_kept_given_piece_by_piece_and_kept_again() {
        let directory = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&directory.path().join("memory.db"));
        assert!(!reserve.give_some(), "there is none yet");
        reserve.keep();
        assert_eq!(reserve.kept(), KEPT);
        let given = std::iter::from_fn(|| reserve.give_some().then_some(())).count() as u64;
        assert_eq!((given, reserve.kept()), (KEPT / GIVEN, 0));
        reserve.keep();
        assert_eq!(reserve.kept(), KEPT);
    }
}
