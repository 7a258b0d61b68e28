//! Off the record, through every surface: pauses, excluded places, and messages that ask not to be remembered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "mcp/peer.rs"]
mod peer;

use std::path::Path;

use common::daemon::Daemon;
use common::{Home, string};
use peer::Peer;
use serde_json::{Value, json};

/// A namespace, and nothing that starts by itself.
const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

/// What a hook of Claude Code adds to the conversation.
#[track_caller]
fn hook(home: &Home, name: &str, event: &Value) -> String {
    let said = home.run_with(&["hook", name, "--client", "claude-code", "--deadline-ms", "60000"], &event.to_string());
    let answer: Value = serde_json::from_str(&said.done()).unwrap();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// A row of a transcript of Claude Code.
fn row(id: &str, role: &str, text: &str, at: &str) -> String {
    let message = json!({ "role": role, "content": text });
    json!({ "type": role, "uuid": id, "sessionId": "s1", "timestamp": at, "message": message }).to_string() + "\n"
}

fn event(cwd: &Path, transcript: &Path) -> Value {
    json!({ "session_id": "s1", "cwd": cwd, "transcript_path": transcript, "prompt": "when do we deploy?" })
}

/// What is kept of a session, word for word; none if there is none.
#[track_caller]
fn said(home: &Home, session: &str) -> Vec<String> {
    let shown = home.run(&["--json", "session", "show", session]);
    if shown.code == 1 {
        return Vec::new();
    }
    let shown: Value = serde_json::from_str(&shown.done()).unwrap();
    shown["turns"].as_array().unwrap().iter().map(|turn| string(&turn["content"])).collect()
}

/// Whether a text stands anywhere below the home, database and log included.
fn stands(home: &Home, text: &str) -> bool {
    let files = common::tree(&home.path(""));
    files.values().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn while_paused_commands_observe_and_give_nothing() {
    let mut home = quiet();
    home.remember(&["We deploy on Fridays at noon"]);
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let context = |home: &Home| home.json(&["context", "--session", "cli:a", "--message", "when do we deploy?"]);
    assert!(context(&home).to_string().contains("Fridays") && context(&home).to_string().contains("Ada"));

    let paused = home.json(&["pause", "--for", "1h"]);
    assert_eq!(paused, json!({ "paused": true, "since": "2026-03-01T12:00:00Z", "until": "2026-03-01T13:00:00Z" }));
    let given = context(&home);
    assert_eq!((&given["system_prompt"], &given["message"]), (&json!(""), &json!("when do we deploy?")));
    let observed = home.json(&["session", "observe", "--session", "cli:a", "the zebra is loose"]);
    assert_eq!((&observed["kept"], &observed["off_record"], &observed["turns"]), (&json!(0), &json!(1), &json!([])));
    assert_eq!(said(&home, "cli:a"), [""; 0]);
    assert!(home.run(&[]).done().contains("paused until"), "status says so");
    assert!(home.run(&["doctor"]).done().contains("memory is paused"), "and doctor");
    assert_eq!(home.found(&["deploy"]), ["We deploy on Fridays at noon"], "a person's own commands work");
    let refused = home.run(&["tool", "call", "memory_recall", "{\"query\": \"deploy\"}"]);
    assert!(refused.stdout.contains("paused") || refused.stderr.contains("paused"), "{refused:?}");

    home.set_now("2026-03-01T13:00:00Z");
    assert!(context(&home).to_string().contains("Fridays"), "it ends by itself");
    assert_eq!(home.json(&["session", "observe", "--session", "cli:a", "good morning"])["kept"], 1);
    assert_eq!(said(&home, "cli:a"), ["good morning"]);
    assert!(!stands(&home, "zebra"), "not a byte was kept");
}

#[test]
fn a_pause_lasts_until_it_is_ended() {
    let mut home = quiet();
    home.run(&["pause", "--for", "soon"]).failed(2, "`soon`", "nothing was changed");
    home.json(&["pause"]);
    home.set_now("2027-03-01T12:00:00Z");
    assert!(home.run(&["session", "observe", "--session", "a", "hello"]).done().contains("off the record"));
    home.set_now("2025-03-01T12:00:00Z");
    assert_eq!(home.json(&["session", "observe", "--session", "a", "hello"])["kept"], 0, "whatever the clock says");
    assert_eq!(home.json(&["resume"]), json!({ "paused": false, "since": null, "until": null }));
    assert!(home.run(&["resume"]).done().contains("was not paused"));
    assert_eq!(home.json(&["session", "observe", "--session", "a", "hello"])["kept"], 1);
}

#[test]
fn a_transcript_that_is_read_after_a_pause_does_not_bring_it_back() {
    let mut home = quiet();
    home.remember(&["We deploy on Fridays at noon"]);
    let here = home.root().join("person");
    let transcript = here.join("s1.jsonl");
    let mut text = row("1", "user", "good morning", "2026-03-01T11:58:00Z");
    text += &row("2", "assistant", "hello Ada", "2026-03-01T11:58:10Z");
    std::fs::write(&transcript, &text).unwrap();
    hook(&home, "stop", &event(&here, &transcript));
    home.json(&["pause"]);
    assert_eq!(hook(&home, "session-start", &event(&here, &transcript)), "");
    assert_eq!(hook(&home, "prompt", &event(&here, &transcript)), "");
    text += &row("3", "user", "the zebra is loose", "2026-03-01T12:01:00Z");
    text += &row("4", "assistant", "call the zoo", "2026-03-01T12:01:10Z");
    std::fs::write(&transcript, &text).unwrap();
    home.set_now("2026-03-01T12:02:00Z");
    hook(&home, "stop", &event(&here, &transcript));
    // Said while memory was paused, and read only after it.
    text += &row("5", "user", "the zebra is back", "2026-03-01T12:05:00Z");
    text += &row("6", "assistant", "good", "2026-03-01T12:05:10Z");
    text += &row("7", "user", "what is due today?", "2026-03-01T12:31:00Z");
    std::fs::write(&transcript, &text).unwrap();
    home.set_now("2026-03-01T12:30:00Z");
    home.json(&["resume"]);
    home.set_now("2026-03-01T12:32:00Z");
    hook(&home, "stop", &event(&here, &transcript));
    assert_eq!(said(&home, "claude-code:s1"), ["good morning", "hello Ada", "what is due today?"]);
    assert!(hook(&home, "prompt", &event(&here, &transcript)).contains("Fridays"), "and memory is given again");
}

#[test]
fn while_paused_http_observes_and_gives_nothing() {
    let home = quiet();
    home.remember(&["We deploy on Fridays at noon"]);
    let daemon = Daemon::start(&home);
    let pause = daemon.post("/api/pause", &json!({ "for": "2h" }));
    assert_eq!(
        (pause, daemon.get("/api/pause")),
        (daemon.get("/api/status")["pause"].clone(), home.json(&[])["pause"].clone())
    );
    let started =
        daemon.post("/api/sessions", &json!({ "channel": "web", "session": "1", "system_prompt": "Be kind." }));
    assert_eq!((&started["context"], &started["system_prompt"]), (&json!(""), &json!("Be kind.")));
    let given = daemon.post("/api/sessions/web:1/context", &json!({ "message": "when do we deploy?" }));
    assert_eq!((&given["message"], &given["system_prompt"]), (&json!("when do we deploy?"), &json!("Be kind.")));
    let turn = json!({ "role": "user", "content": "the zebra is loose" });
    assert_eq!(daemon.post("/api/sessions/web:1/turns", &turn)["off_record"], 1);
    let summary = daemon.post("/api/sessions/web:1/compact", &json!({ "summary": "They spoke of a zebra." }));
    assert_eq!(summary["outcome"], "nothing");
    let tool = json!({ "arguments": { "query": "deploy" } });
    let refused = daemon.send(&daemon.request("POST", "/api/tools/memory_recall").json(&tool));
    assert!(refused.status == 400 && refused.json().to_string().contains("resume"), "{refused:?}");
    daemon.post("/api/resume", &json!({}));
    let given = daemon.post("/api/sessions/web:1/context", &json!({ "message": "when do we deploy?" }));
    assert!(string(&given["message"]).contains("Fridays"));
    assert_eq!(daemon.post("/api/sessions/web:1/turns", &json!({ "role": "user", "content": "hello" }))["kept"], 1);
    drop(daemon);
    assert_eq!(said(&home, "web:1"), ["hello"]);
    assert!(!stands(&home, "zebra"));
}

#[test]
fn nothing_is_observed_or_given_in_an_excluded_directory() {
    let home = quiet();
    let (open, secret) = (home.root().join("person/open"), home.root().join("person/secret/deep"));
    std::fs::create_dir_all(&open).unwrap();
    std::fs::create_dir_all(&secret).unwrap();
    home.put("config.toml", &format!("{QUIET}exclude = [\"~/secret\", \"telegram\"]\n"));
    home.remember(&["We deploy on Fridays at noon"]);
    let transcript = home.root().join("person/s1.jsonl");
    std::fs::write(&transcript, row("1", "user", "the zebra is loose", "2026-03-01T11:58:00Z")).unwrap();
    for (dir, given, kept) in [(&secret, false, 0), (&open, true, 1)] {
        assert_eq!(hook(&home, "prompt", &event(dir, &transcript)).contains("Fridays"), given, "{}", dir.display());
        hook(&home, "stop", &event(dir, &transcript));
        assert_eq!(said(&home, "claude-code:s1").len(), kept);
        let run = |args: &[&str]| {
            let output = home.throughline(args).current_dir(dir).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(run(&["context", "--message", "when do we deploy?"]).contains("Fridays"), given);
        run(&["session", "observe", "--session", "cli:here", "hello"]);
        assert_eq!(said(&home, "cli:here").len(), kept);
    }
}

#[test]
fn nothing_is_observed_or_given_on_an_excluded_channel() {
    let home = Home::with_config("config.toml", &format!("{QUIET}exclude = [\"telegram\"]\n"));
    home.remember(&["We deploy on Fridays at noon"]);
    let daemon = Daemon::start(&home);
    let message = json!({ "message": "when do we deploy?" });
    for (channel, given) in [("telegram", false), ("web", true)] {
        let started = daemon.post("/api/sessions", &json!({ "channel": channel, "session": "1" }));
        let session = string(&started["session"]);
        let context = daemon.post(&format!("/api/sessions/{session}/context"), &message);
        assert_eq!(string(&context["message"]).contains("Fridays"), given, "{channel}");
        let turn = json!({ "role": "user", "content": "hello there" });
        assert_eq!(daemon.post(&format!("/api/sessions/{session}/turns"), &turn)["kept"], i32::from(given));
        let call = json!({ "arguments": { "query": "deploy" }, "session": session });
        let called = daemon.send(&daemon.request("POST", "/api/tools/memory_recall").json(&call));
        assert_eq!(called.status == 200, given, "{called:?}");
    }
    let listed = daemon.get("/api/sessions");
    let ids: Vec<&Value> = listed["sessions"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(ids, [&json!("web:1")], "not even that there was a conversation");
}

/// A message that asks not to be remembered, its reply, and what follows.
const CONFIDED: [(&str, &str); 5] = [
    ("user", "Which sorting is stable?"),
    ("assistant", "Merge sort is."),
    ("user", "Don't remember this: I am looking for another job at Zebra."),
    ("assistant", "Good luck with Zebra!"),
    ("user", "Back to sorting."),
];
const KEPT: [&str; 3] = ["Which sorting is stable?", "Merge sort is.", "Back to sorting."];

#[test]
fn a_message_that_says_so_is_not_kept_on_the_command_line() {
    let home = quiet();
    for (role, content) in CONFIDED {
        home.run(&["session", "observe", "--session", "one", "--role", role, content]).done();
    }
    let lines: String =
        CONFIDED.iter().map(|(role, text)| json!({ "role": role, "content": text }).to_string() + "\n").collect();
    let observed = home.run_with(&["--json", "session", "observe", "--session", "all"], &lines).done();
    let observed: Value = serde_json::from_str(&observed).unwrap();
    assert_eq!((&observed["kept"], &observed["off_record"]), (&json!(3), &json!(2)));
    for session in ["cli:one", "cli:all"] {
        assert_eq!(said(&home, session), KEPT);
    }
    home.run(&["session", "end", "all"]).done();
    assert!(!stands(&home, "Zebra"));
}

#[test]
fn a_message_that_says_so_is_not_kept_over_http() {
    let home = Home::with_config("config.toml", &format!("{QUIET}tools = \"all\"\n"));
    let daemon = Daemon::start(&home);
    daemon.post("/api/sessions", &json!({ "channel": "web", "session": "1" }));
    for (role, content) in CONFIDED {
        if role == "user" {
            daemon.post("/api/sessions/web:1/context", &json!({ "message": content }));
        }
        daemon.post("/api/sessions/web:1/turns", &json!({ "role": role, "content": content }));
        let write =
            json!({ "arguments": { "key": "job", "content": "Zebra", "category": "knowledge" }, "session": "web:1" });
        if content.contains("Zebra") {
            let call = daemon.send(&daemon.request("POST", "/api/tools/memory_store").json(&write));
            assert_eq!(call.status, 400, "a tool stores nothing of it either: {call:?}");
        }
    }
    drop(daemon);
    assert_eq!(said(&home, "web:1"), KEPT);
    assert!(!stands(&home, "Zebra"), "not in the log of recalls either");
}

#[test]
fn a_message_that_says_so_is_not_kept_by_a_hook_that_reads_the_transcript_again() {
    let home = quiet();
    let here = home.root().join("person");
    let transcript = here.join("s1.jsonl");
    let mut text = String::new();
    for (nth, (role, content)) in CONFIDED.iter().enumerate() {
        text += &row(&nth.to_string(), role, content, "2026-03-01T11:58:00Z");
        std::fs::write(&transcript, &text).unwrap();
        hook(&home, "stop", &event(&here, &transcript));
    }
    assert_eq!(said(&home, "claude-code:s1"), KEPT, "row by row");
    hook(&home, "stop", &event(&here, &transcript));
    assert_eq!(said(&home, "claude-code:s1"), KEPT, "and again");
    // A client without a transcript hands in the message and the reply, each on its own.
    let hand = |name: &str, field: &str, text: &str| {
        let mut event = json!({ "conversation_id": "c1", "workspace_roots": [here], "generation_id": "g1" });
        event[field] = json!(text);
        home.run_with(&["hook", name, "--client", "cursor", "--deadline-ms", "60000"], &event.to_string()).done()
    };
    hand("prompt", "prompt", CONFIDED[2].1);
    hand("stop", "last_assistant_message", CONFIDED[3].1);
    assert_eq!(said(&home, "cursor:c1"), [""; 0]);
}

#[test]
fn a_muted_memory_is_never_given_and_still_found() {
    let home = quiet();
    let fact = home.remember(&["We deploy on Fridays at noon"]);
    let name = home.remember(&["--layer", "identity", "My name is Ada"]);
    home.remember(&["--layer", "identity", "I like short answers"]);
    let given =
        |project: &str| home.json(&["context", "--project", project, "--message", "when do we deploy?"]).to_string();
    home.json(&["mute", &fact, "--project", "apollo"]);
    assert!(!given("apollo").contains("Fridays") && given("zeus").contains("Fridays"), "in one project alone");
    assert_eq!(home.json(&["show", &fact])["muted_in"], json!(["apollo"]));
    assert_eq!(home.json(&["mute", &fact])["muted"], true);
    assert_eq!(home.json(&["mute", &name])["muted"], true, "a line of a document likewise");
    assert!(
        !given("zeus").contains("Fridays") && !given("zeus").contains("Ada") && given("zeus").contains("short answers")
    );
    assert_eq!(home.found(&["deploy"]), ["We deploy on Fridays at noon"], "a search finds it");
    assert!(home.run(&["list"]).done().contains("(muted)") && home.run(&["show", &name]).done().contains("muted"));
    assert!(home.text("user/profile.md").contains("My name is Ada"), "the file stays as it is");
    home.json(&["correct", "--wrong", &fact, "We deploy on Mondays at noon"]);
    assert!(!given("zeus").contains("Mondays"), "what takes its place is muted, too");
    home.json(&["mute", &fact, "--off"]);
    home.json(&["mute", &name, "--off"]);
    assert!(given("zeus").contains("Mondays") && given("zeus").contains("Ada") && !given("apollo").contains("Mondays"));
}

#[test]
fn memories_are_muted_over_http_and_stay_so_after_an_import() {
    let home = quiet();
    let fact = home.remember(&["We deploy on Fridays at noon"]);
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.post(&format!("/api/memories/{fact}/mute"), &json!({}))["muted"], true);
    daemon.post("/api/sessions", &json!({ "channel": "web", "session": "1" }));
    let given = daemon.post("/api/sessions/web:1/context", &json!({ "message": "when do we deploy?" }));
    assert_eq!(given["message"], "when do we deploy?");
    assert_eq!(daemon.get("/api/memories")["memories"][0]["muted"], true);
    drop(daemon);
    let export = home.run(&["export", "--format", "json"]).done();
    let other = quiet();
    other.put("export.json", &export);
    other.run(&["import", other.path("export.json").to_str().unwrap()]).done();
    assert_eq!(other.json(&["show", &fact])["muted"], true);
}

#[test]
fn old_turns_are_removed_that_no_memory_needs() {
    let mut home = Home::with_config("config.toml", &format!("{QUIET}turns_retention_days = 30\n"));
    for text in ["I live in Lisbon.", "What is the weather like?", "Thanks, that helps a lot."] {
        home.run(&["session", "observe", "--session", "old", text]).done();
    }
    home.run(&["session", "end", "old"]).done();
    let before = said(&home, "cli:old");
    assert!(before.contains(&"I live in Lisbon.".to_owned()) && before.len() > 2, "{before:?}");
    // The machine was in use lately, so its clock is trusted.
    home.set_now("2026-04-05T10:00:00Z");
    home.run(&["remember", "tea is fine"]).done();
    home.set_now("2026-04-05T12:00:00Z");
    home.run(&["session", "observe", "--session", "new", "What is due today?"]).done();
    home.run(&["session", "consolidate", "new"]).done();
    let after = said(&home, "cli:old");
    assert!(!after.iter().any(|text| text.contains("weather")), "{after:?}");
    assert!(after.contains(&"I live in Lisbon.".to_owned()), "a memory came from it: {after:?}");
    assert_eq!(said(&home, "cli:new")[0], "What is due today?");
}

#[test]
fn a_message_that_says_so_is_not_imported() {
    let home = quiet();
    let line =
        |(role, text): &(&str, &str)| json!({ "role": role, "content": text, "session": "old:1" }).to_string() + "\n";
    home.put("said.jsonl", &CONFIDED.iter().map(line).collect::<String>());
    let report = home.json(&["import", home.path("said.jsonl").to_str().unwrap(), "--later"]);
    assert_eq!(report["turns"]["added"], 3, "{report}");
    assert!(report["skipped"].to_string().contains("is off the record"), "{report}");
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    assert_eq!(said(&home, sessions[0]["id"].as_str().unwrap()), KEPT);
}

#[test]
fn an_assistant_gets_nothing_by_mcp_while_memory_is_paused_or_where_it_is_excluded() {
    let home = Home::with_config("config.toml", &format!("{QUIET}exclude = [\"~/secret\"]\n"));
    let (open, secret) = (home.root().join("person/open"), home.root().join("person/secret"));
    std::fs::create_dir_all(&open).unwrap();
    std::fs::create_dir_all(&secret).unwrap();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let served_in = |dir: &Path| {
        let mut command = home.throughline(&["mcp"]);
        command.current_dir(dir);
        Peer::greeted(command)
    };
    let answers = |peer: &mut Peer| {
        let read = peer.ask("resources/read", json!({ "uri": "memory://profile" })).to_string();
        [peer.call("memory_context", json!({})).to_string(), read]
    };
    let mut peer = served_in(&open);
    let before = answers(&mut peer);
    assert!(before.iter().all(|answer| answer.contains("Ada")), "{before:?}");
    home.run(&["pause"]).done();
    let paused = answers(&mut peer);
    assert!(paused.iter().all(|answer| !answer.contains("Ada") && answer.contains("paused")), "{paused:?}");
    home.run(&["resume"]).done();
    assert!(answers(&mut peer).iter().all(|answer| answer.contains("Ada")), "the same server goes on");
    let excluded = answers(&mut served_in(&secret));
    assert!(excluded.iter().all(|answer| !answer.contains("Ada")), "{excluded:?}");
}
