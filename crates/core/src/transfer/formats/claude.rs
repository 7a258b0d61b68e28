//! A Claude data export: `conversations.json`, what Claude keeps in mind (`memories.json`), and `projects.json`.

use serde_json::Value;

use crate::model::{Role, Source};
use crate::statements::is_note_on_person;

use super::{Format, Found, FoundMemory, FoundTurn, items, json, markdown, short};

/// Turns of conversations, and knowledge from memories and projects.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    for (at, raw) in json::list(text, &["conversations"], &mut found).into_iter().enumerate() {
        let at = at + 1;
        match serde_json::from_str::<Value>(raw.get()) {
            Ok(item) if item.get("chat_messages").is_some() => {
                conversation(&item, &format!("conversation {at}"), &mut found);
            }
            Ok(item) if item.get("conversations_memory").is_some() || item.get("project_memories").is_some() => {
                memories(&item, &mut found);
            }
            Ok(item) if item.get("uuid").is_some() && item.get("name").is_some() => {
                project(&item, &format!("project {at}"), &mut found);
            }
            _ => found.skip(&format!("item {at}"), "is not a conversation, a memory or a project"),
        }
    }
    found
}

fn conversation(item: &Value, place: &str, found: &mut Found) {
    let Some(session) = items::id(item, &["uuid", "id"]).and_then(|id| items::session("claude", &id)) else {
        return found.skip(place, "has no id");
    };
    found.title(&session, items::text(item, &["name", "title"]));
    let Some(messages) = item["chat_messages"].as_array() else {
        return found.skip(place, "is not a conversation");
    };
    let mut at = items::date(item.get("created_at"));
    for (nth, message) in messages.iter().enumerate() {
        let place = format!("{place}, message {}", nth + 1);
        let role = items::text(message, &["sender", "role"]).and_then(items::role);
        let Some(role @ (Role::User | Role::Assistant)) = role else {
            found.skip(&place, "is not a message");
            continue;
        };
        let content = words(message);
        if content.is_empty() {
            found.skip(&place, "has no text");
            continue;
        }
        at = items::date(message.get("created_at")).or(at);
        let name = items::id(message, &["uuid", "id"]).unwrap_or_else(|| format!("{}:{content}", nth + 1));
        found.turns.push(FoundTurn { session: session.clone(), name, place, role, content, at });
    }
}

/// The blocks of a message that are text, else its text as a whole; then the names of its files.
fn words(message: &Value) -> String {
    let of_blocks = message.get("content").map(items::words).unwrap_or_default();
    let whole = || items::text(message, &["text"]).map(items::clean).unwrap_or_default();
    let mut content = if of_blocks.is_empty() { whole() } else { of_blocks };
    let files = ["attachments", "files"].iter().filter_map(|name| message.get(name)?.as_array()).flatten();
    for name in files.filter_map(|file| items::tag(items::text(file, &["file_name"])?)) {
        content.push_str(&format!("\n[file: {name}]"));
    }
    content.trim().to_owned()
}

/// Headings below which Claude keeps who the person is, and how to answer them; below others stands what they are at.
const ON_PERSON: [&str; 4] = ["work-context", "personal-context", "preferences", "other-instructions"];

/// What Claude keeps in mind: prose under headings, about the person and about each project.
fn memories(item: &Value, found: &mut Found) {
    let general = item.get("conversations_memory").and_then(Value::as_str).unwrap_or_default();
    paragraphs(general, "conversations_memory", &[], found);
    for (id, text) in item.get("project_memories").and_then(Value::as_object).into_iter().flatten() {
        // Every paragraph names its place.
        let place = short(format!("project_memories {id}"));
        paragraphs(text.as_str().unwrap_or_default(), &place, &["claude-project"], found);
    }
}

fn paragraphs(text: &str, place: &str, labels: &[&str], found: &mut Found) {
    for block in markdown::blocks(text, &mut found.skipped) {
        let place = format!("{place}, line {}", block.line);
        let mut memory = FoundMemory::new(Format::Claude, &[&block.content], place, block.content.clone());
        memory = memory.saved();
        memory.importance = block.importance.or(memory.importance);
        let is_general = labels.is_empty();
        if is_general && (ON_PERSON.contains(&block.heading.as_str()) || is_note_on_person(&memory.content)) {
            memory = memory.about_person();
        }
        memory = labels.iter().fold(memory.tagged(&block.heading), |memory, label| memory.tagged(label));
        found.memories.push(memory);
    }
}

/// What the person wrote about a project; its documents belong elsewhere.
fn project(item: &Value, place: &str, found: &mut Found) {
    let name = items::text(item, &["name"]).and_then(items::tag).unwrap_or_default();
    let uuid = items::id(item, &["uuid"]).unwrap_or_default();
    for field in ["description", "prompt_template"] {
        let Some(text) = items::text(item, &[field]) else { continue };
        let content = format!("{name}: {}", items::clean(text));
        let mut memory = FoundMemory::new(Format::Claude, &[&uuid, field], format!("{place}, {field}"), content);
        memory.source = Source::User;
        memory.created_at = items::date(item.get("created_at"));
        memory.updated_at = items::date(item.get("updated_at"));
        found.memories.push(memory.tagged("claude-project"));
    }
    for _ in item.get("docs").and_then(Value::as_array).into_iter().flatten() {
        found.skip(place, "has a document, which is not taken over");
    }
}
