//! `throughline session list|show|observe|consolidate|reset|explain|end`

use std::io::{BufRead as _, Read as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::{Timestamp, Zoned};
use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::json;
use throughline_core::engine::{
    Compaction, Consolidation, Explained, ListedSession, Said, SessionReset, StartSession, Used, chain,
};
use throughline_core::model::{Kind, Role, SessionId, Turn, shown_speaker};
use throughline_core::when;
use throughline_server::Kept;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, keep, style};
use crate::spool::{By, Spool};
use crate::world::{Prepared, World, current_dir, settings};
use crate::{background, directory};

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
    /// Keep a summary of a conversation in the archive: one that you give, or one that is made now
    Summarize(Summarize),
    /// Show which memories the latest message was given, and why
    Explain(One),
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
    #[arg(long, default_value = "user")]
    role: Role,
    /// What the conversation is called; without it, it is called after its first message
    #[arg(long)]
    title: Option<String>,
    /// The project that the conversation is about
    #[arg(long)]
    project: Option<String>,
    /// The directory that the conversation takes place in, which is a project by itself
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The task that the conversation is about
    #[arg(long)]
    task: Option<String>,
    /// Your name among the speakers: what others say is theirs, and never about you
    #[arg(long, value_name = "NAME")]
    person: Option<String>,
    /// What was said; without it, JSON lines are read from standard input: {"role", "content", "id"?, "speaker"?, "at"?}
    text: Vec<String>,
}

/// Summarise now what was said since the last time
#[derive(Args)]
pub(super) struct Consolidate {
    /// Such as telegram:123; without a channel, cli: is meant
    #[arg(required_unless_present_any = ["all", "waiting", "named"])]
    session: Option<String>,
    /// The same, as `observe` takes it
    #[arg(long = "session", id = "named", value_name = "ID", conflicts_with = "session")]
    named: Option<String>,
    /// Every conversation with something new, the oldest first: after an import, for instance
    #[arg(long, conflicts_with_all = ["session", "named", "summary"])]
    all: bool,
    /// With --all: only what was imported and is not summarised yet
    #[arg(long, requires = "all")]
    imported: bool,
    /// Every other conversation that fell silent, and what was left for this one: what commands start in the background
    #[arg(long, hide = true, conflicts_with_all = ["all", "summary", "compact"])]
    waiting: bool,
    /// Use this summary instead of making one; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// When the whole conversation was summed up so, as 2026-03-01T12:00:00Z: what was said later stays to be summarised
    #[arg(long, value_name = "TIME", requires = "summary", conflicts_with = "compact")]
    until: Option<Timestamp>,
    /// Also shorten what is sent to the model: the summary and the latest turns
    #[arg(long, conflicts_with = "all")]
    compact: bool,
}

/// Keep a summary of a conversation in the archive
#[derive(Args)]
pub(super) struct Summarize {
    /// Such as telegram:123; without a channel, cli: is meant
    session: String,
    /// Keep this summary; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

impl Summarize {
    fn run(self, world: &World) -> Answer {
        let id = SessionId::on_channel("cli", &self.session)?;
        let summary = given_summary(self.summary)?;
        let kept = background::summarise_as(world, &id, summary.as_deref())?;
        let text = match &kept {
            Some(entry) => format!("the summary of {id} is {}\n", style::short(entry.as_str())),
            None => "nothing was said\n".to_owned(),
        };
        Ok(Reply::new(&json!({ "id": kept }), text).or_nothing(kept.is_none()))
    }
}

/// Longest summary that is read from standard input, in bytes.
const LONGEST_SUMMARY: u64 = 1 << 20;

/// A summary on the command line, or on standard input.
fn given_summary(given: Option<String>) -> Result<Option<String>, Failure> {
    match given.as_deref() {
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().take(LONGEST_SUMMARY + 1).read_to_string(&mut text);
            read.map_err(|error| Failure::io("read standard input", &error))?;
            if text.len() as u64 > LONGEST_SUMMARY {
                let hint = "a summary is short; nothing was changed";
                return Err(Failure::new("standard input is longer than 1 MiB", hint));
            }
            Ok(Some(text))
        }
        _ => Ok(given),
    }
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
                world.engine.sessions().reset(&id)?;
                let told = format!("{id} begins anew with the next message\n");
                Ok(Reply::new(&SessionReset { session: id }, told))
            }
            Self::End(one) => {
                let id = one.id()?;
                let ended = background::end(world, &id)?;
                let text = format!("ended {id}; {}", told(&ended.consolidation));
                Ok(Reply::new(&ended, text))
            }
            Self::Summarize(summarize) => summarize.run(world),
            Self::Explain(one) => explain(&one.id()?, world),
        }
    }
}

