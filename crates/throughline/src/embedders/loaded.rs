//! Models of directories, read once per process: reading the layers takes longer than a search.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use throughline_embed::{DirectoryEmbedder, LoadError};

/// So many are kept: the one that is set up, and the one before it while its vectors serve.
const KEPT: usize = 2;

/// What shows that a model was replaced.
type Stamp = [Option<(u64, SystemTime)>; 3];

struct Loaded {
    directory: PathBuf,
    stamp: Stamp,
    embedder: Arc<DirectoryEmbedder>,
}

/// The model of a directory, as it is now.
pub(super) fn directory(directory: &Path) -> Result<Arc<DirectoryEmbedder>, LoadError> {
    static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());
    let stamp = stamp(directory);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = loaded.iter().find(|loaded| loaded.directory == directory && loaded.stamp == stamp);
    if let Some(found) = found {
        return Ok(Arc::clone(&found.embedder));
    }
    let embedder = Arc::new(DirectoryEmbedder::open(directory)?);
    loaded.retain(|loaded| loaded.directory != directory);
    if loaded.len() >= KEPT {
        loaded.remove(0);
    }
    loaded.push(Loaded { directory: directory.to_owned(), stamp, embedder: Arc::clone(&embedder) });
    Ok(embedder)
}

fn stamp(directory: &Path) -> Stamp {
    ["config.json", "tokenizer.json", "model.safetensors"].map(|file| {
        let found = directory.join(file).metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}
