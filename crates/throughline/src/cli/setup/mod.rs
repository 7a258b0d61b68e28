//! `throughline setup`: looks at this machine, decides, asks where a person is there, and does it. Each step is a file
//! beside this one: what it sees, what it decides, what it does.

pub(super) mod clients;
mod conversation;
mod model;
pub(super) mod plan;
mod profile;
pub(super) mod service;
mod sources;

use std::io::IsTerminal as _;
use std::sync::Arc;

use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Serialize;
use serde_json::json;
use throughline_server::Ahead;

use super::failure::Failure;
use super::import::ahead;
use super::reply::Reply;
use super::status::{self, State, next_commands};
use super::{Answer, style};
use crate::config;
use crate::connections::Machine;
use crate::models::available::available;
use crate::world::{Home, World, WorldClock};
use plan::{Choices, Done, Plan, Seen};

/// Set everything up in one short conversation
///
/// It connects the assistants on this machine, takes in past conversations and notes that are here, asks three questions for
/// your profile, offers a model, and has the daemon started as a service. It can be run again: what is done already is left
/// alone, and `throughline uninstall` takes everything back.
#[derive(Args)]
pub(super) struct Setup {
    /// Ask nothing, and do what costs nothing and sends nothing: all of it but a profile and another model
    #[arg(long)]
    yes: bool,
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[arg(from_global)]
    json: bool,
}

impl Setup {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let machine = Machine::here()?;
        let seen = look(&home, &machine)?;
        let is_asked = !self.yes && !self.dry_run && !self.json;
        let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if is_asked && has_terminal {
            return match conversation::ask(&seen)? {
                Some(choices) => self.act(&machine, &plan::plan(&seen, &choices)),
                None => Err(Failure::new("not agreed: nothing was changed", "`throughline setup` begins again")),
            };
        }
        let plan = plan::plan(&seen, &Choices::unasked(&seen));
        if self.yes && !self.dry_run {
            return self.act(&machine, &plan);
        }
        let why = if plan.is_empty() {
            "nothing was changed: there is nothing to do\n"
        } else if self.dry_run {
            "nothing was changed; `--yes` does this, and at a terminal `throughline setup` asks first\n"
        } else {
            "nothing was changed: there is no terminal to ask on; `--yes` does what is above\n"
        };
        let body = json!({ "dry_run": true, "changed": false, "plan": plan });
        Ok(Reply::new(&body, format!("{}{why}", plan.told())).or_failed(!self.dry_run))
    }

    /// Does what was decided. A step that fails keeps no other from being done.
    fn act(&self, machine: &Machine, plan: &Plan) -> Answer {
        let is_changed = !plan.is_empty();
        let mut done = Done::begin(self.json);
        if is_changed && !self.json {
            anstream::println!();
        }
        // First: the memory is opened with the model that reads what is taken in.
        model::act(&plan.model, &mut done);
        let world = World::open()?.here();
        clients::act(machine, &plan.clients, &mut done);
        sources::act(&world, &plan.imports, &mut done);
        profile::act(&world, &plan.profile, &mut done);
        service::act(&plan.service, &mut done);
        let ahead = plan.imports.iter().any(|step| step.action == sources::Action::Import && step.turns > 0);
        let ahead = if ahead { ahead::ahead(&world, true) } else { None };
        let learnt = Learnt::wait(&world, ahead, &mut done)?;
        self.tell(&world, plan, &done, learnt)
    }

    /// What is known now, and three things to try.
    fn tell(&self, world: &World, plan: &Plan, done: &Done, learnt: Option<Learnt>) -> Answer {
        let is_changed = !plan.is_empty();
        let overview = world.engine.health().overview()?;
        // A service that was just started has not said so yet.
        let state = State::of(world, &overview)?.after_setup(plan.service.starts());
        let of_learnt = learnt.iter().flat_map(|learnt| &learnt.newest).find_map(|text| status::telling(text));
        let question = of_learnt.or_else(|| status::question(world));
        let tries = next_commands(&state, question.as_deref());
        let mut text = learnt.as_ref().map(Learnt::told).unwrap_or_default() + &done.told();
        if !is_changed {
            let is_set_up = !plan.clients.is_empty() || !plan.imports.is_empty();
            let why = if is_set_up { "everything is set up" } else { "there is nothing to set up" };
            text.push_str(&format!("{}{why}: nothing was changed\n", plan.told()));
        }
        let known = format!("your memory holds {}", status::holds(&overview));
        let profile = world.engine.documents().profile()?.map(|(text, _)| style::plain(text.trim_end()));
        text.push_str(&format!("\n{}\n", known.bold()));
        text.push_str(&profile.map(|profile| format!("{profile}\n")).unwrap_or_default());
        text.push_str(&format!("\nTry next:\n{}", status::tries(&tries)));
        let tries: Vec<&str> = tries.iter().map(|(command, _)| command.as_ref()).collect();
        let body = json!({
            "dry_run": false, "changed": is_changed, "plan": plan, "done": done.done, "problems": done.problems,
            "notes": done.notes, "learnt": learnt, "known": overview, "try": tries,
        });
        Ok(Reply::new(&body, text).or_failed(!done.problems.is_empty()))
    }
}

