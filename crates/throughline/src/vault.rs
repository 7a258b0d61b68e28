//! Bringing the vault up to date with the files: what is new or changed is read, what is gone is dropped.
//!
//! Files are read by a child process, which may end of them. One that gave no text is not read again until it changes.
//! A batch of files is one transaction, so that a run that is killed leaves whole documents and goes on where it was.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use throughline_core::engine::{Engine, EngineError, NewVaultDocument, VaultListing, VaultRemoved, chain};
use throughline_core::model::{Name, VaultId};
use throughline_core::text::redact::redact;
use throughline_core::vault::{EmbeddingProgress, UnreadFile, VaultAnswer, VaultDocument};
use throughline_readers::{File, Skip, Walk};
use throughline_server::{Synced, Unreadable, VaultAdded};

use crate::embedders;
use crate::file_reader::reader;
use crate::vectors::{self, Effort, Embedding, Of};
use crate::world::{Home, OpenError, World, private_directory};

/// Files that are indexed in one transaction, and how much they hold at most.
const BATCH: usize = 64;
const BATCH_BYTES: u64 = 2 * 1024 * 1024;

/// Counts a file that is not in the vault.
fn skip(synced: &mut Synced, path: String, why: &Skip) {
    match why {
        Skip::TooLarge => synced.skipped.too_large += 1,
        Skip::Binary => synced.skipped.binary += 1,
        Skip::Empty => synced.skipped.empty += 1,
        Skip::Private => synced.skipped.private += 1,
        Skip::Unreadable(_) | Skip::Damaged(_) => synced.unreadable.push(Unreadable { path, why: why.to_string() }),
    }
}

/// The memory's own files are never opened by anything but their owners: a plain read of a database in use drops its
/// locks. Its vault folder is for everybody.
fn private_places(home: &Home) -> impl Fn(&Path) -> bool {
    let own = [&home.data, &home.config].map(|own| throughline_readers::in_full(own));
    let vault = throughline_readers::in_full(&home.vault());
    // A vault folder that is a link to what is around it is no exception.
    let is_apart = !own.iter().any(|own| own.starts_with(&vault));
    move |path| own.iter().any(|own| path.starts_with(own)) && !(is_apart && path.starts_with(&vault))
}

/// One round: a path, and where what it holds goes.
pub struct Sync<'a> {
    /// The memory.
    pub engine: &'a Engine,
    /// Where it is kept.
    pub home: &'a Home,
    /// The collection.
    pub collection: Name,
}