fn list(world: &World) -> Answer {
    let listing = world.engine.sessions().page(None, usize::MAX, None)?;
    let now = world.now();
    let room = style::width().saturating_sub(64).max(24);
    let row = |listed: &ListedSession| {
        let session = &listed.state.session;
        let ended = session.ended_at.map_or("open".to_owned(), |at| format!("ended {}", style::date(at, &now)));
        let project = session.project.clone().unwrap_or_default();
        let title = style::one_line(session.title.as_deref().unwrap_or_default(), room);
        vec![title, session.id.to_string(), style::date(session.updated_at, &now), project, ended]
    };
    let text = if listing.sessions.is_empty() {
        "no conversations yet\n".to_owned()
    } else {
        style::table(&["title", "session", "last", "project", "state"], listing.sessions.iter().map(row).collect())
    };
    Ok(Reply::new(&listing, text).or_nothing(listing.sessions.is_empty()))
}

fn show(id: &SessionId, world: &World) -> Answer {
    let shown = world.engine.sessions().show(id, None, usize::MAX)?;
    let now = world.now();
    let line = |turn: &Turn| {
        let who = shown_speaker(turn.role.as_str(), turn.speaker.as_deref());
        let head = format!("{} {}", style::plain(&who).bold(), style::date(turn.at, &now).dimmed());
        format!("{head}\n{}\n\n", style::plain(&turn.content))
    };
    let title = style::plain(shown.session.session.title.as_deref().unwrap_or_default());
    let text: String = shown.turns.iter().map(line).collect();
    Ok(Reply::new(&shown, format!("{}\n{}\n\n{text}", title.bold(), id.dimmed())))
}

fn explain(id: &SessionId, world: &World) -> Answer {
    let Some(explanation) = world.engine.recall().explain(id)? else {
        let nothing = Explained::from(None);
        return Ok(Reply::new(&nothing, "no memory was recalled in this conversation yet\n").or_nothing(true));
    };
    let mut text = String::new();
    for part in &explanation.opening {
        let began = format!("began with the {}:", part.what);
        text.push_str(&format!("{}\n{}", began.dimmed(), style::wrapped(&style::plain(&part.content), 2)));
    }
    if !explanation.query.is_empty() {
        text.push_str(&format!("for: {}\n\n", style::one_line(&explanation.query, style::width())));
    }
    text.push_str(&if explanation.memories.is_empty() {
        "no memory was given\n".to_owned()
    } else {
        explanation.memories.iter().map(|memory| used(memory, world)).collect()
    });
    let near = explanation.found_but_not_given.iter().filter(|used| used.score >= style::LEAST_SHOWN);
    let left: String = near.map(|memory| used(memory, world)).collect();
    if !left.is_empty() {
        text.push_str(&format!("\nfound and left out (fits too little, or no room):\n{left}"));
    }
    Ok(Reply::new(&explanation, text))
}

