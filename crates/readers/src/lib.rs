//! Readers of files that others made. For the vault, a path goes in, and what the folder holds, and what a file says, comes
//! out; for an import, what another program wrote goes in, and its memories and turns come out.
//!
//! Folders are walked by their own ignore files (`.gitignore`, `.ignore`); hidden files, binaries and whatever is larger
//! than [`MAX_BYTES`] are skipped and counted. Links are not followed. Nothing is written, and no file can break the
//! program: files are read in a child process ([`Reader`], [`serve`]) behind limits of size, memory, time and output. A
//! private place, where the memory itself lives, is not even opened.

mod child;
mod export;
mod html;
mod limits;
mod pdf;
mod read;
mod reader;
mod wire;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

pub use child::serve;
pub use limits::Limits;
pub use read::Contents;
use read::read;
pub use reader::{Export, Reader, Source};
use serde::{Deserialize, Serialize};

/// Larger files are skipped.
pub const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// Changes whenever files are read differently: what gave no text before may give some now.
pub const VERSION: u32 = 1;

/// Why a file is not in the vault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Skip {
    /// Over [`MAX_BYTES`].
    #[error("larger than 5 MB")]
    TooLarge,
    /// A picture, an archive, a program, a database.
    #[error("not text")]
    Binary,
    /// There is no text in it.
    #[error("empty")]
    Empty,
    /// The memory's own files.
    #[error("part of the memory itself")]
    Private,
    /// It could not be read this time.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It cannot be read as it is.
    #[error("cannot be read: {0}")]
    Damaged(String),
}

impl Skip {
    /// Whether a person should see the file's name, and not only a count.
    pub fn is_trouble(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Damaged(_))
    }

    /// Whether reading the file again gives the same answer, as long as it does not change.
    pub fn is_lasting(&self) -> bool {
        !matches!(self, Self::Unreadable(_) | Self::Private)
    }
}

/// A file that may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path, in full.
    pub path: String,
    /// When it was changed and how large it is, as the file system says.
    pub stamp: String,
    /// Its size.
    pub bytes: u64,
}

/// What a path holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files that may be read, by path.
    pub files: Vec<File>,
    /// Files that are not, and why.
    pub skipped: Vec<(String, Skip)>,
    /// Whether every folder could be looked into.
    pub is_whole: bool,
}

/// Looks at a file, or at everything in a folder. `root` is in full; `is_private` names what is never opened.
pub fn walk(root: &Path, is_private: &dyn Fn(&Path) -> bool) -> std::io::Result<Walk> {
    let mut found = Walk { is_whole: true, ..Walk::default() };
    let metadata = std::fs::metadata(root)?;
    if metadata.is_file() {
        found.look_at(root, Ok(metadata), is_private);
        return Ok(found);
    }
    // Only the folder's own rules count: a rule further up (`*` in a repository of dotfiles) is about something else.
    let mut builder = ignore::WalkBuilder::new(root);
    builder.parents(false).require_git(false).git_global(false).follow_links(false).sort_by_file_path(Path::cmp);
    for entry in builder.build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                let metadata = entry.metadata().map_err(|error| error.to_string());
                found.look_at(entry.path(), metadata, is_private);
            }
            Ok(_) => {}
            Err(error) => {
                found.is_whole = false;
                found.skipped.push((root.display().to_string(), Skip::Unreadable(error.to_string())));
            }
        }
    }
    Ok(found)
}

impl Walk {
    fn look_at(
        &mut self,
        path: &Path,
        metadata: Result<std::fs::Metadata, String>,
        is_private: &dyn Fn(&Path) -> bool,
    ) {
        let shown = path.display().to_string();
        match file(path, metadata, is_private) {
            Ok(file) => self.files.push(file),
            Err(why) => self.skipped.push((shown, why)),
        }
    }
}

fn file(
    path: &Path,
    metadata: Result<std::fs::Metadata, String>,
    is_private: &dyn Fn(&Path) -> bool,
) -> Result<File, Skip> {
    if is_private(path) {
        return Err(Skip::Private);
    }
    let metadata = metadata.map_err(Skip::Unreadable)?;
    let name = path.to_str().ok_or_else(|| Skip::Unreadable("its name is not UTF-8".to_owned()))?;
    if read::is_binary_name(path) {
        return Err(Skip::Binary);
    }
    if metadata.len() > MAX_BYTES {
        return Err(Skip::TooLarge);
    }
    let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let stamp = format!("{}.{:09} {}", changed.as_secs(), changed.subsec_nanos(), metadata.len());
    Ok(File { path: name.to_owned(), stamp, bytes: metadata.len() })
}

/// A path in full, with links resolved where it exists.
pub fn in_full(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, name: &str, bytes: &[u8]) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_folder_is_walked_by_its_own_rules() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        put(root, ".gitignore", b"*\n");
        let notes = root.join("notes");
        for name in ["a.md", "b/c.txt", ".hidden.md", "build/x.md", "memory.db", "picture.png", "huge.txt"] {
            put(&notes, name, b"text");
        }
        put(&notes, ".gitignore", b"build/\n");
        put(&notes, "huge.txt", &vec![b'a'; MAX_BYTES as usize + 1]);
        put(&notes, "own/memory.txt", b"private");
        let own = notes.join("own");
        let found = walk(&notes, &|path| path.starts_with(&own)).unwrap();
        let names: Vec<_> = found.files.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["a.md", "c.txt"]);
        let skipped: Vec<_> = found.skipped.into_iter().map(|(_, why)| why).collect();
        assert_eq!(skipped, [Skip::TooLarge, Skip::Binary, Skip::Private, Skip::Binary]);
    }
}
