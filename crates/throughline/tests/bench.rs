//! `bench memory`: conversations are fed as a channel feeds them, and what is given for each question is scored.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::path::PathBuf;

use common::{Home, string};
use serde_json::{Value, json};

/// A data set of two corpora between people.
fn people(home: &Home) -> String {
    let said = [
        ("a", "1", "2024-05-01T10:00:00", "Ada", "I prefer green tea over coffee in the morning."),
        ("a", "1", "2024-05-01T10:01:00", "Grace", "My name is Grace and I work as a pilot in Oslo."),
        ("a", "2", "2024-05-03T10:00:00", "Grace", "I always park my bicycle behind the library."),
        ("a", "2", "2024-05-03T10:01:00", "Ada", "My dentist appointment moved to Thursday at nine."),
        ("b", "3", "2024-06-01T10:00:00", "Bob", "I decided to repaint the garage door in dark blue."),
        ("b", "3", "2024-06-01T10:01:00", "Eve", "Good choice, blue it is."),
    ];
    let docs = said.iter().enumerate().map(|(nth, (corpus, session, at, speaker, text))| {
        json!({ "id": format!("d{nth}"), "corpus": corpus, "session_id": session, "timestamp": at, "speaker": speaker,
            "text": text })
    });
    let queries = [
        json!({ "id": "q0", "corpus": "a", "query": "Do I prefer green tea or coffee?", "gold_ids": ["d0"],
            "category": "single" }),
        json!({ "id": "q1", "corpus": "a", "query": "Where is the bicycle?", "gold_ids": ["d2"], "category": "single" }),
        json!({ "id": "q2", "corpus": "b", "query": "What colour is the garage door?", "gold_ids": ["d4", "d5"],
            "category": "multi", "timestamp": "2024-06-02" }),
        json!({ "id": "q3", "corpus": "b", "query": "Who won?", "gold_ids": [] }),
    ];
    put(home, "people", docs.collect(), queries.to_vec())
}

/// A data set of a chat with an assistant.
fn assistant(home: &Home) -> String {
    let doc = |id: &str, speaker: &str, text: &str| {
        json!({ "id": id, "corpus": "x", "session_id": "s",
        "timestamp": "2024-01-01T08:00:00", "speaker": speaker, "text": text })
    };
    let docs = [
        doc("u0", "user", "I prefer oat milk over cow milk in my porridge."),
        doc("u1", "assistant", "Noted: a kayak weighs about twenty kilograms."),
    ];
    let query =
        json!({ "id": "w0", "corpus": "x", "query": "Which milk do I prefer in porridge?", "gold_ids": ["u0"] });
    put(home, "assistant", docs.to_vec(), vec![query])
}

fn put(home: &Home, name: &str, docs: Vec<Value>, queries: Vec<Value>) -> String {
    let directory: PathBuf = home.root().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    for (file, rows) in [("docs.jsonl", docs), ("queries.jsonl", queries)] {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        std::fs::write(directory.join(file), lines).unwrap();
    }
    directory.to_str().unwrap().to_owned()
}

/// What the benchmark answers as JSON. It succeeds: nobody else's words are in the profile.
#[track_caller]
fn bench(home: &Home, args: &[&str]) -> Value {
    let ran = home.run(&[&["--json", "bench", "memory"], args].concat());
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert_eq!((ran.code, &answer["leaks"]), (0, &json!([])), "{ran:?}");
    answer
}

