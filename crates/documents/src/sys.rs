//! What differs between operating systems. Every name given here is one component that was checked before.

use std::fs::File;
use std::io;
use std::path::Path;

use cap_std::fs::{Dir, DirBuilder, Metadata, OpenOptions};
#[cfg(unix)]
use cap_std::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
#[cfg(unix)]
use rustix::fs::{Mode, OFlags};
#[cfg(unix)]
use rustix::io::Errno;

/// Creates the root and what is missing above it.
pub(crate) fn create_root(root: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(root)
}

/// Opens one component itself, never what a link points to, and without waiting for the other end of a pipe.
/// `openat` rather than cap-std's own opening, which would follow a link as long as it stays below the directory.
#[cfg(unix)]
fn open_at(dir: &Dir, name: &str, flags: OFlags, mode: Mode) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, flags, mode)?))
}

#[cfg(not(unix))]
fn refuse_link(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.symlink_metadata(name) {
        Ok(found) if found.is_symlink() => Err(io::Error::from(io::ErrorKind::NotADirectory)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens a file for reading. The caller checks that it is one.
pub(crate) fn open_file(dir: &Dir, name: &str) -> io::Result<File> {
    #[cfg(unix)]
    return open_at(dir, name, OFlags::RDONLY, Mode::empty());
    #[cfg(not(unix))]
    {
        refuse_link(dir, name)?;
        Ok(dir.open(name)?.into_std())
    }
}

/// Opens a directory.
pub(crate) fn open_dir(dir: &Dir, name: &str) -> io::Result<Dir> {
    #[cfg(unix)]
    return open_at(dir, name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).map(Dir::from_std_file);
    #[cfg(not(unix))]
    {
        refuse_link(dir, name)?;
        dir.open_dir(name)
    }
}

/// Opens the lock, creating it where it is missing. The caller checks that it is a file.
pub(crate) fn open_lock(dir: &Dir, name: &str) -> io::Result<File> {
    #[cfg(unix)]
    return open_at(dir, name, OFlags::RDWR | OFlags::CREATE, Mode::from_raw_mode(0o600));
    #[cfg(not(unix))]
    {
        refuse_link(dir, name)?;
        Ok(dir.open_with(name, OpenOptions::new().read(true).write(true).create(true))?.into_std())
    }
}

/// Whether opening failed because something else than a file or directory has the name.
pub(crate) fn is_not_plain(error: &io::Error) -> bool {
    #[cfg(unix)]
    let special = Errno::from_io_error(error)
        .is_some_and(|errno| [Errno::LOOP, Errno::MLINK, Errno::NXIO, Errno::OPNOTSUPP].contains(&errno));
    #[cfg(not(unix))]
    let special = error.kind() == io::ErrorKind::PermissionDenied;
    special || error.kind() == io::ErrorKind::NotADirectory
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Its owner alone.
    Owner,
    /// Whoever may read what else is created there.
    Usual,
}

/// Gives a file the permissions of another; a missing one has none to give.
pub(crate) fn copy_mode(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    match dir.symlink_metadata(from) {
        Ok(metadata) if metadata.is_file() => dir.set_permissions(to, metadata.permissions()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a file; fails where the name is taken.
pub(crate) fn create_file(dir: &Dir, name: &str, privacy: Privacy) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(if privacy == Privacy::Owner { 0o600 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = privacy;
    Ok(dir.open_with(name, &options)?.into_std())
}

/// Creates a directory that only its owner enters.
pub(crate) fn create_dir(dir: &Dir, name: &str) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    dir.create_dir_with(name, &builder)
}

/// Makes the names in a directory durable. Elsewhere than on Unix the file system does so by itself.
pub(crate) fn sync_dir(dir: &Dir) -> io::Result<()> {
    #[cfg(unix)]
    dir.open(".")?.into_std().sync_all()?;
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

/// Swaps what two names stand for, in one step; `Unsupported` where the system or the file system cannot.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn exchange(dir: &Dir, one: &str, other: &str) -> io::Result<()> {
    #[cfg(test)]
    if crate::swap::moments::only_renames() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    #[cfg(test)]
    crate::swap::moments::pass();
    rename_with(dir, one, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn exchange(_: &Dir, _: &str, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a temporary file its name; `AlreadyExists` where the name is taken.
pub(crate) fn rename_new(dir: &Dir, temporary: &str, name: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    match rename_with(dir, temporary, name, rustix::fs::RenameFlags::NOREPLACE) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        done => return done,
    }
    link_new(dir, temporary, name)
}

/// A second link fails where the name is taken, just as atomically. Where there are no links either (FAT), looking
/// before renaming is the best that can be done.
pub(crate) fn link_new(dir: &Dir, temporary: &str, name: &str) -> io::Result<()> {
    match dir.hard_link(temporary, dir, name) {
        Ok(()) => dir.remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => match dir.symlink_metadata(name) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => dir.rename(temporary, dir, name),
            Err(error) => Err(error),
        },
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_with(dir: &Dir, from: &str, to: &str, flags: rustix::fs::RenameFlags) -> io::Result<()> {
    rustix::fs::renameat_with(dir, from, dir, to, flags).map_err(|errno| match errno {
        Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => io::ErrorKind::Unsupported.into(),
        other => other.into(),
    })
}

/// What stays the same while a file is only renamed, and changes when it is written or replaced.
pub(crate) fn identity(found: &Metadata) -> String {
    #[cfg(unix)]
    return format!("{}:{}:{}", nanos(found.mtime(), found.mtime_nsec()), found.size(), found.ino());
    #[cfg(not(unix))]
    {
        let modified = found.modified().ok().and_then(|at| at.into_std().duration_since(std::time::UNIX_EPOCH).ok());
        format!("{}:{}", modified.unwrap_or_default().as_nanos(), found.len())
    }
}

/// The identity, and when the inode changed: tools that restore an old `mtime` cannot restore that.
/// What is written in place twice within one tick of the file system's clock, at the same length, has one stamp.
pub(crate) fn stamp(found: &Metadata) -> String {
    #[cfg(unix)]
    return format!("{}:{}", identity(found), nanos(found.ctime(), found.ctime_nsec()));
    #[cfg(not(unix))]
    identity(found)
}

#[cfg(unix)]
fn nanos(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
