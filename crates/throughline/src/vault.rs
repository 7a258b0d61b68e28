//! Bringing the vault up to date with the files: what is new or changed is read, what is gone is dropped.
//!
//! A batch of files is one transaction, so that a run that is killed leaves whole documents and goes on where it was.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;
use throughline_core::engine::{Engine, EngineError, NewVaultDocument};
use throughline_core::model::{Name, VaultId};
use throughline_core::vault::VaultDocument;
use throughline_vault::{File, Skip};

use crate::world::Home;

/// Files that are indexed in one transaction, and how much they hold at most.
const BATCH: usize = 64;
const BATCH_BYTES: u64 = 2 * 1024 * 1024;

/// What became of what was added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Synced {
    /// Documents that are new or had changed.
    pub indexed: u64,
    /// Documents that are as they were.
    pub unchanged: u64,
    /// Documents whose files are gone.
    pub dropped: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Files that are not in the vault, by reason.
    pub skipped: Skipped,
    /// Files that a person may want to know of, and why they are not in it.
    pub unreadable: Vec<Unreadable>,
}

/// How many files were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Over 5 MB.
    pub too_large: u64,
    /// Not text.
    pub binary: u64,
    /// Without text.
    pub empty: u64,
    /// The memory's own.
    pub private: u64,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Synced {
    fn skip(&mut self, path: String, why: &Skip) {
        match why {
            Skip::TooLarge => self.skipped.too_large += 1,
            Skip::Binary => self.skipped.binary += 1,
            Skip::Empty => self.skipped.empty += 1,
            Skip::Private => self.skipped.private += 1,
            Skip::Unreadable(_) => self.unreadable.push(Unreadable { path, why: why.to_string() }),
        }
    }

    /// Takes in what became of something else.
    pub fn join(&mut self, other: Self) {
        self.indexed += other.indexed;
        self.unchanged += other.unchanged;
        self.dropped += other.dropped;
        self.bytes += other.bytes;
        self.skipped.too_large += other.skipped.too_large;
        self.skipped.binary += other.skipped.binary;
        self.skipped.empty += other.skipped.empty;
        self.skipped.private += other.skipped.private;
        self.unreadable.extend(other.unreadable);
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
        walked.skipped.into_iter().for_each(|(path, why)| synced.skip(path, &why));

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
                    synced.skip(file.path.clone(), &why);
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
