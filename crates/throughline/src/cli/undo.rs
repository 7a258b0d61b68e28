//! `throughline undo`

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use jiff::Zoned;
use serde_json::json;
use throughline_core::engine::Undone;
use throughline_core::model::{Source, Verb};
use throughline_core::ports::Undoable;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Revert the last change
#[derive(Args)]
pub(super) struct Undo {
    /// Leave the last change as it is, so that the next `undo` reverts the one before
    #[arg(long)]
    skip: bool,
    /// Show what would be reverted, and change nothing
    #[arg(long, conflicts_with = "skip")]
    dry_run: bool,
    /// Ask nothing, whoever made the change
    #[arg(long)]
    yes: bool,
    #[arg(from_global)]
    json: bool,
}

impl Undo {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        if self.skip {
            let left = world.engine.history().skip()?;
            let text = format!("`{}` of {} stays as it is\n", left.verb, style::date(left.at, &now));
            return Ok(Reply::new(&left, text));
        }
        if self.dry_run {
            let last = world.engine.history().undoable()?;
            let body = json!({ "dry_run": true, "change": last.change, "would_revert": touched(&last) });
            return Ok(Reply::new(&body, format!("{}nothing was changed\n", shown(&last, &now))));
        }
        let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if has_terminal && !self.yes && !self.json {
            agreed(world, &now)?;
        }
        let undone = world.engine.history().undo()?;
        let (verb, when) = (undone.undone.verb, style::date(undone.undone.at, &now));
        let mut text = format!("undid `{verb}` of {when} by {}\n", style::who(undone.undone.actor.who));
        for memory in &undone.memories {
            text.push_str(&style::memory(memory, &now));
        }
        for name in &undone.documents {
            text.push_str(&format!("{name} is as it was before\n"));
        }
        for task in &undone.tasks {
            text.push_str(&format!("the task {} is as it was before\n", style::short(task.as_str())));
        }
        for project in &undone.projects {
            text.push_str(&format!("the project {project} is as it was before\n"));
        }
        text.push_str(&back(&undone));
        Ok(Reply::new(&undone, text))
    }
}

/// How what was undone comes back: there is no redo.
fn back(undone: &Undone) -> String {
    match (undone.memories.as_slice(), undone.documents.as_slice()) {
        ([memory], []) if undone.undone.verb == Verb::Forget => {
            format!("`throughline forget {}` forgets it again\n", style::short(memory.entry.id.as_str()))
        }
        ([memory], []) if memory.entry.version > 1 => {
            let (id, version) = (style::short(memory.entry.id.as_str()), memory.entry.version - 1);
            format!("`throughline restore {id} {version}` brings back what was undone\n")
        }
        ([], []) => String::new(),
        _ => "`throughline restore ID VERSION` brings one back; `throughline history ID` numbers the versions\n"
            .to_owned(),
    }
}

/// Asks first where somebody else made the last change: the person may not know of it.
fn agreed(world: &World, now: &Zoned) -> Result<(), Failure> {
    let last = world.engine.history().undoable()?;
    if last.change.actor.who == Source::User {
        return Ok(());
    }
    anstream::print!("{}Undo it? [y/N] ", shown(&last, now));
    let _ = std::io::stdout().flush();
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(|error| Failure::io("read the answer", &error))?;
    if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        let hint =
            "`throughline undo --skip` leaves this change as it is, for the next `undo` to revert the one before";
        return Err(Failure::new("not agreed: nothing was changed", hint));
    }
    if world.engine.history().undoable()?.change.id != last.change.id {
        return Err(Failure::new("something else was changed meanwhile: nothing was undone", "run the command again"));
    }
    Ok(())
}

/// The change, and what it touched.
fn shown(last: &Undoable, now: &Zoned) -> String {
    let (verb, who) = (last.change.verb, style::who(last.change.actor.who));
    let mut text = format!("the last change: `{verb}` of {} by {who}\n", style::date(last.change.at, now));
    for line in touched(last) {
        text.push_str(&format!("  {}\n", style::one_line(&line, style::width().saturating_sub(2))));
    }
    text
}

/// What a change touched, a line each.
fn touched(last: &Undoable) -> Vec<String> {
    let entries = last.entries.iter().map(|(now, _)| format!("{} {}", style::short(now.id.as_str()), now.content));
    let documents = last.documents.iter().map(|(name, ..)| name.to_string());
    let tasks = last.tasks.iter().map(|(task, _)| format!("the task {}", task.title));
    let threads = last.threads.iter().map(|(thread, _)| format!("the thread {}", thread.title));
    let projects = last.projects.iter().map(|(project, _)| format!("the project {}", project.name));
    entries.chain(documents).chain(tasks).chain(threads).chain(projects).collect()
}
