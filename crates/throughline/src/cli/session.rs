//! `throughline session list|show|observe|consolidate|reset|end`

use std::io::BufRead as _;

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::json;
use throughline_core::engine::{Consolidation, Said, StartSession};
use throughline_core::model::{Role, SessionId, SessionState, Turn};
use throughline_core::when;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::background;
use crate::world::World;

/// Follow conversations: what was said, and what became of it
#[derive(Subcommand)]
pub(super) enum SessionCommand {
    /// List conversations, the latest first
    List,
    /// Show what was said
    Show(One),
    /// Keep something that was said
    Observe(Observe),
    /// Summarise now what was said since the last time
    Consolidate(Consolidate),
    /// Compute anew what the session begins with
    Reset(One),
    /// End a conversation
    End(One),
}

/// A conversation
#[derive(Args)]
pub(super) struct One {
    /// Such as telegram:123; without a channel, cli: is meant
    session: String,
}

impl One {
    fn id(&self) -> Result<SessionId, Failure> {
        Ok(SessionId::on_channel("cli", &self.session)?)
    }
}

/// Keep something that was said
#[derive(Args)]
pub(super) struct Observe {
    /// The conversation, such as telegram:123
    #[arg(long, value_name = "ID")]
    session: String,
    /// Who said it: user, assistant, tool or system
    #[arg(long, default_value = "user", value_parser = speaking_role)]
    role: Role,
    /// The project that the conversation is about
    #[arg(long)]
    project: Option<String>,
    /// What was said; without it, JSON lines are read from standard input: {"role", "content", "id"?, "at"?}
    text: Vec<String>,
}

/// Summarise now what was said since the last time
#[derive(Args)]
pub(super) struct Consolidate {
    #[command(flatten)]
    one: One,
    /// Use this summary instead of making one; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

impl SessionCommand {
    pub(super) fn run(self, world: &World) -> Answer {
        match self {
            Self::List => list(world),
            Self::Show(one) => show(&one.id()?, world),
            Self::Observe(observe) => observe.run(world),
            Self::Consolidate(consolidate) => consolidate.run(world),
            Self::Reset(one) => {
                let id = one.id()?;
                world.engine.reset_session(&id)?;
                Ok(Reply::new(&json!({ "session": id }), format!("{id} begins anew with the next message\n")))
            }
            Self::End(one) => {
                let id = one.id()?;
                let outcome = background::consolidate(world, &id, None)?;
                world.engine.end_session(&id)?;
                let text = format!("ended {id}; {}", told(&outcome));
                Ok(Reply::new(&json!({ "session": id, "consolidation": outcome }), text))
            }
        }
    }
}

fn list(world: &World) -> Answer {
    let sessions = world.engine.sessions()?;
    let now = world.now();
    let row = |state: &SessionState| {
        let session = &state.session;
        let ended = session.ended_at.map_or("open".to_owned(), |at| format!("ended {}", style::date(at, &now)));
        let project = session.project.clone().unwrap_or_default();
        vec![session.id.to_string(), style::date(session.updated_at, &now), project, ended]
    };
    let text = if sessions.is_empty() {
        "no conversations yet\n".to_owned()
    } else {
        style::table(&["session", "last", "project", "state"], sessions.iter().map(row).collect())
    };
    Ok(Reply::new(&json!({ "sessions": sessions }), text).or_nothing(sessions.is_empty()))
}

fn show(id: &SessionId, world: &World) -> Answer {
    let (state, turns) = world.engine.conversation(id)?;
    let now = world.now();
    let line = |turn: &Turn| {
        let who = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
        let head = format!("{} {}", style::plain(who).bold(), style::date(turn.at, &now).dimmed());
        format!("{head}\n{}\n\n", style::plain(&turn.content))
    };
    let text: String = turns.iter().map(line).collect();
    Ok(Reply::new(&json!({ "session": state, "turns": turns }), text))
}

/// Anybody who can say something; a summary is made, not said.
fn speaking_role(text: &str) -> Result<Role, String> {
    match text.parse::<Role>().map_err(|error| error.to_string())? {
        Role::Summary => Err("a summary is made by consolidating; use user, assistant, tool or system".to_owned()),
        role => Ok(role),
    }
}

/// One line of standard input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    role: Role,
    content: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    at: Option<String>,
}

impl Observe {
    fn run(self, world: &World) -> Answer {
        let id = SessionId::on_channel("cli", &self.session)?;
        let said = if self.text.is_empty() { lines(world)? } else { vec![Said::now(self.role, self.text.join(" "))] };
        if said.is_empty() || said.iter().any(|said| said.content.trim().is_empty()) {
            return Err(Failure::new("nothing was said", "give the words, or JSON lines on standard input"));
        }
        world.engine.start_session(&StartSession { project: self.project, ..StartSession::new(id.clone()) })?;
        let observed = world.engine.observe(&id, &said)?;
        let mut text = format!("kept {} of {id}\n", style::count(observed.kept as u64, "turn", "turns"));
        if observed.due.is_some() && background::start(&id) {
            text.push_str("a summary is being made in the background\n");
        }
        background::start_idle(world, &id);
        Ok(Reply::new(&observed, text))
    }
}

/// The turns on standard input; one bad line and none is kept.
fn lines(world: &World) -> Result<Vec<Said>, Failure> {
    let mut said = Vec::new();
    for (at, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| Failure::io("read standard input", &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let bad = |problem: String| {
            let hint = "each line is {\"role\": \"user\", \"content\": \"…\"}; nothing was kept";
            Failure::new(format!("line {}: {problem}", at + 1), hint)
        };
        let line: Line = serde_json::from_str(&line).map_err(|error| bad(error.to_string()))?;
        let at = line.at.as_deref().map(|at| when::parse(at, &world.now())).transpose();
        said.push(Said {
            id: line.id,
            role: line.role,
            speaker: line.speaker,
            content: line.content,
            at: at.map_err(|error| bad(error.to_string()))?,
        });
    }
    Ok(said)
}

impl Consolidate {
    fn run(self, world: &World) -> Answer {
        let id = self.one.id()?;
        let summary = match self.summary.as_deref() {
            Some("-") => Some(
                std::io::read_to_string(std::io::stdin())
                    .map_err(|error| Failure::io("read standard input", &error))?,
            ),
            given => given.map(str::to_owned),
        };
        let outcome = background::consolidate(world, &id, summary.as_deref())?;
        let text = told(&outcome);
        let failed = matches!(outcome, Consolidation::Failed { .. } | Consolidation::Busy);
        let nothing = outcome == Consolidation::Nothing;
        Ok(Reply::new(&outcome, text).or_nothing(nothing).or_failed(failed))
    }
}

fn told(outcome: &Consolidation) -> String {
    match outcome {
        Consolidation::Nothing => "nothing new was said\n".to_owned(),
        Consolidation::Busy => "somebody else is at it; try again in a moment\n".to_owned(),
        Consolidation::Failed { reason, failures } => {
            format!("no summary this time ({}, {failures} in a row); nothing is lost\n", style::plain(reason))
        }
        Consolidation::Archived(done) => {
            let turns = style::count(done.compacted as u64, "turn", "turns");
            format!("no model would summarise: {turns} are archived as they are\n")
        }
        Consolidation::Done(done) => {
            let turns = style::count(done.compacted as u64, "turn", "turns");
            let facts = style::count(done.facts.len() as u64, "new fact", "new facts");
            format!("summarised {turns}, {facts}\n\n{}\n", style::plain(&done.summary))
        }
    }
}
