//! What `doctor` says about clients: whether those that are connected still can reach us. Never happens: a program run
//! that is not called as ours is, or one waited for without end.

use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use throughline_clients::Client;
use throughline_clients::connect::{Found, Part, Scope, is_our_name};

use super::Machine;

/// How long a program may take to say which version it is, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// More than this is no version, in bytes.
const LONGEST_VERSION: u64 = 256;

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
                    whole.home = whole.home.or(found.home);
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
        remarks.extend(self.other_home(client, &whole));
        remarks
    }

    /// Says so where the server of a client is told of another memory than this process.
    fn other_home(&self, client: Client, found: &Found) -> Option<String> {
        if !found.whole.contains(&Part::Mcp) || found.home == self.home {
            return None;
        }
        let here = self.home.as_deref().unwrap_or("not set");
        let there = found.home.as_deref().unwrap_or("not set");
        let mends = match self.home {
            Some(_) => format!("`throughline connect {client}` enters it"),
            None => format!("take it out of the `throughline` server of {client}, or set it here too"),
        };
        Some(format!(
            "{client} may use another memory: THROUGHLINE_HOME is {here} here and {there} for its MCP server: {mends}"
        ))
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
        if !is_our_name(program) {
            return Some(format!(
                "{client} runs {program}, which is not called throughline, so it was not asked: {mends}"
            ));
        }
        let own = format!("throughline {}", env!("CARGO_PKG_VERSION"));
        let version = version(program).unwrap_or_default();
        (version != own).then(|| format!("{client} runs {program}, which is not {own}: {mends}"))
    }
}

/// The first line of what a program says to `--version`; nothing where it says nothing in time. Its output goes to a file, since a pipe may
/// be kept open by what it starts.
fn version(program: &str) -> io::Result<String> {
    let mut said = tempfile::tempfile()?;
    let mut asked = Command::new(program);
    let mut process =
        asked.arg("--version").stdin(Stdio::null()).stdout(said.try_clone()?).stderr(Stdio::null()).spawn()?;
    let mut waited = Duration::ZERO;
    while process.try_wait()?.is_none() {
        if waited >= PATIENCE {
            process.kill()?;
            process.wait()?;
            return Ok(String::new());
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
    said.rewind()?;
    let mut bytes = Vec::new();
    said.take(LONGEST_VERSION).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().lines().next().unwrap_or_default().to_owned())
}
