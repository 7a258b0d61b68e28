//! A file of a client: read whole, replaced whole, and only over what was read. Links are followed, permissions kept.
//! Never happens: half a file, or (where the file system can exchange two files) a change of somebody else's overwritten.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

pub(super) use throughline_documents::Wrote;
use throughline_documents::{remove_file, replace_file};

/// What is put behind the name of the copy that is kept from before the first change.
const BACKUP: &str = ".throughline-backup";

/// A note in a directory that was not there before the first change.
const MADE: &str = ".throughline-made";

/// How many links may lie between a name and its file.
const LINKS: usize = 16;

/// A file as it was when it was read.
pub(super) struct ClientFile {
    /// The name that the client knows.
    path: PathBuf,
    /// Where it really is.
    real: PathBuf,
    /// What it said; nothing where it was not there.
    pub(super) text: Option<String>,
}

impl ClientFile {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let real = follow(path)?;
        let text = read(&real)?;
        Ok(Self { path: path.to_owned(), real, text })
    }

    /// Whether it lies below a directory, wherever links lead.
    pub(super) fn is_within(&self, dir: &Path) -> bool {
        let there = self.real.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)));
        let (Some((above, there)), Ok(dir)) = (there, dir.canonicalize()) else { return false };
        // Behind a directory that is yet to be made, `..` could lead anywhere.
        let mut ahead = self.real.strip_prefix(above).into_iter().flat_map(Path::components);
        there.starts_with(&dir) && !ahead.any(|part| part == Component::ParentDir)
    }

    /// The text from before the first change, where the file was there then.
    pub(super) fn before(&self) -> io::Result<Option<String>> {
        read(&self.backup())
    }

    /// Keeps the text as it is now for the way back; where there is none, also no older one.
    pub(super) fn keep(&self) -> io::Result<()> {
        match &self.text {
            Some(text) => keep(&self.backup(), text, &self.real),
            None => {
                self.forget()?;
                self.make_directories()
            }
        }
    }

    /// Drops what was kept for the way back.
    pub(super) fn forget(&self) -> io::Result<()> {
        gone(std::fs::remove_file(self.backup()))
    }

    /// Makes the directories that the file needs, each with a note that it is ours to remove again.
    fn make_directories(&self) -> io::Result<()> {
        let missing: Vec<&Path> = self.path.ancestors().skip(1).take_while(|dir| !dir.exists()).collect();
        for dir in missing.into_iter().rev() {
            std::fs::create_dir_all(dir)?;
            std::fs::write(dir.join(MADE), "")?;
        }
        Ok(())
    }

    /// Puts a text in the place of the one that was read.
    pub(super) fn write(&self, text: &str) -> io::Result<Wrote> {
        if self.real.metadata().is_ok_and(|file| file.permissions().readonly()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        if let Some(dir) = self.real.parent() {
            std::fs::create_dir_all(dir)?;
        }
        replace_file(&self.real, self.text.as_deref(), text)
    }

    /// Removes it, with the directories that `keep` made and that are empty then, up to `base`.
    pub(super) fn remove(&self, base: &Path) -> io::Result<Wrote> {
        let Some(text) = &self.text else { return Ok(Wrote::Done) };
        if remove_file(&self.real, text)? == Wrote::Changed {
            return Ok(Wrote::Changed);
        }
        let above = self.path.ancestors().skip(1).take_while(|dir| *dir != base && dir.starts_with(base));
        for dir in above.take_while(|dir| is_ours_and_empty(dir)) {
            if std::fs::remove_file(dir.join(MADE)).and_then(|()| std::fs::remove_dir(dir)).is_err() {
                break;
            }
        }
        Ok(Wrote::Done)
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(BACKUP);
        PathBuf::from(name)
    }
}

/// Where the links behind a name lead, also where nothing is there yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut real = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&real) {
            Ok(to) => real = real.parent().map_or_else(|| to.clone(), |dir| dir.join(&to)),
            Err(_) => return Ok(real),
        }
    }
    Err(io::Error::other("too many links lead to it"))
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps a copy in one step, over an older one. The permissions are those of `like`, or the owner's alone.
fn keep(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".throughline-").suffix(".tmp").tempfile_in(dir)?;
    new.write_all(text.as_bytes())?;
    if let Ok(old) = like.metadata() {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(path)?;
    #[cfg(unix)]
    std::fs::File::open(dir)?.sync_all()?;
    Ok(())
}

/// Whether nothing is in a directory but the note that we made it.
fn is_ours_and_empty(dir: &Path) -> bool {
    let names: io::Result<Vec<_>> =
        std::fs::read_dir(dir).and_then(|files| files.map(|file| file.map(|file| file.file_name())).collect());
    names.is_ok_and(|names| names == [MADE])
}

/// What is not there need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_since_it_was_read_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let absent = ClientFile::read(&path).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert_eq!(absent.write("ours").unwrap(), Wrote::Changed);
        let read = ClientFile::read(&path).unwrap();
        std::fs::write(&path, "theirs again").unwrap();
        assert_eq!(read.write("ours").unwrap(), Wrote::Changed);
        assert_eq!(read.remove(dir.path()).unwrap(), Wrote::Changed);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs again");
        assert_eq!(ClientFile::read(&path).unwrap().write("ours").unwrap(), Wrote::Done);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn directories_that_were_made_for_it_go_again_and_no_others() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b/c.json");
        std::fs::create_dir(base.path().join("a")).unwrap();
        let absent = ClientFile::read(&path).unwrap();
        absent.keep().unwrap();
        absent.write("{}").unwrap();
        ClientFile::read(&path).unwrap().remove(base.path()).unwrap();
        assert!(base.path().join("a").exists(), "it was there before");
        assert!(!base.path().join("a/b").exists(), "it was made for the file");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_through_a_directory_that_is_not_there_yet_is_not_within() {
        let base = tempfile::tempdir().unwrap();
        let project = base.path().join("project");
        std::fs::create_dir(&project).unwrap();
        std::os::unix::fs::symlink("absent/../../out.json", project.join("mcp.json")).unwrap();
        assert!(!ClientFile::read(&project.join("mcp.json")).unwrap().is_within(&project));
        std::os::unix::fs::symlink("new/in.json", project.join("settings.json")).unwrap();
        assert!(ClientFile::read(&project.join("settings.json")).unwrap().is_within(&project));
    }
}
