//! Which model does what: from the config and the environment to something that can be asked.

pub(crate) mod available;
pub(crate) mod command;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use throughline_core::model::ContentHash;
use throughline_core::ports::Model;
use throughline_offline::Offline;
use throughline_providers::{
    Anthropic, Careful, CommandModel, HttpSettings, Ollama, OpenAi, Policy, SAMPLING_POLICY, SAMPLING_TIMEOUT,
    SamplingModel, Secret, SettingsError, ThreadPause, Timeouts,
};

use crate::config::{Config, ModelConfig, ModelProvider};
use crate::world::{self, World};

/// Why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelSetupError {
    /// No provider goes by that name.
    #[error("`memory.consolidation_provider` is `{given}`, which is no provider")]
    UnknownProvider {
        /// What is set.
        given: String,
    },
    /// The provider needs to know which model.
    #[error("no model is named for {provider}")]
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// The key file can be read by others.
    #[error("the key file {path} can be read by others")]
    OpenKeyFile {
        /// The file.
        path: String,
    },
    /// No program is named.
    #[error("no program is named for the provider `command`")]
    NoCommand,
    /// The command cannot be split into words.
    #[error("`model.command` has a quote that is not closed")]
    OpenQuote,
    /// A program that is a model asks for a model, which may be itself.
    #[error("this runs inside a model's program, which is not run again")]
    Nested,
    /// No client offers its model to this process.
    #[error("no connected MCP client offers sampling")]
    NoClient,
    /// A client's model answers no chat.
    #[error("the provider `sampling` is for memory alone")]
    NotForChat,
    /// The settings are not usable.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

impl ModelSetupError {
    /// What to try next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::UnknownProvider { .. } => "use offline, ollama, openai, anthropic, command or sampling",
            Self::NoModel { .. } => "set `model` under `[model]` in the config file",
            Self::OpenKeyFile { .. } => "chmod 600 it",
            Self::NoCommand => "set `command` under `[model]`, or run `throughline model use claude-code`",
            Self::OpenQuote => "close it, or write the command as a list of words",
            Self::Nested => "run it in a terminal of its own",
            Self::NoClient => "it is asked once one is connected; `throughline model list` shows others",
            Self::NotForChat => {
                "set `consolidation_provider = \"sampling\"` under `[memory]`, and a model to talk to under `[model]`"
            }
            Self::Settings(error) => error.hint(),
        }
    }
}

/// Whether consolidation sends nothing to any other program.
pub(crate) fn is_offline(config: &Config) -> bool {
    consolidation_choice(config).is_ok_and(|choice| choice.provider == ModelProvider::Offline)
}

/// The model that summarises and extracts; the offline one where nothing else is set up. The engine remembers how it
/// fared, for this process and the next.
pub(crate) fn for_consolidation(world: &World) -> Arc<dyn Model> {
    let chosen = consolidation_choice(&world.config.config).and_then(|choice| match choice.provider {
        ModelProvider::Sampling => sampling(&choice, world),
        _ => build(&choice, world),
    });
    chosen.unwrap_or_else(|error| {
        // Most processes have no client: that is nothing to warn of.
        if matches!(error, ModelSetupError::NoClient) {
            tracing::info!(%error, "going on offline");
        } else {
            tracing::warn!(%error, hint = error.hint(), "the configured model cannot be used; going on offline");
        }
        Arc::new(Offline)
    })
}

/// Whether the models of connected clients summarise and extract.
pub(crate) fn uses_sampling(config: &Config) -> bool {
    consolidation_choice(config).is_ok_and(|choice| choice.provider == ModelProvider::Sampling)
}

/// The model of the client that is connected to this process.
fn sampling(choice: &ModelConfig, world: &World) -> Result<Arc<dyn Model>, ModelSetupError> {
    let client = world.sampling.current(&world.home).ok_or(ModelSetupError::NoClient)?;
    let timeout = choice.timeout_seconds.map_or(SAMPLING_TIMEOUT, |seconds| Duration::from_secs(u64::from(seconds)));
    let model = Arc::new(SamplingModel::new(client, choice.model.clone(), timeout));
    Ok(careful(model, choice, world, SAMPLING_POLICY))
}

/// The model that talks.
pub(crate) fn for_chat(choice: &ModelConfig, world: &World) -> Result<Arc<dyn Model>, ModelSetupError> {
    build(choice, world)
}

fn consolidation_choice(config: &Config) -> Result<ModelConfig, ModelSetupError> {
    let memory = &config.memory;
    let mut choice = config.model.clone();
    if let Some(given) = &memory.consolidation_provider {
        let provider = provider_named(given)?;
        if provider != choice.provider {
            // Of what belongs to the other provider, only the command has a meaning here.
            let (command, timeout_seconds) = (choice.command.clone(), choice.timeout_seconds);
            choice = ModelConfig { provider, command, timeout_seconds, ..ModelConfig::default() };
        }
    }
    if let Some(model) = &memory.consolidation_model {
        choice.model = Some(model.clone());
    }
    Ok(choice)
}

