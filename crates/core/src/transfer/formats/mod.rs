//! What people already have: other memories, other assistants' exports, notes.
//!
//! Goes in: the bytes of a file and its name. Comes out: memories and turns as the file has them, and what could not be
//! read, by place. Never happens: an instruction of a file that is followed, a panic, work that grows faster than the
//! file.

mod about;
mod archive;
mod chatgpt;
mod claude;
mod detect;
mod items;
mod json;
mod jsonl;
mod markdown;
mod mcp;
mod mem0;
mod notes;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{Importance, Layer, Role, SessionId, Significance, Source, derived, spelled};

pub use archive::{MAX_FILE, MAX_UNPACKED, is_archive, read_archive};

/// How many places a reason names.
const MAX_PLACES: usize = 5;

/// A place is named by this much of its name.
const MAX_PLACE_CHARS: usize = 120;

/// How many reasons are told apart.
const MAX_REASONS: usize = 40;

/// The label of what an assistant kept about a person on purpose: it stands in review until it is looked at.
pub const SAVED: &str = "saved-memory";

/// Between these two lines stands what this program put into an assistant's notes: how to use the memory, and no memory.
pub const GUIDANCE_MARKS: [&str; 2] = ["<!-- throughline:begin -->", "<!-- throughline:end -->"];

/// What an assistant kept about a person is one line of their profile up to this many characters.
const MOST_LINE: usize = 400;

/// How much such a memory matters.
fn saved_weight() -> Importance {
    Significance::new(4).map(Importance::from).unwrap_or_default()
}

/// What a file can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// What `throughline export --format json` writes.
    Throughline,
    /// The `conversations.json` of a ChatGPT data export.
    ChatGpt,
    /// The `conversations.json`, `memories.json` and `projects.json` of a Claude data export.
    Claude,
    /// The memories of mem0, as JSON.
    Mem0,
    /// The knowledge graph of the MCP reference memory server.
    Mcp,
    /// Notes such as CLAUDE.md, AGENTS.md and MEMORY.md.
    Markdown,
    /// MEMORY.md and USER.md of Hermes.
    Hermes,
    /// Daily notes and MEMORY.md of OpenClaw.
    OpenClaw,
    /// Lines of JSON, each a memory or a turn.
    Jsonl,
}

spelled!(Format, "format", "throughline, chatgpt, claude, mem0, mcp, markdown, hermes, openclaw, jsonl", {
    Throughline => "throughline", ChatGpt => "chatgpt", Claude => "claude", Mem0 => "mem0", Mcp => "mcp",
    Markdown => "markdown", Hermes => "hermes", OpenClaw => "openclaw", Jsonl => "jsonl",
});

/// Why a file gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ImportError {
    /// It looks like nothing that is known.
    #[error(
        "cannot read the export: {name} is none of throughline, chatgpt, claude, mem0, mcp, markdown, hermes, openclaw, jsonl"
    )]
    Unknown {
        /// The file.
        name: String,
    },
    /// An archive where a file was expected.
    #[error("cannot read the export: {name} is a zip archive")]
    Zip {
        /// The file.
        name: String,
    },
    /// An archive that cannot be read, or is larger than anything that is read.
    #[error("cannot read the export: {name} {problem}")]
    BadArchive {
        /// The file.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The process that reads it gave no answer, or more than is taken in.
    #[error("cannot read the export: {name}: {problem}")]
    Unreadable {
        /// The file.
        name: String,
        /// What went wrong.
        problem: String,
        /// Whether it says nothing about the file.
        may_pass: bool,
    },
    /// Nothing of it can be read.
    #[error("cannot read the export: {name} holds nothing that can be read as {format}{}", because(problem))]
    Nothing {
        /// The file.
        name: String,
        /// What it was read as.
        format: Format,
        /// The first thing that was wrong with it.
        problem: Option<String>,
    },
    /// Read by another verb.
    #[error("cannot read the export: {name} is an export of Throughline's own")]
    Own {
        /// The file.
        name: String,
    },
}

fn because(problem: &Option<String>) -> String {
    problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default()
}

