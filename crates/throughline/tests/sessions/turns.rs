//! What is kept of a conversation, and what is said about it.

use serde_json::json;

use super::{quiet, said, say};
use crate::common::Home;

#[test]
fn an_argument_is_a_turn() {
    let home = quiet();
    let receipt = say(&home, "telegram:1", "I moved the launch to 3 May");
    let turn = &receipt["turns"][0];
    assert_eq!(receipt["due"], json!(null));
    assert_eq!((&turn["role"], &turn["session"]), (&json!("user"), &json!("telegram:1")));
    assert_eq!(
        (&turn["content"], &turn["at"]),
        (&json!("I moved the launch to 3 May"), &json!("2026-03-01T12:00:00Z"))
    );
    let args = ["session", "observe", "--session", "telegram:1", "--role", "assistant", "Noted", "then"];
    assert_eq!(home.run(&args).done(), "kept 1 turn of telegram:1\n");
    assert_eq!(said(&home, "telegram:1", "assistant"), ["Noted then"]);
    let shown = home.run(&["session", "show", "telegram:1"]).done();
    assert_eq!(
        shown,
        "I moved the launch to 3 May\ntelegram:1\n\nuser just now\nI moved the launch to 3 May\n\nassistant just now\nNoted then\n\n"
    );
}

#[test]
fn without_a_channel_the_command_line_is_meant() {
    let home = quiet();
    say(&home, "main", "hello");
    assert_eq!(said(&home, "cli:main", "user"), ["hello"]);
    assert_eq!(said(&home, "main", "user"), ["hello"]);
}

#[test]
fn lines_of_json_are_turns_with_their_own_time_and_speaker() {
    let home = quiet();
    let lines = concat!(
        r#"{"role": "user", "content": "one", "id": "m-1", "at": "2026-02-28T10:00:00Z", "speaker": "Ada"}"#,
        "\n\n",
        r#"{"role": "tool", "content": "two"}"#,
        "\n"
    );
    let ran = home.run_with(&["session", "observe", "--session", "web:1"], lines);
    assert_eq!(ran.done(), "kept 2 turns of web:1\n");
    let turns = home.json(&["session", "show", "web:1"])["turns"].clone();
    assert_eq!(turns.as_array().unwrap().len(), 2);
    let first = json!({"id": turns[0]["id"], "session": "web:1", "role": "user", "speaker": "Ada", "content": "one",
        "at": "2026-02-28T10:00:00Z"});
    assert_eq!(turns[0], first);
    assert_eq!(turns[1]["at"], json!("2026-03-01T12:00:00Z"));
}

#[test]
fn a_conversation_says_who_the_person_is() {
    let home = quiet();
    let line = r#"{"role": "user", "content": "one", "speaker": "Grace"}"#;
    home.run_with(&["session", "observe", "--session", "web:1", "--person", "Ada"], line).done();
    let person = || home.json(&["session", "show", "web:1"])["session"]["person"].clone();
    assert_eq!(person(), json!("Ada"));
    say(&home, "web:1", "two");
    assert_eq!(person(), json!("Ada"), "what is not given stays");
}