#[track_caller]
fn lines(home: &Home, args: &[&str]) -> Vec<Value> {
    let out = home.root().join("out.jsonl");
    bench(home, &[args, &["--out", out.to_str().unwrap()]].concat());
    std::fs::read_to_string(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(lines: &[Value]) -> Vec<String> {
    lines.iter().map(|line| string(&line["query_id"])).collect()
}

#[test]
fn what_others_say_never_reaches_the_profile() {
    let home = Home::new();
    let data = people(&home);
    for via in ["http", "hook"] {
        let ran = home.run(&["--json", "bench", "memory", &data, "--feed", "people", "--via", via, "--show", "9"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(answer["leaks"], json!([]), "{via}");
        let shown = answer["shown"].as_array().unwrap();
        for opening in shown.iter().map(|asked| string(&asked["opening"])) {
            let profile =
                opening.split("--- ").find(|part| part.starts_with("Who you're talking to")).unwrap_or_default();
            assert!(!profile.contains("Grace") && !profile.contains("Oslo"), "{via}: {opening}");
        }
    }
}

#[test]
fn every_question_with_evidence_is_scored() {
    let home = Home::new();
    let data = people(&home);
    let answer = bench(&home, &[&data, "--show", "9"]);
    assert_eq!((&answer["feed"], &answer["via"], &answer["corpora"]), (&json!("people"), &json!("http"), &json!(2)));
    assert_eq!(answer["scores"]["questions"], 3);
    assert_eq!(answer["categories"]["multi"]["questions"], 1);
    assert_eq!(answer["shown"].as_array().unwrap().len(), 3);
    assert_eq!(answer["foreign"], Value::Null);

    let lines = lines(&home, &[&data]);
    assert_eq!(ids(&lines), ["q0", "q1", "q2"]);
    for line in &lines {
        let fields: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["given_ids", "ms", "part", "query_id", "tokens", "whole"]);
        assert!(line["part"].as_f64() >= line["whole"].as_f64(), "{line}");
    }
    assert_eq!(lines[0]["part"], 1.0, "what the question asks for is given: {}", answer["shown"][0]);
    assert!(!home.path("memory.db").exists(), "the person's own memory is not opened");
}

#[test]
fn the_table_has_a_row_for_each_category_and_for_foreign_questions() {
    let home = Home::new();
    let (data, other) = (people(&home), assistant(&home));
    let ran = home.run(&["bench", "memory", &data, "--foreign", &other, "--show", "1"]);
    let (shown, table) = ran.stdout.split_once("\n ASKED").expect("a table");
    assert!(shown.starts_with("== q0: Do I prefer green tea or coffee?\n-- opening\n"), "{shown}");
    let rows: Vec<&str> = table.lines().skip(1).filter_map(|row| row.split_whitespace().next()).take(4).collect();
    assert_eq!(rows, ["all", "multi", "single", "foreign"], "{table}");
    let foreign = &bench(&home, &[&data, "--foreign", &other])["foreign"];
    assert_eq!(foreign["questions"], 1);
    assert!(foreign["silent"].is_number() && foreign["tokens"].is_number(), "{foreign}");
}

#[test]
fn a_sample_is_the_same_for_the_same_seed() {
    let home = Home::new();
    let data = people(&home);
    let sample = |seed: &str| ids(&lines(&home, &[&data, "--sample", "2", "--seed", seed]));
    let chosen = sample("7");
    assert_eq!(chosen.len(), 2);
    assert!(chosen.contains(&"q2".to_owned()), "one of each corpus: {chosen:?}");
    assert_eq!(sample("7"), chosen);
    assert_eq!(bench(&home, &[&data, "--sample", "1"])["corpora"], 1, "what is not asked about is not fed");
}

#[test]
fn a_chat_with_an_assistant_is_told_by_its_speakers() {
    let home = Home::new();
    let data = assistant(&home);
    let answer = bench(&home, &[&data]);
    assert_eq!((&answer["feed"], &answer["scores"]["part"]), (&json!("assistant"), &json!(1.0)), "{answer}");
    assert_eq!(answer["leaks"], json!([]));
    assert_eq!(bench(&home, &[&data, "--feed", "people"])["feed"], "people");
}

#[test]
fn hooks_give_the_same_as_http() {
    let home = Home::new();
    let data = people(&home);
    let by_hook = bench(&home, &[&data, "--via", "hook", "--show", "3"]);
    let by_http = bench(&home, &[&data, "--show", "3"]);
    assert_eq!(by_hook["via"], "hook");
    assert_eq!((&by_hook["late"]["deadline_ms"], &by_http["late"]), (&json!(250), &Value::Null));
    for score in ["whole", "part", "silent"] {
        assert_eq!(by_hook["scores"][score], by_http["scores"][score], "{score}\n{by_hook}\n{by_http}");
    }
    let block = string(&by_hook["shown"][1]["block"]);
    assert!(block.starts_with("<memory-context>"), "{block}");
}

#[test]
fn a_data_set_that_is_not_there_is_said_so() {
    let home = Home::new();
    home.run(&["bench", "memory", "nowhere"]).failed(2, "docs.jsonl", "path");
}
