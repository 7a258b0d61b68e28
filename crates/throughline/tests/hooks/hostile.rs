//! Whatever comes in, and whatever is wrong with the memory: exit 0, one JSON object or nothing, and the assistant goes on.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Home, Ran};
use crate::events::{CLIENTS, PATIENCE, added, at, event, fixture, quiet};

const EVENTS: [&str; 5] = ["session-start", "prompt", "pre-compact", "stop", "session-end"];

/// Runs a hook on any bytes; whether all of them are read is its own affair.
#[track_caller]
fn answer(home: &Home, args: &[&str], stdin: &[u8]) -> Value {
    let mut command = home.throughline(&[&["hook"], args].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    if ran.stdout.is_empty() && args.contains(&"pre-compact") {
        return json!({});
    }
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {ran:?}"))
}

#[test]
fn any_bytes_are_answered() {
    let home = quiet();
    let long = format!("{{\"session_id\":\"s\",\"prompt\":\"{}\"}}", "word ".repeat(2_000_000));
    let deep = "[".repeat(100_000);
    let inputs: [&[u8]; 12] = [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"\"text\"",
        b"{",
        b"{}",
        b"\xff\xfe\x00",
        b"{\"session_id\":\"\xff\",\"prompt\":\"\xf0\x28\"}",
        b"{\"session_id\":{},\"prompt\":[],\"cwd\":7,\"transcript_path\":true,\"source\":null}",
        long.as_bytes(),
        deep.as_bytes(),
    ];
    for name in EVENTS {
        for input in inputs {
            let client = ["--client", "claude-code", "--deadline-ms", PATIENCE];
            let said = answer(&home, &[&[name], &client[..]].concat(), input);
            assert_eq!(said, json!({}), "{name}: {}", String::from_utf8_lossy(&input[..input.len().min(80)]));
        }
    }
    let cursor = answer(&home, &["prompt", "--client", "cursor", "--deadline-ms", PATIENCE], b"");
    assert_eq!(cursor, json!({ "continue": true }));
    assert_eq!(home.run(&["hook", "prompt", "--deadline-ms", PATIENCE]).done(), "{}\n", "nothing on standard input");
}

#[test]
fn wrong_arguments_stop_nobody() {
    let home = quiet();
    assert_eq!(answer(&home, &["no-such-event"], b"{}"), json!({}));
    assert_eq!(answer(&home, &["stop", "--client", "no-such-client"], b"{}"), json!({}));
    for args in [&["hook"][..], &["hook", "stop", "--no-such-option"], &["hook", "stop", "--deadline-ms", "soon"]] {
        let ran = home.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert!(ran.stderr.contains("error:"), "{ran:?}");
    }
}

#[test]
fn a_broken_memory_stops_nobody() {
    type Breaks = fn(&Home);
    let broken: [(&str, Breaks); 4] = [
        ("a damaged database", |home| home.put("memory.db", &"not a database".repeat(1000))),
        ("a bad config", |home| home.put("config.toml", "[memory\nnonsense = ")),
        ("an unknown setting", |home| home.put("config.toml", "[memory]\nno_such_setting = 1\n")),
        ("a file in the place of the home", |home| {
            std::fs::remove_dir_all(home.path("")).unwrap();
            std::fs::write(home.path(""), "").unwrap();
        }),
    ];
    for (what, breaks) in broken {
        let home = quiet();
        breaks(&home);
        for client in CLIENTS {
            for name in EVENTS {
                let stdin = event(client, name).to_string();
                let ran = home.run_with(&["hook", name, "--deadline-ms", PATIENCE], &stdin);
                let nothing = match (client, name) {
                    ("cursor", "prompt") => "{\"continue\":true}\n",
                    ("claude-code", "pre-compact") => "",
                    _ => "{}\n",
                };
                assert_eq!(ran.done(), nothing, "{what}, {client} {name}");
            }
        }
    }
}

#[test]
fn what_is_wrong_is_said_to_whoever_asks() {
    let mut home = quiet();
    home.put("config.toml", "[memory\nnonsense = ");
    home.set("THROUGHLINE_LOG", "warn");
    let ran = home.run_with(&["hook", "stop", "--deadline-ms", PATIENCE], &event("codex", "stop").to_string());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "{}\n"));
    assert!(ran.stderr.contains("goes on without memory"), "{ran:?}");
}