#[test]
fn one_bad_line_and_nothing_is_kept() {
    for (bad, problem) in [
        (r#"{"role": "usr", "content": "x"}"#, "unknown role `usr`"),
        (r#"{"role": "user"}"#, "missing field `content`"),
        (r#"{"role": "user", "content": "x", "mood": "good"}"#, "unknown field `mood`"),
        (r#"{"role": "user", "content": "x", "at": "soonish"}"#, "soonish"),
        ("hello", "line 2: "),
    ] {
        let home = quiet();
        let lines = format!("{{\"role\": \"user\", \"content\": \"good\"}}\n{bad}\n");
        home.run_with(&["session", "observe", "--session", "web:1"], &lines).failed(2, problem, "nothing was kept");
        assert_eq!(home.json(&["session", "list"]), json!({"sessions": [], "cursor": null}), "{bad}");
    }
}

#[test]
fn an_id_is_kept_once() {
    let home = quiet();
    let line = "{\"role\": \"user\", \"content\": \"one\", \"id\": \"m-1\"}\n";
    for _ in 0..3 {
        home.run_with(&["session", "observe", "--session", "web:1"], line).done();
    }
    assert_eq!(said(&home, "web:1", "user"), ["one"]);
    let again = home.run_with(&["session", "observe", "--session", "web:1"], line).done();
    assert_eq!(again, "kept 0 turns of web:1\n");
}

/// Chat apps number messages per chat: the same number elsewhere is another message.
#[test]
fn an_id_means_something_in_its_own_session_only() {
    let home = quiet();
    for (session, text) in [("telegram:1", "one"), ("telegram:2", "two")] {
        let line = format!("{{\"role\": \"user\", \"content\": \"{text}\", \"id\": \"17\"}}\n");
        home.run_with(&["session", "observe", "--session", session], &line).done();
        assert_eq!(said(&home, session, "user"), [text]);
    }
}

#[test]
fn what_memory_put_in_front_and_secrets_are_not_kept() {
    let home = quiet();
    say(&home, "web:1", "<memory-context>\n- a note\n</memory-context>\n\nuse sk-abcdefghijklmnopqrstuvwxyz0123456789");
    assert_eq!(said(&home, "web:1", "user"), ["use [redacted:openai-key]"]);
}

#[test]
fn nothing_to_say_is_refused() {
    let home = quiet();
    home.run(&["session", "observe", "--session", "web:1", " "]).failed(2, "nothing was said", "give the words");
    home.run_with(&["session", "observe", "--session", "web:1"], "").failed(2, "nothing was said", "give the words");
    assert_eq!(
        home.json(&["session", "list"]),
        json!({"sessions": [], "cursor": null}),
        "no empty session is left behind"
    );
    home.run(&["session", "observe", "--session", "web:a/b", "x"]).failed(2, "contains '/'", "use letters");
    let king = home.run(&["session", "observe", "--session", "web:1", "--role", "king", "x"]);
    assert!(king.code == 2 && king.stderr.contains("king"), "{king:?}");
}

#[test]
fn the_latest_conversation_is_listed_first() {
    let mut home = quiet();
    let none = home.run(&["session", "list"]);
    assert_eq!((none.code, none.stdout.as_str()), (1, "no conversations yet\n"));
    say(&home, "telegram:1", "hello");
    home.set_now("2026-03-01T12:01:00Z");
    home.json(&["session", "observe", "--session", "web:1", "--project", "launch", "hello"]);
    let listed = home.json(&["session", "list"]);
    let expected = json!({"id": "web:1", "title": "hello", "project": "launch", "task": null, "person": null, "created_at": "2026-03-01T12:01:00Z",
        "updated_at": "2026-03-01T12:01:00Z", "ended_at": null, "consolidated": 0, "kept_from": 0, "failures": 0,
        "turns": 1});
    assert_eq!(listed["sessions"][0], expected);
    assert_eq!(listed["sessions"][1]["id"], json!("telegram:1"));
    let table = home.run(&["session", "list"]).done();
    assert!(
        table.contains("hello") && table.contains("web:1") && table.contains("launch") && table.contains("open"),
        "{table}"
    );
}

#[test]
fn a_conversation_that_is_not_there_is_not_found() {
    let home = quiet();
    for verb in ["show", "consolidate", "reset", "end"] {
        home.run(&["session", verb, "web:1"]).failed(1, "there is no session `web:1`", "session list");
    }
    let ran = home.run(&["--json", "session", "show", "web:1"]);
    let error: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &error["error"]["code"]), (1, &json!("not_found")));
}

#[test]
fn an_end_summarises_and_more_words_open_it_again() {
    let home = quiet();
    say(&home, "web:1", "I moved the launch to 3 May");
    let ended = home.json(&["session", "end", "web:1"]);
    assert_eq!((&ended["session"], &ended["consolidation"]["outcome"]), (&json!("web:1"), &json!("done")));
    let state = |home: &Home| home.json(&["session", "show", "web:1"])["session"]["ended_at"].clone();
    assert_eq!(state(&home), json!("2026-03-01T12:00:00Z"));
    let again = home.run(&["session", "end", "web:1"]).done();
    assert_eq!(again, "ended web:1; nothing new was said\n");
    say(&home, "web:1", "one more thing");
    assert_eq!(state(&home), json!(null));
}
