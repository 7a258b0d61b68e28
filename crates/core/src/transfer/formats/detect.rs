//! What a file is: by its content, and by its name where the content does not say.

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Format, json, notes};

/// How many pieces are looked at: the first may be a broken one.
const LOOKED_AT: usize = 20;

/// Larger pieces are conversations, told by the names of their fields alone.
const SMALL: usize = 64 * 1024;

/// What a file is, if that can be told.
pub(super) fn format(name: &str, text: &str) -> Option<Format> {
    match text.trim_start().as_bytes().first()? {
        b'{' => of_object_or_lines(name, text),
        b'[' => of_list(text).map(|format| saved(name, format)).or_else(|| notes::format(name, text)),
        _ => notes::format(name, text).or_else(|| of_lines(text)),
    }
}

fn of_list(text: &str) -> Option<Format> {
    let pieces = json::elements(text.trim_start());
    pieces.all.iter().take(LOOKED_AT).find_map(|raw| of_piece(raw.get()))
}

/// Memories in a file that is called like the one of a ChatGPT export are of that.
fn saved(name: &str, format: Format) -> Format {
    let is_named_so = format == Format::Jsonl && file(name).eq_ignore_ascii_case("memories.json");
    if is_named_so { Format::ChatGpt } else { format }
}

fn file(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn of_object_or_lines(name: &str, text: &str) -> Option<Format> {
    let whole = json::fields(text.trim_start());
    let has = |name: &str| whole.all.iter().any(|(known, _)| known == name);
    if has("version") && has("memories") {
        return Some(Format::Throughline);
    }
    if has("entities") {
        return Some(Format::Mcp);
    }
    let inside = |names: &[&str]| whole.all.iter().find(|(name, _)| names.contains(&name.as_str()));
    if inside(&["results", "memories"]).is_some_and(|(_, raw)| of_list(raw.get()) == Some(Format::Mem0)) {
        return Some(Format::Mem0);
    }
    if let Some((_, raw)) = inside(&["memories"])
        && of_list(raw.get()).is_some_and(|format| saved(name, format) == Format::ChatGpt)
    {
        return Some(Format::ChatGpt);
    }
    if ["about_user_message", "about_model_message", "custom_instructions"].into_iter().any(has) {
        return Some(Format::ChatGpt);
    }
    if let Some((_, raw)) = inside(&["conversations"]) {
        return of_list(raw.get());
    }
    of_lines(text).or_else(|| of_piece(text))
}

fn of_lines(text: &str) -> Option<Format> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.take(LOOKED_AT).filter(|line| line.trim_start().starts_with('{')).find_map(of_piece)
}

/// What one element or line belongs to.
fn of_piece(piece: &str) -> Option<Format> {
    let fields = json::fields(piece.trim_start());
    let has = |name: &str| fields.all.iter().any(|(known, _)| known == name);
    if has("mapping") {
        return Some(Format::ChatGpt);
    }
    if has("chat_messages") || has("conversations_memory") || has("prompt_template") {
        return Some(Format::Claude);
    }
    if fields.problem.is_some() {
        return None;
    }
    let kind = fields.all.iter().find(|(name, raw)| name == "type" && raw.get().len() < SMALL);
    let kind = kind.and_then(|(_, raw)| serde_json::from_str::<Value>(raw.get()).ok());
    let kind = kind.as_ref().and_then(Value::as_str);
    if kind == Some("entity") && has("name") || kind == Some("relation") && has("from") {
        return Some(Format::Mcp);
    }
    let from_mem0 = ["hash", "user_id", "agent_id", "run_id", "app_id", "categories"];
    if has("memory") && has("id") && from_mem0.iter().any(|name| has(name)) {
        return Some(Format::Mem0);
    }
    let is_said = |(name, raw): &(String, &RawValue)| match name.as_str() {
        "content" | "text" | "memory" => raw.get().starts_with('"') || has("role") && raw.get().starts_with('['),
        _ => false,
    };
    fields.all.iter().any(is_said).then_some(Format::Jsonl)
}

/// Whether a file of a ChatGPT export is about the account: custom instructions may stand there.
pub(super) fn is_account(path: &str) -> bool {
    ["user.json", "user_settings.json"].iter().any(|name| file(path).eq_ignore_ascii_case(name))
}

/// Whether a file is known by its name.
pub(super) fn is_known(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let lower = file.to_ascii_lowercase();
    let is_json = lower.ends_with(".json");
    let names = [
        "memories.json",
        "projects.json",
        "memory.json",
        "memory.jsonl",
        "claude.md",
        "claude.local.md",
        "agents.md",
        "memory.md",
        "user.md",
    ];
    names.contains(&lower.as_str())
        || is_account(path)
        || lower.starts_with("conversations") && is_json
        || matches!(folder, "conversations" | "memories" | "projects") && is_json
        || notes::day(path).is_some()
}
