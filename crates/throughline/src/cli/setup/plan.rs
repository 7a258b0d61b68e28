//! What setup does, decided before anything is done: `--dry-run` prints it, `--json` returns it.

use owo_colors::OwoColorize as _;
use serde::Serialize;
use throughline_clients::Client;

use super::{clients, model, profile, service, sources};
use crate::cli::style;
use crate::models::available::Available;

/// What was found on this machine.
pub(super) struct Seen {
    pub(super) clients: Vec<clients::Seen>,
    pub(super) sources: Vec<sources::Seen>,
    /// How many lines the profile has.
    pub(super) profile: usize,
    pub(super) models: Vec<Available>,
    pub(super) service: service::Seen,
}

/// What the person chose.
#[derive(Default)]
pub(super) struct Choices {
    pub(super) clients: Vec<Client>,
    /// Places in the list of what was seen.
    pub(super) sources: Vec<usize>,
    /// One answer for each question, empty where it was skipped.
    pub(super) profile: Vec<String>,
    pub(super) model: Option<model::Chosen>,
    pub(super) service: bool,
}

impl Choices {
    /// What costs nothing and sends nothing: everything but another model, and no word about the person.
    pub(super) fn unasked(seen: &Seen) -> Self {
        Self {
            clients: clients::open(&seen.clients),
            sources: (0..seen.sources.len()).collect(),
            service: true,
            ..Self::default()
        }
    }
}

/// The steps, in the order in which they are done, but for the model, which comes first: what is taken in is read by it.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub(super) clients: Vec<clients::Step>,
    pub(super) imports: Vec<sources::Step>,
    pub(super) profile: profile::Step,
    pub(super) model: model::Step,
    pub(super) service: service::Step,
}

/// Decides; touches nothing.
pub(super) fn plan(seen: &Seen, choices: &Choices) -> Plan {
    Plan {
        clients: clients::plan(&seen.clients, &choices.clients),
        imports: sources::plan(&seen.sources, &choices.sources),
        profile: profile::Step { here: seen.profile, add: profile::lines(&choices.profile) },
        model: model::plan(&seen.models, choices.model.as_ref()),
        service: seen.service.plan(choices.service),
    }
}

impl Plan {
    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        !self.clients.iter().any(|step| step.action == clients::Action::Connect)
            && !self.imports.iter().any(|step| step.action == sources::Action::Import)
            && self.profile.add.is_empty()
            && self.model.choose.is_none()
            && self.service.action != service::Action::Install
    }

    /// For people, one line for each step.
    pub(super) fn told(&self) -> String {
        let mut rows = Vec::new();
        rows.extend(self.clients.iter().map(client_row));
        if self.clients.is_empty() {
            rows.push(("no", "assistant was found; `throughline connect` lists those that are known".to_owned()));
        }
        rows.extend(self.imports.iter().map(import_row));
        if self.imports.is_empty() {
            rows.push(("nothing", "to take in was found; docs/importing.md lists what there could be".to_owned()));
        }
        rows.push(self.profile_row());
        rows.push(self.model_row());
        rows.push(service_row(&self.service));
        let line = |(mark, text): (&str, String)| {
            let mark = format!("{mark:>MARK$}");
            let mark = if DOING.contains(&mark.trim()) { mark.green().to_string() } else { mark.dimmed().to_string() };
            let mut lines = style::wrapped(&style::plain(&text), MARK + 2);
            lines.replace_range(..MARK + 2, &format!("{mark}  "));
            lines
        };
        rows.into_iter().map(line).collect()
    }

    fn profile_row(&self) -> (&'static str, String) {
        match (self.profile.add.as_slice(), self.profile.here) {
            ([], 0) => (
                "later",
                "your profile is empty: `throughline setup` asks, `throughline profile --edit` writes it".to_owned(),
            ),
            ([], here) => ("here", format!("your profile: {}", style::count(here as u64, "line", "lines"))),
            (add, _) => ("write", format!("into your profile: {}", add.join(" / "))),
        }
    }

    fn model_row(&self) -> (&'static str, String) {
        match (self.model.choose, self.model.then_costs) {
            (Some(name), Some(costs)) => ("use", format!("the model {name}: {costs}")),
            _ => ("here", format!("the model {} ({})", self.model.now, self.model.costs)),
        }
    }
}

/// How wide the word in front of a step is.
const MARK: usize = 8;

/// The words of steps that change something.
const DOING: [&str; 5] = ["connect", "import", "write", "use", "install"];

fn client_row(step: &clients::Step) -> (&'static str, String) {
    let problem = step.problem.clone().unwrap_or_default();
    match step.action {
        clients::Action::Connect => ("connect", step.client.to_owned()),
        clients::Action::Connected => ("here", format!("{} is connected", step.client)),
        clients::Action::Leave => ("leave", step.client.to_owned()),
        clients::Action::Impossible => ("cannot", format!("connect {}: {problem}", step.client)),
    }
}

fn import_row(step: &sources::Step) -> (&'static str, String) {
    let problem = step.problem.clone().unwrap_or_default();
    match step.action {
        sources::Action::Import => ("import", format!("{}: {}", step.name, step.counted())),
        sources::Action::Here => ("here", format!("nothing new in {}", step.name)),
        sources::Action::Leave => ("leave", step.name.clone()),
        sources::Action::Impossible => ("cannot", format!("read {}: {problem}", step.name)),
    }
}

fn service_row(step: &service::Step) -> (&'static str, String) {
    let file = step.file.display();
    let reason = step.reason.clone().unwrap_or_default();
    match step.action {
        service::Action::Install => ("install", format!("the daemon as a service: {file}")),
        service::Action::Installed => ("here", format!("the service: {file}")),
        service::Action::Missing => ("no", format!("service: {reason}")),
        _ if reason.is_empty() => ("leave", "no service: `throughline serve` starts the daemon by hand".to_owned()),
        _ => ("leave", format!("the service: {reason}")),
    }
}

/// What was done, what went wrong, and what the person should know.
#[derive(Debug, Default, Serialize)]
pub(in crate::cli) struct Done {
    pub(in crate::cli) done: Vec<String>,
    pub(in crate::cli) problems: Vec<String>,
    pub(in crate::cli) notes: Vec<String>,
    /// Whether a program reads the answer.
    #[serde(skip)]
    is_quiet: bool,
}

impl Done {
    pub(in crate::cli) fn begin(is_quiet: bool) -> Self {
        Self { is_quiet, ..Self::default() }
    }

    /// Says at once what was done: some of it takes its time.
    pub(in crate::cli) fn did(&mut self, what: String) {
        if !self.is_quiet {
            anstream::println!("{} {what}", "done:".green());
        }
        self.done.push(what);
    }

    pub(in crate::cli) fn failed(&mut self, problem: String) {
        self.problems.push(style::plain(&problem));
    }

    /// Problems and notes, as people read them.
    pub(in crate::cli) fn told(&self) -> String {
        let problems = self.problems.iter().map(|problem| format!("{} {problem}\n", "problem:".red().bold()));
        let notes = self.notes.iter().map(|note| format!("{} {note}\n", "note:".yellow().bold()));
        problems.chain(notes).map(|line| style::wrapped(&line, 0)).collect()
    }
}
