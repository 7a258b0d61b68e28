//! One row of each client's own format.

use serde_json::Value;
use throughline_core::model::Role;

use super::{Spoken, Summary, own_words};
use crate::Client;
use crate::hooks::time;

/// What a row is.
pub(super) enum Row {
    /// Something that was said.
    Said(Spoken),
    /// The client's own summary of all that was said before.
    Summary(Summary),
}

/// What a row says; nothing where it is about something else. `place` names rows that have no name of their own.
pub(super) fn read(client: Client, session: &str, row: &Value, place: u64) -> Option<Row> {
    if let Some(text) = summary(client, session, row) {
        let at = row.get("timestamp").or_else(|| row.pointer("/$set/lastUpdated")).and_then(time);
        return (!text.is_empty()).then(|| Row::Summary(Summary { text: text.to_owned(), at }));
    }
    let said = match client {
        Client::Codex => codex(row, place),
        Client::Cursor => cursor(row, place),
        Client::Copilot => copilot(row),
        Client::Gemini => gemini(row),
        _ => claude(row, session),
    };
    said.map(Row::Said)
}

/// What Claude Code puts around its summary.
const CLAUDE_SUMMARY: [&str; 2] = ["Summary:\n", "\n\nIf you need specific details from before compaction"];

/// What Codex puts in front of its summary, for the model that goes on from it.
const CODEX_SUMMARY: &str = "use the information in this summary to assist with your own analysis:";

/// Between what Gemini CLI has its model put a summary, which then stands first of all messages.
const GEMINI_SUMMARY: [&str; 2] = ["<state_snapshot>", "</state_snapshot>"];

/// The client's own summary, where the row is one.
fn summary<'a>(client: Client, session: &str, row: &'a Value) -> Option<&'a str> {
    match client {
        Client::Codex if text_at(row, "/type") == Some("compacted") => {
            let text = text_at(row, "/payload/message").unwrap_or_default();
            Some(text.split_once(CODEX_SUMMARY).map_or(text, |(_, own)| own).trim())
        }
        Client::Copilot if text_at(row, "/type") == Some("session.compaction_complete") => {
            Some(text_at(row, "/data/summaryContent").unwrap_or_default().trim())
        }
        Client::ClaudeCode if row["isCompactSummary"] == true && is_of_session(row, session) => {
            let text = text_at(row, "/message/content").unwrap_or_default();
            let [before, behind] = CLAUDE_SUMMARY;
            let text = text.split_once(before).map_or(text, |(_, own)| own);
            Some(text.split_once(behind).map_or(text, |(own, _)| own).trim())
        }
        Client::Gemini => {
            let messages = row.pointer("/$set/messages")?.as_array()?;
            let texts = messages.iter().filter_map(|message| text_at(message, "/content/0/text"));
            let between = |text: &'a str| text.split_once(GEMINI_SUMMARY[0])?.1.split_once(GEMINI_SUMMARY[1]);
            Some(texts.filter_map(between).next()?.0.trim())
        }
        _ => None,
    }
}

/// A resumed conversation may begin with rows of the one that it goes on from: they were read there.
fn is_of_session(row: &Value, session: &str) -> bool {
    text_at(row, "/sessionId").is_none_or(|of| of == session)
}

/// `{"type": "user"|"assistant", "uuid", "sessionId", "timestamp", "message": {"role", "content"}}`
fn claude(row: &Value, session: &str) -> Option<Spoken> {
    let is = |name: &str| row.get(name).and_then(Value::as_bool).unwrap_or_default();
    if is("isSidechain") || is("isMeta") || is("isCompactSummary") || is("isApiErrorMessage") {
        return None;
    }
    if !is_of_session(row, session) {
        return None;
    }
    // What a background task reports comes as a message of the person's.
    if text_at(row, "/origin/kind").is_some_and(|kind| kind != "human") {
        return None;
    }
    if text_at(row, "/message/model") == Some("<synthetic>") {
        return None;
    }
    let role = role(text_at(row, "/type")?)?;
    spoken_by(role, text_at(row, "/uuid")?, row.pointer("/message/content")?, row)
}

/// `{"timestamp", "type": "response_item", "payload": {"type": "message", "id", "role", "content"}}`; older files have
/// the payload alone.
fn codex(row: &Value, place: u64) -> Option<Spoken> {
    let item = match text_at(row, "/type")? {
        "response_item" => row.get("payload")?,
        _ => row,
    };
    if text_at(item, "/type")? != "message" {
        return None;
    }
    let role = role(text_at(item, "/role")?)?;
    let id = text_at(item, "/id").map_or_else(|| place.to_string(), str::to_owned);
    spoken_by(role, &id, item.get("content")?, row)
}

/// `{"role", "message": {"content": [{"type": "text", "text"}]}}`
fn cursor(row: &Value, place: u64) -> Option<Spoken> {
    let role = role(text_at(row, "/role")?)?;
    let id = text_at(row, "/id").map_or_else(|| place.to_string(), str::to_owned);
    let content = row.pointer("/message/content").or_else(|| row.get("content"))?;
    spoken_by(role, &id, content, row)
}

/// `{"type": "user.message"|"assistant.message", "id", "timestamp", "data": {"content"}}`
fn copilot(row: &Value) -> Option<Spoken> {
    let role = role(text_at(row, "/type")?.strip_suffix(".message")?)?;
    let is_agents = text_at(row, "/data/parentToolCallId").is_some();
    let is_hosts = text_at(row, "/data/source").is_some_and(|source| source != "user");
    if is_agents || is_hosts {
        return None;
    }
    spoken_by(role, text_at(row, "/id")?, row.pointer("/data/content")?, row)
}

/// `{"id", "timestamp", "type": "user"|"gemini", "content"}`
fn gemini(row: &Value) -> Option<Spoken> {
    let role = match text_at(row, "/type")? {
        "gemini" => Role::Assistant,
        other => role(other)?,
    };
    spoken_by(role, text_at(row, "/id")?, row.get("content")?, row)
}

fn spoken_by(role: Role, id: &str, content: &Value, row: &Value) -> Option<Spoken> {
    let text = own_words(role, &words(content))?;
    Some(Spoken { id: id.to_owned(), role, text, at: row.get("timestamp").and_then(time) })
}

fn role(name: &str) -> Option<Role> {
    match name {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    }
}

/// The text of a content: a string, or blocks of which only those of text count.
fn words(content: &Value) -> String {
    let block = |block: &Value| -> Option<String> {
        match block.get("type").and_then(Value::as_str) {
            None | Some("text" | "input_text" | "output_text") => text_at(block, "/text").map(str::to_owned),
            Some(_) => None,
        }
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(block).collect::<Vec<_>>().join("\n"),
        one => block(one).unwrap_or_default(),
    }
}

fn text_at<'a>(row: &'a Value, pointer: &str) -> Option<&'a str> {
    row.pointer(pointer)?.as_str()
}
