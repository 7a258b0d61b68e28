//! Past conversations of other assistants on this machine: where their files are, and what each holds.
//!
//! Read only; nothing is asked of the assistant itself. A conversation has the name that the hooks give it, so that what is
//! imported and what is observed are one.

use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use throughline_clients::Client;
use throughline_clients::connect::{Platform, root};
use throughline_clients::hooks::session_id;
use throughline_clients::transcripts::{self, Spoken};
use throughline_core::model::Role;
use throughline_core::transfer::formats::{Found, FoundSession, FoundTurn};

use crate::world::{self, OpenError, World};

/// The assistants whose past conversations are read.
pub(crate) const CLIENTS: [Client; 4] = [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::OpenCode];

/// How deep below its directory a client keeps conversations.
const DEEPEST: usize = 5;

/// More files than anybody has.
const MOST_FILES: usize = 100_000;

/// So much of a file says whose conversation it is, in bytes.
const HEAD: u64 = 256 * 1024;

/// A larger file of one message is none, in bytes.
const LARGEST_PART: u64 = 4 << 20;

/// So much of one conversation is read, where it is many files, in bytes.
const LARGEST_CONVERSATION: u64 = 128 << 20;

/// Where a conversation is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) client: Client,
    pub(crate) path: PathBuf,
    /// When it last changed.
    pub(crate) changed_at: Option<Timestamp>,
}

/// The conversations of an assistant, the oldest first.
pub(crate) fn find(client: Client) -> Result<Vec<Transcript>, OpenError> {
    let dirs = world::client_dirs()?;
    let own = root(client, Platform::here(), &dirs);
    let folders = match client {
        Client::ClaudeCode => vec![own.join("projects")],
        Client::Codex => vec![own.join("sessions"), own.join("archived_sessions")],
        Client::Gemini => vec![own.join("tmp")],
        Client::OpenCode => vec![world::data_dir()?.join("opencode").join("storage").join("session")],
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for folder in folders {
        walk(client, &folder, 0, &mut found);
    }
    found.sort_by(|a, b| (a.changed_at, &a.path).cmp(&(b.changed_at, &b.path)));
    Ok(found)
}

fn walk(client: Client, folder: &Path, depth: usize, found: &mut Vec<Transcript>) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let (path, Ok(kind)) = (file.path(), file.file_type()) else { continue };
        if kind.is_dir() && depth < DEEPEST {
            walk(client, &path, depth + 1, found);
        } else if kind.is_file() && is_transcript(client, &path) && found.len() < MOST_FILES {
            let changed = file.metadata().ok().and_then(|file| file.modified().ok());
            found.push(Transcript { client, path, changed_at: changed.and_then(|at| Timestamp::try_from(at).ok()) });
        }
    }
}

/// Whether a file is a conversation by its name. Sub-agents of Claude Code have files of their own, which are not.
fn is_transcript(client: Client, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_in = |folder: &str| path.parent().and_then(Path::file_name).is_some_and(|parent| parent == folder);
    match client {
        Client::ClaudeCode => name.ends_with(".jsonl") && !name.starts_with("agent-") && !is_in("subagents"),
        Client::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
        Client::Gemini => {
            is_in("chats") && name.starts_with("session-") && (name.ends_with(".json") || name.ends_with(".jsonl"))
        }
        Client::OpenCode => name.starts_with("ses_") && name.ends_with(".json"),
        _ => false,
    }
}

