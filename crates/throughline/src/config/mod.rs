//! The person's settings: `config.toml`, or the same tables as YAML or JSON.
//!
//! In goes the text of one file; out comes a [`Config`] whose every value is known and within its range. A key that
//! nobody knows is an error, never ignored. Nothing here reads the environment, and no secret is kept in the file:
//! `api_key_env` names the variable that holds one.

mod error;
mod keys;
mod load;
mod parse;
mod sections;
mod show;
#[cfg(test)]
mod tests;

pub use error::ConfigError;
pub use load::{Loaded, find, load, write_first_run};
pub use parse::{Format, parse};
pub use sections::{
    AgentForget, Config, EmbeddingsConfig, EmbeddingsProvider, InjectConfig, MemoryConfig, ModelConfig, ModelProvider,
    Ranking, RecallPlace, ReflectionConfig, ToolSet, Tools,
};
pub use show::{Origin, rows, settings as shown};

/// Every key with its default and what it does; a test proves it equal to `Config::default()`.
pub const DEFAULTS: &str = include_str!("../../defaults.toml");

/// What a new home gets: memory on, for one person.
pub const FIRST_RUN: &str = include_str!("../../first-run.toml");
