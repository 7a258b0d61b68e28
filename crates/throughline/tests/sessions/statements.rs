//! One statement, one place: what is said is known on every channel, and what is corrected is corrected everywhere.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::{prompt, quiet, say};
use crate::common::{Home, string};

const NOTHING: &str = "## Topics\n- Where the person lives";

/// What a model answers that takes statements from a conversation.
fn facts(items: &[Value]) -> String {
    json!({ "facts": items }).to_string()
}

/// A home whose model gives these answers, in order.
fn scripted(answers: &[String]) -> (Home, ModelServer) {
    let server = ModelServer::scripted(answers.iter().map(Step::reply));
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\n\
         [model]\nprovider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n",
        server.url()
    );
    (Home::with_config("config.toml", &config), server)
}

/// Says something in a conversation, and has it consolidated.
#[track_caller]
fn told(home: &Home, session: &str, text: &str) {
    say(home, session, text);
    assert_eq!(home.json(&["session", "consolidate", session])["outcome"], "done");
}

#[track_caller]
fn profile(home: &Home) -> String {
    home.text("user/profile.md")
}

/// What a message is given: the system prompt and the message.
#[track_caller]
fn given(home: &Home, session: &str, message: &str) -> String {
    let context = home.json(&["context", "--session", session, "--message", message]);
    format!("{}\n{}", string(&context["system_prompt"]), string(&context["message"]))
}

/// Statements that are active: entries and lines.
#[track_caller]
fn statements(home: &Home) -> Vec<String> {
    let listed = home.json(&["list", "--limit", "100"]);
    let is_statement = |memory: &&Value| memory["layer"] != "archive";
    listed["memories"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_statement)
        .map(|memory| string(&memory["content"]))
        .collect()
}

#[test]
fn preferences_and_an_allergy_are_known_weeks_later_on_another_channel() {
    let said = "I prefer short answers. I'm allergic to peanuts.";
    let found = facts(&[
        json!({"text": "I prefer short answers", "kind": "preference"}),
        json!({"text": "I'm allergic to peanuts", "kind": "constraint"}),
    ]);
    let (by_model, _server) = scripted(&[NOTHING.to_owned(), found]);
    for mut home in [quiet(), by_model] {
        told(&home, "telegram:1", said);
        home.set_now("2026-03-20T12:00:00Z");
        let opening = prompt(&home, "web:2", "What shall I cook tonight?");
        assert!(opening.contains("short answers") && opening.contains("allergic to peanuts"), "{opening}");
        assert_eq!(statements(&home).len(), 2, "each once: {:?}", statements(&home));
    }
}

#[test]
fn who_somebody_says_they_are_is_in_the_opening_of_the_next_conversation() {
    let said = "Hi, I'm Marta, I run a small bakery in Porto. I bought flour on Monday and I'm tired.";
    // Also where a model takes it for facts like others.
    let found = facts(&[
        json!({"text": "I'm Marta", "kind": "fact"}),
        json!({"text": "I run a small bakery in Porto", "kind": "fact"}),
        json!({"text": "I bought flour on Monday", "kind": "fact"}),
    ]);
    let (by_model, _server) = scripted(&[NOTHING.to_owned(), found]);
    for home in [quiet(), by_model] {
        say(&home, "telegram:1", said);
        home.run(&["session", "end", "telegram:1"]).done();
        let profile = profile(&home);
        assert!(!profile.contains("flour") && !profile.contains("tired"), "{profile}");
        let context = home.json(&["context", "--session", "web:2", "--message", "Good morning"]);
        let opening = string(&context["system_prompt"]);
        let who = opening.split("--- Recent context ---").next().unwrap();
        assert!(who.contains("I'm Marta") && who.contains("small bakery in Porto"), "{opening}");
    }
}

/// After Lisbon was corrected to Porto: the profile and what a message is given say Porto, Lisbon is in the history, and
/// undo brings it back.
#[track_caller]
fn is_corrected_to_porto(home: &Home) {
    let now = profile(home);
    assert!(now.contains("Porto") && !now.contains("Lisbon"), "{now}");
    assert_eq!(statements(home).iter().filter(|text| text.contains("Lisbon") || text.contains("Porto")).count(), 1);
    assert!(given(home, "web:9", "Where do I live?").contains("Porto"));
    let versions = string(&json!(home.json(&["history", "user/profile"]).to_string()));
    assert!(versions.contains("Lisbon"), "{versions}");
    home.run(&["undo"]).done();
    let back = profile(home);
    assert!(back.contains("Lisbon") && !back.contains("Porto"), "{back}");
}