fn provider_named(name: &str) -> Result<ModelProvider, ModelSetupError> {
    serde_json::from_value(serde_json::Value::String(name.to_owned()))
        .map_err(|_| ModelSetupError::UnknownProvider { given: name.to_owned() })
}

fn build(choice: &ModelConfig, world: &World) -> Result<Arc<dyn Model>, ModelSetupError> {
    let model = for_trial(choice, &world.home.config)?;
    Ok(if choice.provider == ModelProvider::Offline { model } else { careful(model, choice, world, Policy::default()) })
}

/// A model that is asked once: without tries and breaker.
pub(crate) fn for_trial(choice: &ModelConfig, keys: &Path) -> Result<Arc<dyn Model>, ModelSetupError> {
    match choice.provider {
        ModelProvider::Offline => Ok(Arc::new(Offline)),
        ModelProvider::Ollama => {
            let mut settings = settings(choice, "ollama", None, keys)?;
            settings.base_url = settings.base_url.or_else(world::ollama_host);
            Ok(Arc::new(Ollama::new(settings)?))
        }
        ModelProvider::OpenAi => Ok(Arc::new(OpenAi::new(settings(choice, "openai", Some("OPENAI_API_KEY"), keys)?)?)),
        ModelProvider::Anthropic => {
            Ok(Arc::new(Anthropic::new(settings(choice, "anthropic", Some("ANTHROPIC_API_KEY"), keys)?)?))
        }
        ModelProvider::Command => Ok(Arc::new(CommandModel::new(command::settings(choice, keys)?))),
        // Clients are asked by `for_consolidation` alone.
        ModelProvider::Sampling => Err(ModelSetupError::NotForChat),
    }
}

/// With tries and a breaker that goes on from where any process left it.
fn careful(model: Arc<dyn Model>, choice: &ModelConfig, world: &World, policy: Policy) -> Arc<dyn Model> {
    let pause = ThreadPause::seeded(u64::from(std::process::id()));
    // Another model or another address starts with a clean record.
    let command = choice.command.as_ref().filter(|_| choice.provider == ModelProvider::Command);
    let place =
        format!("{}{}", choice.base_url.as_deref().unwrap_or_default(), command.map(command::line).unwrap_or_default());
    // Only a digest of it is kept: an address may hold a password.
    let digest = ContentHash::of(&format!("{} {place}", model.name()));
    let key = format!("{} {}", model.provider(), digest.as_str());
    let careful = Careful::with_policy(model, world.waiting_clock(), Arc::new(pause), policy);
    if let Some(breaker) = world.engine.models().breaker(&key) {
        careful.restore(breaker);
    }
    let keeper = world.engine.clone();
    Arc::new(careful.keeping(move |breaker| keeper.models().keep_breaker(&key, breaker)))
}

/// The key comes from the variable that is named, else from the provider's usual one, else from `<provider>.key`
/// beside the config file.
pub(crate) fn settings(
    choice: &ModelConfig,
    provider: &'static str,
    usual: Option<&str>,
    keys: &Path,
) -> Result<HttpSettings, ModelSetupError> {
    let model = choice.model.clone().ok_or(ModelSetupError::NoModel { provider })?;
    let named = choice.api_key_env.as_deref().or(usual);
    let key = match named.and_then(world::secret) {
        Some(key) => Some(key),
        None => key_file(&keys.join(format!("{provider}.key")))?,
    };
    let key = key.map(Secret::new);
    Ok(HttpSettings { base_url: choice.base_url.clone(), model, key, timeouts: timeouts(choice) })
}

fn timeouts(choice: &ModelConfig) -> Timeouts {
    let usual = Timeouts::default();
    let Some(seconds) = choice.timeout_seconds else { return usual };
    let whole = Duration::from_secs(u64::from(seconds));
    // Somebody who waits longer for a reply waits longer for its beginning.
    let first_byte = if whole > usual.whole { whole } else { usual.first_byte.min(whole) };
    Timeouts { connect: usual.connect.min(whole), first_byte, between: usual.between.min(whole), whole }
}

pub(crate) fn key_file(path: &Path) -> Result<Option<String>, ModelSetupError> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(None) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode()).unwrap_or_default();
        if mode & 0o077 != 0 {
            return Err(ModelSetupError::OpenKeyFile { path: path.display().to_string() });
        }
    }
    Ok(Some(text.trim().to_owned()).filter(|key| !key.is_empty()))
}
