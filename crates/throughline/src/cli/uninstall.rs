//! `throughline uninstall`: takes back what connecting and setting up did, and erases the data where the person says so.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Serialize;
use serde_json::json;
use throughline_clients::Client;
use throughline_clients::connect::Scope;
use throughline_core::engine::chain;
use throughline_core::ports::ErasureScope;

use super::failure::Failure;
use super::reply::Reply;
use super::setup::clients::parts;
use super::setup::plan::Done;
use super::setup::service;
use super::{Answer, status, style};
use crate::connections::{Machine, Mode, Outcome, is_changed};
use crate::world::{Home, World, cache_dir, current_dir};
use crate::{config, daemon, exports};

/// Take back what setup did, and ask about the data
///
/// Our entries go from the settings of all assistants, which are then what they were before, and the service goes. Your memory
/// stays, unless you say otherwise. The program itself is removed as it was installed.
#[derive(Args)]
pub(super) struct Uninstall {
    /// Erase the memory too: everything that was ever stored, its backups and exports, the configuration
    #[arg(long)]
    data: bool,
    /// Ask nothing; without --data, the memory stays
    #[arg(long)]
    yes: bool,
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[arg(from_global)]
    json: bool,
}

/// What uninstall does, decided before anything is done.
#[derive(Serialize)]
struct Plan {
    clients: Vec<ClientStep>,
    service: service::Step,
    data: DataStep,
}

/// An assistant whose settings have something of ours, for the person or in a directory.
#[derive(Serialize)]
struct ClientStep {
    client: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<PathBuf>,
    files: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip)]
    scope: Scope,
}

/// What becomes of the memory.
#[derive(Debug, Clone, Serialize)]
struct DataStep {
    action: Data,
    directories: Vec<PathBuf>,
    /// Exports and backups that it wrote elsewhere: erasing the memory removes them too.
    copies: Vec<PathBuf>,
    holds: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Data {
    Keep,
    Erase,
    /// There is no memory.
    Absent,
}

impl Uninstall {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let machine = Machine::here()?;
        let world = if has_memory(&home)? { Some(World::open()?) } else { None };
        let seen = service::look(&home)?;
        let mut plan = plan(&machine, world.as_ref(), &home, &seen, self.data)?;
        let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let is_asked = !self.yes && !self.dry_run && !self.json && has_terminal;
        if self.dry_run || !is_asked && !self.yes {
            let why = if self.dry_run { "" } else { ": `--yes` does what is above" };
            let body = json!({ "dry_run": true, "changed": false, "plan": plan });
            return Ok(Reply::new(&body, format!("{}nothing was changed{why}\n", plan.told())).or_failed(!self.dry_run));
        }
        if is_asked {
            anstream::print!("{}", plan.told());
            plan.data.action = asked(&plan.data)?;
        }
        if plan.data.action == Data::Erase && !seen.ends_the_daemon() {
            return Err(Failure::daemon_runs(&home));
        }
        self.act(&machine, &plan, world, &home)
    }

    fn act(&self, machine: &Machine, plan: &Plan, world: Option<World>, home: &Home) -> Answer {
        let changed = !plan.clients.is_empty()
            || plan.service.action == service::Action::Remove
            || plan.data.action == Data::Erase;
        let mut done = Done::begin(self.json);
        for step in &plan.clients {
            disconnect(machine, step, &mut done);
        }
        service::remove(&plan.service, &mut done);
        if plan.data.action == Data::Erase {
            erase(world, home, &mut done);
        }
        let mut text = done.told();
        text.push_str(if changed { "" } else { "nothing of ours was found: nothing was changed\n" });
        if plan.data.action == Data::Keep {
            text.push_str(&format!("your memory stays in {}\n", shown(&plan.data.directories)));
        }
        text.push_str(
            "the program goes as it came: `cargo uninstall throughline`, `apt-get remove throughline`, or delete it\n",
        );
        let body = json!({
            "dry_run": false, "changed": changed, "plan": plan, "done": done.done, "problems": done.problems,
            "notes": done.notes,
        });
        Ok(Reply::new(&body, text).or_failed(!done.problems.is_empty()))
    }
}

