//! Which model to talk to; where none is set up, how to set one up.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use throughline_core::ports::Model;

use crate::cli::failure::Failure;
use crate::config::{ModelConfig, ModelProvider};
use crate::models;
use crate::world::{World, ollama_host};

/// The configured model; with none, a running Ollama that the person agrees to.
pub(super) fn model(world: &World) -> Result<Arc<dyn Model>, Failure> {
    let config = &world.config.config;
    if config.model.provider != ModelProvider::Offline {
        let model = models::for_chat(&config.model, world);
        return model.map_err(|error| Failure::new(error.to_string(), error.hint()));
    }
    let found = throughline_providers::ollama_models(ollama_host().as_deref());
    let Some(name) = found.first() else { return Err(nothing_to_talk_to()) };
    if !agreed(name)? {
        return Err(nothing_to_talk_to());
    }
    let choice = ModelConfig { provider: ModelProvider::Ollama, model: Some(name.clone()), ..ModelConfig::default() };
    let model = models::for_chat(&choice, world);
    model.map_err(|error| Failure::new(error.to_string(), error.hint()))
}

fn nothing_to_talk_to() -> Failure {
    Failure::new(
        "no chat model is configured",
        "`throughline model use NAME` chooses one, or put this under [model] in the config file: provider = \"ollama\", \
         model = \"llama3.2\" (or openai, anthropic)",
    )
}

/// Asks whether to talk to a model that was found; without a terminal, nobody can agree.
fn agreed(name: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    // A question is no answer: standard output may be read by a program.
    anstream::eprint!("no chat model is configured, but Ollama is running: talk to {name}? [Y/n] ");
    let _ = anstream::stderr().flush();
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(|error| Failure::io("read your answer", &error))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}
