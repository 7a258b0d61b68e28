//! Which embedder turns passages into vectors: from `[embeddings]` to something that can be asked. Never required.

use std::sync::Arc;
use std::time::Duration;

use throughline_core::ports::Embedder;
use throughline_providers::{CarefulEmbedder, HttpEmbedder, HttpSettings, Policy, ThreadPause, Timeouts};

use crate::config::{EmbeddingsConfig, EmbeddingsProvider, ModelConfig};
use crate::models::{self, ModelSetupError};
use crate::world::{self, World, WorldClock};

/// A search waits so long for its one vector, and tries once: words are there already.
const SEARCHING: Duration = Duration::from_secs(3);

/// A batch of passages may take its time: a local model has to be loaded first.
const INDEXING: Duration = Duration::from_secs(120);

/// Why no embedder can be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmbedderSetupError {
    /// It is planned, and not there.
    #[error("the built-in embedder is not built in yet")]
    NotBuiltIn,
    /// The provider needs to know which model.
    #[error("no embedding model is named for {provider}")]
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// The settings are not usable.
    #[error(transparent)]
    Settings(#[from] ModelSetupError),
}

impl EmbedderSetupError {
    /// What to try next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NotBuiltIn => "set `provider` under `[embeddings]` to \"ollama\", \"openai\" or \"none\"",
            Self::NoModel { .. } => "set `model` under `[embeddings]`, to \"nomic-embed-text\" for example",
            Self::Settings(error) => error.hint(),
        }
    }
}

type Chosen = Result<Option<Arc<dyn Embedder>>, EmbedderSetupError>;

/// The embedder for passages; nothing where none is set up.
pub(crate) fn for_indexing(world: &World) -> Chosen {
    build(world, INDEXING, Policy::default())
}

/// The embedder for a query.
pub(crate) fn for_searching(world: &World) -> Chosen {
    build(world, SEARCHING, Policy { tries: 1, failures: 2, ..Policy::default() })
}

fn build(world: &World, limit: Duration, policy: Policy) -> Chosen {
    let choice = &world.config.config.embeddings;
    let embedder = match choice.provider {
        EmbeddingsProvider::None => return Ok(None),
        EmbeddingsProvider::Builtin => return Err(EmbedderSetupError::NotBuiltIn),
        EmbeddingsProvider::Ollama => {
            let mut settings = settings(choice, "ollama", None, world, limit)?;
            settings.base_url = settings.base_url.or_else(world::ollama_host);
            HttpEmbedder::ollama(settings)
        }
        EmbeddingsProvider::OpenAi => {
            HttpEmbedder::openai(settings(choice, "openai", Some("OPENAI_API_KEY"), world, limit)?)
        }
    };
    let embedder = embedder.map_err(ModelSetupError::from)?;
    // Another model or another address starts with a clean record.
    let place = choice.base_url.as_deref().unwrap_or_default();
    let key = format!("embeddings {} {} {place}", embedder.provider(), embedder.name());
    let breaker = world.engine.breaker(&key).unwrap_or_default();
    let (keeper, clock) = (world.engine.clone(), Arc::new(WorldClock::real()));
    let pause = Arc::new(ThreadPause::seeded(u64::from(std::process::id())));
    let keep = move |breaker: &_| keeper.keep_breaker(&key, breaker);
    Ok(Some(Arc::new(CarefulEmbedder::new(embedder, clock, pause, policy, breaker, keep))))
}

fn settings(
    choice: &EmbeddingsConfig,
    provider: &'static str,
    usual: Option<&str>,
    world: &World,
    limit: Duration,
) -> Result<HttpSettings, EmbedderSetupError> {
    let EmbeddingsConfig { base_url, model, api_key_env, .. } = choice.clone();
    if model.is_none() {
        return Err(EmbedderSetupError::NoModel { provider });
    }
    let choice = ModelConfig { base_url, model, api_key_env, ..ModelConfig::default() };
    let settings = models::settings(&choice, provider, usual, &world.home.config)?;
    let connect = settings.timeouts.connect.min(limit);
    Ok(HttpSettings { timeouts: Timeouts { connect, whole: limit, ..settings.timeouts }, ..settings })
}