impl Transcript {
    /// The directory in which it took place, where that is there and its files say so.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        directory_of(self.client, &self.head()?)
    }

    /// What was said in it; none if it cannot be read, or took place where nothing is observed.
    pub(crate) fn read(&self, world: &World) -> Option<Found> {
        let head = self.head()?;
        let stem = self.path.file_stem()?.to_str()?.to_owned();
        let own = match self.client {
            Client::ClaudeCode => Some(stem),
            Client::Codex => field(&head, &["/payload/id", "/id"]).or(Some(stem)),
            Client::Gemini => field(&head, &["/sessionId"]),
            _ => field(&head, &["/id"]),
        }?;
        let session = session_id(self.client, &own)?;
        let dir = directory_of(self.client, &head);
        let exclude = &world.engine.settings().exclude;
        if exclude.covers_channel(&session) || dir.as_deref().is_some_and(|dir| exclude.covers_directory(dir)) {
            return None;
        }
        let said = if self.client == Client::OpenCode { self.opencode(&own) } else { self.rows(&own)? };
        let project = dir.and_then(|dir| world.engine.projects().at(&dir).ok().flatten());
        let project = project.filter(|project| project.is_registered).map(|project| project.name.to_string());
        let title = if self.client == Client::OpenCode { field(&head, &["/title"]) } else { None };
        let place = |nth: usize| format!("{}, message {}", self.path.display(), nth + 1);
        let turn = |(nth, spoken): (usize, Spoken)| FoundTurn {
            session: session.clone(),
            name: spoken.id,
            place: place(nth),
            role: spoken.role,
            content: spoken.text,
            at: spoken.at.or(self.changed_at),
        };
        let turns = said.into_iter().enumerate().map(turn).collect();
        let about = FoundSession { id: session.clone(), title, project };
        Some(Found { turns, sessions: vec![about], ..Found::default() })
    }

    /// The first rows, or the document.
    fn head(&self) -> Option<Vec<Value>> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        File::open(&self.path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
        if let Ok(document) = serde_json::from_slice::<Value>(&bytes) {
            return Some(vec![document]);
        }
        let rows: Vec<Value> = bytes.split(|byte| *byte == b'\n').flat_map(serde_json::from_slice).collect();
        // A document that is longer than its head still begins with what it is called.
        let text = String::from_utf8_lossy(&bytes);
        let named = text.split_once("\"sessionId\"").and_then(|(_, rest)| rest.split('"').nth(1).map(str::to_owned));
        let named = named.filter(|_| rows.is_empty()).map(|id| serde_json::json!({ "sessionId": id }));
        Some(rows.into_iter().chain(named).collect())
    }

    fn rows(&self, own: &str) -> Option<Vec<Spoken>> {
        let file = File::open(&self.path).ok()?;
        let length = file.metadata().ok()?.len();
        transcripts::read(self.client, own, file, length, &|_| false).ok().map(|news| news.said)
    }

    /// OpenCode keeps each message and each part of it in a file of its own, named in their order.
    fn opencode(&self, session: &str) -> Vec<Spoken> {
        let Some(storage) = self.path.ancestors().nth(3).filter(|_| is_name(session)) else { return Vec::new() };
        let (mut said, mut room) = (Vec::new(), LARGEST_CONVERSATION);
        for message in documents(&storage.join("message").join(session)) {
            let Some(message) = document(&message, &mut room) else { continue };
            let (Some(id), Some(role)) = (text(&message, "/id"), text(&message, "/role")) else { continue };
            if !is_name(&id) {
                continue;
            }
            let role = match role.as_str() {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => continue,
            };
            let parts = documents(&storage.join("part").join(&id));
            let parts = parts.iter().filter_map(|part| document(part, &mut room));
            let is_said = |part: &Value| text(part, "/type").as_deref() == Some("text") && part["synthetic"] != true;
            let words: Vec<String> = parts.filter(is_said).filter_map(|part| text(&part, "/text")).collect();
            let at = message.pointer("/time/created").and_then(Value::as_i64);
            let at = at.and_then(|at| Timestamp::from_millisecond(at).ok());
            said.extend(transcripts::own_words(role, &words.join("\n")).map(|text| Spoken { id, role, text, at }));
        }
        said
    }
}

/// Whether a name that a file gives is that of a folder, and leads nowhere else.
fn is_name(name: &str) -> bool {
    name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

/// The first row that has one of these fields, and what it says.
fn field(head: &[Value], names: &[&str]) -> Option<String> {
    head.iter().find_map(|row| names.iter().find_map(|name| text(row, name)))
}

/// Where a conversation took place, without links in the path.
fn directory_of(client: Client, head: &[Value]) -> Option<PathBuf> {
    let dir = match client {
        Client::ClaudeCode => field(head, &["/cwd"]),
        Client::Codex => field(head, &["/payload/cwd", "/cwd"]),
        Client::Gemini => None,
        _ => field(head, &["/directory"]),
    };
    Path::new(&dir?).canonicalize().ok()
}

/// The files of a folder, by their names, within limits.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_FILES);
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.sort();
    paths
}

/// A file of JSON, as far as there is room for it; links are not followed.
fn document(path: &Path, room: &mut u64) -> Option<Value> {
    use std::io::Read as _;
    let most = LARGEST_PART.min(*room);
    path.symlink_metadata().ok().filter(|file| file.is_file() && file.len() <= most)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    *room -= bytes.len() as u64;
    transcripts::bounded_json(&bytes)
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}
