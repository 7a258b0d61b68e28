//! Which embedder turns passages into vectors: from `[embeddings]` to something that can be asked. Never required.

mod loaded;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use throughline_core::model::ContentHash;
use throughline_core::ports::{Embedder, MadeBy};
use throughline_embed::{BuiltinEmbedder, LoadError};
use throughline_providers::{CarefulEmbedder, HttpEmbedder, HttpSettings, Policy, ThreadPause, Timeouts};

use crate::config::{EmbeddingsConfig, EmbeddingsProvider, ModelConfig};
use crate::models::{self, ModelSetupError};
use crate::world::{self, World};

/// A search waits so long for its one vector, and tries once: words are there already.
const SEARCHING: Duration = Duration::from_secs(3);

/// A question that an assistant waits with gets so long for its vector: words answer alone otherwise.
pub(crate) const ASKING: Duration = Duration::from_secs(1);

/// A batch of passages may take its time: a local model has to be loaded first.
const INDEXING: Duration = Duration::from_secs(120);

/// Why no embedder can be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmbedderSetupError {
    /// The model's directory cannot be used.
    #[error("the embedding model cannot be loaded")]
    Directory(#[from] LoadError),
    /// The provider needs to know which model.
    #[error("no embedding model is named for {provider}")]
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// The vectors are of a model that this program cannot ask.
    #[error("the vectors are of {by}, which cannot be asked any more")]
    Gone {
        /// The provider and model.
        by: String,
    },
    /// The settings are not usable.
    #[error(transparent)]
    Settings(#[from] ModelSetupError),
}

impl EmbedderSetupError {
    /// What to try next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Directory(error) => error.hint(),
            Self::NoModel { provider: "directory" } => "set `model` under `[embeddings]` to the model's directory",
            Self::NoModel { .. } => "set `model` under `[embeddings]`, to \"nomic-embed-text\" for example",
            Self::Gone { .. } => "`throughline vault reembed` makes new ones",
            Self::Settings(error) => error.hint(),
        }
    }
}

type Chosen = Result<Option<Arc<dyn Embedder>>, EmbedderSetupError>;

/// What is asked for, and how.
struct Wanted {
    settings: HttpSettings,
    provider: EmbeddingsProvider,
    policy: Policy,
}

/// The embedder for passages; none if none is set up.
pub(crate) fn for_indexing(world: &World) -> Chosen {
    Ok(wrapped(world, configured(world, INDEXING, Policy::default())?))
}

/// The embedder for a query: the one that made the vectors which serve, as long as there is one set up at all. After a
/// change of `[embeddings]` that is the model before, where it was last asked.
pub(crate) fn for_searching(world: &World) -> Chosen {
    Ok(wrapped(world, serving(world)?))
}

fn wrapped(world: &World, embedder: Option<Arc<dyn Embedder>>) -> Option<Arc<dyn Embedder>> {
    match &world.wrap_embedder {
        Some(wrap) => embedder.map(|embedder| wrap(embedder)),
        None => embedder,
    }
}

fn serving(world: &World) -> Chosen {
    let policy = Policy { tries: 1, failures: 2, ..Policy::default() };
    let Some(own) = configured(world, SEARCHING, policy)? else { return Ok(None) };
    let sets = world.engine.vault().vector_sets().unwrap_or_else(|error| {
        tracing::warn!(%error, "which vectors there are could not be told");
        Vec::new()
    });
    let Some(serving) = sets.iter().find(|set| set.is_serving) else { return Ok(Some(own)) };
    let by = MadeBy::of(&*own);
    // A model that has moved is asked where it is now, unless what is there now makes vectors of another length.
    let is_another = sets.iter().any(|set| !set.is_serving && set.by.is_same(&by)) && serving.by != by;
    if serving.by.is_same(&by) && !is_another {
        return Ok(Some(own));
    }
    earlier(world, &serving.by, &by, policy).map(Some)
}

/// The embedder for questions that made a set of vectors, as long as there is one set up at all.
pub(crate) fn for_asking(world: &World, by: &MadeBy, limit: Duration) -> Chosen {
    let policy = Policy { tries: 1, failures: 2, ..Policy::default() };
    let Some(own) = configured(world, limit, policy)? else { return Ok(None) };
    let now = MadeBy::of(&*own);
    if by.is_same(&now) { Ok(Some(own)) } else { earlier(world, by, &now, policy).map(Some) }
}

/// The embedder that is set up, by its name.
pub(crate) fn made_by(world: &World) -> Result<Option<MadeBy>, EmbedderSetupError> {
    Ok(for_indexing(world)?.map(|embedder| MadeBy::of(&*embedder)))
}

