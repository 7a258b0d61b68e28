//! `throughline tool list|call|guidance`: what assistants are offered, for people who want to see it.

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use throughline_core::engine::StartSession;
use throughline_core::model::SessionId;
use throughline_core::ports::ToolCall;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// See and try the tools that assistants are offered
#[derive(Subcommand)]
pub(super) enum ToolCommand {
    /// List the tools that are offered, with their parameters
    List,
    /// Call a tool as an assistant would
    Call(Call),
    /// Show what an assistant is told about its memory, and what that costs
    Guidance,
}

/// Call a tool
#[derive(Args)]
pub(super) struct Call {
    /// Such as memory_recall
    name: String,
    /// Its parameters, as a JSON object
    #[arg(default_value = "{}")]
    arguments: String,
    /// The conversation in which it is called
    #[arg(long, value_name = "ID", default_value = "cli:tools")]
    session: String,
    #[arg(from_global)]
    json: bool,
}

impl ToolCommand {
    pub(super) fn run(self, world: &World) -> Answer {
        match self {
            Self::List => Ok(list(world)),
            Self::Call(call) => call.run(world),
            Self::Guidance => {
                let guidance = world.engine.tools().guidance();
                let text = guidance.as_ref().map_or("memory is off: nothing is said\n".to_owned(), |guidance| {
                    format!(
                        "{}\n{}\n",
                        style::wrapped(&guidance.text, 0),
                        format!("{} tokens", guidance.tokens).dimmed()
                    )
                });
                Ok(Reply::new(&guidance, text).or_nothing(guidance.is_none()))
            }
        }
    }
}

fn list(world: &World) -> Reply {
    let tools: Vec<_> = world.engine.tools().offered().to_vec();
    let mut text = String::new();
    for tool in &tools {
        let schema = tool.schema();
        let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let names = schema["properties"].as_object().into_iter().flat_map(|all| all.keys());
        let names: Vec<String> =
            names.map(|name| if required(name) { name.clone() } else { format!("{name}?") }).collect();
        text.push_str(&format!("{}({})\n", tool.as_str().bold(), names.join(", ")));
        text.push_str(&style::wrapped(tool.description(), 2).dimmed().to_string());
    }
    if tools.is_empty() {
        text.push_str("no tools are offered: memory is off, or `memory.tools` is empty\n");
    }
    Reply::new(&world.engine.tools().offered_tools(), text).or_nothing(tools.is_empty())
}

impl Call {
    fn run(self, world: &World) -> Answer {
        let session = SessionId::on_channel("cli", &self.session)?;
        world.engine.sessions().start(&StartSession::new(session.clone()))?;
        let call = ToolCall { id: String::new(), name: self.name, arguments: self.arguments };
        let answer = world.engine.tools().call(&session, &call);
        if answer.is_error && !self.json {
            let said = |name: &str| answer.content["error"][name].as_str().unwrap_or_default().to_owned();
            return Err(Failure::new(said("message"), said("hint")));
        }
        let shown = serde_json::to_string_pretty(&answer.content).unwrap_or_default();
        let text = format!("{}\n{}\n", style::plain(&answer.summary).bold(), style::plain(&shown));
        Ok(Reply::new(&answer.content, text).or_failed(answer.is_error))
    }
}