#[test]
fn a_home_is_corrected_by_command() {
    let home = quiet();
    told(&home, "telegram:1", "I live in Lisbon.");
    let line = string(&home.json(&["list", "--layer", "identity"])["memories"][0]["id"]);
    let corrected = home.json(&["correct", "I live in Porto", "--wrong", &line]);
    assert_eq!(corrected["content"], "I live in Porto");
    is_corrected_to_porto(&home);
}

#[test]
fn a_home_is_corrected_by_what_is_said() {
    for said in ["Actually, I live in Porto.", "I moved to Porto.", "I live in Porto now."] {
        let home = quiet();
        told(&home, "telegram:1", "I live in Lisbon.");
        told(&home, "cli:2", said);
        is_corrected_to_porto(&home);
    }
}

#[test]
fn a_home_is_corrected_by_a_model_that_names_what_it_replaces() {
    let lisbon = facts(&[json!({"text": "The person's place is Lisbon", "kind": "identity"})]);
    let home = {
        let (home, _server) = scripted(&[NOTHING.to_owned(), lisbon]);
        told(&home, "telegram:1", "My place is Lisbon these days");
        home
    };
    let line = string(&home.json(&["list", "--layer", "identity"])["memories"][0]["id"]);
    let porto = facts(&[
        json!({"text": "The person settled in Porto", "kind": "identity", "replaces": line}),
        json!({"text": "The person settled down", "kind": "fact", "replaces": "zzzzzzzzzz"}),
    ]);
    let server = ModelServer::scripted([Step::reply(NOTHING), Step::reply(&porto)]);
    home.put(
        "config.toml",
        &home
            .text("config.toml")
            .lines()
            .map(|line| match line {
                line if line.starts_with("base_url") => format!("base_url = \"{}\"\n", server.url()),
                line => format!("{line}\n"),
            })
            .collect::<String>(),
    );
    told(&home, "cli:2", "We settled in Porto, my place is there");
    let asked = server.requests().pop().unwrap();
    assert!(format!("{asked:?}").contains(&line), "the model is shown the id");
    is_corrected_to_porto(&home);
}

#[test]
fn a_value_that_is_corrected_alone_is_completed_by_the_statement_before() {
    let found = facts(&[json!({"text": "预算是12万", "kind": "fact"})]);
    let corrected = facts(&[json!({"text": "不对，是13万", "kind": "correction"})]);
    let (home, _server) = scripted(&[NOTHING.to_owned(), found, NOTHING.to_owned(), corrected]);
    told(&home, "cli:1", "预算是12万");
    home.run(&["session", "observe", "--session", "cli:1", "预算是12万"]).done();
    told(&home, "cli:1", "不对，是13万");
    assert_eq!(statements(&home), ["预算是13万"]);
}

#[test]
fn what_says_the_same_is_stored_once_by_every_command() {
    let home = quiet();
    let first = home.json(&["remember", "We deploy every Friday"]);
    let again = home.json(&["remember", "Deployments happen on Fridays"]);
    assert_eq!((&again["id"], &again["outcome"]), (&first["id"], &json!("unchanged")));
    let call = json!({"action": "add", "layer": "L1", "content": "we deploy on Fridays."}).to_string();
    let answer = home.json(&["tool", "call", "memory_write", &call]);
    assert_eq!(answer["id"], first["id"], "{answer}");
    told(&home, "cli:1", "Please remember that we deploy every Friday.");
    assert_eq!(statements(&home), ["We deploy every Friday"]);
    home.json(&["remember", "We deploy every Friday", "--layer", "identity"]);
    assert_eq!(home.listed(&["--layer", "identity"]), ["We deploy every Friday"], "it moved");
    assert_eq!(statements(&home).len(), 1);
}

#[test]
fn a_line_keeps_the_turn_that_it_came_from_in_other_words() {
    let found = facts(&[json!({"text": "The person's home is Porto", "kind": "identity"})]);
    let (home, _server) = scripted(&[NOTHING.to_owned(), found]);
    let said = "My home is Porto, since May";
    told(&home, "telegram:1", said);
    let evidence = || home.json(&["review"])["items"][0]["evidence"].clone();
    assert_eq!((evidence().as_array().unwrap().len(), &evidence()[0]["content"]), (1, &json!(said)), "{}", evidence());
    home.put("user/profile.md", &format!("{}- My cat is called Miso\n", profile(&home)));
    assert_eq!(evidence()[0]["content"], said, "the file was read anew");
    home.run(&["undo"]).done();
    home.run(&["undo"]).done();
    assert_eq!(statements(&home), [""; 0]);
}
