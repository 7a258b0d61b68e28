//! A whole memory from one store to another. Documents that are files on one side are rows on the other.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use throughline_core::model::{ContentHash, Document, DocumentName, MachineId, Name};
use throughline_core::ports::{DocumentError, Documents as _, StoreError};
use throughline_documents::FileDocuments;
use throughline_postgres::{Address, PostgresStore, PostgresTarget};
use throughline_sqlite::{Durability, FileCalls, SqliteSource, SqliteStore, SqliteTarget};
use throughline_stores::copy::{
    Begun, Cell, Copied, CopyError, Row, Rows, Snapshot, Source, TABLES, Table, TableDigest, Target, copy,
};

use crate::config;
use crate::processes;
use crate::spool::sync_directory;
use crate::world::{Home, OpenError, is_open_to_others, is_own, private_directory, private_file, settings, user_dir};

/// The table of what documents say.
const TEXTS: &str = "document_texts";

type Stored<T> = Result<T, StoreError>;

/// Where a memory is, or is to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    /// A database file, with documents beside it.
    File(PathBuf),
    /// A space on a server.
    Server(Box<Address>),
}

/// Why a memory could not be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyFailure {
    /// Neither a file nor a server.
    #[error("`{url}` is neither `sqlite://PATH` nor `postgres://USER@HOST/DATABASE`")]
    Url {
        /// What was given, without a password.
        url: String,
    },
    /// There is no memory to copy.
    #[error("there is no memory at {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// One of the two could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The copy itself.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

impl CopyFailure {
    /// What to try next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Url { .. } => Some("see docs/postgres.md".to_owned()),
            Self::Missing { .. } => Some("name the database file, or the directory that it is in".to_owned()),
            Self::Open(error) => error.hint(),
            Self::Copy(error) => Some(error.hint()),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite://{}", path.display()),
            Self::Server(address) => address.fmt(f),
        }
    }
}

impl Place {
    /// Reads `sqlite://PATH` (a database, or the directory that it is in) or the address of a server.
    pub(crate) fn parse(url: &str, password: Option<&str>) -> Result<Self, CopyFailure> {
        if let Some(path) = url.strip_prefix("sqlite://").filter(|path| !path.is_empty()) {
            let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
            return Ok(Self::File(if path.is_dir() { Home::at(path).database() } else { path }));
        }
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            let url = url.split_once("://").map_or(url, |(scheme, _)| scheme).to_owned();
            return Err(CopyFailure::Url { url });
        }
        let address = Address::parse(url).map_err(OpenError::StoreUrl)?;
        Ok(Self::Server(Box::new(match password {
            Some(password) => address.with_password(password),
            None => address,
        })))
    }

    /// Copies the memory here to another place. `progress` is told how many rows are done, of how many.
    pub(crate) fn copy_to(&self, to: &Self, progress: &mut dyn FnMut(u64, u64)) -> Result<Copied, CopyFailure> {
        let machine = MachineId::new(processes::host_name());
        match self {
            Self::File(path) => {
                if !path.is_file() {
                    return Err(CopyFailure::Missing { path: path.clone() });
                }
                let home = home_of(path);
                let failed = |source| OpenError::Store { path: path.clone(), source };
                let store = SqliteStore::open_or_read(path, &home.backups(), Durability::Full).map_err(failed)?;
                let (documents, namespace) = documents(&home)?;
                let source = FileSource { tables: store.copy_source(machine), documents, namespace };
                to.copy_from(&source, progress)
            }
            Self::Server(address) => {
                let failed = |source| OpenError::Server { server: address.to_string(), source };
                to.copy_from(&PostgresStore::open((**address).clone()).map_err(failed)?, progress)
            }
        }
    }

    fn copy_from(&self, source: &dyn Source, progress: &mut dyn FnMut(u64, u64)) -> Result<Copied, CopyFailure> {
        match self {
            Self::File(path) => {
                let home = home_of(path);
                private_directory(&home.data)?;
                let files = FileCalls { make_private, sync_directory };
                let tables = SqliteTarget::new(path, MachineId::new(processes::host_name()), files);
                let (documents, _) = documents(&home)?;
                let target = FileTarget { tables, documents, written: RefCell::default() };
                Ok(copy(source, &target, progress)?)
            }
            Self::Server(address) => {
                let failed = |source| OpenError::Server { server: address.to_string(), source };
                let target = PostgresTarget::open((**address).clone()).map_err(failed)?;
                Ok(copy(source, &target, progress)?)
            }
        }
    }
}

/// What somebody else put in the way is refused: a whole memory is about to be written there.
fn make_private(path: &Path) -> std::io::Result<()> {
    private_file(path).map_err(std::io::Error::other)?;
    let about = path.symlink_metadata()?;
    if about.is_file() && is_own(&about) && !is_open_to_others(&about) {
        return Ok(());
    }
    let problem = format!("{} is there already, and is not yours alone: remove it", path.display());
    Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, problem))
}

/// The home that a database is in: this person's, or the directory around it.
fn home_of(path: &Path) -> Home {
    let beside = || Home::at(path.parent().unwrap_or(Path::new(".")).to_owned());
    Home::find().ok().filter(|home| home.database() == path).unwrap_or_else(beside)
}

/// The documents of a home, and the person's namespace there.
fn documents(home: &Home) -> Result<(FileDocuments, Option<Name>), OpenError> {
    let config = config::load(&home.config)?;
    let namespace = settings(&config)?.namespace;
    let files = FileDocuments::open(&home.data)?;
    let files = match namespace.clone().zip(user_dir(&config, home)) {
        Some((namespace, dir)) => files.with_user_dir(namespace, &dir)?,
        None => files,
    };
    Ok((files, namespace))
}

