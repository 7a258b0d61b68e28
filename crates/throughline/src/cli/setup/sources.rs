//! What can be taken in: past conversations, downloaded exports, and the notes of assistants. What each would give is asked of
//! the import itself, so that what is shown is what is done.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use throughline_clients::Client;
use throughline_clients::connect::{Dirs, Platform, root};
use throughline_core::engine::ImportReport;
use throughline_core::transfer::formats::Format;

use super::plan::Done;
use crate::cli::failure::Failure;
use crate::cli::import::{is_export_of, take_in, take_past};
use crate::cli::keep::bar;
use crate::cli::style;
use crate::transcripts;
use crate::world::{self, World, current_dir};

/// The notes that a repository can have.
const NOTES: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "MEMORY.md"];

/// More directories than this are not looked into.
const MOST_PLACES: usize = 500;

/// Where something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// In the files of an assistant.
    Past(Client),
    /// In a file or a folder.
    File(PathBuf),
}

/// Something that can be taken in.
pub(super) struct Seen {
    pub(super) origin: Origin,
    pub(super) name: String,
    /// What it would give, or why it cannot be read.
    report: Result<ImportReport, String>,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Step {
    pub(in crate::cli) name: String,
    pub(in crate::cli) action: Action,
    /// How many conversations and turns are new, and when the first and the last of those turns were said.
    pub(in crate::cli) conversations: u64,
    pub(in crate::cli) turns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) first_said_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) last_said_at: Option<Timestamp>,
    /// How many memories and lines of the profile are new.
    pub(in crate::cli) memories: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
    #[serde(skip)]
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Action {
    Import,
    /// All of it is here already.
    Here,
    /// The person does not want it.
    Leave,
    /// It cannot be read.
    Impossible,
}

impl Seen {
    fn of(origin: Origin, name: String, report: Result<ImportReport, Failure>) -> Self {
        Self { origin, name, report: report.map_err(|failure| failure.to_string()) }
    }

    /// Whether it has anything that is not here yet.
    pub(super) fn is_new(&self) -> bool {
        self.report.as_ref().is_ok_and(|report| memories(report) + report.turns.added > 0)
    }

    pub(super) fn step(&self, action: Action) -> Step {
        let report = self.report.as_ref().ok();
        Step {
            name: self.name.clone(),
            action,
            conversations: report.map_or(0, |report| report.sessions),
            turns: report.map_or(0, |report| report.turns.added),
            first_said_at: report.and_then(|report| report.first_said_at),
            last_said_at: report.and_then(|report| report.last_said_at),
            memories: report.map_or(0, memories),
            problem: self.report.as_ref().err().cloned(),
            origin: self.origin.clone(),
        }
    }
}

impl Step {
    /// `12 conversations, 2026-01-03 to 2026-02-27; 4 memories`
    pub(super) fn counted(&self) -> String {
        let day = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
        let mut parts = Vec::new();
        if self.turns > 0 {
            let dates = self.first_said_at.zip(self.last_said_at);
            let dates = match dates.map(|(first, last)| (day(first), day(last))) {
                None => String::new(),
                Some((first, last)) if first == last => format!(", {first}"),
                Some((first, last)) => format!(", {first} to {last}"),
            };
            let what = match self.conversations {
                0 => style::count(self.turns, "turn", "turns"),
                some => style::count(some, "conversation", "conversations"),
            };
            parts.push(format!("{what}{dates}"));
        }
        if self.memories > 0 {
            parts.push(style::count(self.memories, "memory", "memories"));
        }
        parts.join("; ")
    }
}

fn memories(report: &ImportReport) -> u64 {
    report.profile.changes() + report.knowledge.changes() + report.archive.changes()
}