impl ImportError {
    /// What to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Zip { .. } => "import the archive itself, not as a text",
            Self::BadArchive { .. } => "unpack it, and import the folder",
            Self::Unreadable { may_pass: true, .. } => "nothing was changed; try again",
            Self::Unreadable { .. } => {
                "nothing was changed; import its files one by one, without what is not meant to be remembered"
            }
            Self::Unknown { .. } | Self::Nothing { .. } => {
                "it takes what `throughline export --format json` writes, and what docs/importing.md lists; \
                 `--format NAME` says what a file is"
            }
            Self::Own { .. } => "import it alone, without `--format`",
        }
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FoundFile {
    /// Its name.
    pub name: String,
    /// What it was read as.
    pub format: Format,
    /// The project that its memories belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// A memory that a file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundMemory {
    /// Its id here: the same whenever the same memory comes again.
    pub id: String,
    /// Where it stands, as a person would find it.
    pub place: String,
    /// The memory itself.
    pub content: String,
    /// Its key, where it has one.
    pub key: Option<String>,
    /// Its layer.
    pub layer: Layer,
    /// Whose word it is.
    pub source: Source,
    /// How much it matters.
    pub importance: Option<Importance>,
    /// Labels.
    pub tags: Vec<String>,
    /// The project it belongs to, where the person says so.
    pub project: Option<String>,
    /// When it was first stored.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
}

impl FoundMemory {
    /// Knowledge from a file. `origin` is what makes it the same memory when it comes again.
    fn new(format: Format, origin: &[&str], place: String, content: String) -> Self {
        let parts: Vec<&str> = ["import", format.as_str()].into_iter().chain(origin.iter().copied()).collect();
        Self {
            id: derived(&parts),
            place: short(place),
            content,
            key: None,
            layer: Layer::Knowledge,
            source: Source::Agent,
            importance: None,
            tags: vec!["imported".to_owned(), format.to_string()],
            project: None,
            created_at: None,
            updated_at: None,
        }
    }

    /// The same memory as one that an assistant was told to keep: it matters, and the person is asked to review it.
    pub(crate) fn saved(mut self) -> Self {
        self.importance = Some(saved_weight());
        if self.tags.iter().any(|tag| tag == SAVED) { self } else { self.tagged(SAVED) }
    }

    /// The same memory for the profile, where it is short enough for a line of that.
    fn about_person(mut self) -> Self {
        let is_line = self.content.chars().count() <= MOST_LINE && !self.content.contains('\n');
        if is_line {
            (self.layer, self.importance) = (Layer::Identity, None);
        }
        self
    }

    /// The same memory with one more label, if the text can be one.
    fn tagged(mut self, text: &str) -> Self {
        self.tags.extend(items::tag(text));
        self
    }
}

/// A turn that a file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundTurn {
    /// The conversation.
    pub session: SessionId,
    /// What the turn is called there: the same whenever it comes again.
    pub name: String,
    /// Where it stands, as a person would find it.
    pub place: String,
    /// Who spoke.
    pub role: Role,
    /// The words.
    pub content: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// What a file says about a conversation as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSession {
    /// The conversation.
    pub id: SessionId,
    /// What it is called there.
    pub title: Option<String>,
    /// The project that it took place in.
    pub project: Option<String>,
}

/// What was not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Skipped {
    /// Why.
    pub reason: String,
    /// How many pieces.
    pub count: u64,
    /// Where the first of them stand.
    pub places: Vec<String>,
}

/// A place as it is shown: a name in it may have any length, and every piece below it names it again.
fn short(place: String) -> String {
    match place.char_indices().nth(MAX_PLACE_CHARS) {
        Some((end, _)) => place[..end].to_owned(),
        None => place,
    }
}

/// Adds to what was skipped; the same reason is said once.
pub(crate) fn skip(skipped: &mut Vec<Skipped>, place: &str, reason: &str) {
    let place: String = place.chars().take(MAX_PLACE_CHARS).collect();
    crate::text::steps::count(skipped.len() + 1);
    let reason = if skipped.len() >= MAX_REASONS { "cannot be read" } else { reason };
    match skipped.iter_mut().find(|known| known.reason == reason) {
        Some(known) => {
            known.count += 1;
            if known.places.len() < MAX_PLACES {
                known.places.push(place);
            }
        }
        None => skipped.push(Skipped { reason: reason.to_owned(), count: 1, places: vec![place] }),
    }
}

/// Adds what was skipped elsewhere.
pub(crate) fn join_skipped(skipped: &mut Vec<Skipped>, others: Vec<Skipped>) {
    for Skipped { reason, count, places } in others {
        for place in &places {
            skip(skipped, place, &reason);
        }
        if let Some(known) = skipped.iter_mut().find(|known| known.reason == reason) {
            known.count += count - places.len() as u64;
        }
    }
}

/// What a file holds, or several of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What was read.
    pub files: Vec<FoundFile>,
    /// Its memories, in order.
    pub memories: Vec<FoundMemory>,
    /// Its conversations, as far as there is anything to say about them but their turns.
    pub sessions: Vec<FoundSession>,
    /// Its turns, each conversation in order.
    pub turns: Vec<FoundTurn>,
    /// What was not taken.
    pub skipped: Vec<Skipped>,
    /// What was taken, but not as it stands there: the same words about another thing.
    pub adjusted: Vec<Skipped>,
}

