//! `throughline context`

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::ContextRequest;
use throughline_core::model::SessionId;

use super::reply::Reply;
use super::{Answer, Failure, style};
use crate::world::World;

/// Show what an assistant would be given, and why
#[derive(Args)]
pub(super) struct Context {
    /// The conversation, such as telegram:123; without it, everything is in reach
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The project that the conversation is about
    #[arg(long)]
    project: Option<String>,
    /// What you would say
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

impl Context {
    pub(super) fn run(self, world: &World) -> Answer {
        let session = self.session.map(|id| SessionId::on_channel("cli", &id)).transpose()?;
        let request =
            ContextRequest { session, project: self.project, message: self.message, ..ContextRequest::default() };
        let prepared = world.engine.context().prepare(&request)?;
        if let Some(failure) = &prepared.failure {
            return Err(Failure::new(failure, "`throughline doctor` looks for the cause"));
        }
        let context = prepared.context;
        let nothing = context.parts.is_empty();
        let mut text = String::new();
        let mut section = |title: &str, body: &str| {
            text.push_str(&format!("{}\n{}\n\n", title.bold(), style::plain(body)));
        };
        if !context.system_prompt.is_empty() {
            section("SYSTEM PROMPT", &context.system_prompt);
        }
        if let Some(message) = &context.message {
            section("MESSAGE", message);
        }
        let row = |part: &throughline_core::context::Part| {
            let id = part.id.as_ref().map(|id| style::short(id.as_str())).unwrap_or_default();
            vec![part.what.to_owned(), id, part.tokens.to_string(), part.why.clone()]
        };
        text.push_str(&if nothing {
            "no memory would be added\n".to_owned()
        } else {
            style::table(&["what", "id", "tokens", "why"], context.parts.iter().map(row).collect())
        });
        Ok(Reply::new(&context, text))
    }
}
