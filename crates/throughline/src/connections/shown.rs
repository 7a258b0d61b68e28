//! Connections as the daemon shows them: of a client's files, the lines that change and no others.

use similar::{ChangeTag, TextDiff};
use throughline_clients::Client;
use throughline_clients::connect::Scope;
use throughline_core::text::redact::redact;
use throughline_server::{ClientState, Code, Connect, ConnectionChange, FileChange, Problem};

use super::{ConnectError, Guidance, Machine, Mode, Outcome, Step, Wanted};

/// Longer lines hold more than what is ours, in characters.
const LONGEST_LINE: usize = 300;

/// Every client, and what of ours is in its settings.
pub(crate) fn states() -> Result<Vec<ClientState>, Problem> {
    let machine = Machine::here().map_err(problem)?;
    Ok(Client::ALL.into_iter().map(|client| machine.state(client)).collect())
}

/// Connects or disconnects the client of this name, or shows what that would change.
pub(crate) fn change(name: &str, wanted: Connect, dry_run: bool) -> Result<ConnectionChange, Problem> {
    let unknown = |_| {
        let names = Client::ALL.map(Client::as_str).join(", ");
        Problem::new(Code::NotFound, format!("there is no client `{name}`"), format!("name one of: {names}"))
    };
    let client: Client = name.parse().map_err(unknown)?;
    let machine = Machine::here().map_err(problem)?;
    let mode = if dry_run { Mode::Show } else { Mode::Do };
    let all = Wanted { mcp: true, hooks: true, guidance: Guidance::Own };
    let steps = match wanted {
        Connect::On => machine.connect(client, &Scope::User, all, mode),
        Connect::Off => machine.disconnect(client, &Scope::User, mode),
    };
    let steps = steps.map_err(problem)?;
    let remarks = if wanted == Connect::On { machine.remarks_after(client, &steps, true) } else { Vec::new() };
    let files = steps.iter().filter(|step| step.outcome != Outcome::Unchanged).map(shown).collect();
    Ok(ConnectionChange { client: client.as_str(), dry_run, files, remarks })
}

impl Machine {
    fn state(&self, client: Client) -> ClientState {
        let mut state = ClientState {
            client: client.as_str(),
            installed: self.has(client),
            parts: Vec::new(),
            partly: Vec::new(),
            problems: Vec::new(),
        };
        for (path, found) in self.look(client, &Scope::User) {
            match found {
                Ok(found) => {
                    state.parts.extend(found.whole.iter().map(|part| part.as_str()));
                    state.partly.extend(found.partly.iter().map(|part| part.as_str()));
                }
                Err(unread) => state.problems.push(format!("{} cannot be read: {}", path.display(), unread.problem)),
            }
        }
        state
    }
}

/// The lines that change. The file may hold secrets of its own.
fn shown(step: &Step) -> FileChange {
    let diff = TextDiff::from_lines(&step.before, &step.after);
    let lines = |wanted: ChangeTag| {
        let changed = diff.iter_all_changes().filter(|change| change.tag() == wanted);
        changed.map(|change| line(change.value().trim_end())).filter(|line| !line.is_empty()).collect()
    };
    FileChange {
        path: step.path.display().to_string(),
        outcome: step.outcome.as_str(),
        parts: step.parts.clone(),
        added: lines(ChangeTag::Insert),
        removed: lines(ChangeTag::Delete),
    }
}

fn line(text: &str) -> String {
    let length = text.chars().count();
    if length > LONGEST_LINE { format!("a line of {length} characters") } else { redact(text).text.into_owned() }
}

fn problem(error: ConnectError) -> Problem {
    let hint = error.hint().unwrap_or_else(|| "`throughline connect` in a terminal says more".to_owned());
    Problem::new(Code::Conflict, throughline_core::engine::chain(&error), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_change_are_shown_and_never_a_whole_file_in_one_line() {
        let step = |before: &str, after: &str| Step {
            path: "settings.json".into(),
            outcome: Outcome::Written,
            parts: vec!["mcp"],
            before: before.to_owned(),
            after: after.to_owned(),
        };
        let change = shown(&step("{\n  \"key\": \"mine\"\n}\n", "{\n  \"key\": \"mine\",\n  \"ours\": 1\n}\n"));
        assert_eq!(change.added, ["  \"key\": \"mine\",", "  \"ours\": 1"]);
        assert_eq!(change.removed, ["  \"key\": \"mine\""]);
        let whole = format!("{{\"a\": \"{}\"}}", "x".repeat(400));
        assert_eq!(shown(&step("{}", &whole)).added, ["a line of 409 characters"]);
    }
}
