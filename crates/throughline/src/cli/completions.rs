//! `throughline completions SHELL`, and what the shell is told while a line is typed: commands and options, and the ids and
//! names that are in the memory. Never happens: a memory that is made or changed by a key press.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use throughline_core::ports::Page;
use throughline_core::recall::Filter;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, Cli, groups, style};
use crate::world::{Home, World};
use crate::{backups, config};

/// Set by the script that the shell reads.
const ASKED: &str = "THROUGHLINE_COMPLETE";

/// So many are offered at most.
const MOST: usize = 300;

/// So many memories are read for what they have in common.
const MOST_READ: usize = 1000;

/// As much of a text as stands beside what it names.
const SHOWN: usize = 60;

/// Commands whose arguments of these names are memories.
const ON_MEMORIES: [&str; 9] = ["show", "edit", "forget", "mute", "correct", "merge", "history", "restore", "review"];

/// Commands whose arguments of these names are also documents.
const ON_DOCUMENTS: [&str; 2] = ["history", "restore"];

/// Print a completion script for your shell, which then knows your ids and names too
#[derive(Args)]
pub(super) struct Completions {
    /// Which shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Answer {
        let name = self.shell.to_string();
        let shells = Shells::builtins();
        let unknown =
            || Failure::new(format!("no completions for {name}"), "`throughline completions --help` lists them");
        let shell = shells.completer(&name).ok_or_else(unknown)?;
        let mut script = Vec::new();
        let written = shell.write_registration(ASKED, "throughline", "throughline", "throughline", &mut script);
        written.map_err(|error| Failure::io("write the script", &error))?;
        Ok(Reply::text(String::from_utf8_lossy(&script).into_owned()))
    }
}

/// Answers the shell, where it is the shell that asks.
pub(super) fn answer(args: &[OsString]) -> Option<ExitCode> {
    let command = || named(groups::grouped(Cli::command()), "");
    let asked = CompleteEnv::with_factory(command).var(ASKED).bin("throughline").completer("throughline");
    let current_dir = std::env::current_dir().ok();
    match asked.try_complete(args.iter().cloned(), current_dir.as_deref()) {
        Ok(is_answered) => is_answered.then_some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::from(2)),
    }
}

/// The same command, whose arguments know what there is. `above` is the command that it belongs to.
fn named(command: Command, above: &str) -> Command {
    let name = command.get_name().to_owned();
    let is_of_memories = ON_MEMORIES.contains(&name.as_str());
    let is_of_documents = ON_DOCUMENTS.contains(&name.as_str());
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "address" => arg.add(ArgValueCandidates::new(documents)),
        "id" if is_of_documents => arg.add(ArgValueCandidates::new(documents_and_memories)),
        "tags" => arg.add(ArgValueCandidates::new(tags)),
        "check" | "restore" if name == "backup" => arg.add(ArgValueCandidates::new(copies)),
        "key" if above == "config" => arg.add(ArgValueCandidates::new(keys)),
        "session" => arg.add(ArgValueCandidates::new(sessions)),
        "project" => arg.add(ArgValueCandidates::new(projects)),
        "task" => arg.add(ArgValueCandidates::new(tasks)),
        "name" if above == "project" => arg.add(ArgValueCandidates::new(projects)),
        "id" | "ids" | "memories" | "wrong" if is_of_memories => arg.add(ArgValueCandidates::new(memories)),
        _ => arg,
    });
    command.mut_subcommands(|below| named(below, &name))
}

/// The memory, where there is one: none is made for this.
fn open() -> Option<World> {
    let home = Home::find().ok()?;
    let is_there = config::find(&home.config).is_ok_and(|file| file.is_some()) && home.database().exists();
    if is_there { World::open().ok() } else { None }
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value.to_owned()).help(Some(style::one_line(help, SHOWN).into()))
}

/// Short ids and keys, with what they say.
fn memories() -> Vec<CompletionCandidate> {
    let Some(world) = open() else { return Vec::new() };
    let page = Page { limit: MOST, cursor: None };
    let listed = world.engine.memories().list(&Filter::recallable(world.engine.now()), &page);
    let mut candidates = Vec::new();
    for memory in listed.map(|listing| listing.memories).unwrap_or_default() {
        let entry = &memory.entry;
        candidates.extend(entry.key.as_ref().map(|key| candidate(key.as_str(), &entry.content)));
        candidates.push(candidate(&style::short(entry.id.as_str()), &entry.content));
    }
    candidates
}

/// What stands in front of tags that are links, and not for people to type.
const LINKS: [&str; 2] = ["project:", "task:"];

/// The tags of recent memories, the most frequent first.
fn tags() -> Vec<CompletionCandidate> {
    let Some(world) = open() else { return Vec::new() };
    let page = Page { limit: MOST_READ, cursor: None };
    let listed = world.engine.memories().list(&Filter::recallable(world.engine.now()), &page);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let listed = listed.map(|listing| listing.memories).unwrap_or_default();
    for tag in listed.iter().flat_map(|memory| &memory.entry.tags) {
        if !LINKS.iter().any(|link| tag.starts_with(link)) {
            *counts.entry(tag.clone()).or_default() += 1;
        }
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts.iter().take(MOST).map(|(tag, count)| candidate(tag, &style::count(*count, "memory", "memories"))).collect()
}

/// Documents, those that are not written yet included.
fn documents() -> Vec<CompletionCandidate> {
    let Some(world) = open() else { return Vec::new() };
    let listed = world.engine.documents().list().map(|shelf| shelf.documents).unwrap_or_default();
    listed.iter().map(|document| candidate(&document.name.to_string(), &document.title)).collect()
}

fn documents_and_memories() -> Vec<CompletionCandidate> {
    documents().into_iter().chain(memories()).collect()
}

/// The copies in the backups directory, newest first.
fn copies() -> Vec<CompletionCandidate> {
    let copies = Home::find().ok().and_then(|home| backups::list(&home).ok()).unwrap_or_default();
    copies.iter().take(MOST).map(|copy| candidate(&copy.name, &format!("{:.1} MB", copy.bytes as f64 / 1e6))).collect()
}

/// Settings. They are the same whatever the memory holds.
fn keys() -> Vec<CompletionCandidate> {
    config::keys().map(|(key, help)| candidate(&key, help)).collect()
}

fn sessions() -> Vec<CompletionCandidate> {
    let Some(world) = open() else { return Vec::new() };
    let states = world.engine.sessions().all().unwrap_or_default();
    let titled = |id| world.engine.sessions().title(id).unwrap_or_default();
    states
        .iter()
        .rev()
        .take(MOST)
        .map(|state| candidate(state.session.id.as_str(), &titled(&state.session.id)))
        .collect()
}

fn tasks() -> Vec<CompletionCandidate> {
    let Some(world) = open() else { return Vec::new() };
    let listed = world.engine.tasks().list(None, None).unwrap_or_default();
    listed.iter().map(|task| candidate(&style::short(task.id.as_str()), &task.title)).collect()
}

fn projects() -> Vec<CompletionCandidate> {
    let Some(world) = open() else { return Vec::new() };
    let listed = world.engine.projects().all().unwrap_or_default();
    let names: BTreeSet<(String, String)> =
        listed.into_iter().map(|project| (project.name.to_string(), project.dir.unwrap_or_default())).collect();
    names.into_iter().map(|(name, dir)| candidate(&name, &dir)).collect()
}