/// A memory that was found: what it says, how it came, and why.
fn used(used: &Used, world: &World) -> String {
    let id = style::short(used.id.as_str());
    let indent = " ".repeat(id.len() + 2);
    let absent = if used.kind == Kind::Chunk { "(a passage of the vault)" } else { "(erased)" };
    let content = style::one_line(used.content.as_deref().unwrap_or(absent), style::width() - indent.len());
    let way = match &used.session {
        Some(session) => {
            let title = world.engine.sessions().title(session).unwrap_or_default();
            format!("by {} in {} ({session})", used.by, style::one_line(&title, 40))
        }
        None => format!("by {}", used.by),
    };
    let mut about = vec![used.kind.to_string()];
    about.extend(used.date.clone());
    about.extend([way, format!("fits {}", style::percent(used.score))]);
    let mut text = format!("{}  {content}\n{indent}{}\n", id.yellow(), style::plain(&about.join(" · ")).dimmed());
    text.push_str(&format!("{indent}{}\n", style::reasons(&used.why).cyan()));
    if !used.evidence.is_empty() {
        text.push_str(&format!("{indent}{}\n", style::also(&used.evidence).cyan()));
    }
    text
}

/// What else a consolidation did, in words, a line each.
fn besides(done: &Compaction) -> String {
    let mut text = String::new();
    for id in &done.superseded {
        text.push_str(&format!("{} was corrected\n", style::short(id.as_str())));
    }
    if let Some(task) = &done.task {
        text.push_str(&format!("the task {} is up to date\n", style::short(task.as_str())));
    }
    if done.tokens_after < done.tokens_before {
        text.push_str(&format!("{} tokens are sent instead of {}\n", done.tokens_after, done.tokens_before));
    }
    text
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
        if let Some(task) = &self.task {
            world.engine.tasks().get(task)?;
        }
        let (start, said) = self.heard(&world.now())?;
        let id = start.id.clone();
        let observed = match world.observe(&start, &said)? {
            Kept::Stored(observed) => observed,
            Kept::Waiting(turns) => return Ok(waiting(turns, &Spool::of(&world.home))),
        };
        let mut text = format!("kept {} of {id}\n", style::count(observed.kept as u64, "turn", "turns"));
        if observed.off_record > 0 {
            text.push_str(&format!(
                "{} off the record, and not kept\n",
                style::count(observed.off_record as u64, "is", "are")
            ));
        }
        text.push_str(&style::left_out(&observed.redacted));
        if observed.due.is_some() && background::start(world, &id) {
            text.push_str("a summary is being made in the background\n");
        }
        background::start_idle(world, &id);
        Ok(Reply::new(&observed, text))
    }

    /// Keeps it here until the server that has the memory can be reached.
    pub(super) fn wait(self, prepared: &Prepared) -> Answer {
        let settings = settings(&prepared.config)?;
        let (start, said) = self.heard(&prepared.now())?;
        let is_excluded = current_dir().is_some_and(|dir| settings.exclude.covers_directory(&dir));
        if is_excluded || settings.exclude.covers_channel(&start.id) {
            return Ok(Reply::new(&json!({ "waiting": 0 }), "off the record, and not kept\n"));
        }
        let spool = Spool::of(&prepared.home);
        spool.put(By::Host, &start, &said, &prepared.now()).map_err(|error| {
            Failure::new(
                chain(&error),
                "the server cannot be reached; make room there, or repeat the command when it is back",
            )
        })?;
        Ok(waiting(said.len(), &spool))
    }

    /// The conversation, and what was said.
    fn heard(self, now: &Zoned) -> Result<(StartSession, Vec<Said>), Failure> {
        let id = SessionId::on_channel("cli", &self.session)?;
        let said = if self.text.is_empty() { lines(now)? } else { vec![Said::now(self.role, self.text.join(" "))] };
        if said.is_empty() {
            return Err(Failure::new("nothing was said", "give the words, or JSON lines on standard input"));
        }
        let dir = self.dir.as_deref().map(directory::of_project).transpose()?.map(PathBuf::from);
        let (title, project, task, person) = (self.title, self.project, self.task, self.person);
        Ok((StartSession { title, project, dir, task, person, ..StartSession::new(id) }, said))
    }
}

fn waiting(turns: usize, spool: &Spool) -> Reply {
    let count = style::count(turns as u64, "turn waits", "turns wait");
    let directory = spool.directory().display();
    let told = format!("the server cannot be reached: {count} in {directory}, and is delivered when it is back\n");
    Reply::new(&json!({ "waiting": turns }), told)
}

/// The longest line of standard input, in bytes: the largest turn with every character escaped. More is refused, not read.
const LONGEST_LINE: u64 = 8 << 20;

