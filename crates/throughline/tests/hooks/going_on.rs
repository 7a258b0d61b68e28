//! What an assistant is given: a conversation goes on in another client, and begins once.

use serde_json::json;

use crate::common::{Home, string, until};
use crate::events::{CLIENTS, added, at, event, fixture, hook, quiet, session, turns};

#[test]
fn a_conversation_in_one_client_goes_on_in_another() {
    let home = quiet();
    let here = home.root().join("person");
    let transcript = fixture("claude-code", "transcript.jsonl");
    let claude = |name: &str| hook(&home, name, &at("claude-code", name, &here, &transcript));
    assert_eq!(claude("session-start"), json!({}), "there is nothing to tell yet");
    assert_eq!(claude("prompt"), json!({}));
    assert_eq!(claude("stop"), json!({}));
    assert_eq!(claude("session-end"), json!({}));
    let ended = || !home.json(&["session", "show", &session("claude-code")])["session"]["ended_at"].is_null();
    // The client's own summary is taken by another run, and either may be first.
    let told = || home.run(&["working"]).stdout.contains("wire the Stripe webhook");
    until(|| (ended() && told()).then_some(()));

    let rollout = fixture("codex", "transcript.jsonl");
    let codex = |name: &str| hook(&home, name, &at("codex", name, &here, &rollout));
    let begins = codex("session-start");
    assert_eq!(begins["hookSpecificOutput"]["hookEventName"], "SessionStart");
    let begins = added(&begins);
    assert!(begins.contains("--- Recent context ---") && begins.contains("checkout page"), "{begins}");
    assert!(begins.contains("wire the Stripe webhook"), "{begins}");
    let asked = added(&codex("prompt"));
    assert!(!asked.contains("wire the Stripe webhook"), "what stands in the opening is not given again: {asked}");

    codex("stop");
    let kept = turns(&home, &session("codex"));
    assert_eq!(kept[0], ("user".to_owned(), "Where did I leave the checkout page?".to_owned()));
    assert_eq!(kept.len(), 4);
}

#[test]
fn a_conversation_is_given_its_beginning_once_and_again_when_its_client_forgot() {
    let home = quiet();
    home.put_document("user/profile", "- My name is Ada.\n");
    for client in ["claude-code", "codex", "cursor"] {
        let from = |source: &str| {
            let mut event = event(client, "session-start");
            event["source"] = json!(source);
            added(&hook(&home, "session-start", &event))
        };
        let first = from("startup");
        assert!(first.contains("--- Who you're talking to ---\n- My name is Ada."), "{client}: {first}");
        assert_eq!((from("resume"), from("startup")), (String::new(), String::new()), "{client}");
        assert_eq!(from("compact"), first, "{client}");
        assert_eq!(from("clear"), first, "{client}");
        assert_eq!(from("resume"), "", "{client}");
    }
}

#[test]
fn who_was_given_no_beginning_gets_it_with_the_first_message() {
    let home = quiet();
    home.put_document("user/profile", "- My name is Ada.\n");
    for client in CLIENTS {
        if client == "copilot" || client == "gemini" {
            assert_eq!(hook(&home, "session-start", &event(client, "session-start")), json!({}), "{client}");
        }
        let first = added(&hook(&home, "prompt", &event(client, "prompt")));
        assert!(first.contains("My name is Ada."), "{client}: {first}");
        let second = added(&hook(&home, "prompt", &event(client, "prompt")));
        assert!(!second.contains("My name is Ada."), "{client}: {second}");
    }
}

#[test]
fn copilot_gets_its_memories_in_front_of_the_message_itself() {
    let home = quiet();
    home.remember(&["The database that I prefer is Postgres"]);
    let prompt = string(&event("copilot", "prompt")["prompt"]);
    let answer = added(&hook(&home, "prompt", &event("copilot", "prompt")));
    assert!(answer.starts_with("<memory-context>") && answer.ends_with(&format!("\n\n{prompt}")), "{answer}");
    assert_eq!(hook(&home, "prompt", &event("copilot", "prompt")), json!({}), "it is in view already");
}

#[test]
fn the_memory_of_the_project_around_comes_along() {
    let home = quiet();
    let shop = home.root().join("person/shop");
    std::fs::create_dir_all(shop.join("web")).unwrap();
    std::fs::write(shop.join("memory.md"), "## What Is\n- [sig:4] Tests run with `just test`\n").unwrap();
    let start = |client: &str| {
        let nowhere = home.root().join("nowhere.jsonl");
        added(&hook(&home, "session-start", &at(client, "session-start", &shop.join("web"), &nowhere)))
    };
    let unregistered = start("claude-code");
    assert!(unregistered.contains("--- This project ---\nProject: shop\nQuoted from the repository"), "{unregistered}");
    assert!(unregistered.contains("\n> Tests run with `just test`"), "{unregistered}");
    assert_eq!(home.json(&["project", "list"])["projects"], json!([]), "looking registers nothing");

    home.run(&["project", "add", "store", "--dir", shop.to_str().unwrap()]).done();
    let registered = start("codex");
    assert!(registered.contains("--- This project ---\nProject: store\n- Tests run with `just test`"), "{registered}");
    let sessions = home.json(&["session", "list"]);
    let of = |id: String| sessions["sessions"].as_array().unwrap().iter().find(|state| state["id"] == id).cloned();
    assert_eq!(of(session("codex")).unwrap()["project"], "store");
    assert_eq!(of(session("claude-code")).unwrap()["project"], "shop");
}

#[test]
fn a_memory_that_is_switched_off_says_and_keeps_nothing() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\nenabled = false\n");
    home.put_document("user/profile", "- My name is Ada.\n");
    let transcript = fixture("claude-code", "transcript.jsonl");
    for name in ["session-start", "prompt", "pre-compact", "stop", "session-end"] {
        assert_eq!(hook(&home, name, &at("claude-code", name, home.root(), &transcript)), json!({}), "{name}");
    }
    assert_eq!(home.json(&["session", "list"])["sessions"], json!([]));
}

#[test]
fn a_client_that_names_no_conversation_is_given_memories_and_nothing_is_kept() {
    let home = quiet();
    home.remember(&["The database that I prefer is Postgres"]);
    home.put_document("user/profile", "- My name is Ada.\n");
    let prompt = json!({ "timestamp": 1_772_614_800_000_i64, "cwd": "/", "prompt": "Which database do I prefer?" });
    assert!(added(&hook(&home, "prompt", &prompt)).contains("Postgres"));
    assert!(added(&hook(&home, "session-start", &json!({ "cwd": "/" }))).contains("My name is Ada."));
    assert_eq!(home.json(&["session", "list"])["sessions"], json!([]));
}
