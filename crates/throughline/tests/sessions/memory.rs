//! What one conversation leaves for the next: once, unchanged, and only as long as it is fresh.

use std::collections::BTreeSet;

use serde_json::json;

use super::{prompt, quiet, said, say};
use crate::common::{Home, tree};

/// A conversation on one channel that left a note.
fn with_a_note() -> Home {
    let home = quiet();
    say(&home, "telegram:1", "I moved the launch to 3 May");
    assert_eq!(home.json(&["session", "consolidate", "telegram:1"])["outcome"], json!("done"));
    home
}

const NOTE: &str =
    "--- Recent context ---\n## I moved the launch to 3 May\n\n### Decisions\n- I moved the launch to 3 May";

#[test]
fn a_note_reaches_another_channel_once_and_stays_as_it_is() {
    let home = with_a_note();
    assert_eq!(prompt(&home, "web:1", "hello"), NOTE);
    say(&home, "web:1", "hello");
    let first = prompt(&home, "web:1", "hello");
    assert_eq!(first, NOTE);
    // Another conversation changes the note; this one goes on as it began, turn after turn and after a reconnect.
    say(&home, "telegram:1", "I decided to serve lemon cake");
    home.run(&["session", "consolidate", "telegram:1"]).done();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    for message in ["hello", "and the cake?"] {
        say(&home, "web:1", message);
        assert_eq!(prompt(&home, "web:1", message), first);
    }
    let shown = home.json(&["context", "--session", "web:1", "--message", "hello"]);
    let given = shown["message"].as_str().unwrap();
    assert!(!given.contains("Recent context"), "the note is not repeated in front of a message: {given}");
    // A reset reads anew, once.
    let reset = home.run(&["session", "reset", "web:1"]).done();
    assert_eq!(reset, "web:1 begins anew with the next message\n");
    let renewed = prompt(&home, "web:1", "hello");
    assert!(renewed.contains("lemon cake") && renewed.contains("My name is Ada"), "{renewed}");
    assert_eq!(renewed.matches("--- Recent context ---").count(), 1);
    assert!(said(&home, "web:1", "user").len() == 3, "what was said stays");
}

#[test]
fn an_expired_note_is_ignored_without_a_word() {
    let mut home = with_a_note();
    home.set_now("2026-03-15T11:59:00Z");
    assert_eq!(prompt(&home, "web:1", "hello"), NOTE);
    home.set_now("2026-03-15T12:01:00Z");
    let ran = home.run(&["--json", "context", "--session", "web:1", "--message", "hello"]);
    assert!(!ran.done().contains("launch"));
    let working = home.run(&["--json", "working"]);
    assert_eq!((working.code, working.stderr.as_str()), (1, ""));
    // A session that began with it keeps its prompt.
    assert_eq!(home.json(&["session", "list"])["sessions"][0]["id"], json!("telegram:1"));
}

#[test]
fn a_greeting_only_where_it_is_wanted() {
    let home = with_a_note();
    let plain = prompt(&home, "web:1", "hello");
    home.put("config.toml", "[memory]\nuser_namespace = \"user\"\nproactive_session_greeting = true\n");
    let greeting = prompt(&home, "web:1", "hello");
    assert!(greeting.starts_with(&plain) && greeting.len() > plain.len(), "{greeting}");
}

/// Every path below the home.
fn files(home: &Home) -> BTreeSet<std::path::PathBuf> {
    let is_of_the_database = |path: &std::path::PathBuf| path.to_string_lossy().contains("memory.db");
    tree(&home.path("")).into_keys().filter(|path| !is_of_the_database(path)).collect()
}

