//! `throughline context`

use std::path::PathBuf;

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::context::{LeftOut, OpeningLine, Part, Preview};
use throughline_core::engine::ContextRequest;
use throughline_core::model::{EntryId, SessionId};

use super::reply::Reply;
use super::{Answer, Failure, style};
use crate::directory;
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
    /// The directory that the conversation takes place in: shows what a session there begins with
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What you would say
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

fn row(left: &LeftOut) -> Vec<String> {
    let content = style::one_line(&left.content, SHOWN);
    vec![style::short(left.id.as_str()), style::percent(left.score), content, style::reasons(&left.why)]
}

/// What is shown of a memory that fits too little, in characters.
const SHOWN: usize = 60;

impl Context {
    pub(super) fn run(self, world: &World) -> Answer {
        let session = self.session.map(|id| SessionId::on_channel("cli", &id)).transpose()?;
        let dir = self.dir.as_deref().map(directory::of_project).transpose()?.map(PathBuf::from);
        let request =
            ContextRequest { session, project: self.project, dir, message: self.message, ..ContextRequest::default() };
        let preview = world.engine.context().preview(&request)?;
        if let Some(failure) = &preview.failure {
            return Err(Failure::new(failure, "`throughline doctor` looks for the cause"));
        }
        let context = &preview.context;
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
        let short = |id: &Option<EntryId>| id.as_ref().map(|id| style::short(id.as_str())).unwrap_or_default();
        let part_row =
            |part: &Part| vec![part.what.to_owned(), short(&part.id), part.tokens.to_string(), part.why.clone()];
        if !nothing {
            let headings = ["what", "id", "tokens", "why"];
            text.push_str(&style::table(&headings, context.parts.iter().map(part_row).collect()));
        }
        let opening_line = |line: &OpeningLine| {
            let said = style::one_line(&line.text, SHOWN);
            vec![line.block.to_owned(), short(&line.id), line.tokens.to_string(), said]
        };
        if request.dir.is_some() && !preview.lines.is_empty() {
            let rows = preview.lines.iter().map(opening_line).collect();
            let table = style::table(&["block", "id", "tokens", "line"], rows);
            text.push_str(&format!("\n{}\n{table}", "LINE BY LINE".bold()));
        }
        let is_given = context.parts.iter().any(|part| part.id.is_some());
        let left = preview.found_but_not_given.iter();
        let near: Vec<Vec<String>> = left.filter(|left| left.score >= style::LEAST_SHOWN).map(row).collect();
        if !is_given && !near.is_empty() {
            let table = style::table(&["id", "fits", "memory", "why"], near);
            text.push_str(&format!("{}\n{table}", "FOUND, BUT FITS TOO LITTLE".bold()));
        }
        if nothing || request.message.is_some() && !is_given {
            text.push_str(&format!("no memory would be added{}\n", reason(&preview)));
        }
        Ok(Reply::new(&preview, text))
    }
}

/// Why nothing is given at all, where that is so.
fn reason(preview: &Preview) -> &'static str {
    match preview.off_record {
        Some("paused") => ": memory is paused",
        Some(_) => ": this directory is excluded",
        None => "",
    }
}
