//! Documents as Markdown files: `{ns}/a/b` is `<root>/{ns}/a/b.md`, `projects/x` is `memory.md` in that project's own
//! directory.
//!
//! Goes in: a checked name, a text, and the digest of what it replaces. Comes out: the whole new file, durable, or an
//! error and the file as it was. Never happens: a path that leaves the root, a link that is followed, an edit that is
//! overwritten unseen, a file that is half written.

mod checkouts;
mod failure;
mod file;
mod marks;
mod plain;
mod split;
mod swap;
mod sys;
mod tree;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use throughline_core::model::{ContentHash, Document, DocumentName, Name, copied_from, copy_name};
use throughline_core::ports::{Checkout, DocumentError, Documents};

use failure::Failure;
pub use file::{Wrote, remove_file, replace_file};
pub use split::SplitDocuments;
use sys::Privacy;
use tree::Folders;

/// Held inside write and remove alone, so that our own processes take turns. Persons and their editors do not know it:
/// they are guarded against by the exchange in [`swap`].
const LOCK: &str = ".documents.lock";

/// How the memory file of a project is called, in the project's own directory.
const PROJECT_FILE: &str = "memory.md";

/// Copies of one document that one second may bring.
const MOST_COPIES: usize = 1000;

/// Says where a project is.
type Places = Box<dyn Fn(&Name) -> Option<PathBuf> + Send + Sync>;

/// The documents below one directory, and the memory files of projects.
pub struct FileDocuments {
    root: Dir,
    projects: Places,
    /// A namespace whose documents stand in a directory of the person's own.
    user: Option<(Name, Dir)>,
    /// The person's home directory, which is never a project.
    home: Option<PathBuf>,
}

impl std::fmt::Debug for FileDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileDocuments").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Where a document stands.
struct Place<'a> {
    base: Dir,
    folders: Vec<&'a str>,
    file: String,
    /// Others work in a project's directory too: its file is as readable as what they create.
    privacy: Privacy,
}

impl FileDocuments {
    /// Opens the directory, creating it where it is missing. It may itself be a link; nothing below it may.
    pub fn open(root: &Path) -> Result<Self, DocumentError> {
        let failed = |doing| move |source| DocumentError::Io { doing, name: root.display().to_string(), source };
        sys::create_root(root).map_err(failed("create"))?;
        let root = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed("open"))?;
        Ok(Self { root, projects: Box::new(|_| None), user: None, home: None })
    }

    /// The same, with memory files in the directories that `places` names. A directory may be reached through links; the
    /// file in it may not be one.
    pub fn with_projects(self, places: impl Fn(&Name) -> Option<PathBuf> + Send + Sync + 'static) -> Self {
        Self { projects: Box::new(places), ..self }
    }

    /// The same for a person with this home directory, which is never a project.
    pub fn with_home(self, home: &Path) -> Self {
        Self { home: home.canonicalize().ok(), ..self }
    }

    /// The same, with the documents of one namespace in an existing directory: its Markdown and text files, and those below it.
    /// The directory may be reached through links; nothing in it may be one.
    pub fn with_user_dir(self, namespace: Name, dir: &Path) -> Result<Self, DocumentError> {
        let failed = |source| DocumentError::Io { doing: "open", name: dir.display().to_string(), source };
        let opened = Dir::open_ambient_dir(dir, ambient_authority()).map_err(failed)?;
        Ok(Self { user: Some((namespace, opened)), ..self })
    }

    /// The person's own directory, for documents of its namespace.
    fn own_dir(&self, namespace: &Name) -> Option<&Dir> {
        self.user.as_ref().filter(|(own, _)| own == namespace).map(|(_, dir)| dir)
    }

    /// Where a document stands; nothing for a project that has no directory.
    fn place<'a>(&self, name: &'a DocumentName) -> Result<Option<Place<'a>>, Failure> {
        let Some(project) = name.as_project() else {
            let (mut folders, file) = tree::path(name);
            let own = self.own_dir(name.namespace());
            if own.is_some() {
                folders.remove(0);
            }
            let base = own.unwrap_or(&self.root).try_clone().map_err(Failure::io("open the folder of"))?;
            let privacy = if own.is_some() { Privacy::Usual } else { Privacy::Owner };
            return Ok(Some(Place { base, folders, file, privacy }));
        };
        (self.projects)(project).map(|path| project_place(&path)).transpose()
    }

    /// The lock, or nothing where the file system has none: then the exchange alone keeps writers apart.
    fn lock(&self) -> Result<Option<File>, Failure> {
        let file = sys::open_lock(&self.root, LOCK).map_err(Failure::io("lock"))?;
        if !file.metadata().map_err(Failure::io("lock"))?.is_file() {
            return Err(Failure::io("lock")(io::Error::other(format!("{LOCK} is not a plain file"))));
        }
        loop {
            match file.lock() {
                Ok(()) => return Ok(Some(file)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    tracing::debug!(%error, "documents cannot be locked here");
                    return Ok(None);
                }
                Err(error) => return Err(Failure::Io("lock", error)),
            }
        }
    }

    fn text(&self, name: &DocumentName) -> Result<Option<String>, Failure> {
        let Some(place) = self.place(name)? else { return Ok(None) };
        match tree::folder(&place.base, &place.folders, Folders::Existing)? {
            Some(dir) => tree::read(&dir, &place.file),
            None => Ok(None),
        }
    }

    fn put(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), Failure> {
        let Place { base, folders, file, privacy } = self.place(name)?.ok_or(Failure::Unreachable)?;
        if text.len() as u64 > plain::MAX_BYTES {
            return Err(Failure::NotText(plain::TOO_LARGE));
        }
        if folders.len() > tree::MAX_DEPTH {
            return Err(Failure::io("nest")(io::Error::new(io::ErrorKind::InvalidInput, "too many folders")));
        }
        let lock = self.lock()?;
        let create = *expected == ContentHash::missing();
        let missing = if create { Folders::Create } else { Folders::Unclashing };
        let dir = tree::folder(&base, &folders, missing)?.ok_or(Failure::Conflict)?;
        if lock.is_some() {
            swap::recover(&dir);
        }
        match tree::read(&dir, &file)? {
            None => {
                tree::refuse_clash(&dir, &folders, &file)?;
                if create { swap::create(&dir, &file, text, privacy) } else { Err(Failure::Conflict) }
            }
            Some(current) if ContentHash::of(&current) != *expected => Err(Failure::Conflict),
            Some(current) if current == text => Ok(()),
            Some(_) => swap::replace(&dir, &file, text, expected, privacy),
        }
    }

    fn keep(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, Failure> {
        let Place { base, folders, file, privacy } = self.place(name)?.ok_or(Failure::Unreachable)?;
        let _lock = self.lock()?;
        let dir = tree::folder(&base, &folders, Folders::Create)?.ok_or(Failure::Conflict)?;
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        for nth in 1..=MOST_COPIES {
            let copy = format!("{}.md", copy_name(stem, stamp, nth));
            match swap::create_like(&dir, &copy, text, privacy, &file) {
                Err(Failure::Conflict) => {}
                done => return done.map(|()| copy),
            }
        }
        Err(Failure::Conflict)
    }

    fn kept(&self, name: &DocumentName) -> Result<Vec<String>, Failure> {
        let Some(Place { base, folders, file, .. }) = self.place(name)? else { return Ok(Vec::new()) };
        let Some(dir) = tree::folder(&base, &folders, Folders::Existing)? else { return Ok(Vec::new()) };
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        let is_copy = |entry: &str| entry.strip_suffix(".md").and_then(copied_from) == Some(stem);
        let entries = tree::entries(&dir).map_err(Failure::io("look for copies of"))?;
        Ok(entries.into_iter().map(|(entry, _)| entry).filter(|entry| is_copy(entry)).collect())
    }

    fn take_away(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), Failure> {
        let Some(Place { base, folders, file, .. }) = self.place(name)? else { return Err(Failure::Conflict) };
        let lock = self.lock()?;
        let dir = tree::folder(&base, &folders, Folders::Existing)?.ok_or(Failure::Conflict)?;
        if lock.is_some() {
            swap::recover(&dir);
        }
        match tree::read(&dir, &file)? {
            Some(current) if ContentHash::of(&current) == *expected => swap::remove(&dir, &file, expected),
            _ => Err(Failure::Conflict),
        }
    }

    fn stamped(&self, name: &DocumentName) -> Result<Option<String>, Failure> {
        let Some(place) = self.place(name)? else { return Ok(None) };
        match tree::folder(&place.base, &place.folders, Folders::Existing)? {
            Some(dir) => tree::stamp(&dir, &place.file),
            None => Ok(None),
        }
    }
}