/// How many of the new memories are shown.
const SHOWN: usize = 3;

/// What was learnt from conversations that were taken in, as far as it was done while the person waited.
#[derive(Serialize)]
struct Learnt {
    /// How many conversations were read, and how many are being read still.
    conversations: u64,
    left: u64,
    /// How many memories came of them, with the newest.
    memories: usize,
    newest: Vec<String>,
}

impl Learnt {
    /// Waits for what was begun in the background. None where nothing was.
    fn wait(world: &World, ahead: Option<Ahead>, done: &mut Done) -> Result<Option<Self>, Failure> {
        let Some(ahead) = ahead else { return Ok(None) };
        let before = world.engine.review().list(1, None)?.count;
        let (conversations, rest) = ahead::wait(world, ahead);
        done.notes.extend(rest.iter().map(|rest| ahead::told(rest).trim_end().to_owned()));
        if conversations == 0 {
            return Ok(None);
        }
        let known = world.engine.review().list(SHOWN, None)?;
        let memories = known.count.saturating_sub(before);
        let newest = known.items.into_iter().take(memories).map(|item| item.memory.entry.content).collect();
        Ok(Some(Self { conversations, left: rest.map_or(0, |rest| rest.conversations), memories, newest }))
    }

    fn told(&self) -> String {
        let conversations = style::count(self.conversations, "conversation", "conversations");
        let memories = style::count(self.memories as u64, "memory", "memories");
        let mut text = format!("{} {memories} from {conversations}\n", "learnt:".green());
        for line in &self.newest {
            text.push_str(&format!("{}\n", format!("  {}", style::one_line(line, style::width() - 2)).dimmed()));
        }
        let more = self.memories.saturating_sub(self.newest.len());
        if more > 0 && !self.newest.is_empty() {
            text.push_str(&format!("  and {more} more: `throughline review` shows them\n"));
        }
        text
    }
}

/// Looks at everything. Where there is no memory yet, none is made: what would be taken in is asked of one in a temporary
/// directory.
fn look(home: &Home, machine: &Machine) -> Result<Seen, Failure> {
    let is_new = config::find(&home.config)?.is_none() && !home.database().exists();
    let temporary = is_new.then(|| tempfile::Builder::new().prefix("throughline-setup-").tempdir()).transpose();
    let temporary = temporary.map_err(|error| Failure::io("make a temporary directory", &error))?;
    let world = match &temporary {
        Some(place) => World::open_trial(Home::at(place.path().to_owned()), Arc::new(WorldClock::from_environment()?))?,
        None => World::open()?,
    };
    Ok(Seen {
        clients: clients::look(machine),
        sources: sources::look(&world)?,
        profile: profile::look(&world)?,
        models: available(&world.config.config.model, home),
        service: service::look(home)?,
    })
}
