//! Bringing the vault up to date with the files: what is new or changed is read, what is gone is dropped.
//!
//! A batch of files is one transaction, so that a run that is killed leaves whole documents and goes on where it was.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use throughline_core::engine::{Embedded, Engine, EngineError, NewVaultDocument, VaultRemoved, chain};
use throughline_core::model::{Name, VaultId};
use throughline_core::vault::{VaultAnswer, VaultDocument};
use throughline_server::{Synced, Unreadable, VaultAdded};
use throughline_vault::{File, Skip};

use crate::embedders;
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
        Skip::Unreadable(_) => synced.unreadable.push(Unreadable { path, why: why.to_string() }),
    }
}

/// The memory's own files are never opened by anything but their owners: a plain read of a database in use drops its
/// locks. Its vault folder is for everybody.
fn private_places(home: &Home) -> impl Fn(&Path) -> bool {
    let own = [&home.data, &home.config].map(|own| throughline_vault::in_full(own));
    let vault = throughline_vault::in_full(&home.vault());
    move |path| own.iter().any(|own| path.starts_with(own)) && !path.starts_with(&vault)
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
        let root = throughline_vault::in_full(root);
        let shown = root.display().to_string();
        let walked = throughline_vault::walk(&root, &private_places(self.home))
            .map_err(|source| SyncError::Path { path: shown.clone(), source })?;
        let known: HashMap<VaultId, VaultDocument> =
            self.engine.vault_documents()?.into_iter().map(|document| (document.id.clone(), document)).collect();
        let dropped = self.drop_gone(&known, &shown, &walked.files)?;
        let mut synced = Synced { dropped, ..Synced::default() };
        walked.skipped.into_iter().for_each(|(path, why)| skip(&mut synced, path, &why));

        let (fresh, same): (Vec<_>, Vec<_>) =
            walked.files.into_iter().partition(|file| !is_known(&known, file, &self.collection));
        synced.unchanged = same.len() as u64;
        self.index(&fresh, &shown, &known, &mut synced, progress)?;
        Ok(synced)
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
        for file in files {
            match throughline_vault::read(Path::new(&file.path)) {
                Ok(contents) => {
                    size += file.bytes;
                    batch.push(self.document(file, root, contents));
                }
                Err(why) => {
                    skip(synced, file.path.clone(), &why);
                    // What it said before is not what it says now.
                    let id = VaultDocument::id_of(&file.path);
                    if known.contains_key(&id) && !why.is_trouble() {
                        synced.dropped += self.engine.vault_remove(&[id])?;
                    }
                }
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

    fn put(
        &self,
        batch: &mut Vec<NewVaultDocument>,
        known: &HashMap<VaultId, VaultDocument>,
        synced: &mut Synced,
    ) -> Result<(), SyncError> {
        let count = batch.len() as u64;
        let changed = self.engine.vault_put(std::mem::take(batch), known)?;
        synced.indexed += changed;
        synced.unchanged += count - changed;
        Ok(())
    }

    fn document(&self, file: &File, root: &str, contents: throughline_vault::Contents) -> NewVaultDocument {
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
    /// stays, whatever the folder's rules say, as long as it exists.
    fn drop_gone(&self, known: &HashMap<VaultId, VaultDocument>, root: &str, files: &[File]) -> Result<u64, SyncError> {
        let below = format!("{}/", root.trim_end_matches('/'));
        let there: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let is_gone = |document: &&VaultDocument| {
            let is_own = document.root == document.path && Path::new(&document.path).exists();
            document.path.starts_with(&below) && !there.contains(document.path.as_str()) && !is_own
        };
        let gone: Vec<VaultId> = known.values().filter(is_gone).map(|document| document.id.clone()).collect();
        Ok(self.engine.vault_remove(&gone)?)
    }
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
    let own = world.home.vault();
    let mut synced = Synced::default();
    if paths.is_empty() {
        private_directory(&own)?;
    }
    let paths = if paths.is_empty() { std::slice::from_ref(&own) } else { paths };
    for path in paths {
        let is_own = throughline_vault::in_full(path).starts_with(throughline_vault::in_full(&own));
        let usual = || if is_own { HOME } else { FILES }.parse::<Name>().map_err(EngineError::from);
        let collection = into.cloned().map_or_else(usual, Ok)?;
        let sync = Sync { engine: &world.engine, home: &world.home, collection };
        synced.join(sync.run(path, reading)?);
    }
    Ok(VaultAdded { synced, embeddings: embed_all(world, embedding)? })
}

/// Gives every passage its vector, where an embedder is set up.
pub(crate) fn embed_all(world: &World, progress: &mut Progress<'_>) -> Result<Option<Embedded>, EngineError> {
    match embedders::for_indexing(world) {
        Ok(None) => Ok(None),
        Ok(Some(embedder)) => Ok(Some(world.engine.vault_embed(&*embedder, progress)?)),
        Err(error) => {
            let problem = Some(format!("{}; {}", chain(&error), error.hint()));
            Ok(Some(Embedded { problem, ..Embedded::default() }))
        }
    }
}

/// What changed in the memory's own vault folder since the last time is searched too.
pub(crate) fn notice(world: &World) {
    let folder = world.home.vault();
    if !folder.is_dir() {
        return;
    }
    let Ok(collection) = HOME.parse() else { return };
    let sync = Sync { engine: &world.engine, home: &world.home, collection };
    if let Err(error) = sync.run(&folder, &mut |_, _| {}) {
        tracing::warn!(error = chain(&error), "the vault folder could not be looked at");
    }
}

/// Finds passages, by words and, where an embedder is set up and can be asked, by meaning.
pub(crate) fn search(world: &World, query: &str, limit: usize) -> Result<VaultAnswer, EngineError> {
    notice(world);
    let (embedder, problem) = match embedders::for_searching(world) {
        Ok(embedder) => (embedder, None),
        Err(error) => (None, Some(format!("{}; {}", chain(&error), error.hint()))),
    };
    let mut answer = world.engine.vault_search(query, limit, embedder.as_deref())?;
    answer.remark = answer.remark.or(problem);
    Ok(answer)
}

/// Takes documents out: by file, folder, id or collection.
pub(crate) fn remove(world: &World, references: &[String]) -> Result<VaultRemoved, EngineError> {
    let mut ids = Vec::new();
    for reference in references {
        let path = throughline_vault::in_full(Path::new(reference));
        let named = world.engine.vault_named(reference, &path.to_string_lossy())?;
        ids.extend(named.into_iter().map(|document| document.id));
    }
    ids.sort();
    ids.dedup();
    Ok(VaultRemoved { removed: world.engine.vault_remove(&ids)?, ids })
}
