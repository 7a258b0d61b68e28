//! What a person told ChatGPT about themself, and what it was to remember.
//!
//! Custom instructions are the person's own words: they are for the profile. Every conversation repeats those that held at
//! its time, so the latest are taken. Saved memories are the assistant's words: knowledge that the person should review.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::model::{Layer, Source};
use crate::text::steps;

use super::{Format, Found, FoundMemory, items, markdown};

/// A text, and when it held.
type Dated = (Option<Timestamp>, String);

/// What was found so far.
#[derive(Default)]
pub(super) struct About {
    /// Who the person is, and how they want replies: the latest of each.
    instructions: [Option<Dated>; 2],
    /// The latest list of memories.
    list: Option<Dated>,
    /// Each memory when it was saved, or as a file of memories has it.
    saved: Vec<Dated>,
}

/// Where the two custom instructions stand: in the export, in the message itself, and in what wraps them there.
const INSTRUCTIONS: [(&str, &str); 2] =
    [("about_user_message", "user_profile"), ("about_model_message", "user_instructions")];

impl About {
    /// Whether a message is about the person and no part of the conversation.
    pub(super) fn is_in(message: &Value) -> bool {
        let kind = message.pointer("/content/content_type").and_then(Value::as_str).unwrap_or_default();
        let is_to_bio = message.get("recipient").and_then(Value::as_str) == Some("bio");
        let by = message.pointer("/author/role").and_then(Value::as_str);
        matches!(kind, "user_editable_context" | "model_editable_context") || is_to_bio && by == Some("assistant")
    }

    /// Reads such a message of a conversation that was going on at this time.
    pub(super) fn read_message(&mut self, message: &Value, at: Option<Timestamp>) {
        let at = items::date(message.get("create_time")).or(at);
        let content = message.get("content").unwrap_or(&Value::Null);
        for (nth, (plain, wrapped)) in INSTRUCTIONS.into_iter().enumerate() {
            let pointer = format!("/metadata/user_context_message_data/{plain}");
            let own = message.pointer(&pointer).and_then(Value::as_str).map(str::to_owned);
            let own = own.or_else(|| items::text(content, &[wrapped]).map(unwrapped));
            own.into_iter().for_each(|text| keep_latest(&mut self.instructions[nth], at, text));
        }
        if let Some(list) = items::text(content, &["model_set_context"]) {
            keep_latest(&mut self.list, at, list.to_owned());
        }
        if message.get("recipient").and_then(Value::as_str) == Some("bio") {
            let said = content.get("parts").or_else(|| content.get("text")).map(items::words).unwrap_or_default();
            self.saved.extend(said.lines().map(|line| (at, line.to_owned())));
        }
    }

    /// Reads an item of another file: a memory, or the settings of an account. Says whether it was one.
    pub(super) fn read_item(&mut self, text: &str) -> bool {
        let Ok(item) = serde_json::from_str::<Value>(text) else { return false };
        let at = ["created_at", "create_time", "updated_at"].iter().find_map(|name| items::date(item.get(name)));
        let settings = item.get("custom_instructions").unwrap_or(&item);
        let mut is_known = false;
        for (nth, (plain, wrapped)) in INSTRUCTIONS.into_iter().enumerate() {
            if let Some(own) = items::text(settings, &[plain, wrapped]) {
                keep_latest(&mut self.instructions[nth], at, own.to_owned());
                is_known = true;
            }
        }
        if let Some(memory) = items::text(&item, &["content", "memory", "text"]) {
            self.saved.push((at, memory.to_owned()));
            is_known = true;
        }
        is_known
    }

    /// Adds what was read to what was found.
    pub(super) fn tell(self, found: &mut Found) {
        let mut known: HashSet<String> = found.memories.iter().map(|memory| memory.id.clone()).collect();
        let mut push_new = |found: &mut Found, memory: FoundMemory| {
            if known.insert(memory.id.clone()) {
                found.memories.push(memory);
            }
        };
        for (at, text) in self.instructions.into_iter().flatten() {
            for block in markdown::blocks(&text, &mut found.skipped) {
                let content = block.content.split_whitespace().collect::<Vec<_>>().join(" ");
                let place = format!("custom instructions, line {}", block.line);
                let mut memory = FoundMemory::new(Format::ChatGpt, &["instructions", &content], place, content.clone());
                (memory.layer, memory.source) = (Layer::Identity, Source::User);
                memory.importance = block.importance;
                memory.created_at = at;
                push_new(found, memory);
            }
        }
        let listed = self.list.into_iter().flat_map(|(_, list)| numbered(&list));
        for (at, text) in listed.chain(self.saved) {
            let content = items::clean(&text);
            // What it was told to forget is no memory, and neither is an empty line.
            if content.is_empty() || content.to_lowercase().starts_with("forget ") {
                continue;
            }
            let place = "saved memories".to_owned();
            let mut memory = FoundMemory::new(Format::ChatGpt, &["memory", &content], place, content.clone());
            memory.created_at = at;
            push_new(found, memory.saved());
        }
    }
}

