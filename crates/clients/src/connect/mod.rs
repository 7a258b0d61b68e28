//! Connecting a client: the text of one of its files goes in, the text with our entries in it, or without them, comes
//! out. Nothing is opened or written here. Whatever is not ours stays as it is, byte by byte; a file that is not
//! understood is refused, never overwritten.
//!
//! Our own entries are the server named `throughline`, commands that run `throughline hook`, and what stands between
//! our two marks.

mod command;
mod json;
mod places;
mod section;
#[cfg(test)]
mod tests;
mod toml;

pub use command::is_our_name;
pub use places::{Dirs, Platform, Scope, Target, root, targets};

use places::Entry;

/// The name of our MCP server.
const SERVER: &str = "throughline";

/// The arguments with which the program is that server.
const SERVER_ARGS: [&str; 1] = ["mcp"];

/// The variable that says where the memory is.
const HOME: &str = "THROUGHLINE_HOME";

/// What a client can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The tools, over MCP.
    Mcp,
    /// The hooks by which memory comes and goes without being asked.
    Hooks,
    /// A text that says how to use the memory.
    Guidance,
}

impl Part {
    /// The one spelling that is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Hooks => "hooks",
            Self::Guidance => "guidance",
        }
    }
}

/// What to enter.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The program, by its whole path.
    pub program: &'a str,
    /// The machine that clients run it on.
    pub platform: Platform,
    /// Which parts; the others stay as they are.
    pub parts: &'a [Part],
    /// The text of the guidance.
    pub guidance: &'a str,
    /// Where the memory is, if not at the usual place: not every client hands its own environment on to a server.
    pub home: Option<&'a str>,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// It is as it should be.
    Unchanged,
    /// It gets this text.
    Write(String),
    /// Nothing but ours was in it, so it goes.
    Remove,
}

/// What of ours is in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The parts that are there as a whole.
    pub whole: Vec<Part>,
    /// The parts of which some is missing.
    pub partly: Vec<Part>,
    /// The programs that it names, each once.
    pub programs: Vec<String>,
    /// Whether the client is told to run no hooks at all.
    pub hooks_are_off: bool,
    /// Where the server looks for the memory, if it is told.
    pub home: Option<String>,
}

impl Found {
    /// Whether there is nothing of ours.
    pub fn is_nothing(&self) -> bool {
        self.whole.is_empty() && self.partly.is_empty()
    }
}

/// Why a file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It cannot be read as what it should be.
    #[error("line {line}, column {column}: {problem}")]
    Malformed {
        /// What is wrong.
        problem: String,
        /// On which line, from 1.
        line: usize,
        /// At which character of it, from 1.
        column: usize,
    },
    /// It says something else at a place that is ours.
    #[error("`{at}` is not {expected}")]
    Shape {
        /// Where.
        at: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A file with our name that somebody else wrote.
    #[error("it has our name, but not our marks")]
    NotOurs,
}

impl Unfit {
    /// What to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "mend the file, then try again; nothing was changed",
            Self::Shape { .. } => {
                "change that by hand, or enter ours by hand as docs/clients.md shows; nothing was changed"
            }
            Self::NotOurs => "move it away, or use `--no-guidance`; nothing was changed",
        }
    }
}

/// Enters what is asked for. Decides; touches nothing.
pub fn connect(target: &Target, current: Option<&str>, ask: &Ask<'_>) -> Result<Plan, Unfit> {
    let (mark, mut text) = split_mark(current.unwrap_or_default());
    for entry in target.entries.iter().filter(|entry| ask.parts.contains(&entry.part())) {
        let new = match *entry {
            Entry::Server(key, shape) => json::put_server(&text, key, shape, ask)?,
            Entry::Hooks(shape) => json::put_hooks(&text, shape, target.client, ask)?,
            Entry::TomlServer => toml::put_server(&text, ask)?,
            Entry::Section(head) => section::put(&text, head, ask.guidance)?,
        };
        text = new;
    }
    let text = format!("{mark}{text}");
    // A file that is not there and gets nothing is not made.
    Ok(if text == current.unwrap_or_default() { Plan::Unchanged } else { Plan::Write(text) })
}

