//! The memories of mem0: `{"results": [{"id", "memory", …}]}`, or the list alone.

use serde_json::Value;

use super::{Format, Found, FoundMemory, items, json};

/// Each memory with its dates and categories; relations as sentences.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    for (at, raw) in json::list(text, &["results", "memories"], &mut found).into_iter().enumerate() {
        let place = format!("memory {}", at + 1);
        match serde_json::from_str::<Value>(raw.get()).ok().and_then(|item| memory(&item, place.clone())) {
            Some(memory) => found.memories.push(memory),
            None => found.skip(&place, "is not a memory"),
        }
    }
    relations(text, &mut found);
    found
}

fn memory(item: &Value, place: String) -> Option<FoundMemory> {
    let content = items::clean(items::text(item, &["memory", "text", "data", "content"])?);
    let id = items::id(item, &["id"]).unwrap_or_else(|| content.clone());
    let mut memory = FoundMemory::new(Format::Mem0, &[&id], place, content);
    memory.created_at = items::date(item.get("created_at"));
    memory.updated_at = items::date(item.get("updated_at"));
    memory.importance = item.get("metadata").and_then(items::weight);
    memory.tags.extend(items::tags(item.get("categories")));
    memory.tags.extend(items::tags(item.pointer("/metadata/category")));
    Some(memory)
}

fn relations(text: &str, found: &mut Found) {
    if !text.trim_start().starts_with('{') {
        return;
    }
    let Some((_, raw)) = json::fields(text.trim_start()).all.into_iter().find(|(name, _)| name == "relations") else {
        return;
    };
    for (at, raw) in json::elements(raw.get()).all.into_iter().enumerate() {
        let place = format!("relation {}", at + 1);
        let item: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let part = |names: &[&str]| items::text(&item, names).map(|text| items::clean(&text.replace('_', " ")));
        let parts = (part(&["source"]), part(&["relationship", "relation"]), part(&["target", "destination"]));
        let (Some(from), Some(how), Some(to)) = parts else {
            found.skip(&place, "is not a relation");
            continue;
        };
        let content = format!("{from} {how} {to}");
        found.memories.push(FoundMemory::new(Format::Mem0, &["relation", &content], place, content.clone()));
    }
}