/// An older text gives way; of two without a date, the first: exports begin with what is newest.
fn keep_latest(slot: &mut Option<Dated>, at: Option<Timestamp>, text: String) {
    if slot.as_ref().is_none_or(|(known, _)| *known < at) {
        *slot = Some((at, text));
    }
}

/// What stands between the marks that ChatGPT puts around custom instructions.
fn unwrapped(text: &str) -> String {
    let inside = text.split_once("```").map(|(_, rest)| rest.split_once("```").map_or(rest, |(inside, _)| inside));
    inside.unwrap_or(text).trim().to_owned()
}

/// `1. [2024-05-01]. Has a dog` for each memory; a line without a number goes on with the one before.
fn numbered(list: &str) -> Vec<Dated> {
    let mut all: Vec<Dated> = Vec::new();
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let begun = line.split_once(". ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        match (begun, all.last_mut()) {
            (Some((_, rest)), _) => all.push(dated(rest)),
            (None, Some((_, text))) => {
                steps::count(line.len());
                text.push('\n');
                text.push_str(line);
            }
            (None, None) => all.push(dated(line)),
        }
    }
    all
}

fn dated(text: &str) -> Dated {
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let date = |day: &str| items::date(Some(&Value::String(day.to_owned())));
    match parts.and_then(|(day, rest)| Some((date(day)?, rest))) {
        Some((at, rest)) => (Some(at), rest.trim_start_matches('.').trim().to_owned()),
        None => (None, text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conversation(at: u32, messages: &[Value]) -> Value {
        let mut mapping = serde_json::Map::new();
        for (nth, message) in messages.iter().enumerate() {
            let parent = nth.checked_sub(1).map(|before| format!("n{before}"));
            mapping.insert(format!("n{nth}"), json!({ "message": message, "parent": parent, "children": [] }));
        }
        let leaf = format!("n{}", messages.len() - 1);
        json!({ "id": format!("c{at}"), "create_time": at, "title": " Tea\n talk ", "current_node": leaf, "mapping": mapping })
    }

    fn instructions(about: &str, replies: &str) -> Value {
        let wrapped = format!("The user provided the following information:\nUser profile:\n```{about}```");
        json!({ "author": { "role": "user" }, "content": { "content_type": "user_editable_context",
            "user_profile": wrapped, "user_instructions": format!("How to respond:\n```{replies}```") },
            "metadata": { "is_visually_hidden_from_conversation": true } })
    }

    #[test]
    fn the_latest_instructions_are_the_persons_and_saved_memories_the_assistants() {
        let said = json!({ "author": { "role": "user" }, "content": { "content_type": "text", "parts": ["Hi"] } });
        let list = "1. [2024-05-01]. Has a dog called Otto\n\n2. Speaks Portuguese";
        let context = json!({ "author": { "role": "assistant" },
            "content": { "content_type": "model_editable_context", "model_set_context": list } });
        let bio = |text: &str| {
            json!({ "author": { "role": "assistant" }, "recipient": "bio",
                "content": { "content_type": "text", "parts": [text] } })
        };
        let new = conversation(200, &[instructions("I am a luthier.", "- Be brief\n- Use metric units"), said.clone()]);
        let old =
            [instructions("I am a student.", "Be long."), context, bio("Plays the lute"), bio("Forget the dog"), said];
        let text = json!([new, conversation(100, &old)]).to_string();
        let found = super::super::read("conversations.json", text.as_bytes(), None).unwrap();
        let kept: Vec<(&str, Layer, Source)> =
            found.memories.iter().map(|memory| (memory.content.as_str(), memory.layer, memory.source)).collect();
        assert_eq!(
            kept,
            [
                ("I am a luthier.", Layer::Identity, Source::User),
                ("Be brief", Layer::Identity, Source::User),
                ("Use metric units", Layer::Identity, Source::User),
                ("Has a dog called Otto", Layer::Knowledge, Source::Agent),
                ("Speaks Portuguese", Layer::Knowledge, Source::Agent),
                ("Plays the lute", Layer::Knowledge, Source::Agent),
            ]
        );
        assert_eq!(found.memories[3].created_at, Some("2024-05-01T00:00:00Z".parse().unwrap()));
        assert_eq!(found.sessions[0].title.as_deref(), Some("Tea talk"));
        assert_eq!((found.turns.len(), found.sessions.len()), (2, 2));
    }

    #[test]
    fn files_of_memories_and_settings_are_read() {
        let text = r#"{"memories": [{"id": "m1", "content": "Has two cats", "created_at": "2025-01-01"}, {"id": 7}]}"#;
        let found = super::super::read("memories.json", text.as_bytes(), None).unwrap();
        assert_eq!(found.memories[0].content, "Has two cats");
        assert!(found.memories[0].tags.contains(&super::super::SAVED.to_owned()));
        assert_eq!(found.skipped[0].places, ["conversation 2"]);
        let text = r#"{"custom_instructions": {"about_model_message": "Answer in verse"}}"#;
        let found = super::super::read("user_settings.json", text.as_bytes(), None).unwrap();
        assert_eq!((found.memories[0].content.as_str(), found.memories[0].layer), ("Answer in verse", Layer::Identity));
    }
}
