//! Recorded transcripts and hook inputs of every client, with made-up content.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashSet;
use std::io::Cursor;
use std::path::Path;

use throughline_clients::Client;
use throughline_clients::hooks::{Event, HookInput};
use throughline_clients::transcripts::{News, Spoken, read};

const CLIENTS: [Client; 5] = [Client::ClaudeCode, Client::Codex, Client::Cursor, Client::Copilot, Client::Gemini];

fn fixture(client: Client, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(client.as_str()).join(file);
    std::fs::read_to_string(path).unwrap()
}

fn input(client: Client, event: Event) -> HookInput {
    HookInput::read(fixture(client, &format!("{}.json", event.as_str())).as_bytes(), None)
}

fn session(client: Client) -> String {
    input(client, Event::Stop).session.unwrap()
}

fn read_all(client: Client, text: &[u8]) -> Vec<Spoken> {
    read_new(client, text, &HashSet::new())
}

fn read_new(client: Client, text: &[u8], known: &HashSet<String>) -> Vec<Spoken> {
    news(client, text, known).said
}

fn news(client: Client, text: &[u8], known: &HashSet<String>) -> News {
    let is_known = |spoken: &Spoken| known.contains(&spoken.id);
    read(client, &session(client), Cursor::new(text), text.len() as u64, &is_known).unwrap()
}

fn shown(spoken: &[Spoken]) -> String {
    let line = |said: &Spoken| {
        let at = said.at.map_or("-".to_owned(), |at| at.to_string());
        format!("{} {} {at}\n    {}\n", said.id, said.role, said.text.replace('\n', "\n    "))
    };
    spoken.iter().map(line).collect()
}

#[test]
fn every_event_of_every_client_is_understood_without_being_told_whose_it_is() {
    let mut table = String::new();
    for client in CLIENTS {
        for event in Event::ALL {
            let input = input(client, event);
            assert_eq!(input.client, client, "{event:?}");
            table.push_str(&format!("{client} {}\n{input:#?}\n\n", event.as_str()));
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_transcript_is_what_the_person_and_the_assistant_said() {
    for client in CLIENTS {
        let file = if client == Client::Gemini { "transcript.json" } else { "transcript.jsonl" };
        let spoken = read_all(client, fixture(client, file).as_bytes());
        insta::assert_snapshot!(format!("{client}"), shown(&spoken));
    }
    let spoken = read_all(Client::Gemini, fixture(Client::Gemini, "transcript.jsonl").as_bytes());
    insta::assert_snapshot!("gemini_lines", shown(&spoken));
}

#[test]
fn nothing_that_was_injected_is_said() {
    for client in CLIENTS {
        for file in ["transcript.jsonl", "transcript.json"] {
            if client != Client::Gemini && file == "transcript.json" {
                continue;
            }
            let text = shown(&read_all(client, fixture(client, file).as_bytes()));
            assert!(!text.contains("memory-context") && !text.contains("deploys on Fridays"), "{client}: {text}");
        }
    }
}

#[test]
fn a_transcript_read_ten_times_says_the_same() {
    for client in CLIENTS {
        let text = fixture(client, "transcript.jsonl");
        let first = read_all(client, text.as_bytes());
        for _ in 1..10 {
            assert_eq!(read_all(client, text.as_bytes()), first);
        }
        let known = first.iter().map(|said| said.id.clone()).collect::<HashSet<_>>();
        assert_eq!(known.len(), first.len(), "{client}: every name is used once");
        assert_eq!(read_new(client, text.as_bytes(), &known), []);
    }
}

#[test]
fn a_summary_of_the_clients_own_is_told_apart() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Copilot, Client::Gemini] {
        let text = fixture(client, "compacted.jsonl");
        let news = news(client, text.as_bytes(), &HashSet::new());
        let summary = news.summary.unwrap();
        assert_eq!(summary.text, "The person has a dog, Rex.", "{client}");
        assert!(summary.at.unwrap().to_string().starts_with("2026-03-06T09:01:00"), "{client}");
        let said: Vec<&str> = news.said.iter().map(|said| said.text.as_str()).collect();
        assert_eq!(said, ["My dog is called Rex.", "Noted.", "What is my dog called?", "Rex."], "{client}");
    }
}

/// A summary is new as long as nothing behind it is known.
#[test]
fn a_summary_is_given_until_something_behind_it_is_known() {
    let text = fixture(Client::Codex, "transcript.jsonl");
    let text = text.as_bytes();
    let said = read_all(Client::Codex, text);
    let known = |n: usize| said[..n].iter().map(|said| said.id.clone()).collect::<HashSet<_>>();
    assert!(news(Client::Codex, text, &known(2)).summary.is_some());
    assert_eq!(news(Client::Codex, text, &known(3)).summary, None);
}

/// The file ends anywhere, as if its client were just writing there.
#[test]
fn a_file_that_grows_is_read_piece_by_piece() {
    for client in CLIENTS {
        let text = fixture(client, "transcript.jsonl");
        let text = text.as_bytes();
        let whole = read_all(client, text);
        for step in [29, 1000] {
            let (mut known, mut said) = (HashSet::new(), Vec::new());
            for end in (0..text.len()).step_by(step).chain([text.len()]) {
                let new = read_new(client, &text[..end], &known);
                known.extend(new.iter().map(|said| said.id.clone()));
                said.extend(new);
            }
            let ids = |spoken: &[Spoken]| spoken.iter().map(|said| said.id.clone()).collect::<Vec<_>>();
            assert_eq!(ids(&said), ids(&whole), "{client}, {step} bytes at a time");
        }
    }
}

#[test]
fn a_long_file_is_read_from_its_end_to_something_that_is_known() {
    let row = |n: usize| {
        let message = serde_json::json!({ "role": "user", "content": format!("message {n} {}", "x".repeat(1000)) });
        format!("{}\n", serde_json::json!({ "type": "user", "uuid": format!("u{n}"), "message": message }))
    };
    let text: String = (0..5000).map(row).collect();
    let known = HashSet::from(["u4990".to_owned()]);
    let new = read_new(Client::ClaudeCode, text.as_bytes(), &known);
    assert!(new.len() < 2000, "{} rows for ten new ones", new.len());
    assert_eq!(new.last().unwrap().id, "u4999");
    assert_eq!(read_all(Client::ClaudeCode, text.as_bytes()).len(), 5000, "of which nothing is known");
}

#[test]
fn a_row_that_is_written_again_takes_the_place_of_what_it_was() {
    let row = |id: &str, text: &str| {
        let message = serde_json::json!({ "role": "user", "content": text });
        format!("{}\n", serde_json::json!({ "type": "user", "uuid": id, "message": message }))
    };
    let text = [row("a", "one"), row("b", "two"), row("a", "one and a half")].concat();
    let said = read_all(Client::ClaudeCode, text.as_bytes());
    let texts: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(texts, ["one and a half", "two"]);
}

#[test]
fn strange_rows_stop_nothing() {
    let good = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"hello"}}"#;
    let strange =
        ["", "null", "[]", "{", "\u{0}", r#"{"type":"user"}"#, r#"{"type":7,"uuid":[]}"#, &"[".repeat(100_000)];
    let text = strange.join("\n") + "\n" + good + "\n" + &strange.join("\n");
    for client in CLIENTS {
        read_all(client, text.as_bytes());
        read_all(client, b"\xff\xfe{\n\xff");
    }
    let spoken = read_all(Client::ClaudeCode, text.as_bytes());
    assert_eq!(spoken.iter().map(|said| said.text.as_str()).collect::<Vec<_>>(), ["hello"]);
}

