//! Conversations through the real binary: what is kept, when it is summarised, and what reaches the next one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "sessions/folding.rs"]
mod folding;
#[path = "sessions/forgetting.rs"]
mod forgetting;
#[path = "sessions/kills.rs"]
mod kills;
#[path = "sessions/lineage.rs"]
mod lineage;
#[path = "sessions/memory.rs"]
mod memory;
#[path = "sessions/models.rs"]
mod models;
#[path = "sessions/statements.rs"]
mod statements;
#[path = "sessions/threads.rs"]
mod threads;
#[path = "sessions/triggers.rs"]
mod triggers;
#[path = "sessions/turns.rs"]
mod turns;

use common::{Home, string, until};
use serde_json::Value;

/// A namespace, and nothing that starts by itself.
const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

/// Says something as the person; gives the receipt.
#[track_caller]
fn say(home: &Home, session: &str, text: &str) -> Value {
    home.json(&["session", "observe", "--session", session, text])
}

/// The texts of a conversation's turns of one role.
#[track_caller]
fn said(home: &Home, session: &str, role: &str) -> Vec<String> {
    let shown = home.json(&["session", "show", session]);
    let turns = shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] == role);
    turns.map(|turn| string(&turn["content"])).collect()
}

/// The entries that consolidation put into the timeline, newest first.
#[track_caller]
fn timeline(home: &Home) -> Vec<Value> {
    let listed = home.json(&["list", "--layer", "archive", "--limit", "100"]);
    let is_chunk = |memory: &&Value| memory["key"].as_str().is_some_and(|key| key.starts_with("ctx_"));
    listed["memories"].as_array().unwrap().iter().filter(is_chunk).cloned().collect()
}

/// Waits until a detached run has captured everything that was said.
#[track_caller]
fn until_summarised(home: &Home, session: &str, summaries: usize) {
    until(|| (said(home, session, "summary").len() == summaries).then_some(()));
}

/// The system prompt that a conversation gets.
#[track_caller]
fn prompt(home: &Home, session: &str, message: &str) -> String {
    string(&home.json(&["context", "--session", session, "--message", message])["system_prompt"])
}
