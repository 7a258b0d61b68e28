//! `throughline context`

use std::path::PathBuf;

use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Serialize;
use throughline_core::context::{self, OpeningLine, Part};
use throughline_core::engine::ContextRequest;
use throughline_core::model::{EntryId, Kind, SessionId};
use throughline_core::recall::{Hit, Why};

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

/// What would be given, and what was found and would not.
#[derive(Serialize)]
struct Preview {
    #[serde(flatten)]
    context: context::Context,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<OpeningLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    found_but_not_given: Vec<LeftOut>,
}

/// A memory that fits too little.
#[derive(Serialize)]
struct LeftOut {
    id: EntryId,
    kind: Kind,
    content: String,
    score: f64,
    why: Why,
}

impl LeftOut {
    fn of(hit: Hit) -> Self {
        let entry = hit.memory.entry;
        Self { id: entry.id, kind: entry.kind, content: entry.content, score: hit.score, why: hit.why }
    }

    fn row(&self) -> Vec<String> {
        let content = style::one_line(&self.content, SHOWN);
        vec![style::short(self.id.as_str()), style::percent(self.score), content, style::reasons(&self.why)]
    }
}

/// What is shown of a memory that fits too little, in characters.
const SHOWN: usize = 60;

impl Context {
    pub(super) fn run(self, world: &World) -> Answer {
        let session = self.session.map(|id| SessionId::on_channel("cli", &id)).transpose()?;
        let dir = self.dir.as_deref().map(directory::of_project).transpose()?.map(PathBuf::from);
        let request =
            ContextRequest { session, project: self.project, dir, message: self.message, ..ContextRequest::default() };
        let prepared = world.engine.context().prepare(&request)?;
        let lines = world.engine.context().opening_lines(&prepared);
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
        let short = |id: &Option<EntryId>| id.as_ref().map(|id| style::short(id.as_str())).unwrap_or_default();
        let row = |part: &Part| vec![part.what.to_owned(), short(&part.id), part.tokens.to_string(), part.why.clone()];
        if !nothing {
            let headings = ["what", "id", "tokens", "why"];
            text.push_str(&style::table(&headings, context.parts.iter().map(row).collect()));
        }
        let line = |line: &OpeningLine| {
            let said = style::one_line(&line.text, SHOWN);
            vec![line.block.to_owned(), short(&line.id), line.tokens.to_string(), said]
        };
        if request.dir.is_some() && !lines.is_empty() {
            let table = style::table(&["block", "id", "tokens", "line"], lines.iter().map(line).collect());
            text.push_str(&format!("\n{}\n{table}", "LINE BY LINE".bold()));
        }
        let is_given = context.parts.iter().any(|part| part.id.is_some());
        let left: Vec<LeftOut> = prepared.fits_too_little.into_iter().map(LeftOut::of).collect();
        let near: Vec<Vec<String>> =
            left.iter().filter(|left| left.score >= style::LEAST_SHOWN).map(LeftOut::row).collect();
        if !is_given && !near.is_empty() {
            let table = style::table(&["id", "fits", "memory", "why"], near);
            text.push_str(&format!("{}\n{table}", "FOUND, BUT FITS TOO LITTLE".bold()));
        }
        if nothing || request.message.is_some() && !is_given {
            text.push_str(&format!("no memory would be added{}\n", off_record(world)?));
        }
        Ok(Reply::new(&Preview { context, lines, found_but_not_given: left }, text))
    }
}

/// Why nothing is given at all, where that is so.
fn off_record(world: &World) -> Result<&'static str, Failure> {
    let is_paused = world.engine.off_record().state()?.paused;
    let is_excluded = world.engine.settings().exclude.everything;
    Ok(match (is_excluded, is_paused) {
        (true, _) => ": this directory is excluded",
        (false, true) => ": memory is paused",
        (false, false) => "",
    })
}
