//! An assistant that is asked which memories it used names all that reached it, whichever process gave them.

use serde_json::{Value, json};

use super::common::{Home, string};
use super::peer::Peer;
use super::{hook, told};

const SESSION: &str = "later";

/// The MCP server that Claude Code runs beside its hooks.
fn claude_code(home: &Home) -> Peer {
    let mut command = home.throughline(&["mcp"]);
    command.current_dir(home.root());
    let mut peer = Peer::start(command);
    let client = json!({ "name": "claude-code", "version": "2.1.14" });
    peer.ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }));
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    peer
}

fn by<'a>(explanation: &'a Value, way: &str) -> Vec<&'a Value> {
    explanation["memories"].as_array().unwrap().iter().filter(|used| used["by"] == way).collect()
}

#[test]
fn what_hooks_and_tools_gave_is_one_conversation() {
    let home = Home::with_config("config.toml", told::CONFIG);
    home.put("user/profile.md", "- My name is Ada.\n");
    home.remember(&["The staging server listens on port 8081"]);
    let tea = home.remember(&["The green tea is kept in the kitchen"]);
    let event = |more: Value| {
        let mut event = json!({ "session_id": SESSION, "cwd": home.root() });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    hook(&home, "session-start", &event(json!({ "source": "startup" })));
    let given = hook(&home, "prompt", &event(json!({ "prompt": "Which port does the staging server listen on?" })));
    assert!(given.contains("8081"), "{given}");

    let mut peer = claude_code(&home);
    let explain = |peer: &mut Peer| peer.call("memory_explain", json!({}))["structuredContent"].clone();
    let told = explain(&mut peer);
    assert_eq!(told["query"], "Which port does the staging server listen on?", "{told}");
    assert_eq!(told["opening"][0]["what"], "profile", "{told}");
    assert_eq!(told["opening"][0]["content"], "- My name is Ada.");
    let message = by(&told, "message");
    assert_eq!(message[0]["content"], "The staging server listens on port 8081", "{told}");
    assert_eq!(message[0]["session"], format!("claude-code:{SESSION}"));
    assert_eq!((&message[0]["kind"], &message[0]["date"]), (&json!("entry"), &json!("2026-03-01")));
    assert!(message[0]["score"].as_f64().unwrap() > 0.0 && message[0]["why"]["features"].is_array(), "{told}");
    let earlier = peer.call("memory_explain", json!({ "recall_id": told["recall_id"] }))["structuredContent"].clone();
    assert_eq!(earlier["memories"], told["memories"], "the connection may ask for it by its id");

    peer.call("memory_recall", json!({ "query": "green tea in the kitchen" }));
    let told = explain(&mut peer);
    assert!(by(&told, "tool").iter().any(|used| used["id"] == tea), "{told}");
    let shown = home.json(&["session", "explain", &format!("claude-code:{SESSION}")]);
    assert_eq!(shown["memories"], told["memories"], "the person sees the same");
    let text = home.run(&["session", "explain", &format!("claude-code:{SESSION}")]).done();
    assert!(
        text.contains("began with the profile:") && text.contains("by tool in a conversation on mcp (mcp:claude-code-"),
        "{text}"
    );
}

#[test]
fn of_two_conversations_of_a_client_the_one_with_the_latest_message_is_meant() {
    let mut home = Home::with_config("config.toml", told::CONFIG);
    home.remember(&["The staging server listens on port 8081"]);
    let asks = "Which port does the staging server listen on?";
    for (session, now) in [("early", "2026-03-01T12:10:00Z"), ("late", "2026-03-01T12:20:00Z")] {
        home.set_now(now);
        assert!(
            hook(&home, "prompt", &json!({ "session_id": session, "cwd": home.root(), "prompt": asks }))
                .contains("8081")
        );
    }
    home.set_now("2026-03-01T12:30:00Z");
    let told = claude_code(&home).call("memory_explain", json!({}))["structuredContent"].clone();
    assert_eq!(told["memories"][0]["session"], "claude-code:late", "{told}");
}

#[test]
fn another_client_or_project_is_another_conversation() {
    let home = Home::with_config("config.toml", told::CONFIG);
    home.remember(&["The staging server listens on port 8081"]);
    let project = home.root().join("person/shop");
    std::fs::create_dir_all(&project).unwrap();
    home.run(&["project", "add", "shop", "--dir", project.to_str().unwrap()]).done();
    let asks = "Which port does the staging server listen on?";
    let given = hook(&home, "prompt", &json!({ "session_id": "in-shop", "cwd": project, "prompt": asks }));
    assert!(given.contains("8081"), "{given}");
    let elsewhere = claude_code(&home).call("memory_explain", json!({}))["structuredContent"].clone();
    assert_eq!(elsewhere["memories"], json!([]), "it works outside of the project");
    let mut command = home.throughline(&["mcp"]);
    command.current_dir(&project);
    let mut other = Peer::greeted(command);
    let told = other.call("memory_explain", json!({}))["structuredContent"].clone();
    assert_eq!(told["memories"], json!([]), "it is another client");
    let recall = string(&home.json(&["session", "explain", "claude-code:in-shop"])["recall_id"]);
    let refused = other.call("memory_explain", json!({ "recall_id": recall }));
    assert_eq!(refused["isError"], json!(true), "{refused}");
}

#[test]
fn what_a_client_without_hooks_asked_for_is_named_too() {
    let home = Home::with_config("config.toml", told::CONFIG);
    home.put("user/profile.md", "- My name is Ada.\n");
    home.remember(&["The staging server listens on port 8081"]);
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    let nothing = peer.call("memory_explain", json!({}))["structuredContent"].clone();
    assert_eq!((&nothing["memories"], &nothing["opening"]), (&json!([]), &Value::Null), "nothing reached it yet");
    peer.call("memory_context", json!({ "message": "Which port does the staging server listen on?" }));
    let told = peer.call("memory_explain", json!({}))["structuredContent"].clone();
    assert_eq!(told["opening"][0]["content"], "- My name is Ada.", "{told}");
    assert_eq!(by(&told, "tool")[0]["content"], "The staging server listens on port 8081", "{told}");
}

#[test]
fn what_says_the_same_is_named_as_evidence() {
    let home = told::home();
    let asks = "Why did we go with Postgres and not SQLite?";
    let given = hook(&home, "prompt", &json!({ "session_id": SESSION, "cwd": home.root(), "prompt": asks }));
    assert!(given.contains("concurrent writers"), "{given}");
    let told = home.json(&["session", "explain", &format!("claude-code:{SESSION}")]);
    let is_told = |used: &&Value| string(&used["content"]).contains("concurrent writers");
    let used = by(&told, "message").into_iter().find(is_told).unwrap();
    // It was said, and stored; it is given once.
    let evidence = used["evidence"].as_array().unwrap();
    assert!(!evidence.is_empty() && evidence.iter().all(|id| !given.contains(id.as_str().unwrap())), "{told}");
}

#[test]
fn a_preview_says_what_was_found_and_fits_too_little() {
    let home = told::home();
    let mut shown = 0;
    for message in [
        "Is there a kitchen in the new office?",
        "Which workers are on holiday?",
        "The logo of the bank is blue.",
        "My aunt has two cats.",
        "How do I write a letter to the tax office?",
        "What is the weather on the coast?",
    ] {
        let preview = home.json(&["context", "--message", message]);
        let is_given = preview["parts"].as_array().unwrap().iter().any(|part| !part["id"].is_null());
        let left = preview["found_but_not_given"].as_array().cloned().unwrap_or_default();
        let text = home.run(&["context", "--message", message]).done();
        assert_eq!(text.ends_with("no memory would be added\n"), !is_given, "{text}");
        let near = left.iter().filter(|left| left["score"].as_f64().unwrap() >= 0.01 && !is_given);
        for left in near {
            assert!(text.contains("FOUND, BUT FITS TOO LITTLE") && text.contains(&string(&left["id"])[..8]), "{text}");
            shown += 1;
        }
    }
    assert!(shown > 0, "something comes near to one of them");
}
