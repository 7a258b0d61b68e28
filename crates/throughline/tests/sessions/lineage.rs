//! What was taken back stays away: from messages, openings, tools, later consolidations and imports.

use serde_json::{Value, json};

use super::{prompt, quiet, say};
use crate::common::{Home, string};

const WHERE: &str = "where do I live?";

/// A conversation in which the person said several things, and what was made of them.
fn told() -> Home {
    let mut home = quiet();
    say(&home, "telegram:1", "Anna's party is at eight on Saturday. I live in Lisbon. I'm allergic to peanuts.");
    home.run(&["session", "end", "telegram:1"]).done();
    home.set_now("2026-03-02T12:00:00Z");
    home
}

/// What an assistant is given for a message in a new conversation, the opening included.
#[track_caller]
fn given(home: &Home, message: &str) -> String {
    let context = home.json(&["context", "--session", "web:new", "--message", message]);
    format!("{}\n{}", context["system_prompt"].as_str().unwrap(), context["message"].as_str().unwrap())
}

/// What an assistant finds itself.
#[track_caller]
fn found_by_tool(home: &Home, query: &str) -> String {
    let arguments = json!({ "query": query }).to_string();
    home.json(&["tool", "call", "memory_recall", &arguments, "--session", "web:new"]).to_string()
}

/// The turns that a search for turns finds, each with its mark.
#[track_caller]
fn turns(home: &Home, query: &str) -> Vec<(String, Value)> {
    let found = home.json(&["recall", "--kind", "turn", query]);
    let hits = found["hits"].as_array().unwrap().iter();
    hits.map(|hit| (string(&hit["content"]), hit["withdrawn"].clone())).collect()
}

/// The memories, entries and lines, that say this.
#[track_caller]
fn saying(home: &Home, text: &str) -> Vec<String> {
    let listed = home.json(&["list", "--limit", "100"]);
    let says = |memory: &&Value| memory["layer"] != "archive" && string(&memory["content"]).contains(text);
    listed["memories"].as_array().unwrap().iter().filter(says).map(|memory| string(&memory["id"])).collect()
}

/// Takes back every memory that says this.
#[track_caller]
fn forget_all(home: &Home, text: &str, more: &[&str]) {
    for id in saying(home, text) {
        home.run(&[&["forget", &id], more].concat()).done();
    }
}

#[test]
fn a_corrected_statement_is_not_given_by_the_turn_it_came_from() {
    let home = told();
    assert!(given(&home, WHERE).contains("Lisbon"), "it is known at first");
    let wrong = saying(&home, "Lisbon");
    for id in &wrong {
        home.run(&["correct", "I live in Porto", "--wrong", id]).done();
    }
    for text in [given(&home, WHERE), found_by_tool(&home, WHERE), prompt(&home, "web:other", WHERE)] {
        assert!(!text.contains("Lisbon"), "{text}");
    }
    assert!(given(&home, WHERE).contains("Porto") && found_by_tool(&home, WHERE).contains("Porto"));
    let party = given(&home, "when is Anna's party?");
    assert!(party.contains("party is at eight") && !party.contains("Lisbon"), "the rest of the turn is given: {party}");
    let (turn, mark) = turns(&home, "Lisbon").remove(0);
    assert!(turn.contains("I live in Lisbon") && mark == "superseded", "a search for turns shows it, marked: {mark}");
    for _ in &wrong {
        home.run(&["undo"]).done();
    }
    assert!(given(&home, WHERE).contains("Lisbon"), "an undo brings it back");
}

#[test]
fn a_forgotten_statement_does_not_come_back_until_it_is_said_again() {
    let mut home = told();
    forget_all(&home, "Lisbon", &[]);
    for text in [given(&home, WHERE), found_by_tool(&home, WHERE)] {
        assert!(!text.contains("Lisbon"), "{text}");
    }
    assert_eq!(turns(&home, "Lisbon")[0].1, "forgotten");
    home.run(&["session", "fill", "telegram:1"]);
    home.run(&["reflect"]);
    assert!(!given(&home, WHERE).contains("Lisbon"));
    std::fs::write(home.root().join("person/MEMORY.md"), "- I live in Lisbon\n- I own a bicycle\n").unwrap();
    let imported = home.json(&["import", "MEMORY.md"]);
    assert_eq!((&imported["knowledge"]["added"], &imported["knowledge"]["forgotten"]), (&json!(1), &json!(1)));
    home.set_now("2026-03-03T12:00:00Z");
    say(&home, "telegram:2", "I live in Lisbon.");
    home.run(&["session", "end", "telegram:2"]).done();
    assert!(given(&home, WHERE).contains("Lisbon"), "what the person says again counts again");
}

#[test]
fn an_erased_statement_does_not_come_back_by_turns_summaries_or_imports() {
    let home = told();
    let export = home.run(&["--json", "export"]).done();
    home.put("../person/export.json", &export);
    forget_all(&home, "Lisbon", &["--erase", "--yes"]);
    for text in [given(&home, WHERE), found_by_tool(&home, WHERE)] {
        assert!(!text.contains("Lisbon"), "{text}");
    }
    let party = given(&home, "when is Anna's party?");
    assert!(party.contains("party is at eight") && !party.contains("Lisbon"), "{party}");
    assert_eq!(turns(&home, "Lisbon")[0].1, "erased");
    let told = home.run(&["import", "export.json"]).done();
    assert!(told.contains("not taken: forgotten or erased here"), "{told}");
    assert!(!given(&home, WHERE).contains("Lisbon"));
    assert_eq!(saying(&home, "Lisbon"), Vec::<String>::new());
}

#[test]
fn what_was_remembered_again_is_given_again() {
    let home = told();
    forget_all(&home, "Lisbon", &[]);
    home.remember(&["I live in Lisbon"]);
    assert!(given(&home, WHERE).contains("Lisbon"));
    assert_eq!(turns(&home, "Lisbon")[0].1, Value::Null);
}