#[test]
fn without_a_namespace_prompts_are_the_hosts_own_and_no_file_is_made() {
    for config in
        ["[memory]\nconsolidation_turn_threshold = 0\n", "[memory]\nenabled = false\nuser_namespace = \"user\"\n"]
    {
        let home = Home::with_config("config.toml", config);
        assert_eq!(prompt(&home, "web:1", "hello"), "");
        let before = files(&home);
        say(&home, "web:1", "My name is Ada and I moved the launch to 3 May");
        let done = home.json(&["session", "consolidate", "web:1"]);
        assert_eq!((&done["outcome"], &done["documents"], &done["facts"]), (&json!("done"), &json!([]), &json!([])));
        for session in ["web:1", "web:2"] {
            let context = home.json(&["context", "--session", session, "--message", "Who am I?"]);
            assert_eq!((&context["system_prompt"], &context["message"]), (&json!(""), &json!("Who am I?")));
        }
        assert_eq!(files(&home), before, "{config}");
        assert_eq!(said(&home, "web:1", "user").len(), 1);
    }
}

#[test]
fn every_conversation_has_a_thread_of_its_own() {
    let mut home = quiet();
    say(&home, "telegram:1", "Remind me to call the printer on Friday.");
    home.run(&["session", "consolidate", "telegram:1"]).done();
    let first = home.text("user/working.md");
    assert!(first.contains("Updated: 2026-03-01T12:00:00Z") && first.contains("call the printer"), "{first}");
    home.set_now("2026-03-01T13:00:00Z");
    say(&home, "web:1", "I moved the launch to 3 May");
    home.run(&["session", "consolidate", "web:1"]).done();
    let second = home.text("user/working.md");
    assert!(second.contains("Updated: 2026-03-01T13:00:00Z") && second.contains("launch to 3 May"), "{second}");
    assert!(second.contains("call the printer"), "an open thread is not closed by talking of something else: {second}");
}

/// What is known, and is true or was, as text.
#[track_caller]
fn known(home: &Home, status: &str) -> Vec<serde_json::Value> {
    let listed = home.json(&["list", "--layer", "knowledge", "--status", status]);
    listed["memories"].as_array().unwrap().clone()
}

#[test]
fn what_is_to_be_remembered_is_a_fact() {
    let home = quiet();
    for text in ["My name is Ada. Our tax rate in Portugal is 23%. Remember that.", "We moved from Postgres to SQLite."]
    {
        say(&home, "web:1", text);
        home.run(&["session", "consolidate", "web:1"]).done();
    }
    let note = home.text("user/working.md");
    assert!(note.contains("### Decisions\n- We moved from Postgres to SQLite.") && !note.contains("Ada"), "{note}");
    let facts: BTreeSet<String> =
        known(&home, "active").iter().map(|fact| crate::common::string(&fact["content"])).collect();
    let expected = ["Our tax rate in Portugal is 23%.", "We moved from Postgres to SQLite."];
    assert_eq!(facts, expected.map(str::to_owned).into());
    assert_eq!(home.listed(&["--layer", "identity"]), ["My name is Ada."], "who they are has its own place");
}

#[test]
fn a_spoken_correction_takes_the_place_of_what_was_wrong() {
    for (wrong, said, right) in [
        ("Our standup is at 9:30.", "Actually the standup is at 10, not 9:30.", "the standup is at 10, not 9:30."),
        (
            "The bread has a rye starter.",
            "No, I meant whole wheat starter, not rye",
            "I meant whole wheat starter, not rye",
        ),
        ("我们周三下午开会。", "不是周三，是周四开会。", "不是周三，是周四开会。"),
    ] {
        let home = quiet();
        home.remember(&[wrong]);
        say(&home, "web:1", said);
        home.run(&["session", "consolidate", "web:1"]).done();
        let (active, inactive) = (known(&home, "active"), known(&home, "inactive"));
        assert_eq!((active.len(), inactive.len()), (1, 1), "{right}");
        assert_eq!((&active[0]["content"], &inactive[0]["content"]), (&json!(right), &json!(wrong)));
        assert_eq!(active[0]["supersedes"], json!([inactive[0]["id"]]));
    }
}