/// Looks for everything that is known, and asks of each what it would give.
pub(super) fn look(world: &World) -> Result<Vec<Seen>, Failure> {
    let dirs = world::client_dirs()?;
    let mut found = Vec::new();
    let mut places: BTreeSet<PathBuf> = current_dir().into_iter().collect();
    for client in transcripts::CLIENTS {
        let past = transcripts::find(client)?;
        if past.is_empty() {
            continue;
        }
        places.extend(past.iter().rev().filter_map(transcripts::Transcript::directory).take(MOST_PLACES));
        let report = take_past(world, client, true);
        found.push(Seen::of(Origin::Past(client), format!("past conversations of {client}"), report));
    }
    let bar = bar("files");
    let files = [exports(), notes_of_assistants(&dirs), notes_of_repositories(world, &places)?].concat();
    bar.set_length(files.len() as u64);
    let mut taken = BTreeSet::new();
    for path in files {
        bar.inc(1);
        // A link to notes that were read gives nothing more.
        if path.canonicalize().is_ok_and(|real| taken.insert(real)) {
            found.push(Seen::of(Origin::File(path.clone()), shown(&path, &dirs.home), take_in(world, &path, true)));
        }
    }
    bar.finish_and_clear();
    found.retain(|seen| seen.report.as_ref().is_err() || is_worth_a_line(seen));
    Ok(found)
}

/// Whether anything at all is in it, new or not.
fn is_worth_a_line(seen: &Seen) -> bool {
    let Ok(report) = &seen.report else { return true };
    let all = [&report.profile, &report.knowledge, &report.archive, &report.turns];
    seen.is_new() || all.iter().any(|tally| tally.here + tally.differing + tally.forgotten > 0)
}

/// Archives in the folder for downloads that are exports of ChatGPT or Claude.
fn exports() -> Vec<PathBuf> {
    let files = world::downloads().and_then(|folder| std::fs::read_dir(folder).ok());
    let mut zips: Vec<PathBuf> = files.into_iter().flatten().flatten().map(|file| file.path()).collect();
    zips.retain(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip")));
    zips.retain(|path| is_export_of(path, &[Format::ChatGpt, Format::Claude]));
    zips.sort();
    zips
}

/// What assistants keep about the person, and what the person tells all of them.
fn notes_of_assistants(dirs: &Dirs) -> Vec<PathBuf> {
    let own = |client| root(client, Platform::here(), dirs);
    let claude = own(Client::ClaudeCode);
    let mut files = vec![claude.join("CLAUDE.md"), own(Client::Codex).join("AGENTS.md")];
    files.retain(|path| path.is_file());
    let projects = std::fs::read_dir(claude.join("projects")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = projects.map(|project| project.path().join("memory")).collect();
    folders.sort();
    folders.extend([dirs.home.join(".hermes/memories"), dirs.home.join(".openclaw/workspace")]);
    folders.retain(|folder| has_notes(folder));
    files.extend(folders);
    files
}

fn has_notes(folder: &Path) -> bool {
    let is_note = |name: &str| folder.join(name).is_file();
    is_note("MEMORY.md") || is_note("USER.md")
}

/// The notes of the repositories in which conversations took place, and of this one.
fn notes_of_repositories(world: &World, places: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    let exclude = &world.engine.settings().exclude;
    let mut roots = BTreeSet::new();
    for place in places.iter().filter(|place| !exclude.covers_directory(place)) {
        roots.extend(world.engine.projects().at(place)?.and_then(|project| project.dir).map(PathBuf::from));
    }
    let notes = roots.iter().flat_map(|root| NOTES.map(|name| root.join(name)));
    Ok(notes.filter(|path| path.is_file()).collect())
}

/// A path as people write it.
fn shown(path: &Path, home: &Path) -> String {
    let below = path.strip_prefix(home).map(|below| format!("~/{}", below.display()));
    style::plain(&below.unwrap_or_else(|_| path.display().to_string()))
}

/// Decides; `chosen` are places in the list of what was seen.
pub(super) fn plan(seen: &[Seen], chosen: &[usize]) -> Vec<Step> {
    let step = |(nth, seen): (usize, &Seen)| {
        let action = match &seen.report {
            Err(_) => Action::Impossible,
            Ok(_) if !seen.is_new() => Action::Here,
            Ok(_) if chosen.contains(&nth) => Action::Import,
            Ok(_) => Action::Leave,
        };
        seen.step(action)
    };
    seen.iter().enumerate().map(step).collect()
}

/// Takes in what is to be taken in.
pub(super) fn act(world: &World, steps: &[Step], done: &mut Done) {
    for step in steps.iter().filter(|step| step.action == Action::Import) {
        let report = match &step.origin {
            Origin::Past(client) => take_past(world, *client, false),
            Origin::File(path) => take_in(world, path, false),
        };
        match report {
            Ok(_) => done.did(format!("took in {}: {}", step.name, step.counted())),
            Err(failure) => done.failed(format!("{} was not taken in: {failure}", step.name)),
        }
    }
}