impl Sync<'_> {
    /// Brings the vault up to date with a file or folder; reports bytes that are done, of all.
    pub fn run(&self, root: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Synced, SyncError> {
        let root = throughline_readers::in_full(root);
        let shown = root.display().to_string();
        let walked = throughline_readers::walk(&root, &private_places(self.home))
            .map_err(|source| SyncError::Path { path: shown.clone(), source })?;
        let known: HashMap<VaultId, VaultDocument> =
            self.engine.vault().documents()?.into_iter().map(|document| (document.id.clone(), document)).collect();
        let (mut walked, left_out) = self.without_left_out(walked)?;
        let mut synced = Synced { unreadable: without_secret_paths(&mut walked), ..Synced::default() };
        synced.dropped = self.drop_gone(&known, &shown, &walked)?;
        synced.skipped.left_out = left_out;
        walked.skipped.into_iter().for_each(|(path, why)| skip(&mut synced, path, &why));

        let (fresh, same): (Vec<_>, Vec<_>) =
            walked.files.into_iter().partition(|file| !is_known(&known, file, &self.collection));
        synced.unchanged = same.len() as u64;
        let fresh = self.without_unread(fresh, &shown, &mut synced)?;
        self.index(&fresh, &shown, &known, &mut synced, progress)?;
        Ok(synced)
    }

    /// Files without those that gave no text before and did not change since; what was noted of files that are gone or did
    /// change is forgotten.
    fn without_unread(&self, files: Vec<File>, root: &str, synced: &mut Synced) -> Result<Vec<File>, SyncError> {
        let unread = self.engine.vault().unread()?;
        let mut noted: HashMap<&str, &UnreadFile> = unread.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut fresh = Vec::new();
        for file in files {
            let before = noted.get(file.path.as_str()).filter(|before| before.stamp == unread_stamp(&file));
            match before.and_then(|before| serde_json::from_str::<Skip>(&before.why).ok()) {
                Some(why) => {
                    noted.remove(file.path.as_str());
                    skip(synced, file.path, &why);
                }
                None => fresh.push(file),
            }
        }
        let is_here = |path: &&str| **path == *root || is_below(path, root);
        let outdated: Vec<String> = noted.into_keys().filter(is_here).map(str::to_owned).collect();
        self.engine.vault().note_unread(&[], &outdated)?;
        Ok(fresh)
    }

    fn index(
        &self,
        files: &[File],
        root: &str,
        known: &HashMap<VaultId, VaultDocument>,
        synced: &mut Synced,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), SyncError> {
        let total: u64 = files.iter().map(|file| file.bytes).sum();
        let (mut batch, mut size, mut done) = (Vec::new(), 0, 0);
        let mut reader = reader().map_err(|source| SyncError::Path { path: root.to_owned(), source })?;
        for file in files {
            match reader.read(&file.path) {
                Ok(contents) => {
                    size += file.bytes;
                    batch.push(self.document(file, root, contents));
                }
                Err(why) => self.pass_over(file, &why, known, synced)?,
            }
            done += file.bytes;
            if batch.len() >= BATCH || size >= BATCH_BYTES {
                self.put(&mut batch, known, synced)?;
                size = 0;
            }
            progress(done, total);
        }
        synced.bytes += done;
        self.put(&mut batch, known, synced)
    }

    /// Counts a file that gave no text, and notes that it need not be read again.
    fn pass_over(
        &self,
        file: &File,
        why: &Skip,
        known: &HashMap<VaultId, VaultDocument>,
        synced: &mut Synced,
    ) -> Result<(), SyncError> {
        skip(synced, file.path.clone(), why);
        // What it said before is not what it says now.
        let id = VaultDocument::id_of(&file.path);
        if known.contains_key(&id) && !why.is_trouble() {
            synced.dropped += self.engine.vault().remove(&[id], &[])?;
        }
        if why.is_lasting() {
            let why = serde_json::to_string(why).map_err(std::io::Error::from);
            let why = why.map_err(|source| SyncError::Path { path: file.path.clone(), source })?;
            let unread = UnreadFile { path: file.path.clone(), stamp: unread_stamp(file), why };
            self.engine.vault().note_unread(&[unread], &[])?;
        }
        Ok(())
    }

    fn put(
        &self,
        batch: &mut Vec<NewVaultDocument>,
        known: &HashMap<VaultId, VaultDocument>,
        synced: &mut Synced,
    ) -> Result<(), SyncError> {
        let count = batch.len() as u64;
        let changed = self.engine.vault().put(std::mem::take(batch), known)?;
        synced.indexed += changed;
        synced.unchanged += count - changed;
        Ok(())
    }

    fn document(&self, file: &File, root: &str, contents: throughline_readers::Contents) -> NewVaultDocument {
        NewVaultDocument {
            path: file.path.clone(),
            root: root.to_owned(),
            collection: self.collection.clone(),
            stamp: file.stamp.clone(),
            bytes: file.bytes,
            title: contents.title,
            body: contents.body,
        }
    }

    /// Drops what was found in this folder before and is not there any more. A file that was added by its own name
    /// stays, whatever the folder's rules say, as long as it exists; and so does what is in a folder that could not be
    /// looked into.
    fn drop_gone(&self, known: &HashMap<VaultId, VaultDocument>, root: &str, walked: &Walk) -> Result<u64, SyncError> {
        let there: HashSet<&str> = walked.files.iter().map(|file| file.path.as_str()).collect();
        let is_gone = |document: &&VaultDocument| {
            let must_be_missing = !walked.is_whole || document.root == document.path;
            let is_dropped = !there.contains(document.path.as_str()) && is_below(&document.path, root);
            is_dropped && (!must_be_missing || is_missing(&document.path))
        };
        let gone: Vec<VaultId> = known.values().filter(is_gone).map(|document| document.id.clone()).collect();
        Ok(self.engine.vault().remove(&gone, &[])?)
    }

    /// What was walked without the files that the person took out, and how many those are. One that is gone is
    /// forgotten: a new file of its name is a new file.
    fn without_left_out(&self, mut walked: Walk) -> Result<(Walk, u64), SyncError> {
        let (gone, left_out): (Vec<String>, Vec<String>) =
            self.engine.vault().left_out()?.into_iter().partition(|path| is_missing(path));
        self.engine.vault().take_in(&gone)?;
        let before = walked.files.len();
        walked.files.retain(|file| !left_out.contains(&file.path));
        let count = (before - walked.files.len()) as u64;
        Ok((walked, count))
    }
}

