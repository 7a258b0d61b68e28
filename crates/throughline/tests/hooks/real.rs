//! What real clients do, and no documentation says: found by running them (`tests/clients`), told here with recorded events.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Home, string, until};
use crate::events::{PATIENCE, added, at, event, fixture, hook, quiet, session, turns};

const PROFILE: &str = "- My name is Ada.\n";

fn summaries(home: &Home, session: &str) -> Vec<String> {
    let shown = home.json(&["session", "show", session]);
    let turns = shown["turns"].as_array().into_iter().flatten();
    turns.filter(|turn| turn["role"] == "summary").map(|turn| string(&turn["content"])).collect()
}

fn said(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

/// Where Copilot CLI keeps a conversation.
fn copilot_events(home: &Home) -> PathBuf {
    let id = string(&event("copilot", "stop")["sessionId"]);
    let dir = home.root().join("person/.copilot/session-state").join(id);
    std::fs::create_dir_all(&dir).unwrap();
    dir.join("events.jsonl")
}

#[test]
fn a_conversation_that_nobody_ends_is_consolidated_when_another_starts_or_stops() {
    for second in ["session-start", "stop"] {
        let mut home =
            Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\nflush_every_prompts = 0\n");
        let rollout = home.root().join("rollout-a.jsonl");
        let row = json!({ "type": "response_item", "payload": { "type": "message", "id": "m", "role": "user",
            "content": [{ "type": "input_text", "text": "I moved the launch to 3 May" }] } });
        std::fs::write(&rollout, format!("{row}\n")).unwrap();
        hook(&home, "stop", &at("codex", "stop", home.root(), &rollout));
        assert_eq!(summaries(&home, &session("codex")), [""; 0], "{second}");
        home.set_now("2026-03-01T12:01:01Z");
        let mut other = at("codex", second, home.root(), &home.root().join("none.jsonl"));
        other["session_id"] = json!("0199c0de-5a5a-7c3d-8f10-000000000000");
        other["transcript_path"] = Value::Null;
        hook(&home, second, &other);
        until(|| (summaries(&home, &session("codex")).len() == 1).then_some(()));
    }
}

#[test]
fn copilots_last_reply_is_waited_for() {
    let home = quiet();
    let events = copilot_events(&home);
    let rows = std::fs::read_to_string(fixture("copilot", "transcript.jsonl")).unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let reply = rows.iter().position(|row| row.contains("called Tagus")).unwrap();
    std::fs::write(&events, rows[..reply].join("\n") + "\n").unwrap();
    let mut command = home.throughline(&["hook", "stop", "--deadline-ms", PATIENCE]);
    command.env("THROUGHLINE_LOG", "debug");
    let mut hook = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let event = at("copilot", "stop", home.root(), &events).to_string();
    hook.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    // The reply is written when the hook has read the file once without it, and not before.
    let mut log = BufReader::new(hook.stderr.take().unwrap()).lines().map(Result::unwrap);
    if log.any(|line| line.contains("the reply is not in the transcript yet")) {
        let mut file = std::fs::OpenOptions::new().append(true).open(&events).unwrap();
        writeln!(file, "{}", rows[reply]).unwrap();
    }
    log.for_each(drop);
    assert!(hook.wait().unwrap().success());
    assert_eq!(turns(&home, &session("copilot")).last(), Some(&said("assistant", "The release is called Tagus.")));
}

#[test]
fn copilots_end_names_no_transcript_and_is_read_from_its_own_place() {
    let home = quiet();
    std::fs::copy(fixture("copilot", "transcript.jsonl"), copilot_events(&home)).unwrap();
    hook(&home, "session-end", &event("copilot", "session-end"));
    let kept = turns(&home, &session("copilot"));
    assert_eq!(kept.first(), Some(&said("user", "Name the release after a river.")), "{kept:?}");
    assert_eq!(kept.iter().filter(|(_, text)| text == "The release is called Tagus.").count(), 1, "{kept:?}");
}

#[test]
fn a_client_that_does_not_say_it_compacted_is_given_the_beginning_again() {
    for client in ["copilot", "gemini"] {
        let home = quiet();
        home.put("user/profile.md", PROFILE);
        let prompt = || added(&hook(&home, "prompt", &event(client, "prompt")));
        assert!(prompt().contains("My name is Ada."), "{client}");
        assert!(!prompt().contains("My name is Ada."), "{client}");
        let mut compact = event(client, "pre-compact");
        compact["trigger"] = json!("manual");
        hook(&home, "pre-compact", &compact);
        assert!(prompt().contains("My name is Ada."), "{client}: it is gone from view");
        assert!(!prompt().contains("My name is Ada."), "{client}");
    }
}

#[test]
fn gemini_is_searched_for_the_persons_own_words_alone() {
    let home = quiet();
    home.remember(&["The database that I prefer is Postgres"]);
    let mut prompt = event("gemini", "prompt");
    prompt["prompt"] = json!(
        "<hook_context>&lt;memory-context&gt;\nWhich database do I prefer?\n&lt;/memory-context&gt;</hook_context>\n\nThanks!"
    );
    assert_eq!(hook(&home, "prompt", &prompt), json!({}), "what memory itself gave is not asked");
    prompt["prompt"] = json!(
        "<hook_context>&lt;memory-context&gt;\n- tea\n&lt;/memory-context&gt;</hook_context>\n\nWhich database do I prefer?"
    );
    assert!(added(&hook(&home, "prompt", &prompt)).contains("Postgres"));
}

#[test]
fn gemini_asks_itself_before_every_request_whether_to_compress() {
    let home = quiet();
    home.put("user/profile.md", PROFILE);
    let transcript = fixture("gemini", "transcript.json");
    hook(&home, "stop", &at("gemini", "stop", home.root(), &transcript));
    added(&hook(&home, "prompt", &event("gemini", "prompt")));
    for _ in 0..3 {
        hook(&home, "pre-compact", &at("gemini", "pre-compact", home.root(), &transcript));
    }
    assert_eq!(added(&hook(&home, "prompt", &event("gemini", "prompt"))), "", "nothing was forgotten");
    // What runs detached has had its time once a run that is waited for has ended.
    home.run(&["session", "show", &session("gemini")]).done();
    let mut manual = at("gemini", "pre-compact", home.root(), &transcript);
    manual["trigger"] = json!("manual");
    hook(&home, "pre-compact", &manual);
    until(|| (summaries(&home, &session("gemini")).len() == 1).then_some(()));
}

#[test]
fn claude_code_gets_not_one_word_before_a_compaction() {
    let home = quiet();
    let transcript = fixture("claude-code", "transcript.jsonl");
    let event = at("claude-code", "pre-compact", home.root(), &transcript).to_string();
    for stdin in [event.as_str(), "{}", ""] {
        let args = ["hook", "pre-compact", "--client", "claude-code", "--deadline-ms", PATIENCE];
        assert_eq!(home.run_with(&args, stdin).done(), "", "it would be taken for instructions");
    }
}

#[test]
fn a_transcript_that_is_not_there_yet_is_read_later_and_nothing_is_kept_twice() {
    let home = quiet();
    let path = home.root().join("late.jsonl");
    let mut stop = at("claude-code", "stop", home.root(), &path);
    stop["last_assistant_message"] = json!("Noted.");
    hook(&home, "stop", &stop);
    std::fs::copy(fixture("claude-code", "compacted.jsonl"), &path).unwrap();
    hook(&home, "session-end", &at("claude-code", "session-end", home.root(), &path));
    let kept = turns(&home, &session("claude-code"));
    let right = [
        said("user", "My dog is called Rex."),
        said("assistant", "Noted."),
        said("user", "What is my dog called?"),
        said("assistant", "Rex."),
    ];
    assert_eq!(kept, right);
}

#[test]
fn a_clients_own_summary_is_the_summary_and_no_turn() {
    for client in ["claude-code", "codex", "copilot", "gemini"] {
        let mut home = quiet();
        home.set_now("2026-03-06T09:10:00Z");
        let path = fixture(client, "compacted.jsonl");
        let mut stop = at(client, "stop", home.root(), &path);
        stop["last_assistant_message"] = json!("Rex.");
        hook(&home, "stop", &stop);
        let summary = until(|| summaries(&home, &session(client)).pop());
        assert!(summary.contains("The person has a dog, Rex."), "{client}: {summary}");
        let kept = turns(&home, &session(client));
        assert_eq!(kept.len(), 4, "{client}: {kept:?}");
        assert!(kept.iter().all(|(_, text)| !text.contains("has a dog")), "{client}: {kept:?}");
        // What was said after it is still to be summarised, and it is not handed in twice.
        hook(&home, "stop", &stop);
        let rest = home.json(&["session", "consolidate", &session(client)]);
        assert_eq!((&rest["outcome"], &rest["compacted"]), (&json!("done"), &json!(2)), "{client}: {rest}");
    }
}