/// The memory file of the project in this directory. A directory that is not there is no missing file: the disk may not
/// be mounted, or the folder may have another name now.
fn project_place<'a>(path: &Path) -> Result<Place<'a>, Failure> {
    let base = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Failure::Unreachable,
        _ => Failure::Io("open the directory of", error),
    })?;
    Ok(Place { base, folders: Vec::new(), file: PROJECT_FILE.to_owned(), privacy: Privacy::Usual })
}

impl Documents for FileDocuments {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        let text = self.text(name).map_err(|failure| failure.of(name))?;
        Ok(text.map(|text| Document::new(name.clone(), text)))
    }

    fn read_in(&self, name: &DocumentName, dir: &str) -> Result<Option<Document>, DocumentError> {
        let text = project_place(Path::new(dir)).and_then(|place| tree::read(&place.base, &place.file));
        Ok(text.map_err(|failure| failure.of(name))?.map(|text| Document::new(name.clone(), text)))
    }

    fn checkout(&self, dir: &Path) -> Option<Checkout> {
        checkouts::find(dir, self.home.as_deref(), PROJECT_FILE)
    }

    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        self.put(name, text, expected).map_err(|failure| failure.of(name))
    }

    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.take_away(name, expected).map_err(|failure| failure.of(name))
    }

    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.keep(name, text, stamp).map_err(|failure| failure.of(name))
    }

    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.kept(name).map_err(|failure| failure.of(name))
    }

    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        let listed = match self.own_dir(namespace) {
            Some(dir) => tree::list_in(dir, namespace),
            None => tree::list(&self.root, namespace),
        };
        listed.map_err(|source| DocumentError::Io { doing: "list", name: namespace.to_string(), source })
    }

    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.stamped(name).map_err(|failure| failure.of(name))
    }

    fn announce(&self, name: &DocumentName, hash: &ContentHash) -> Result<(), DocumentError> {
        marks::set(&self.root, name, hash).map_err(|error| Failure::Io("announce a change of", error).of(name))
    }

    fn announced(&self, name: &DocumentName) -> Option<ContentHash> {
        marks::get(&self.root, name)
    }

    fn settle(&self, name: &DocumentName) {
        marks::clear(&self.root, name);
    }
}
