//! `throughline connect`, `throughline disconnect`

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use owo_colors::OwoColorize as _;
use serde::Serialize;
use serde_json::{Value, json};
use throughline_clients::Client;
use throughline_clients::connect::{Found, Scope};
use throughline_core::engine::chain;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::connections::{ConnectError, Guidance, Machine, Mode, Outcome, Step, Unread, Wanted, is_changed};

/// Connect an assistant to the memory, or list those that are here
#[derive(Args)]
#[command(group = ArgGroup::new("which").args(["client", "all"]))]
pub(super) struct Connect {
    /// Which one; without it, lists what is on this machine and what is connected
    #[arg(value_parser = client())]
    client: Option<Client>,
    /// Every assistant on this machine
    #[arg(long, conflicts_with = "client")]
    all: bool,
    #[command(flatten)]
    place: Place,
    /// Leave the hooks as they are
    #[arg(long, requires = "which")]
    no_hooks: bool,
    /// Leave the MCP server as it is
    #[arg(long, requires = "which")]
    no_mcp: bool,
    /// Also put guidance into instruction files that you write yourself, between two marks
    #[arg(long, requires = "which", conflicts_with = "no_guidance")]
    guidance: bool,
    /// Leave out the guidance for the assistant
    #[arg(long, requires = "which")]
    no_guidance: bool,
}

/// Take our entries out of an assistant's settings
#[derive(Args)]
pub(super) struct Disconnect {
    /// Which one
    #[arg(value_parser = client())]
    client: Client,
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
struct Place {
    /// Only for the current directory, where the assistant has settings for that
    #[arg(long)]
    project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::as_str)).try_map(|name| name.parse::<Client>())
}

impl Place {
    fn mode(&self) -> Mode {
        if self.dry_run { Mode::Show } else { Mode::Do }
    }
}

impl Connect {
    pub(super) fn run(self) -> Answer {
        let machine = Machine::here()?;
        if self.client.is_none() && !self.all {
            return list(&machine);
        }
        let wanted = self.wanted();
        if !wanted.mcp && !wanted.hooks && wanted.guidance == Guidance::No {
            return Err(Failure::new("nothing is left to connect", "leave out one of the `--no-…` options"));
        }
        let scope = Machine::scope(self.place.project)?;
        let Some(client) = self.client else { return self.connect_all(&machine, &scope) };
        let steps = machine.connect(client, &scope, wanted, self.place.mode())?;
        let (body, text) = self.connected(&machine, client, &steps);
        Ok(Reply::new(&body, text))
    }

    /// Every assistant that is here. One that cannot be connected keeps no other from it.
    fn connect_all(&self, machine: &Machine, scope: &Scope) -> Answer {
        let (mut text, mut clients, mut problems) = (String::new(), Vec::new(), Vec::new());
        for client in Client::ALL.into_iter().filter(|client| machine.has(*client)) {
            match machine.connect(client, scope, self.wanted(), self.place.mode()) {
                Ok(steps) => {
                    let (body, told) = self.connected(machine, client, &steps);
                    clients.push(body);
                    text.push_str(&told);
                }
                Err(ConnectError::NoProject(_)) => {}
                Err(error) => {
                    let told = format!("{client}: {}", chain(&error));
                    text.push_str(&format!("{} {}\n", "not connected:".yellow().bold(), style::plain(&told)));
                    problems.push(told);
                }
            }
        }
        if clients.is_empty() && problems.is_empty() {
            let hint =
                "`throughline connect` lists those that are known; `throughline connect NAME` enters one all the same";
            return Err(Failure::new("no assistant that can be connected was found on this machine", hint));
        }
        let failed = !problems.is_empty();
        Ok(Reply::new(&json!({ "clients": clients, "problems": problems }), text).or_failed(failed))
    }

    fn connected(&self, machine: &Machine, client: Client, steps: &[Step]) -> (Value, String) {
        let mut remarks = machine.remarks_after(client, steps, !self.no_hooks);
        if self.place.project && is_changed(steps) {
            remarks.push("the settings name a program on this machine: keep them out of what you share".to_owned());
        }
        told(client, &self.place, steps, &remarks, Done::Connected)
    }

    fn wanted(&self) -> Wanted {
        let guidance = match (self.guidance, self.no_guidance) {
            (true, _) => Guidance::Everywhere,
            (_, true) => Guidance::No,
            _ => Guidance::Own,
        };
        Wanted { mcp: !self.no_mcp, hooks: !self.no_hooks, guidance }
    }
}

impl Disconnect {
    pub(super) fn run(self) -> Answer {
        let machine = Machine::here()?;
        let scope = Machine::scope(self.place.project)?;
        let steps = machine.disconnect(self.client, &scope, self.place.mode())?;
        let (body, text) = told(self.client, &self.place, &steps, &[], Done::Disconnected);
        Ok(Reply::new(&body, text))
    }
}

/// Which of the two was done.
enum Done {
    Connected,
    Disconnected,
}