fn has_memory(home: &Home) -> Result<bool, Failure> {
    Ok(config::find(&home.config)?.is_some() || home.database().exists())
}

/// Looks and decides; changes nothing.
fn plan(
    machine: &Machine,
    world: Option<&World>,
    home: &Home,
    seen: &service::Seen,
    erases: bool,
) -> Result<Plan, Failure> {
    let mut scopes = vec![Scope::User];
    scopes.extend(directories(world)?.into_iter().map(Scope::Project));
    let clients = scopes
        .iter()
        .flat_map(|scope| Client::ALL.into_iter().filter_map(|client| client_step(machine, client, scope)));
    let holds = world.map(|world| world.engine.health().overview()).transpose()?;
    let action = match (world.is_some(), erases) {
        (false, _) => Data::Absent,
        (true, true) => Data::Erase,
        (true, false) => Data::Keep,
    };
    let mut directories = vec![home.data.clone(), home.config.clone()];
    directories.dedup();
    let copies = copies(world, &directories)?;
    let data = DataStep { action, directories, copies, holds: holds.as_ref().map(status::holds) };
    Ok(Plan { clients: clients.collect(), service: seen.plan_removal(), data })
}

/// Exports and backups outside of the memory's directories.
fn copies(world: Option<&World>, directories: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let Some(world) = world else { return Ok(Vec::new()) };
    let all = world.engine.transfer().exports()?.into_iter().map(PathBuf::from);
    let is_elsewhere = |path: &PathBuf| path.is_file() && !directories.iter().any(|place| path.starts_with(place));
    Ok(all.filter(is_elsewhere).collect())
}

/// Where assistants may be connected for a directory alone: registered projects, and here.
fn directories(world: Option<&World>) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut all: BTreeSet<PathBuf> = current_dir().into_iter().collect();
    if let Some(world) = world {
        all.extend(world.engine.projects().all()?.into_iter().filter_map(|project| project.dir).map(PathBuf::from));
    }
    Ok(all)
}

/// What is ours in an assistant's settings; none where nothing is.
fn client_step(machine: &Machine, client: Client, scope: &Scope) -> Option<ClientStep> {
    let step = |files, problem| {
        let directory = match scope {
            Scope::User => None,
            Scope::Project(directory) => Some(directory.clone()),
        };
        ClientStep { client: client.as_str(), directory, files, problem, scope: scope.clone() }
    };
    let looked = machine.look(client, scope);
    if !looked.iter().any(|(_, found)| found.as_ref().is_ok_and(|found| !found.is_nothing())) {
        return None;
    }
    Some(match machine.disconnect(client, scope, Mode::Show) {
        Ok(files) if !is_changed(&files) => return None,
        Ok(files) => {
            let changed = files.into_iter().filter(|file| file.outcome != Outcome::Unchanged);
            step(changed.map(|file| file.path).collect(), None)
        }
        Err(error) => step(Vec::new(), Some(chain(&error))),
    })
}

impl Plan {
    fn told(&self) -> String {
        let mut text = String::new();
        for step in &self.clients {
            let place = step.directory.as_ref().map(|place| format!(" in {}", place.display())).unwrap_or_default();
            let what = match &step.problem {
                Some(problem) => format!("{} cannot be disconnected: {problem}", step.client),
                None => format!("disconnect {}{place}: {}", step.client, shown(&step.files)),
            };
            text.push_str(&format!("  {}\n", style::plain(&what)));
        }
        match self.service.action {
            service::Action::Remove => {
                text.push_str(&format!("  remove the service: {}\n", self.service.file.display()))
            }
            service::Action::Leave => text.push_str("  leave the service: its file was changed by hand\n"),
            _ => {}
        }
        let holds = self.data.holds.as_deref().unwrap_or_default();
        let places = shown(&self.data.directories);
        text.push_str(&match self.data.action {
            Data::Keep => format!("  keep your memory in {places}: {holds}\n"),
            Data::Erase => format!("  {} your memory in {places}: {holds}\n", "erase".red().bold()),
            Data::Absent => "  no memory is here\n".to_owned(),
        });
        if !self.data.copies.is_empty() {
            let copies = shown(&self.data.copies);
            text.push_str(&match self.data.action {
                Data::Erase => {
                    format!("  {} what was exported to {copies}: copy it first to keep it\n", "delete".red().bold())
                }
                _ => format!("  keep what was exported to {copies}\n"),
            });
        }
        text
    }
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| style::plain(&path.display().to_string())).collect::<Vec<_>>().join(", ")
}

