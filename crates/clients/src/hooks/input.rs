//! What an assistant says about an event. Every one has its own names for the same few things.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use throughline_core::model::SessionId;

use crate::Client;

/// Clients name conversations by UUIDs; what is longer is cut, in characters.
const LONGEST_ID: usize = 100;

/// How a conversation starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Start {
    /// For the first time.
    #[default]
    Startup,
    /// It goes on where it was.
    Resume,
    /// The person emptied it.
    Clear,
    /// The assistant put a summary in the place of what was said.
    Compact,
}

/// What could be understood of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct HookInput {
    /// Who speaks.
    pub client: Client,
    /// The client's own name for the conversation.
    pub session: Option<String>,
    /// Where the client keeps what was said.
    pub transcript: Option<String>,
    /// The directory that the person works in.
    pub cwd: Option<String>,
    /// How the conversation starts.
    pub start: Start,
    /// Whether the client compacts by itself, and not because the person asked for it.
    pub compacts_by_itself: bool,
    /// What the person said.
    pub prompt: Option<String>,
    /// What the assistant said last.
    pub reply: Option<String>,
    /// The client's own name for this exchange.
    pub turn: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
}

impl HookInput {
    /// Reads an event; without a given client, it is told from the shape. Whatever is no JSON object says nothing.
    pub fn read(bytes: &[u8], client: Option<Client>) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(Value::Null);
        let text = |names: &[&str]| first_text(&value, names);
        Self {
            client: client.unwrap_or_else(|| told_from(&value)),
            session: text(&["session_id", "sessionId", "conversation_id", "conversationId"]),
            transcript: text(&["transcript_path", "transcriptPath"]),
            cwd: text(&["cwd"]).or_else(|| first_root(&value)),
            start: start(text(&["source"]).as_deref()),
            compacts_by_itself: text(&["trigger"]).as_deref() == Some("auto"),
            prompt: text(&["prompt", "user_prompt", "userPrompt"]),
            reply: text(&["last_assistant_message", "lastAssistantMessage", "prompt_response", "finalMessage"]),
            turn: text(&["turn_id", "turnId", "generation_id", "generationId"]),
            at: value.get("timestamp").and_then(time),
        }
    }
}

impl HookInput {
    /// The file that the client keeps the conversation in: the one that it names, or the one below its own directory where
    /// it names none. Copilot CLI names none when a conversation ends.
    pub fn transcript_path(&self, copilot: &Path) -> Option<PathBuf> {
        let named = self.transcript.as_deref().map(PathBuf::from);
        named.or_else(|| {
            let session = self.session.as_deref().filter(|id| is_plain(id) && self.client == Client::Copilot)?;
            Some(copilot.join("session-state").join(session).join("events.jsonl"))
        })
    }

    /// The conversation, by a name that is safe to keep: `claude-code:…`. Nothing where the client gives none.
    pub fn session_id(&self) -> Option<SessionId> {
        session_id(self.client, self.session.as_deref()?)
    }
}

/// A conversation of a client, by a name that is safe to keep. `own` is the client's own name for it.
pub fn session_id(client: Client, own: &str) -> Option<SessionId> {
    let safe = own.chars().take(LONGEST_ID);
    let name: String = safe.map(|c| if is_safe(c) { c } else { '-' }).collect();
    format!("{client}:{name}").parse().ok()
}

fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Whether an id may be the name of a directory, and leads nowhere else.
fn is_plain(id: &str) -> bool {
    id.chars().all(is_safe) && !id.starts_with('.')
}

/// The first of these fields that says anything.
fn first_text(value: &Value, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| value.get(name)?.as_str());
    texts.map(str::to_owned).find(|text| !text.trim().is_empty())
}

fn first_root(value: &Value) -> Option<String> {
    let roots = value.get("workspace_roots").or_else(|| value.get("workspaceRoots"))?;
    Some(roots.as_array()?.first()?.as_str()?.to_owned())
}

fn start(source: Option<&str>) -> Start {
    match source {
        Some("resume") => Start::Resume,
        Some("clear") => Start::Clear,
        Some("compact") => Start::Compact,
        _ => Start::Startup,
    }
}

/// A time as text, or in milliseconds.
pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        number => Timestamp::from_millisecond(number.as_i64()?).ok(),
    }
}