fn configured(world: &World, limit: Duration, policy: Policy) -> Chosen {
    let choice = &world.config.config.embeddings;
    let provider = choice.provider;
    let mut settings = match provider {
        EmbeddingsProvider::None => return Ok(None),
        EmbeddingsProvider::Builtin => return Ok(Some(Arc::new(BuiltinEmbedder))),
        EmbeddingsProvider::Directory => return directory(choice, world).map(Some),
        EmbeddingsProvider::Ollama | EmbeddingsProvider::OpenAi => settings(choice, world)?,
    };
    if provider == EmbeddingsProvider::Ollama {
        settings.base_url = settings.base_url.or_else(world::ollama_host);
    }
    build(world, Wanted { settings: within(settings, limit), provider, policy }).map(Some)
}

fn directory(choice: &EmbeddingsConfig, world: &World) -> Result<Arc<dyn Embedder>, EmbedderSetupError> {
    let given = choice.model.as_deref().filter(|given| !given.trim().is_empty());
    let given = given.ok_or(EmbedderSetupError::NoModel { provider: "directory" })?;
    Ok(loaded::directory(&world::configured_path(given, &world.home.config))?)
}

/// A model of this process that was set up before; one whose files have changed since makes other vectors.
fn earlier_here(by: &MadeBy) -> Option<Arc<dyn Embedder>> {
    let embedder: Arc<dyn Embedder> = match (by.provider.as_str(), &by.base_url) {
        ("builtin", _) => Arc::new(BuiltinEmbedder),
        ("directory", Some(place)) => loaded::directory(Path::new(place)).ok()?,
        _ => return None,
    };
    MadeBy::of(&*embedder).is_same(by).then_some(embedder)
}

/// An embedder that was set up before, where it was. A key goes only where it belongs: to the address that is set up now,
/// or, as the provider's usual one, to the provider's usual address.
fn earlier(world: &World, by: &MadeBy, now: &MadeBy, policy: Policy) -> Result<Arc<dyn Embedder>, EmbedderSetupError> {
    if let Some(embedder) = earlier_here(by) {
        return Ok(embedder);
    }
    let provider = match by.provider.as_str() {
        "ollama" => EmbeddingsProvider::Ollama,
        "openai" => EmbeddingsProvider::OpenAi,
        _ => return Err(EmbedderSetupError::Gone { by: by.to_string() }),
    };
    let is_same_place = by.provider == now.provider && by.base_url == now.base_url;
    let choice = EmbeddingsConfig {
        provider,
        base_url: by.base_url.clone(),
        model: Some(by.model.clone()),
        api_key_env: world.config.config.embeddings.api_key_env.clone().filter(|_| is_same_place),
    };
    let settings = if is_same_place || by.base_url.is_none() {
        settings(&choice, world)?
    } else {
        HttpSettings { base_url: by.base_url.clone(), model: by.model.clone(), ..HttpSettings::default() }
    };
    build(world, Wanted { settings: within(settings, SEARCHING), provider, policy })
}

fn build(world: &World, wanted: Wanted) -> Result<Arc<dyn Embedder>, EmbedderSetupError> {
    let Wanted { settings, provider, policy } = wanted;
    // Another model or another address starts with a clean record. Only a digest of it is kept: an address may hold a
    // password.
    let place = settings.base_url.clone().unwrap_or_default();
    let embedder = match provider {
        EmbeddingsProvider::OpenAi => HttpEmbedder::openai(settings),
        _ => HttpEmbedder::ollama(settings),
    };
    let embedder = embedder.map_err(ModelSetupError::from)?;
    let digest = ContentHash::of(&format!("{} {place}", embedder.name()));
    let key = format!("embeddings {} {}", embedder.provider(), digest.as_str());
    let breaker = world.engine.models().breaker(&key).unwrap_or_default();
    let (keeper, clock) = (world.engine.clone(), world.waiting_clock());
    let pause = Arc::new(ThreadPause::seeded(u64::from(std::process::id())));
    let keep = move |breaker: &_| keeper.models().keep_breaker(&key, breaker);
    Ok(Arc::new(CarefulEmbedder::new(embedder, clock, pause, policy, breaker, keep)))
}

fn settings(choice: &EmbeddingsConfig, world: &World) -> Result<HttpSettings, EmbedderSetupError> {
    let (provider, usual) = match choice.provider {
        EmbeddingsProvider::OpenAi => ("openai", Some("OPENAI_API_KEY")),
        _ => ("ollama", None),
    };
    let EmbeddingsConfig { base_url, model, api_key_env, .. } = choice.clone();
    if model.is_none() {
        return Err(EmbedderSetupError::NoModel { provider });
    }
    let choice = ModelConfig { base_url, model, api_key_env, ..ModelConfig::default() };
    Ok(models::settings(&choice, provider, usual, &world.home.config)?)
}

fn within(settings: HttpSettings, limit: Duration) -> HttpSettings {
    let connect = settings.timeouts.connect.min(limit);
    HttpSettings { timeouts: Timeouts { connect, whole: limit, ..settings.timeouts }, ..settings }
}
