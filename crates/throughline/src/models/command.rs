//! A program as the model: from the config to the words that are run.

use std::path::Path;
use std::time::Duration;

use throughline_providers::{COMMAND_TIMEOUT, CommandSettings, ReadyMade, split_words};

use super::ModelSetupError;
use crate::config::{CommandLine, ModelConfig};
use crate::world;

/// What is run, and how long it may take.
pub(super) fn settings(choice: &ModelConfig, config: &Path) -> Result<CommandSettings, ModelSetupError> {
    if world::is_model_run() {
        return Err(ModelSetupError::Nested);
    }
    let command = choice.command.as_ref().ok_or(ModelSetupError::NoCommand)?;
    let timeout = choice.timeout_seconds.map_or(COMMAND_TIMEOUT, |seconds| Duration::from_secs(u64::from(seconds)));
    let model = choice.model.as_deref().filter(|model| !model.trim().is_empty());
    if let Some(ready_made) = ready_made(command) {
        let words = ready_made_words(ready_made, model).into_iter().map(Into::into).collect();
        let name = [Some(ready_made.as_str()), model].into_iter().flatten().collect::<Vec<_>>().join(" ");
        return Ok(CommandSettings { words, ready_made: Some(ready_made), name, timeout });
    }
    let given = match command {
        CommandLine::Text(line) => split_words(line).ok_or(ModelSetupError::OpenQuote)?,
        CommandLine::Words(words) => words.clone(),
    };
    let (program, arguments) =
        given.split_first().filter(|(program, _)| !program.is_empty()).ok_or(ModelSetupError::NoCommand)?;
    // A run has a directory of its own: a path must not depend on that.
    let found = if program.contains('/') { world::configured_path(program, config).into() } else { program.into() };
    let words = std::iter::once(found).chain(arguments.iter().map(Into::into)).collect();
    let name = model.or(program.rsplit('/').next()).unwrap_or(program).to_owned();
    Ok(CommandSettings { words, ready_made: None, name, timeout })
}

/// Ctrl-C ends the model's program too. For commands that wait for a model; others have a use of their own for it.
pub(crate) fn end_with_this_process() {
    let handled = ctrlc::set_handler(|| {
        throughline_providers::kill_programs();
        // What a shell says of a program that Ctrl-C ended.
        std::process::exit(130);
    });
    if let Err(error) = handled {
        tracing::debug!(%error, "a model's program is not ended by Ctrl-C");
    }
}

/// The ready-made command that is meant, if one is.
pub(crate) fn ready_made(command: &CommandLine) -> Option<ReadyMade> {
    match command {
        CommandLine::Text(line) => ReadyMade::named(line),
        CommandLine::Words(words) => match words.as_slice() {
            [word] => ReadyMade::named(word),
            _ => None,
        },
    }
}

/// The command as one line.
pub(crate) fn line(command: &CommandLine) -> String {
    match command {
        CommandLine::Text(line) => line.clone(),
        CommandLine::Words(words) => words.join(" "),
    }
}

fn ready_made_words(ready_made: ReadyMade, model: Option<&str>) -> Vec<String> {
    let servers = if ready_made == ReadyMade::Codex { codex_servers() } else { Vec::new() };
    ready_made.words(model, &servers)
}

/// The MCP servers in Codex's own settings, by the names that can be part of an option.
fn codex_servers() -> Vec<String> {
    let Ok(dirs) = world::client_dirs() else { return Vec::new() };
    let file = dirs.codex.unwrap_or_else(|| dirs.home.join(".codex")).join("config.toml");
    let table: toml::Table = std::fs::read_to_string(file).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let servers = table.get("mcp_servers").and_then(toml::Value::as_table);
    let is_plain = |name: &&String| name.chars().all(|each| each.is_ascii_alphanumeric() || "-_".contains(each));
    servers.into_iter().flat_map(toml::Table::keys).filter(is_plain).cloned().collect()
}