#[test]
fn a_locked_database_keeps_nobody_waiting() {
    let home = quiet();
    home.remember(&["The database that I prefer is Postgres"]);
    home.put("user/profile.md", "- My name is Ada.\n");
    let lock = rusqlite::Connection::open(home.path("memory.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for name in EVENTS {
        let transcript = fixture("claude-code", "transcript.jsonl");
        let stdin = at("claude-code", name, home.root(), &transcript).to_string();
        let said = home.run_with(&["hook", name, "--deadline-ms", "200"], &stdin).done();
        // What is only read is given, if it comes in time; what would be kept is not.
        let may_give = ["session-start", "prompt"].contains(&name);
        let answer: Value = if name == "pre-compact" { json!({}) } else { serde_json::from_str(&said).unwrap() };
        assert!(answer == json!({}) || may_give && !added(&answer).is_empty(), "{name}: {said}");
    }
    // The limit for messages that the config sets.
    home.put("config.toml", &format!("{}[hooks]\nprompt_deadline_ms = 100\n", crate::events::QUIET));
    let stdin = event("claude-code", "prompt").to_string();
    home.run_with(&["hook", "prompt"], &stdin).done();
    lock.execute_batch("ROLLBACK").unwrap();
    assert_eq!(home.json(&["session", "list"])["sessions"], json!([]), "nothing was half done");
    assert!(added(&crate::events::hook(&home, "prompt", &event("claude-code", "prompt"))).contains("Postgres"));
}

/// Standard input that never ends is not waited for.
#[test]
fn a_client_that_says_nothing_is_answered() {
    let home = quiet();
    let mut command = home.throughline(&["hook", "prompt", "--deadline-ms", "200"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "{}\n"), "{ran:?}");
    drop(open);
}

#[cfg(unix)]
#[test]
fn only_a_plain_file_of_somebody_elses_is_a_transcript() {
    let home = quiet();
    home.remember(&["Something"]);
    let at_root = |name: &str| home.root().join(name);
    let made = std::process::Command::new("mkfifo").arg(at_root("pipe.jsonl")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("/dev/zero", at_root("zero.jsonl")).unwrap();
    std::os::unix::fs::symlink(home.path("memory.db"), at_root("own.jsonl")).unwrap();
    std::fs::create_dir(at_root("folder.jsonl")).unwrap();
    std::fs::copy(fixture("claude-code", "transcript.jsonl"), at_root("notes.txt")).unwrap();
    for name in ["pipe.jsonl", "zero.jsonl", "own.jsonl", "folder.jsonl", "notes.txt", "missing.jsonl"] {
        let mut stop = at("claude-code", "stop", home.root(), &at_root(name));
        stop["last_assistant_message"] = Value::Null;
        assert_eq!(crate::events::hook(&home, "stop", &stop), json!({}), "{name}");
    }
    assert_eq!(home.json(&["session", "list"])["sessions"], json!([]));
    home.run(&["doctor"]).done();
}

#[test]
fn an_opening_that_nobody_read_is_given_with_the_next_message() {
    let home = crate::events::quiet();
    home.put("user/profile.md", "- Ada keeps bees.\n");
    let start = crate::events::event("claude-code", "session-start");
    let mut child = home.throughline(&["hook", "session-start"]).stdin(Stdio::piped()).spawn().unwrap();
    // The client hangs up before there is an answer.
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(start.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let prompt = crate::events::event("claude-code", "prompt");
    assert!(added(&crate::events::hook(&home, "prompt", &prompt)).contains("keeps bees"));
    let again = added(&crate::events::hook(&home, "prompt", &prompt));
    assert!(!again.contains("keeps bees"), "once it was read, it is not given again: {again}");
}

#[test]
fn a_misspelt_event_is_explained_to_a_person_and_not_to_a_client() {
    let home = quiet();
    let ran = home.run_with(&["hook", "promt"], "{}");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "{}\n", ""), "{ran:?}");
    let line = format!("'{}' hook promt", env!("CARGO_BIN_EXE_throughline"));
    // Where there is no `script`, nobody can pretend to be a person.
    let Ok(shown) = home.command("script").args(["-qec", &line, "/dev/null"]).output() else { return };
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("no hook `promt`") && shown.contains("session-start, prompt, pre-compact"), "{shown}");
}