impl Found {
    /// The same, and what another file holds.
    pub fn join(&mut self, other: Self) {
        self.files.extend(other.files);
        self.memories.extend(other.memories);
        self.sessions.extend(other.sessions);
        self.turns.extend(other.turns);
        join_skipped(&mut self.skipped, other.skipped);
        join_skipped(&mut self.adjusted, other.adjusted);
    }

    /// Gives everything to a project: the same words in two projects are two memories.
    pub fn assign(&mut self, project: &str) {
        for memory in &mut self.memories {
            memory.id = derived(&["import", "project", project, &memory.id]);
            memory.project = Some(project.to_owned());
        }
        for file in &mut self.files {
            file.project = Some(project.to_owned());
        }
    }

    /// Notes something that was not taken, and why.
    pub fn skip(&mut self, place: &str, reason: &str) {
        skip(&mut self.skipped, place, reason);
    }

    /// Notes what a conversation is called, where it is called anything.
    fn title(&mut self, session: &SessionId, title: Option<&str>) {
        if let Some(title) = title.and_then(items::title) {
            self.sessions.push(FoundSession { id: session.clone(), title: Some(title), project: None });
        }
    }

    /// Notes something that was taken in another way than it stands there.
    fn adjust(&mut self, place: &str, how: &str) {
        skip(&mut self.adjusted, place, how);
    }

    fn is_empty(&self) -> bool {
        self.memories.is_empty() && self.turns.is_empty()
    }
}

/// Whether a file of an export, or of an assistant's folder, is one to read: by its path below that folder.
pub fn is_known(path: &str) -> bool {
    detect::is_known(path)
}

/// Whether a known file may well hold nothing that is read: the account of a person.
pub fn is_optional(path: &str) -> bool {
    detect::is_account(path)
}

/// Whether a file holds the notes of the project that it lies in.
pub fn is_of_project(name: &str) -> bool {
    notes::is_of_project(name)
}

/// What a file is, by its content and, where that matters, its name.
pub fn detect(name: &str, bytes: &[u8]) -> Result<Format, ImportError> {
    let text = decoded(bytes);
    detect::format(name, &text).ok_or_else(|| ImportError::Unknown { name: name.to_owned() })
}

/// Reads a file as what it is, or as what it is said to be.
pub fn read(name: &str, bytes: &[u8], format: Option<Format>) -> Result<Found, ImportError> {
    if is_archive(bytes) {
        return Err(ImportError::Zip { name: name.to_owned() });
    }
    let text = decoded(bytes);
    let unknown = || ImportError::Unknown { name: name.to_owned() };
    let format = format.or_else(|| detect::format(name, &text)).ok_or_else(unknown)?;
    let mut found = match format {
        Format::Throughline => return Err(ImportError::Own { name: name.to_owned() }),
        Format::ChatGpt => chatgpt::read(&text),
        Format::Claude => claude::read(&text),
        Format::Mem0 => mem0::read(&text),
        Format::Mcp => mcp::read(&text),
        Format::Jsonl => jsonl::read(&text),
        Format::Markdown => notes::markdown(name, &text),
        Format::Hermes => notes::hermes(name, &text),
        Format::OpenClaw => notes::openclaw(name, &text),
    };
    if matches!(text, std::borrow::Cow::Owned(_)) {
        leave_out_broken(&mut found);
    }
    found.files.push(FoundFile { name: name.to_owned(), format, project: None });
    if found.is_empty() && !found.skipped.iter().any(|skipped| skipped.reason == items::HIDDEN) {
        let first = found.skipped.first();
        let problem = first.map(|skipped| format!("{} {}", skipped.places.join(", "), skipped.reason));
        return Err(ImportError::Nothing { name: name.to_owned(), format, problem });
    }
    Ok(found)
}

/// The text of a file, without the mark that some editors put in front.
fn decoded(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// Leaves out what was no text: bytes that are not UTF-8 stand as replacement characters now.
fn leave_out_broken(found: &mut Found) {
    let Found { memories, turns, skipped, .. } = found;
    let mut is_whole = |content: &str, place: &str| {
        let is_whole = !content.contains('\u{fffd}');
        if !is_whole {
            skip(skipped, place, "is not UTF-8");
        }
        is_whole
    };
    memories.retain(|memory| is_whole(&memory.content, &memory.place));
    turns.retain(|turn| is_whole(&turn.content, &turn.place));
}
