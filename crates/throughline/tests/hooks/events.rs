//! Recorded events of clients, brought to this machine, and what hooks answer to them.

use std::path::{Path, PathBuf};

use crate::common::{Home, string};
use serde_json::{Value, json};

/// A namespace, and nothing that starts by itself.
pub(crate) const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\n";

/// Far more than a hook takes: what is tested here is what it says, not how fast.
pub(crate) const PATIENCE: &str = "60000";

pub(crate) const CLIENTS: [&str; 5] = ["claude-code", "codex", "cursor", "copilot", "gemini"];

pub(crate) fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

pub(crate) fn fixture(client: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/tests/fixtures").join(client).join(file)
}

/// A recorded event of a client.
pub(crate) fn event(client: &str, event: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture(client, &format!("{event}.json"))).unwrap()).unwrap()
}

/// The same, on this machine: in this directory, with this transcript.
pub(crate) fn at(client: &str, name: &str, cwd: &Path, transcript: &Path) -> Value {
    let mut event = event(client, name);
    for (field, path) in [
        ("cwd", json!(cwd)),
        ("workspace_roots", json!([cwd])),
        ("transcript_path", json!(transcript)),
        ("transcriptPath", json!(transcript)),
    ] {
        if event.get(field).is_some() {
            event[field] = path;
        }
    }
    event
}

/// What a hook answers: one JSON object or nothing at all, which is the same; never a word on standard error.
#[track_caller]
pub(crate) fn hook(home: &Home, name: &str, event: &Value) -> Value {
    let said = home.run_with(&["hook", name, "--deadline-ms", PATIENCE], &event.to_string()).done();
    if said.is_empty() {
        return json!({});
    }
    let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(answer.is_object(), "{said}");
    answer
}

/// The context that an answer adds, whatever its shape.
pub(crate) fn added(answer: &Value) -> String {
    let places = ["/hookSpecificOutput/additionalContext", "/additional_context", "/modifiedPrompt"];
    places.iter().find_map(|place| Some(answer.pointer(place)?.as_str()?.to_owned())).unwrap_or_default()
}

/// A conversation, by the name that it is kept under.
pub(crate) fn session(client: &str) -> String {
    let event = event(client, "stop");
    let id = ["session_id", "sessionId", "conversation_id"].iter().find_map(|field| event.get(field)).unwrap();
    format!("{client}:{}", string(id))
}

/// The turns of a conversation: who, and what.
#[track_caller]
pub(crate) fn turns(home: &Home, session: &str) -> Vec<(String, String)> {
    let shown = home.json(&["session", "show", session]);
    let turns = shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] != "summary");
    turns.map(|turn| (string(&turn["role"]), string(&turn["content"]))).collect()
}