/// As much as is read of standard input: all of it is kept at once, or none of it.
const LONGEST_INPUT: u64 = 64 << 20;

/// The turns on standard input; one bad line and none is kept.
fn lines(now: &Zoned) -> Result<Vec<Said>, Failure> {
    let (mut said, mut size) = (Vec::new(), 0);
    let mut input = std::io::stdin().lock();
    for at in 1.. {
        let bad = |problem: String| {
            let hint = "each line is {\"role\": \"user\", \"content\": \"…\"}; nothing was kept";
            Failure::new(format!("line {at}: {problem}"), hint)
        };
        let mut line = String::new();
        let read = input.by_ref().take(LONGEST_LINE + 1).read_line(&mut line);
        let length = read.map_err(|error| Failure::io("read standard input", &error))? as u64;
        size += length;
        match length {
            0 => break,
            _ if size > LONGEST_INPUT => {
                let hint = "give it in parts; nothing was kept";
                return Err(Failure::new("standard input is longer than 64 MiB", hint));
            }
            length if length > LONGEST_LINE => return Err(bad(format!("is longer than {LONGEST_LINE} bytes"))),
            _ if line.trim().is_empty() => continue,
            _ => {}
        }
        let line: Line = serde_json::from_str(&line).map_err(|error| bad(error.to_string()))?;
        let at = line.at.as_deref().map(|at| when::parse(at, now)).transpose();
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
        let session = self.session.or(self.named);
        if self.waiting {
            let here = session.map(|session| One { session }.id()).transpose()?;
            let looked_at = background::consolidate_waiting(world, here.as_ref())?;
            let text = format!("{} looked at\n", style::count(looked_at as u64, "conversation", "conversations"));
            return Ok(Reply::new(&json!({ "looked_at": looked_at }), text).or_nothing(looked_at == 0));
        }
        let Some(session) = session else { return consolidate_all(world, self.imported) };
        let id = One { session }.id()?;
        let summary = given_summary(self.summary)?;
        let outcome = match (self.until, summary.as_deref()) {
            (Some(until), Some(summary)) => background::consolidate_from(world, &id, summary, until)?,
            (_, summary) if self.compact => background::compact(world, &id, summary)?,
            (_, summary) => background::consolidate(world, &id, summary)?,
        };
        let text = told(&outcome);
        let failed = matches!(outcome, Consolidation::Failed { .. } | Consolidation::Busy);
        let nothing = outcome == Consolidation::Nothing;
        Ok(Reply::new(&outcome, text).or_nothing(nothing).or_failed(failed))
    }
}

/// Consolidates whatever has something new, one conversation after the other.
fn consolidate_all(world: &World, imported: bool) -> Answer {
    let mut sessions = world.engine.sessions().all()?;
    sessions.retain(|state| !imported || state.waits_since_import());
    sessions.reverse();
    let bar = keep::bar("conversations");
    bar.set_length(sessions.len() as u64);
    let (mut done, mut facts, mut failed) = (0, 0, Vec::new());
    for state in sessions {
        let id = state.session.id;
        match background::consolidate(world, &id, None)? {
            Consolidation::Done(compaction) | Consolidation::Archived(compaction) => {
                done += 1;
                facts += compaction.facts.len() as u64;
            }
            Consolidation::Nothing => {}
            Consolidation::Busy | Consolidation::Failed { .. } => failed.push(id),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut text = format!(
        "summarised {}, {}\n",
        style::count(done, "conversation", "conversations"),
        style::count(facts, "new fact", "new facts")
    );
    for id in &failed {
        text.push_str(&format!("no summary of {id} this time; nothing is lost\n"));
    }
    let json = json!({ "consolidated": done, "facts": facts, "failed": failed });
    Ok(Reply::new(&json, text).or_nothing(done == 0).or_failed(!failed.is_empty()))
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
            let summary = if done.summary.is_empty() { "nothing worth a summary" } else { &done.summary };
            format!("summarised {turns}, {facts}\n{}\n{}\n", besides(done), style::plain(summary))
        }
    }
}
