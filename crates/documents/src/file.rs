//! A file of somebody else's, outside of any memory: put in the place of what its writer has read, and of nothing else.
//!
//! Permissions are kept; a new file is its owner's alone. Where files cannot be exchanged (FAT, Windows) a save in the
//! moment between looking and renaming is lost; everywhere else never. Whoever is killed in between leaves what came out
//! beside the file, under a name that begins with `.throughline-`.

use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use throughline_core::model::ContentHash;

use crate::failure::Failure;
use crate::sys::Privacy;
use crate::{plain, swap};

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrote {
    /// Done, and durable.
    Done,
    /// Somebody else was faster and their text stands: read again, decide again.
    Changed,
}

/// Writes a file over the text that was read from it, or makes it where there was none. A link is not followed, and its
/// directory has to be there.
pub fn replace_file(path: &Path, expected: Option<&str>, text: &str) -> io::Result<Wrote> {
    let (dir, file) = open(path)?;
    let Some(expected) = expected else { return wrote(swap::create(&dir, file, text, Privacy::Owner)) };
    let expected = ContentHash::of(expected);
    // What changed long ago need not be taken out and put back.
    if plain::hash(&dir, file).as_ref() != Some(&expected) {
        return Ok(Wrote::Changed);
    }
    wrote(swap::replace(&dir, file, text, &expected, Privacy::Usual))
}

/// Removes a file that still holds the text that was read from it.
pub fn remove_file(path: &Path, expected: &str) -> io::Result<Wrote> {
    let (dir, file) = open(path)?;
    let expected = ContentHash::of(expected);
    if plain::hash(&dir, file).as_ref() != Some(&expected) {
        return Ok(Wrote::Changed);
    }
    wrote(swap::remove(&dir, file, &expected))
}

/// The directory of a file, and its name there.
fn open(path: &Path) -> io::Result<(Dir, &str)> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "its name is not plain text"))?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Dir::open_ambient_dir(dir, ambient_authority())?, name))
}

fn wrote(done: Result<(), Failure>) -> io::Result<Wrote> {
    match done {
        Ok(()) => Ok(Wrote::Done),
        Err(Failure::Io(_, error)) => Err(error),
        Err(Failure::Conflict) => Ok(Wrote::Changed),
        Err(_) => Err(io::Error::other("it is no plain file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_over_what_was_read_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("settings.json");
        assert_eq!(replace_file(&path, None, "first").unwrap(), Wrote::Done);
        assert_eq!(replace_file(&path, None, "other").unwrap(), Wrote::Changed);
        assert_eq!(replace_file(&path, Some("read"), "other").unwrap(), Wrote::Changed);
        assert_eq!(remove_file(&path, "read").unwrap(), Wrote::Changed);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(replace_file(&path, Some("first"), "second").unwrap(), Wrote::Done);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(remove_file(&path, "second").unwrap(), Wrote::Done);
        assert_eq!(replace_file(&path, Some("second"), "third").unwrap(), Wrote::Changed);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing temporary stays");
    }

    #[test]
    fn a_file_that_is_larger_than_any_document_is_replaced_too() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("settings.json");
        let (old, new) = ("o".repeat(3 << 20), "n".repeat(3 << 20));
        std::fs::write(&path, &old).unwrap();
        assert_eq!(replace_file(&path, Some(&old), &new).unwrap(), Wrote::Done);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), new);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_a_new_file_is_its_owners() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("settings.json");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace_file(&path, None, "first").unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace_file(&path, Some("first"), "second").unwrap();
        assert_eq!(mode(), 0o640);
    }
}