/// What is known when our entries are taken out.
#[derive(Debug, Clone, Copy)]
pub struct Undo<'a> {
    /// The file as it was before it was first connected, where it was there.
    pub before: Option<&'a str>,
    /// The machine that clients run on.
    pub platform: Platform,
    /// The text of the guidance.
    pub guidance: &'a str,
    /// The file at [`Target::hooks_beside`] as it is, where it is there.
    pub hooks: Option<&'a str>,
}

/// Takes our entries out, and what the client noted about them. What was made for our entries alone goes with them.
/// Decides; touches nothing.
pub fn disconnect(target: &Target, current: &str, undo: &Undo<'_>) -> Result<Plan, Unfit> {
    let Undo { before, .. } = *undo;
    let trust = target.trust(undo.hooks);
    let found = look(target, current)?;
    if found.is_nothing() && !toml::has_trust(current, &trust) {
        return Ok(Plan::Unchanged);
    }
    if is_untouched(target, current, &found, undo) {
        return Ok(before.map_or(Plan::Remove, |before| Plan::Write(before.to_owned())));
    }
    let (mark, mut text) = split_mark(current);
    let old = before.map(|before| split_mark(before).1);
    for entry in &target.entries {
        text = match *entry {
            Entry::Server(key, _) => json::take_server(&text, key, old.as_deref())?,
            Entry::Hooks(_) => json::take_hooks(&text, target.client, old.as_deref())?,
            Entry::TomlServer => toml::take_trust(&toml::take_server(&text)?, &trust)?,
            Entry::Section(_) => section::take(&text),
        };
    }
    let is_empty = match target.entries.first() {
        Some(Entry::Server(..) | Entry::Hooks(_)) => json::is_empty(&text),
        Some(Entry::Section(Some(head))) => text.trim() == head.trim() || text.trim().is_empty(),
        _ => text.trim().is_empty(),
    };
    Ok(if is_empty && before.is_none() { Plan::Remove } else { Plan::Write(format!("{mark}{text}")) })
}

/// Whether nobody touched the file since it was connected: connecting what was before gives what is there.
fn is_untouched(target: &Target, current: &str, found: &Found, undo: &Undo<'_>) -> bool {
    let [program] = match found.programs.as_slice() {
        [] => [""],
        [program] => [program.as_str()],
        _ => return false,
    };
    let Undo { before, platform, guidance, .. } = *undo;
    let ask = Ask { program, platform, parts: &found.whole, guidance, home: found.home.as_deref() };
    connect(target, before, &ask).is_ok_and(|plan| plan == Plan::Write(current.to_owned()))
}

/// Looks for what is ours.
pub fn look(target: &Target, current: &str) -> Result<Found, Unfit> {
    let (_, text) = split_mark(current);
    let mut found = Found::default();
    for entry in &target.entries {
        let seen = match *entry {
            Entry::Server(key, _) => json::find_server(&text, key)?,
            Entry::Hooks(_) => json::find_hooks(&text, target.client)?,
            Entry::TomlServer => toml::find_server(&text)?,
            Entry::Section(_) => section::find(&text),
        };
        match seen.state {
            State::Absent => {}
            State::Partly => found.partly.push(entry.part()),
            State::Whole => found.whole.push(entry.part()),
        }
        found.programs.extend(seen.programs);
        found.hooks_are_off |= seen.hooks_are_off;
        found.home = found.home.or(seen.home);
    }
    found.programs.sort();
    found.programs.dedup();
    Ok(found)
}

/// What of one entry is there.
#[derive(Debug, Default)]
struct Seen {
    state: State,
    programs: Vec<String>,
    hooks_are_off: bool,
    home: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Absent,
    Partly,
    Whole,
}

/// The mark that some editors put first in a file, and the rest.
fn split_mark(text: &str) -> (&'static str, String) {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest.to_owned()),
        None => ("", text.to_owned()),
    }
}

/// How lines end in a text.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The line and the column of a byte, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