/// Files that are made to break their reader, each in front of something that was said.
#[test]
fn no_transcript_breaks_its_reader_or_hides_what_was_said() {
    let said = |id: &str, text: &str| {
        let message = serde_json::json!({ "role": "user", "content": text });
        format!("{}\n", serde_json::json!({ "type": "user", "uuid": id, "message": message })).into_bytes()
    };
    let nested = |open: &str, shut: &str, depth: usize| [open.repeat(depth), shut.repeat(depth)].concat().into_bytes();
    let bombs: Vec<(&str, Vec<u8>)> = vec![
        ("a line of 100 MB", vec![b'x'; 100 << 20]),
        ("a message of 100 MB", said("long", &"x".repeat(100 << 20))),
        ("arrays in arrays", nested("[", "]", 1_000_000)),
        ("objects in objects", nested("{\"a\":", "}", 1_000_000)),
        ("objects side by side", format!("[{}0]", "{\"\":0},".repeat(2_000_000)).into_bytes()),
        ("a million empty lines", vec![b'\n'; 1_000_000]),
        ("a million tiny lines", b"{}\n".repeat(1_000_000)),
        ("NUL", vec![0; 1_000_000]),
        ("NUL in lines", b"\0\n".repeat(100_000)),
        ("no UTF-8", b"\xff\xfe\xc3\x28\n".repeat(100_000)),
        ("huge numbers", format!("{{\"type\":{}}}", "9".repeat(1_000_000)).into_bytes()),
        ("the same key again and again", format!("{{{}\"a\":0}}", "\"type\":\"user\",".repeat(100_000)).into_bytes()),
    ];
    for (name, bomb) in bombs {
        let text = [bomb, b"\n".to_vec(), said("after", "hello")].concat();
        // The largest are read in the same way for every client.
        for client in CLIENTS.into_iter().filter(|client| *client == Client::ClaudeCode || text.len() < 20 << 20) {
            let spoken = read_all(client, &text);
            if client == Client::ClaudeCode {
                assert_eq!(spoken.iter().map(|said| said.id.as_str()).collect::<Vec<_>>(), ["after"], "{name}");
            }
        }
    }
}

/// Of more rows than any conversation has, the last are taken, and what can be kept of them is bounded.
#[test]
fn rows_without_end_are_bounded() {
    let row = |n: usize| {
        let message = serde_json::json!({ "role": "user", "content": "a" });
        format!("{}\n", serde_json::json!({ "type": "user", "uuid": format!("u{n}"), "message": message }))
    };
    let text: String = (0..150_000).map(row).collect();
    let said = read_all(Client::ClaudeCode, text.as_bytes());
    assert_eq!((said.len(), said[0].id.as_str(), said.last().unwrap().id.as_str()), (100_000, "u50000", "u149999"));
}