/// A database and the documents beside it.
struct FileSource<'s> {
    tables: SqliteSource<'s>,
    documents: FileDocuments,
    namespace: Option<Name>,
}

impl Source for FileSource<'_> {
    fn snapshot(&self, work: &mut dyn FnMut(&dyn Snapshot)) -> Stored<()> {
        let mut unread = None;
        self.tables.snapshot(&mut |tables| match self.texts(tables) {
            Ok(texts) => work(&WithTexts { tables, texts }),
            Err(error) => unread = Some(error),
        })?;
        unread.map_or(Ok(()), Err)
    }
}

impl FileSource<'_> {
    /// What the documents say: those that are known, and those that were not noticed yet. The memory files of projects stay
    /// where they are.
    fn texts(&self, tables: &dyn Snapshot) -> Stored<Vec<(DocumentName, String)>> {
        let mut names = BTreeSet::new();
        for table in TABLES.iter().filter(|table| table.name == "documents") {
            tables.each(table, &mut |row| {
                if let Some(Cell::Text(name)) = row.first() {
                    names.extend(name.parse::<DocumentName>().ok().filter(|name| name.as_project().is_none()));
                }
                Ok(())
            })?;
        }
        if let Some(namespace) = &self.namespace {
            names.extend(self.documents.list(namespace).map_err(unread)?);
        }
        for name in names.clone() {
            let address = name.to_string();
            let folder = address.rsplit_once('/').map_or("", |(folder, _)| folder);
            let copies = self.documents.kept_beside(&name).map_err(unread)?;
            let copy = |file: String| format!("{folder}/{}", file.strip_suffix(".md").unwrap_or(&file)).parse().ok();
            names.extend(copies.into_iter().filter_map(copy));
        }
        let text = |name: DocumentName| match self.documents.read(&name) {
            Ok(document) => document.map(|document| Ok((name, document.text))),
            Err(error) => Some(Err(unread(error))),
        };
        names.into_iter().filter_map(text).collect()
    }
}

fn unread(error: DocumentError) -> StoreError {
    StoreError::Failed { doing: "read the documents", source: Box::new(error) }
}

/// The tables of a file, with what its documents say as one more.
struct WithTexts<'s> {
    tables: &'s dyn Snapshot,
    texts: Vec<(DocumentName, String)>,
}

impl Rows for WithTexts<'_> {
    fn count(&self, table: &Table) -> Stored<u64> {
        if table.name == TEXTS { Ok(self.texts.len() as u64) } else { self.tables.count(table) }
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Stored<()>) -> Stored<()> {
        if table.name == TEXTS { each_text(self.texts.iter().cloned(), row) } else { self.tables.each(table, row) }
    }
}

fn each_text(
    mut texts: impl Iterator<Item = (DocumentName, String)>,
    row: &mut dyn FnMut(Row) -> Stored<()>,
) -> Stored<()> {
    texts.try_for_each(|(name, text)| row(vec![Cell::Text(name.to_string()), Cell::Text(text)]))
}

impl Snapshot for WithTexts<'_> {
    fn mark(&self) -> Stored<String> {
        let mut marks = vec![self.tables.mark()?];
        for table in TABLES.iter().filter(|table| table.name == TEXTS) {
            let mut digest = TableDigest::new(table);
            self.each(table, &mut |row| {
                digest.add(&row);
                Ok(())
            })?;
            marks.push(TableDigest::of_all(&[digest]));
        }
        Ok(marks.join(" "))
    }
}

/// A new database, and documents beside it.
struct FileTarget {
    tables: SqliteTarget,
    documents: FileDocuments,
    written: RefCell<BTreeSet<DocumentName>>,
}

impl Rows for FileTarget {
    fn count(&self, table: &Table) -> Stored<u64> {
        // Every run writes all of them: one that is there already stays as it is.
        if table.name == TEXTS { Ok(0) } else { self.tables.count(table) }
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Stored<()>) -> Stored<()> {
        if table.name != TEXTS {
            return self.tables.each(table, row);
        }
        let text = |name: &DocumentName| match self.documents.read(name) {
            Ok(document) => document.map(|Document { text, .. }| Ok((name.clone(), text))),
            Err(error) => Some(Err(unread(error))),
        };
        let texts: Vec<(DocumentName, String)> =
            self.written.borrow().iter().filter_map(text).collect::<Stored<_>>()?;
        each_text(texts.into_iter(), row)
    }
}

impl Target for FileTarget {
    fn begin(&self, mark: &str) -> Stored<Begun> {
        self.tables.begin(mark)
    }

    fn put(&self, table: &Table, rows: &[Row]) -> Stored<()> {
        if table.name != TEXTS {
            return self.tables.put(table, rows);
        }
        let failed =
            |error: DocumentError| StoreError::Failed { doing: "write the documents", source: Box::new(error) };
        for row in rows {
            let [Cell::Text(name), Cell::Text(text)] = row.as_slice() else { continue };
            let name: DocumentName =
                name.parse().map_err(|error| StoreError::Damaged { source: Some(Box::new(error)) })?;
            let known = self.documents.read(&name).map_err(failed)?;
            if known.is_none_or(|known| known.text != *text) {
                self.documents.write(&name, text, &ContentHash::missing()).map_err(failed)?;
            }
            self.written.borrow_mut().insert(name);
        }
        Ok(())
    }

    fn finish(&self) -> Stored<()> {
        self.tables.finish()
    }
}
