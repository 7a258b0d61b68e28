//! Which models a person can choose, whether each is there, and what it costs. Nothing is asked of any of them but a local
//! Ollama, which lists its models.

use std::path::{Path, PathBuf};

use serde::Serialize;
use throughline_core::ports::SAMPLING;
use throughline_providers::{ReadyMade, ollama_models};

use super::{command, key_file};
use crate::config::{CommandLine, ModelConfig, ModelProvider};
use crate::sampling;
use crate::world::{self, Home};

/// A model that can be chosen by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The rules in this program.
    Offline,
    /// Ollama.
    Ollama,
    /// An assistant's program.
    Program(ReadyMade),
    /// The model of a connected MCP client.
    Sampling,
    /// Any OpenAI-compatible service.
    OpenAi,
    /// Anthropic.
    Anthropic,
}

impl Choice {
    /// All of them: what costs nothing first.
    pub(crate) const ALL: [Self; 7] = [
        Self::Offline,
        Self::Ollama,
        Self::Program(ReadyMade::ClaudeCode),
        Self::Program(ReadyMade::Codex),
        Self::Sampling,
        Self::OpenAi,
        Self::Anthropic,
    ];

    /// Its name on the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Ollama => "ollama",
            Self::Program(ready_made) => ready_made.as_str(),
            Self::Sampling => SAMPLING,
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == name)
    }

    pub(crate) const fn provider(self) -> ModelProvider {
        match self {
            Self::Offline => ModelProvider::Offline,
            Self::Ollama => ModelProvider::Ollama,
            Self::Program(_) => ModelProvider::Command,
            Self::Sampling => ModelProvider::Sampling,
            Self::OpenAi => ModelProvider::OpenAi,
            Self::Anthropic => ModelProvider::Anthropic,
        }
    }

    /// The one that is configured; none where the command is the person's own.
    pub(crate) fn configured(config: &ModelConfig) -> Option<Self> {
        match config.provider {
            ModelProvider::Offline => Some(Self::Offline),
            ModelProvider::Ollama => Some(Self::Ollama),
            ModelProvider::Sampling => Some(Self::Sampling),
            ModelProvider::OpenAi => Some(Self::OpenAi),
            ModelProvider::Anthropic => Some(Self::Anthropic),
            ModelProvider::Command => config.command.as_ref().and_then(command::ready_made).map(Self::Program),
        }
    }

    /// What using it costs.
    pub(crate) const fn costs(self) -> &'static str {
        match self {
            Self::Offline => "free: rules in this program",
            Self::Ollama => "free: runs on your machine",
            Self::Program(ReadyMade::ClaudeCode) => "your Claude subscription or key",
            Self::Program(ReadyMade::Codex) => "your ChatGPT subscription or key",
            Self::Sampling => "your assistant's own subscription or key (it may ask you first)",
            Self::OpenAi | Self::Anthropic => "per token, at your provider's price",
        }
    }

    /// Whether somebody has to agree to what it costs.
    pub(crate) const fn is_free(self) -> bool {
        matches!(self, Self::Offline | Self::Ollama)
    }
}

/// A model that can be chosen, as it is on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Available {
    /// What `model use` takes.
    pub(crate) name: String,
    /// Whether it can be used as it is.
    pub(crate) available: bool,
    /// Where it is, or what is missing. A key is named, never shown.
    pub(crate) detail: String,
    /// The models that it has, where it says so.
    pub(crate) models: Vec<String>,
    /// What using it costs.
    pub(crate) costs: &'static str,
    /// Whether it is configured now.
    pub(crate) chosen: bool,
}

/// Every choice, and the person's own command where one is configured.
pub(crate) fn available(config: &ModelConfig, home: &Home) -> Vec<Available> {
    let configured = Choice::configured(config);
    let mut found: Vec<Available> =
        Choice::ALL.into_iter().map(|choice| look(choice, config, home, configured == Some(choice))).collect();
    if configured.is_none() {
        found.extend(config.command.as_ref().map(own_command));
    }
    found
}

fn look(choice: Choice, config: &ModelConfig, home: &Home, chosen: bool) -> Available {
    let mut models = Vec::new();
    let (available, detail) = match choice {
        Choice::Offline => (true, "built in".to_owned()),
        Choice::Ollama => {
            let configured = config.base_url.clone().filter(|_| chosen);
            models = ollama_models(configured.or_else(world::ollama_host).as_deref());
            let missing = "no Ollama answers, or it has no model".to_owned();
            if models.is_empty() { (false, missing) } else { (true, "running".to_owned()) }
        }
        Choice::Program(ready_made) => match on_path(ready_made.program()) {
            Some(path) => (true, path.display().to_string()),
            None => (false, format!("no program `{}` on PATH", ready_made.program())),
        },
        Choice::Sampling if sampling::is_offered(home) => (true, "a connected assistant offers it".to_owned()),
        Choice::Sampling => (false, "no connected assistant offers it (MCP sampling)".to_owned()),
        Choice::OpenAi | Choice::Anthropic => {
            key(choice, config.api_key_env.as_deref().filter(|_| chosen), &home.config)
        }
    };
    Available { name: choice.as_str().to_owned(), available, detail, models, costs: choice.costs(), chosen }
}

/// A program on PATH, as far as its name and its mode tell.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    world::search_path().into_iter().map(|directory| directory.join(program)).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    ["exe", "cmd"].iter().any(|end| file.with_extension(end).is_file())
}

/// Whether there is a key, by the name of what holds it.
fn key(choice: Choice, named: Option<&str>, keys: &Path) -> (bool, String) {
    let usual = if choice == Choice::OpenAi { "OPENAI_API_KEY" } else { "ANTHROPIC_API_KEY" };
    let variable = named.unwrap_or(usual);
    if world::secret(variable).is_some() {
        return (true, format!("a key in {variable}"));
    }
    let file = format!("{}.key", choice.as_str());
    match key_file(&keys.join(&file)) {
        Ok(Some(_)) => (true, format!("a key in {file}")),
        Ok(None) => (false, format!("{variable} is not set")),
        Err(error) => (false, error.to_string()),
    }
}

fn own_command(command: &CommandLine) -> Available {
    Available {
        name: "command".to_owned(),
        available: true,
        detail: command::line(command),
        models: Vec::new(),
        costs: "whatever this program costs",
        chosen: true,
    }
}
