//! The knowledge graph of the MCP reference memory server: `memory.jsonl`, or the graph as one object.

use serde_json::Value;

use super::{Format, Found, FoundMemory, items, json};
use crate::text::steps;

/// A longer name is none, in bytes.
const LONGEST_NAME: usize = 1000;

/// Each observation, with the name of what it is about; each relation as a sentence.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    let graph = if text.trim_start().starts_with('{') { json::fields(text.trim_start()).all } else { Vec::new() };
    if graph.iter().any(|(name, _)| name == "entities") {
        for (name, raw) in graph {
            let elements = json::elements(raw.get()).all.into_iter().enumerate();
            for (at, raw) in elements.filter(|_| name == "entities" || name == "relations") {
                item(raw.get(), &format!("{name} {}", at + 1), &mut found);
            }
        }
        return found;
    }
    for (place, line) in json::items_or_lines(text) {
        item(line, &place, &mut found);
    }
    found
}

fn item(text: &str, place: &str, found: &mut Found) {
    let Ok(item) = serde_json::from_str::<Value>(text) else { return found.skip(place, "is not JSON") };
    if item.get("name").is_some() {
        entity(&item, place, found);
    } else {
        relation(&item, place, found);
    }
}

fn entity(item: &Value, place: &str, found: &mut Found) {
    let (Some(name), Some(observations)) = (items::text(item, &["name"]), item["observations"].as_array()) else {
        return found.skip(place, "is not an entity");
    };
    if observations.is_empty() {
        found.skip(place, "has no observations");
    }
    // Every observation below it takes a copy along.
    if name.len() > LONGEST_NAME {
        return found.skip(place, "has a name that is too long");
    }
    let name = items::clean(&name.replace('_', " "));
    let label = items::text(item, &["entityType"]).and_then(items::tag).unwrap_or_default();
    for observation in observations {
        // Some servers keep an object with the text and its date.
        let text = observation.as_str().or_else(|| items::text(observation, &["content", "text"]));
        let Some(text) = text.map(items::clean).filter(|text| !text.is_empty()) else {
            found.skip(place, "has an observation without text");
            continue;
        };
        let is_named = text.to_lowercase().contains(&name.to_lowercase());
        let content = if is_named { text.clone() } else { format!("{name}: {text}") };
        let mut memory = FoundMemory::new(Format::Mcp, &[&name, &text], place.to_owned(), content);
        memory.created_at = items::date(observation.get("created_at").or_else(|| observation.get("timestamp")));
        steps::count(memory.content.len() + label.len());
        found.memories.push(memory.tagged(&label));
    }
}

fn relation(item: &Value, place: &str, found: &mut Found) {
    let part = |name| items::text(item, &[name]).map(|text| items::clean(&text.replace('_', " ")));
    let (Some(from), Some(how), Some(to)) = (part("from"), part("relationType"), part("to")) else {
        return found.skip(place, "is not an entity or a relation");
    };
    let content = format!("{from} {how} {to}");
    let memory = FoundMemory::new(Format::Mcp, &[&from, &how, &to], place.to_owned(), content);
    found.memories.push(memory.tagged("relation"));
}
