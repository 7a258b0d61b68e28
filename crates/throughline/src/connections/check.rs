//! What `doctor` says about clients: whether those that are connected still can reach us.

use std::path::Path;
use std::process::{Command, Stdio};

use throughline_clients::Client;
use throughline_clients::connect::{Found, Part, Scope};

use super::Machine;

/// A line for everything that keeps a connected client from the memory.
pub(crate) fn remarks() -> Vec<String> {
    // A machine of which nothing can be told has no connected clients either.
    let Ok(machine) = Machine::here() else { return Vec::new() };
    Client::ALL.into_iter().flat_map(|client| machine.remarks(client)).collect()
}

impl Machine {
    fn remarks(&self, client: Client) -> Vec<String> {
        let mut remarks = Vec::new();
        let mut whole = Found::default();
        for (path, found) in self.look(client, &Scope::User) {
            match found {
                Ok(found) => {
                    whole.whole.extend(found.whole);
                    whole.partly.extend(found.partly);
                    whole.programs.extend(found.programs);
                    whole.hooks_are_off |= found.hooks_are_off;
                }
                Err(unread) if unread.is_about_us => {
                    remarks.push(format!("{client}: {} cannot be read: {}", path.display(), unread.problem));
                }
                Err(_) => {}
            }
        }
        // Of what cannot be read nothing more can be said.
        if whole.is_nothing() || !remarks.is_empty() {
            return remarks;
        }
        whole.programs.sort();
        whole.programs.dedup();
        remarks.extend(whole.programs.iter().filter_map(|program| self.doubt(client, program)));
        remarks.extend(self.gaps(client, &whole));
        remarks
    }

    /// What is missing of what a client can have.
    fn gaps(&self, client: Client, found: &Found) -> Vec<String> {
        let has = |part| self.targets(client, &Scope::User).iter().any(|target| target.parts().any(|own| own == part));
        let is_missing = |part: &Part| has(*part) && !found.whole.contains(part);
        let missing: Vec<&str> = [Part::Mcp, Part::Hooks].into_iter().filter(is_missing).map(Part::as_str).collect();
        let mut gaps = Vec::new();
        if !missing.is_empty() {
            let what = missing.join(" and ");
            gaps.push(format!(
                "{client} is connected without {what}: `throughline connect {client}` enters what is missing"
            ));
        }
        if found.hooks_are_off && found.whole.contains(&Part::Hooks) {
            gaps.push(format!("{client} is told to run no hooks, so it neither gets nor gives memories by itself"));
        }
        gaps
    }

    /// What is wrong with the program that a client runs.
    fn doubt(&self, client: Client, program: &str) -> Option<String> {
        let mends = format!("`throughline connect {client}` mends it");
        // A bare name is looked for on the client's own path, which nobody but the client knows.
        if program == self.program || !program.contains(['/', '\\']) {
            return None;
        }
        if !Path::new(program).is_file() {
            return Some(format!("{client} runs {program}, which is not there: {mends}"));
        }
        let same = |path: &str| Path::new(path).canonicalize().ok();
        if same(program).is_some_and(|there| Some(there) == same(&self.program)) {
            return None;
        }
        let asked = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        let version = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
        let own = format!("throughline {}", env!("CARGO_PKG_VERSION"));
        (version != own).then(|| format!("{client} runs {program}, which is not {own}: {mends}"))
    }
}
