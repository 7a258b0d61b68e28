//! The assistants on this machine: which are here, and which are connected.

use serde::Serialize;
use throughline_clients::Client;
use throughline_clients::connect::Scope;
use throughline_core::engine::chain;

use super::plan::Done;
use crate::cli::style;
use crate::connections::{Machine, Mode, Outcome, Step as FileStep, Wanted};

/// An assistant that is here.
pub(in crate::cli) struct Seen {
    pub(in crate::cli) client: Client,
    /// Whether every entry of ours is there as it should be.
    pub(in crate::cli) is_connected: bool,
    /// Why it cannot be connected.
    pub(in crate::cli) problem: Option<String>,
}

/// What becomes of an assistant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Step {
    pub(in crate::cli) client: &'static str,
    pub(in crate::cli) action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Action {
    Connect,
    /// It is connected already.
    Connected,
    /// The person does not want it.
    Leave,
    /// Its settings cannot be changed.
    Impossible,
}

/// Looks for assistants. What connecting would change is asked of the code that connects.
pub(super) fn look(machine: &Machine) -> Vec<Seen> {
    let here = Client::ALL.into_iter().filter(|client| machine.has(*client));
    let seen = |client| match machine.connect(client, &Scope::User, Wanted::USUAL, Mode::Show) {
        Ok(steps) => {
            let is_connected = steps.iter().all(|step| step.outcome == Outcome::Unchanged);
            Seen { client, is_connected, problem: None }
        }
        Err(error) => Seen { client, is_connected: false, problem: Some(chain(&error)) },
    };
    here.map(seen).collect()
}

/// Those that could be connected and are not.
pub(super) fn open(seen: &[Seen]) -> Vec<Client> {
    seen.iter().filter(|seen| !seen.is_connected && seen.problem.is_none()).map(|seen| seen.client).collect()
}

/// Decides.
pub(super) fn plan(seen: &[Seen], chosen: &[Client]) -> Vec<Step> {
    let step = |seen: &Seen| {
        let action = match &seen.problem {
            Some(_) => Action::Impossible,
            None if seen.is_connected => Action::Connected,
            None if chosen.contains(&seen.client) => Action::Connect,
            None => Action::Leave,
        };
        Step { client: seen.client.as_str(), action, problem: seen.problem.clone() }
    };
    seen.iter().map(step).collect()
}

/// Connects what is to be connected. What several assistants need is said once.
pub(super) fn act(machine: &Machine, steps: &[Step], done: &mut Done) {
    let mut needed: Vec<(String, Vec<Client>)> = Vec::new();
    for step in steps.iter().filter(|step| step.action == Action::Connect) {
        let Ok(client) = step.client.parse::<Client>() else { continue };
        match machine.connect(client, &Scope::User, Wanted::USUAL, Mode::Do) {
            Ok(files) => {
                done.did(format!("connected {client}: {}", parts(&files)));
                for remark in machine.remarks_after(client, &files, true) {
                    match needed.iter_mut().find(|(known, _)| *known == remark) {
                        Some((_, clients)) => clients.push(client),
                        None => needed.push((remark, vec![client])),
                    }
                }
            }
            Err(error) => done.failed(format!("{client} was not connected: {}", chain(&error))),
        }
    }
    for (remark, clients) in needed {
        let names: Vec<String> = clients.iter().map(Client::to_string).collect();
        done.notes.push(format!("{}: {remark}", names.join(", ")));
    }
}

/// `mcp, hooks, guidance in 3 files`: what was changed.
pub(in crate::cli) fn parts(files: &[FileStep]) -> String {
    let changed: Vec<&FileStep> = files.iter().filter(|file| file.outcome != Outcome::Unchanged).collect();
    let mut parts: Vec<&str> = changed.iter().flat_map(|file| file.parts.iter().copied()).collect();
    parts.dedup();
    format!("{} in {}", parts.join(", "), style::count(changed.len() as u64, "file", "files"))
}