/// Takes out files whose path holds a secret: a path is kept as it is, or it leads nowhere.
fn without_secret_paths(walked: &mut Walk) -> Vec<Unreadable> {
    let mut found = Vec::new();
    walked.files.retain(|file| {
        let redacted = redact(&file.path);
        if redacted.kinds.is_empty() {
            return true;
        }
        let why = format!("its path holds a secret ({})", redacted.kinds.join(", "));
        found.push(Unreadable { path: redacted.text.into_owned(), why });
        false
    });
    found
}

/// What must stay the same for a file not to be read again: the file, and how it is read.
fn unread_stamp(file: &File) -> String {
    format!("{} {}", throughline_readers::VERSION, file.stamp)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a file is known to be gone. One that cannot be looked at may still be there.
fn is_missing(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Brings in what changed in the memory's own vault folder since the last time, and begins to give it vectors.
pub(crate) fn notice(world: &World) -> Option<EmbeddingProgress> {
    let folder = world.home.vault();
    if let (true, Ok(collection)) = (folder.is_dir(), HOME.parse()) {
        let sync = Sync { engine: &world.engine, home: &world.home, collection };
        if let Err(error) = sync.run(&folder, &mut |_, _| {}) {
            tracing::warn!(error = chain(&error), "the vault folder could not be looked at");
        }
    }
    vectors::start_if_due(world)
}

/// Searches the vault as it is now, by words and, where an embedder is set up and answers, by meaning.
pub(crate) fn search(world: &World, query: &str, limit: usize) -> Result<VaultAnswer, EngineError> {
    let embedding = notice(world);
    let (embedder, problem) = match embedders::for_searching(world) {
        Ok(embedder) => (embedder, None),
        Err(error) => (None, Some(format!("{}; {}", chain(&error), error.hint()))),
    };
    let mut answer = world.engine.vault().search(query, limit, embedder.as_deref())?;
    answer.remark = answer.remark.or(problem);
    answer.embedding = embedding;
    Ok(answer)
}

/// The paths of documents that would be noticed again at the next look: they have to be left out to stay out.
fn noticed_again(home: &Home, documents: &[VaultDocument]) -> Vec<String> {
    let folder = throughline_readers::in_full(&home.vault()).display().to_string();
    let paths = documents.iter().map(|document| &document.path).filter(|path| is_below(path, &folder));
    paths.cloned().collect()
}

/// Files that were taken out come in again, if they are at or below a path that is added.
fn take_in_again(world: &World, path: &Path) -> Result<(), EngineError> {
    let root = throughline_readers::in_full(path).display().to_string();
    let is_meant = |path: &String| *path == root || is_below(path, &root);
    let again: Vec<String> = world.engine.vault().left_out()?.into_iter().filter(is_meant).collect();
    world.engine.vault().take_in(&again)
}

fn is_known(known: &HashMap<VaultId, VaultDocument>, file: &File, collection: &Name) -> bool {
    let before = known.get(&VaultDocument::id_of(&file.path));
    before.is_some_and(|before| before.stamp == file.stamp && before.collection == *collection)
}

/// Why a path could not be brought in.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// There is no such file or folder, or it cannot be looked at.
    #[error("cannot look at {path}")]
    Path {
        /// The path.
        path: String,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// The memory.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The collection of files that were added by their path, and of those in the memory's own folder.
const FILES: &str = "files";
const HOME: &str = "home";

/// How far something is, of how much.
pub(crate) type Progress<'a> = dyn FnMut(u64, u64) + 'a;

/// Why files could not be added.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddError {
    /// They cannot be looked at.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The memory's own folder cannot be made.
    #[error(transparent)]
    Folder(#[from] OpenError),
    /// The memory.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl AddError {
    /// What to try next.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Folder(error) => error.hint().unwrap_or_default(),
            _ => "check the path, and that you may read it".to_owned(),
        }
    }
}

/// Brings files and folders in, or the memory's own folder where none is named, and gives what is new its vectors.
pub(crate) fn add(
    world: &World,
    paths: &[PathBuf],
    into: Option<&Name>,
    reading: &mut Progress<'_>,
    embedding: &mut Progress<'_>,
) -> Result<VaultAdded, AddError> {
    let synced = bring_in(world, paths, into, reading)?;
    let embedded = vectors::embed(world, Of::Passages, Effort::WHOLE, &mut |done, total| {
        embedding(done, total);
        true
    })?;
    Ok(VaultAdded { synced, embeddings: embedded.map(Embedding::told) })
}

/// As [`add`], but leaves the vectors to the daemon's job: says only what that has to do.
pub(crate) fn add_for_daemon(world: &World, paths: &[PathBuf], into: Option<&Name>) -> Result<VaultAdded, AddError> {
    let synced = bring_in(world, paths, into, &mut |_, _| {})?;
    Ok(VaultAdded { synced, embeddings: vectors::to_do(world)? })
}

fn bring_in(
    world: &World,
    paths: &[PathBuf],
    into: Option<&Name>,
    reading: &mut Progress<'_>,
) -> Result<Synced, AddError> {
    let own = world.home.vault();
    if paths.is_empty() {
        private_directory(&own)?;
    }
    // All or nothing: with a path that is misspelt, none is indexed.
    for path in paths.iter().map(|path| throughline_readers::in_full(path)) {
        let shown = path.display().to_string();
        std::fs::metadata(&path).map_err(|source| SyncError::Path { path: shown, source })?;
    }
    // Whoever names a file wants it back, if it was taken out.
    for path in paths {
        take_in_again(world, path)?;
    }
    let mut synced = Synced::default();
    for path in if paths.is_empty() { std::slice::from_ref(&own) } else { paths } {
        let is_own = throughline_readers::in_full(path).starts_with(throughline_readers::in_full(&own));
        let usual = || if is_own { HOME } else { FILES }.parse::<Name>().map_err(EngineError::from);
        let collection = into.cloned().map_or_else(usual, Ok)?;
        let sync = Sync { engine: &world.engine, home: &world.home, collection };
        synced.join(sync.run(path, reading)?);
    }
    Ok(synced)
}

/// What the vault holds, and how far it is with its vectors.
pub(crate) fn listing(world: &World) -> Result<VaultListing, EngineError> {
    let embedding = notice(world);
    let documents = world.engine.vault().documents()?;
    Ok(VaultListing { documents, left_out: world.engine.vault().left_out()?, embedding })
}

/// Takes documents out: by file, folder, id or collection.
pub(crate) fn remove(world: &World, references: &[String]) -> Result<VaultRemoved, EngineError> {
    let mut documents = Vec::new();
    for reference in references {
        let path = throughline_readers::in_full(Path::new(reference));
        documents.extend(world.engine.vault().named(reference, &path.to_string_lossy())?);
    }
    documents.sort_by(|a, b| a.id.cmp(&b.id));
    documents.dedup_by(|a, b| a.id == b.id);
    let ids: Vec<VaultId> = documents.iter().map(|document| document.id.clone()).collect();
    let left_out = noticed_again(&world.home, &documents);
    Ok(VaultRemoved { removed: world.engine.vault().remove(&ids, &left_out)?, ids, left_out })
}
