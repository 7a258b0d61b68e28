//! Files that other programs keep memories in.

use std::collections::HashSet;

use throughline_core::transfer::formats::{self, Format};

const FORMATS: [Option<Format>; 10] = [
    None,
    Some(Format::ChatGpt),
    Some(Format::Claude),
    Some(Format::Mem0),
    Some(Format::Mcp),
    Some(Format::Markdown),
    Some(Format::Hermes),
    Some(Format::OpenClaw),
    Some(Format::Jsonl),
    Some(Format::Throughline),
];

const NAMES: [&str; 5] = ["conversations.json", "MEMORY.md", "memory/2026-03-01.md", "notes.jsonl", "../CLAUDE.md"];

pub(super) fn run(bytes: &[u8]) {
    let (format, bytes) = super::choice(bytes, &FORMATS);
    let (name, bytes) = super::choice(bytes, &NAMES);
    let detected = formats::detect(name, bytes);
    let found = match formats::read(name, bytes, format) {
        Ok(found) => found,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.hint().is_empty());
            return;
        }
    };
    assert!(format.is_some() || detected.is_ok(), "what is read is known for what it is");
    assert_eq!(formats::read(name, bytes, format).as_ref(), Ok(&found), "the same file gives the same");
    // Every memory is made of bytes of the file; references may repeat some.
    assert!(found.memories.len() + found.turns.len() <= bytes.len() + 1);
    for memory in &found.memories {
        assert!(!memory.id.is_empty() && !memory.content.trim().is_empty(), "{memory:?}");
        assert!(!memory.content.contains('\u{fffd}') || std::str::from_utf8(bytes).is_ok(), "{memory:?}");
    }
    for turn in &found.turns {
        assert!(!turn.content.trim().is_empty(), "{turn:?}");
    }
    let mut assigned = found.clone();
    assigned.assign("apollo");
    let ids: HashSet<&str> = assigned.memories.iter().map(|memory| memory.id.as_str()).collect();
    assert!(found.memories.iter().all(|memory| !ids.contains(memory.id.as_str())), "a project has its own ids");
}