fn told(client: Client, place: &Place, steps: &[Step], remarks: &[String], done: Done) -> (Value, String) {
    let changed: Vec<&Step> = steps.iter().filter(|step| step.outcome != Outcome::Unchanged).collect();
    let mut text: String = if place.dry_run {
        changed
            .iter()
            .map(|step| style::difference(&step.path.display().to_string(), &step.before, &step.after))
            .collect()
    } else {
        changed.iter().map(|step| line(step)).collect()
    };
    text.push_str(&match (changed.is_empty(), place.dry_run, done) {
        (true, _, Done::Connected) => format!("{client} is connected already\n"),
        (true, _, Done::Disconnected) => format!("{client} has nothing of ours\n"),
        (_, true, _) => "this would change; nothing was written\n".to_owned(),
        (_, _, Done::Connected) => format!("{client} is {}\n", "connected".green()),
        (_, _, Done::Disconnected) => format!("{client} is {}\n", "disconnected".green()),
    });
    for remark in remarks {
        text.push_str(&format!("{} {remark}\n", "note:".yellow().bold()));
    }
    let scope = if place.project { "project" } else { "user" };
    let body = json!({ "client": client.as_str(), "scope": scope, "dry_run": place.dry_run, "files": steps, "remarks": remarks });
    (body, text)
}

/// `written  ~/.claude.json (mcp)`
fn line(step: &Step) -> String {
    let what = step.outcome.as_str();
    let path = style::plain(&step.path.display().to_string());
    format!("  {} {path} {}\n", format!("{what:<8}").green(), format!("({})", step.parts.join(", ")).dimmed())
}

/// A client on this machine.
#[derive(Serialize)]
struct Listed {
    client: &'static str,
    installed: bool,
    user: Connected,
    project: Connected,
}

/// What of ours is in its settings.
#[derive(Default, Serialize)]
struct Connected {
    /// The parts that are there as a whole.
    parts: Vec<&'static str>,
    /// Those of which some is missing.
    partly: Vec<&'static str>,
    programs: Vec<String>,
    /// Files that could not be read.
    unreadable: Vec<PathBuf>,
    /// What is wrong with those.
    #[serde(skip)]
    problems: Vec<String>,
}

fn list(machine: &Machine) -> Answer {
    let here = Machine::scope(true)?;
    let listed = |client: Client| Listed {
        client: client.as_str(),
        installed: machine.has(client),
        user: connected(machine.look(client, &Scope::User)),
        project: connected(only_here(machine, client, &here)),
    };
    let all: Vec<Listed> = Client::ALL.into_iter().map(listed).collect();
    let rows = all.iter().map(|one| {
        let here = if one.installed { "yes" } else { "-" };
        vec![one.client.to_owned(), here.to_owned(), one.user.to_string(), one.project.to_string()]
    });
    let mut text = style::table(&["client", "here", "connected", "in this directory"], rows.collect());
    for problem in all.iter().flat_map(|one| one.user.problems.iter().chain(&one.project.problems)) {
        text.push_str(&format!("{} {}\n", "note:".yellow().bold(), style::plain(problem)));
    }
    let mut open = all.iter().filter(|one| one.user.parts.is_empty() && one.user.problems.is_empty());
    if let Some(next) = open.clone().find(|one| one.installed).or_else(|| open.next()) {
        text.push_str(&format!("\n{} connects one\n", format!("throughline connect {}", next.client).cyan()));
    }
    Ok(Reply::new(&json!({ "clients": all }), text))
}

/// What a client's files in a directory say; in the home directory some of those are the person's own.
fn only_here(machine: &Machine, client: Client, here: &Scope) -> Vec<Looked> {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let own: Vec<PathBuf> = machine.look(client, &Scope::User).iter().map(|(path, _)| real(path)).collect();
    machine.look(client, here).into_iter().filter(|(path, _)| !own.contains(&real(path))).collect()
}

/// A file, and what of ours is in it.
type Looked = (PathBuf, Result<Found, Unread>);

fn connected(looked: Vec<Looked>) -> Connected {
    let mut all = Connected::default();
    for (path, found) in looked {
        match found {
            Ok(found) => {
                all.parts.extend(found.whole.iter().map(|part| part.as_str()));
                all.partly.extend(found.partly.iter().map(|part| part.as_str()));
                all.programs.extend(found.programs);
            }
            Err(unread) => {
                all.problems.push(format!("{} cannot be read: {}", path.display(), unread.problem));
                all.unreadable.push(path);
            }
        }
    }
    all.programs.sort();
    all.programs.dedup();
    all
}

impl std::fmt::Display for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = self.parts.iter().map(|part| (*part).to_owned());
        let partly = self.partly.iter().map(|part| format!("{part} in part"));
        let unreadable = self.unreadable.iter().filter_map(|path| path.file_name());
        let unreadable = unreadable.map(|name| format!("{} cannot be read", name.to_string_lossy()));
        let all: Vec<String> = whole.chain(partly).chain(unreadable).collect();
        f.write_str(if all.is_empty() { "-".to_owned() } else { all.join(", ") }.as_str())
    }
}