/// What the person wants of their data. Enter takes all else back and keeps the memory.
fn asked(data: &DataStep) -> Result<Data, Failure> {
    let question = match data.action {
        Data::Absent => "Enter does this, Ctrl-C nothing: ",
        Data::Keep => {
            "Enter does this and keeps your memory; `erase` erases it too, with its exports, and no undo brings it back; Ctrl-C does nothing: "
        }
        Data::Erase => {
            "Type `erase` to erase your memory too, which no undo brings back; Enter keeps it; Ctrl-C does nothing: "
        }
    };
    let mut editor = rustyline::DefaultEditor::new().map_err(stopped)?;
    let line = editor.readline(question).map_err(stopped)?;
    match line.trim() {
        "" => Ok(if data.action == Data::Absent { Data::Absent } else { Data::Keep }),
        "erase" if data.action != Data::Absent => Ok(Data::Erase),
        _ => Err(Failure::new("that was neither Enter nor `erase`", "run it again; nothing was changed")),
    }
}

fn stopped(error: rustyline::error::ReadlineError) -> Failure {
    Failure::new(format!("nothing was changed ({error})"), "`throughline uninstall` begins again")
}

fn disconnect(machine: &Machine, step: &ClientStep, done: &mut Done) {
    let Ok(client) = step.client.parse::<Client>() else { return };
    match machine.disconnect(client, &step.scope, Mode::Do) {
        // In the home directory, the settings of a project may be those of the person, which come first.
        Ok(files) if !is_changed(&files) => {}
        Ok(files) => {
            let place = step.directory.as_ref().map(|place| format!(" in {}", place.display())).unwrap_or_default();
            done.did(format!("disconnected {client}{}: {}", style::plain(&place), parts(&files)));
        }
        Err(error) => done.failed(format!("{client} was not disconnected: {}", chain(&error))),
    }
}

/// Erases everything in the store and every copy that is known, then removes the files.
fn erase(world: Option<World>, home: &Home, done: &mut Done) {
    if let Some(world) = &world {
        match exports::erase_scope(world, &ErasureScope::Everything) {
            Ok(erased) => {
                let unreached = erased.erased.unreached.iter();
                done.notes.extend(unreached.map(|place| format!("not reached: {}", style::plain(place))));
            }
            Err(error) => return done.failed(format!("the memory was not erased: {}", chain(&error))),
        }
    }
    // The store is closed before its files go.
    drop(world);
    if daemon::is_running(home) {
        return done.failed("a daemon was started meanwhile: its files stay, and hold nothing any more".to_owned());
    }
    let mut left = Vec::new();
    for directory in [Some(home.data.clone()), Some(home.config.clone()), cache_dir()].into_iter().flatten() {
        left.extend(remove_own(&directory));
    }
    left.sort();
    left.dedup();
    done.did("erased your memory".to_owned());
    if !left.is_empty() {
        done.notes.push(format!("not ours, and left: {}", shown(&left)));
    }
}

/// Names in a home that this program gives.
const OWN: [&str; 13] = [
    "memory.",
    "config.",
    "token",
    "daemon.",
    "channel-",
    "chat-history",
    "vault",
    "backups",
    "spool",
    "user",
    "unsaved-",
    "sampling",
    "bench-vectors",
];

/// Ends of such names.
const OWN_ENDS: [&str; 2] = [".lock", ".key"];

/// Removes what this program put into a directory, and the directory where nothing else is in it; gives what else is.
fn remove_own(directory: &Path) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_own = OWN.iter().any(|own| name.starts_with(own)) || OWN_ENDS.iter().any(|end| name.ends_with(end));
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = match (is_own, is_directory) {
            (false, _) => false,
            (true, true) => std::fs::remove_dir_all(entry.path()).is_ok(),
            (true, false) => std::fs::remove_file(entry.path()).is_ok(),
        };
        if !removed {
            left.push(entry.path());
        }
    }
    let _ = std::fs::remove_dir(directory);
    left
}
