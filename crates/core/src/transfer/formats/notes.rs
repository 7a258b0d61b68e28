//! Notes in Markdown: a project's CLAUDE.md and AGENTS.md, the MEMORY.md and USER.md of several assistants, daily notes.

use jiff::civil::Date;

use crate::model::{Layer, Source};

use super::{Format, Found, FoundMemory, GUIDANCE_MARKS, items, markdown};

/// What Hermes puts between its entries.
const SECTION: &str = "§";

/// Which notes these are, by the name of the file and the marks in it.
pub(super) fn format(name: &str, text: &str) -> Option<Format> {
    let has_sections = text.lines().any(|line| line.trim() == SECTION);
    let is_note = file(name).rsplit_once('.').is_some_and(|(_, end)| matches!(end, "md" | "markdown" | "mdc"));
    if has_sections {
        return Some(Format::Hermes);
    }
    match day(name) {
        Some(_) => Some(Format::OpenClaw),
        None if text.contains("<!-- importance:") => Some(Format::OpenClaw),
        None => is_note.then_some(Format::Markdown),
    }
}

/// Pieces of a note as knowledge, each with its heading as a label.
pub(super) fn markdown(name: &str, text: &str) -> Found {
    notes(Format::Markdown, name, text)
}

/// `MEMORY.md` as knowledge; a note named after a day as what happened then.
pub(super) fn openclaw(name: &str, text: &str) -> Found {
    let Some(day) = day(name) else { return notes(Format::OpenClaw, name, text) };
    let mut found = Found::default();
    let date = day.to_string();
    for block in markdown::blocks(text, &mut found.skipped) {
        let place = format!("{}, line {}", file(name), block.line);
        let mut memory = FoundMemory::new(Format::OpenClaw, &[&date, &block.content], place, block.content.clone());
        memory.layer = Layer::Archive;
        memory.importance = block.importance;
        memory.created_at = items::noon(day);
        found.memories.push(memory.tagged(&block.heading));
    }
    found
}

/// Entries between `§`.
pub(super) fn hermes(name: &str, text: &str) -> Found {
    let mut found = Found::default();
    let mut number = 0;
    for entry in text.split(SECTION) {
        let cleaned = items::clean(entry);
        let (importance, content) = crate::text::bullets::weight(&cleaned);
        let content = content.trim().to_owned();
        if !content.contains(char::is_alphanumeric) {
            continue;
        }
        number += 1;
        let place = format!("{}, entry {number}", file(name));
        let mut memory = FoundMemory::new(Format::Hermes, &[&content], place, content.clone());
        memory.importance = importance;
        found.memories.push(about(name, memory));
    }
    found
}

fn notes(format: Format, name: &str, text: &str) -> Found {
    let mut found = Found::default();
    for block in markdown::blocks(&without_guidance(text), &mut found.skipped) {
        let place = format!("{}, line {}", file(name), block.line);
        let content = if format == Format::Markdown { block.on_its_own() } else { block.content.clone() };
        let mut memory = FoundMemory::new(format, &[&content], place, content.clone());
        memory.importance = block.importance;
        memory.source = if is_kept_by_an_assistant(name) { Source::Agent } else { Source::User };
        found.memories.push(about(name, memory.tagged(&block.heading)));
    }
    found
}

/// The text with the lines between our marks empty, so that the places of all others stay right.
fn without_guidance(text: &str) -> String {
    let [begin, end] = GUIDANCE_MARKS;
    let mut is_ours = false;
    let mut line = |line| {
        is_ours |= line == begin;
        let kept = if is_ours { "" } else { line };
        is_ours &= line != end;
        format!("{kept}\n")
    };
    if text.contains(end) { text.lines().map(&mut line).collect() } else { text.to_owned() }
}

/// What a USER.md says is about the person. It is labelled so, and the profile stays as it is.
fn about(name: &str, memory: FoundMemory) -> FoundMemory {
    if file(name).eq_ignore_ascii_case("USER.md") { memory.tagged("identity") } else { memory }
}

/// Assistants write MEMORY.md and USER.md; people write the rest.
fn is_kept_by_an_assistant(name: &str) -> bool {
    ["MEMORY.md", "USER.md"].iter().any(|known| file(name).eq_ignore_ascii_case(known))
}

/// CLAUDE.md and AGENTS.md are about the project that they lie in.
pub(super) fn is_of_project(name: &str) -> bool {
    ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"].iter().any(|known| file(name).eq_ignore_ascii_case(known))
}

/// The last part of a path.
fn file(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// The day that a note is named after: `2026-03-01.md`, also `2026-03-01-deploy.md`.
pub(super) fn day(name: &str) -> Option<Date> {
    let stem = file(name).strip_suffix(".md")?;
    let (day, rest) = stem.split_at_checked(10)?;
    if rest.is_empty() || rest.starts_with('-') { day.parse().ok() } else { None }
}
