//! The embedder of a benchmark: `none`, `builtin`, or a model's directory; vectors are kept between runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use throughline_core::engine::Worker;
use throughline_core::ports::{Embedder, Embedders, MadeBy};
use throughline_embed::{BuiltinEmbedder, DirectoryEmbedder};

use super::Laboratory;
use super::cached::{CachedEmbedder, VectorCache};
use crate::cli::failure::Failure;
use crate::{processes, world};

/// What `--embeddings` names; nothing for `none`.
pub(super) fn embedder(name: &str, cache: Option<&Path>) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let embedder: Arc<dyn Embedder> = match name {
        "none" => return Ok(None),
        "builtin" => Arc::new(BuiltinEmbedder),
        directory => Arc::new(
            DirectoryEmbedder::open(Path::new(directory))
                .map_err(|error| Failure::new(error.to_string(), "give `none`, `builtin` or a model's directory"))?,
        ),
    };
    let Some(path) = cache.map(PathBuf::from).or_else(|| Some(world::cache_dir()?.join("bench-vectors"))) else {
        return Ok(Some(embedder));
    };
    let cache = VectorCache::open(&path).map_err(|error| Failure::io("open the vector cache", &error))?;
    Ok(Some(Arc::new(CachedEmbedder::new(embedder, Arc::new(cache)))))
}

/// One embedder for every question.
struct Only(Arc<dyn Embedder>);

impl Embedders for Only {
    fn for_questions(&self, _: &MadeBy) -> Option<Arc<dyn Embedder>> {
        Some(Arc::clone(&self.0))
    }
}

impl Laboratory {
    /// Gives everything that is stored its vector.
    pub(super) fn embed(&mut self, embedder: &Arc<dyn Embedder>) -> Result<(), Failure> {
        let worker = Worker { holder: processes::holder(), is_gone: &processes::is_gone };
        self.engine.embedding().embed_missing(&**embedder, &worker, u64::MAX, &mut |_, _| true)?;
        self.engine = self.engine.clone().with_embedders(Arc::new(Only(Arc::clone(embedder))));
        Ok(())
    }
}