/// Who says it like this. Claude Code's shape is the one that the others took over, so it is what is left.
fn told_from(value: &Value) -> Client {
    let has = |name: &str| value.get(name).is_some_and(|field| !field.is_null());
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let transcript = text("transcript_path");
    let is_camel = has("sessionId") || has("transcriptPath");
    if has("cursor_version") || has("conversation_id") || has("workspace_roots") {
        Client::Cursor
    } else if is_camel || value.get("timestamp").is_some_and(Value::is_number) || transcript.contains("/.copilot/") {
        Client::Copilot
    } else if has("turn_id") || transcript.contains("/.codex/") || transcript.contains("/rollout-") {
        Client::Codex
    } else if has("timestamp") || matches!(text("hook_event_name"), "BeforeAgent" | "AfterAgent" | "PreCompress") {
        Client::Gemini
    } else if text("session_id").len() == 36 && text("session_id").as_bytes()[14] == b'7' {
        // Codex names conversations by UUIDs that begin with the time (version 7), Claude Code by random ones.
        Client::Codex
    } else {
        Client::ClaudeCode
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tells_the_client_from_the_shape() {
        let check = |input: &str, client| assert_eq!(HookInput::read(input.as_bytes(), None).client, client, "{input}");
        check(r#"{"session_id":"a","transcript_path":"/h/.claude/projects/x/a.jsonl"}"#, Client::ClaudeCode);
        check(r#"{"session_id":"a","transcript_path":null,"turn_id":"t"}"#, Client::Codex);
        check(r#"{"session_id":"a","transcript_path":"/h/.codex/sessions/rollout-a.jsonl"}"#, Client::Codex);
        check(r#"{"session_id":"0199c0de-5a5a-7c3d-8f10-3b1f2a6d7e02","source":"startup"}"#, Client::Codex);
        check(r#"{"session_id":"7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01","source":"startup"}"#, Client::ClaudeCode);
        check(r#"{"conversation_id":"a","workspace_roots":["/w"]}"#, Client::Cursor);
        check(r#"{"timestamp":1767225600000,"cwd":"/w"}"#, Client::Copilot);
        check(r#"{"session_id":"a","timestamp":"2026-03-01T10:00:00Z"}"#, Client::Gemini);
        check("", Client::ClaudeCode);
        assert_eq!(HookInput::read(b"{}", Some(Client::Codex)).client, Client::Codex);
    }

    #[test]
    fn what_is_blank_or_of_another_kind_is_missing() {
        let input = HookInput::read(br#"{"session_id":7,"prompt":" ","cwd":null,"source":["x"]}"#, None);
        assert_eq!((input.session, input.prompt, input.cwd, input.start), (None, None, None, Start::Startup));
        let input = HookInput::read(br#"{"prompt":"","user_prompt":"hi"}"#, None);
        assert_eq!(input.prompt.as_deref(), Some("hi"));
    }

    #[test]
    fn copilot_keeps_a_conversation_below_its_own_directory() {
        let check = |input: &str, path: Option<&str>| {
            let input = HookInput::read(input.as_bytes(), None);
            assert_eq!(input.transcript_path(Path::new("/c")), path.map(PathBuf::from), "{input:?}");
        };
        check(r#"{"sessionId":"e1-a","timestamp":1}"#, Some("/c/session-state/e1-a/events.jsonl"));
        check(r#"{"sessionId":"e1-a","timestamp":1,"transcriptPath":"/x.jsonl"}"#, Some("/x.jsonl"));
        check(r#"{"sessionId":"../../etc","timestamp":1}"#, None);
        check(r#"{"sessionId":"..","timestamp":1}"#, None);
        check(r#"{"session_id":"a","turn_id":"t"}"#, None);
    }

    #[test]
    fn conversations_get_safe_names() {
        let check = |id: &str, name: Option<&str>| {
            let input = HookInput::read(serde_json::json!({ "session_id": id }).to_string().as_bytes(), None);
            assert_eq!(input.session_id().map(String::from).as_deref(), name, "{id}");
        };
        check("5f0c-11", Some("claude-code:5f0c-11"));
        check("../../etc/passwd\n", Some("claude-code:..-..-etc-passwd-"));
        check("  ", None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            HookInput::read(&bytes, None);
        }
    }
}
