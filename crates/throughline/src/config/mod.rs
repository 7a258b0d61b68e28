//! The person's settings: `config.toml`, or the same tables as YAML or JSON.
//!
//! In goes the text of one file; out comes a [`Config`] whose every value is known and within its range. A key that
//! nobody knows is an error, never ignored. Nothing here reads the environment, and no secret is kept in the file:
//! `api_key_env` names the variable that holds one.

mod choices;
mod declare;
mod error;
mod load;
mod parse;
mod reference;
mod settings;
mod show;
#[cfg(test)]
mod tests;
mod values;

pub use choices::{AgentForget, CommandLine, EmbeddingsProvider, ModelProvider, Ranking, RecallPlace, ToolSet, Tools};
pub use declare::keys;
pub use error::ConfigError;
pub use load::{Loaded, find, load, write_first_run};
pub use parse::{Format, parse};
pub use reference::{defaults_toml, reference_page};
pub use settings::{
    ChannelsConfig, Config, EmbeddingsConfig, HooksConfig, InjectConfig, MemoryConfig, ModelConfig, ProxyConfig,
    ReflectionConfig, ServerConfig, StoreConfig, TelegramConfig, WebhookConfig,
};
pub use show::{Origin, rows, settings as shown};
pub use values::VariableName;

/// What a new home gets: memory on, for one person.
pub const FIRST_RUN: &str = include_str!("../../first-run.toml");
