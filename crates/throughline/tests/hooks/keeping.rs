//! What is kept of a client's own transcript.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::common::{Home, string, until};
use crate::events::{CLIENTS, at, event, fixture, hook, quiet, session, turns};

fn transcript(client: &str) -> std::path::PathBuf {
    fixture(client, if client == "gemini" { "transcript.json" } else { "transcript.jsonl" })
}

#[test]
fn a_transcript_read_ten_times_gives_the_same_turns() {
    for client in CLIENTS {
        let home = quiet();
        let stop = at(client, "stop", home.root(), &transcript(client));
        hook(&home, "stop", &stop);
        let first = turns(&home, &session(client));
        assert!(first.len() >= 2, "{client}: {first:?}");
        for _ in 1..10 {
            hook(&home, "stop", &stop);
        }
        assert_eq!(turns(&home, &session(client)), first, "{client}");
    }
}

#[test]
fn nothing_that_was_injected_is_stored_again() {
    let home = quiet();
    home.put_document("user/profile", "- My name is Ada.\n");
    home.remember(&["The database that I prefer is Postgres"]);
    for client in ["claude-code", "codex", "cursor", "copilot"] {
        // Whatever a client was given, it may keep as a part of what was said.
        let mut given = String::new();
        for name in ["session-start", "prompt"] {
            given.push_str(&crate::events::added(&hook(&home, name, &event(client, name))));
        }
        assert!(given.contains("Postgres"), "{client}: {given}");
        let fenced = &given[given.find("<memory-context>").unwrap()..];
        let row = match client {
            "claude-code" => json!({ "type": "user", "uuid": "u", "message": { "content": fenced } }),
            "codex" => json!({ "type": "response_item", "payload": { "type": "message", "role": "user", "content":
                [{ "type": "input_text", "text": fenced }] } }),
            "cursor" => json!({ "role": "user", "message": { "content": [{ "type": "text", "text": fenced }] } }),
            _ => json!({ "type": "user.message", "id": "e", "data": { "content": fenced } }),
        };
        let path = home.root().join(format!("{client}.jsonl"));
        std::fs::write(&path, format!("{row}\n")).unwrap();
        hook(&home, "stop", &at(client, "stop", home.root(), &path));
        let shown = home.json(&["session", "show", &session(client)])["turns"].to_string();
        assert!(!shown.contains("Postgres") && !shown.contains("Ada"), "{client}: {shown}");
    }
}

#[test]
fn a_file_that_grows_is_cut_or_written_anew_gives_every_turn_once() {
    let home = quiet();
    let rows = std::fs::read_to_string(fixture("claude-code", "transcript.jsonl")).unwrap();
    let path = home.root().join("grows.jsonl");
    let stop = at("claude-code", "stop", home.root(), &path);
    let mut file = std::fs::File::create(&path).unwrap();
    for piece in rows.as_bytes().chunks(3000) {
        file.write_all(piece).unwrap();
        hook(&home, "stop", &stop);
    }
    let whole = turns(&home, &session("claude-code"));
    assert_eq!(whole.len(), 7);
    let lines: Vec<&str> = rows.lines().collect();
    for text in [lines[..6].join("\n"), String::new(), rows.clone(), lines[10..].join("\n")] {
        std::fs::write(&path, text).unwrap();
        hook(&home, "stop", &stop);
        assert_eq!(turns(&home, &session("claude-code")), whole);
    }
}

/// One such turn kept every later one of its transcript out.
#[test]
fn a_turn_with_nul_is_kept_without_it() {
    let home = quiet();
    let rows = std::fs::read_to_string(fixture("claude-code", "transcript.jsonl")).unwrap();
    let path = home.root().join("nul.jsonl");
    std::fs::write(&path, rows.replace("Postgres", "Post\\u0000gres")).unwrap();
    hook(&home, "stop", &at("claude-code", "stop", home.root(), &path));
    let kept = turns(&home, &session("claude-code"));
    assert_eq!(kept.len(), 7);
    assert!(kept.iter().any(|(_, text)| text.contains("Postgres")), "{kept:?}");
}

#[test]
fn a_client_without_a_transcript_is_taken_at_its_word() {
    let home = quiet();
    for client in ["codex", "gemini"] {
        let without = |name: &str| {
            let mut event = event(client, name);
            event["transcript_path"] = Value::Null;
            event
        };
        if client == "codex" {
            hook(&home, "prompt", &without("prompt"));
        }
        hook(&home, "stop", &without("stop"));
        let stop = event(client, "stop");
        let reply = stop.get("last_assistant_message").or(stop.get("prompt_response")).map(string).unwrap();
        let prompt = string(&if client == "codex" { event(client, "prompt") } else { stop }["prompt"]);
        let kept = turns(&home, &session(client));
        assert_eq!(kept, [("user".to_owned(), prompt), ("assistant".to_owned(), reply)], "{client}");
    }
}

#[test]
fn what_is_due_is_consolidated_in_the_background() {
    let summaries = |home: &Home| {
        let shown = home.json(&["session", "show", &session("claude-code")]);
        shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] == "summary").count()
    };
    // Three messages of the person's make a consolidation due.
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    hook(&home, "stop", &at("claude-code", "stop", home.root(), &transcript("claude-code")));
    until(|| (summaries(&home) == 1).then_some(()));
    // A client that is about to forget makes one whatever is due.
    let home = quiet();
    hook(&home, "pre-compact", &at("claude-code", "pre-compact", home.root(), &transcript("claude-code")));
    until(|| (summaries(&home) == 1).then_some(()));
}

#[test]
fn rows_of_the_conversation_that_this_one_goes_on_from_are_not_kept_twice() {
    let home = quiet();
    let mut stop = at("claude-code", "stop", home.root(), &transcript("claude-code"));
    stop["session_id"] = json!("another");
    hook(&home, "stop", &stop);
    assert_eq!(home.json(&["session", "list"])["sessions"], json!([]));
}
