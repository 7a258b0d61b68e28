//! Lines of JSON, each a memory or a turn. A list of such objects will do.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::{Layer, SessionId, Source, derived};

use super::{Format, Found, FoundMemory, FoundTurn, items, json};

/// Where a memory says when it was stored, and a turn when it was said.
const CREATED: [&str; 4] = ["created_at", "timestamp", "at", "date"];
const SAID: [&str; 3] = ["at", "timestamp", "created_at"];

/// A line with a `role` is a turn, any other a memory.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    let mut counts: HashMap<SessionId, u64> = HashMap::new();
    let mut unnamed = None;
    for (place, line) in json::items_or_lines(text) {
        let Ok(item) = serde_json::from_str::<Value>(line) else {
            found.skip(&place, "is not JSON");
            continue;
        };
        if item.get("role").is_some() {
            turn(&item, &place, &mut unnamed, &mut counts, &mut found);
        } else if let Some(memory) = memory(&item, &place) {
            for how in mistakes(&item, &memory) {
                found.adjust(&place, &how);
            }
            found.memories.push(memory);
        } else {
            found.skip(&place, "is neither a memory nor a turn");
        }
    }
    found
}

fn memory(item: &Value, place: &str) -> Option<FoundMemory> {
    let content = items::clean(items::text(item, &["content", "text", "memory"])?);
    let key = items::text(item, &["key"]).and_then(items::tag);
    let id = items::id(item, &["id", "uuid"]).or_else(|| key.clone()).unwrap_or_else(|| content.clone());
    let mut memory = FoundMemory::new(Format::Jsonl, &[&id], place.to_owned(), content);
    memory.key = key;
    memory.importance = items::weight(item);
    memory.tags.extend(items::tags(item.get("tags").or_else(|| item.get("categories"))));
    memory.created_at = CREATED.iter().find_map(|name| items::date(item.get(name)));
    memory.updated_at = items::date(item.get("updated_at"));
    memory.source = items::text(item, &["source"]).and_then(|text| text.parse().ok()).unwrap_or(memory.source);
    let layer: Option<Layer> = items::text(item, &["layer", "category"]).and_then(|text| text.parse().ok());
    // Who the person is stands in the profile, which no file changes by itself.
    match layer {
        Some(Layer::Identity) => memory = memory.tagged("identity"),
        Some(layer) => memory.layer = layer,
        None => {}
    }
    Some(memory)
}

/// Whether a field says anything.
fn is_given(item: &Value, name: &str) -> bool {
    item.get(name).is_some_and(|value| !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty()))
}

/// What a memory's line says that cannot be taken as it stands there, and what stands instead.
fn mistakes(item: &Value, memory: &FoundMemory) -> Vec<String> {
    let mut mistakes = Vec::new();
    let weights = [("importance", "is not from 0 to 1, or from 1 to 10"), ("significance", "is not from 1 to 5")];
    for (name, how) in weights.into_iter().filter(|(name, _)| memory.importance.is_none() && is_given(item, name)) {
        mistakes.push(format!("has {} `{name}` that {how}: the usual weight stands instead", article(name)));
    }
    if let (None, Some(name)) = (memory.created_at, CREATED.iter().find(|name| is_given(item, name))) {
        let instead = if memory.updated_at.is_some() { "that of its last change" } else { "the time of the import" };
        mistakes.push(format!("has {} `{name}` that is no date: {instead} stands instead", article(name)));
    }
    if memory.updated_at.is_none() && is_given(item, "updated_at") {
        mistakes.push("has an `updated_at` that is no date: when it was stored stands instead".to_owned());
    }
    let source = item.get("source").filter(|_| is_given(item, "source"));
    if source.is_some_and(|source| source.as_str().is_none_or(|text| text.parse::<Source>().is_err())) {
        mistakes.push("has a `source` that is not known: it counts as the assistant's word".to_owned());
    }
    if item.get("layer").is_some_and(|layer| layer.as_str().is_none_or(|text| text.parse::<Layer>().is_err())) {
        mistakes.push("has a `layer` that is not known: it becomes knowledge".to_owned());
    }
    mistakes
}

fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'i', 'u']) { "an" } else { "a" }
}

fn turn(
    item: &Value,
    place: &str,
    unnamed: &mut Option<String>,
    counts: &mut HashMap<SessionId, u64>,
    found: &mut Found,
) {
    let Some(role) = items::text(item, &["role"]).and_then(items::role) else {
        return found.skip(place, "has a role that is not known");
    };
    let content = ["content", "text"].iter().find_map(|name| item.get(name)).map(items::words).unwrap_or_default();
    if content.is_empty() {
        return found.skip(place, "has no text");
    }
    // Turns without a session are one conversation, called by how it begins: the file may grow, or move.
    let named = items::id(item, &["session", "session_id", "conversation_id"]);
    let id = named.unwrap_or_else(|| unnamed.get_or_insert_with(|| derived(&["jsonl", &content])).clone());
    let Some(session) = items::session("jsonl", &id) else { return found.skip(place, "has no session") };
    let nth = counts.entry(session.clone()).or_default();
    *nth += 1;
    let name = items::id(item, &["id", "uuid"]).unwrap_or_else(|| format!("{nth}:{role}:{content}"));
    let at = SAID.iter().find_map(|name| items::date(item.get(name)));
    if let (None, Some(name)) = (at, SAID.iter().find(|name| is_given(item, name))) {
        found.adjust(
            place,
            &format!("has {} `{name}` that is no date: that of the turn before it stands instead", article(name)),
        );
    }
    found.turns.push(FoundTurn { session, name, place: place.to_owned(), role, content, at });
}
