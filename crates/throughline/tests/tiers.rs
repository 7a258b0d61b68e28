//! Tiers, looking back and summaries: the same on the command line, over HTTP and as tools.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::daemon::Daemon;
use common::{Home, string};
use serde_json::{Value, json};

/// A namespace, all tools, and nothing that starts by itself.
const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\ntools = \"all\"\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

#[track_caller]
fn call(home: &Home, name: &str, arguments: &Value) -> Value {
    home.json(&["tool", "call", name, &arguments.to_string(), "--session", "web:1"])
}

#[test]
fn times_of_a_recall_may_be_numbers() {
    let mut home = quiet();
    home.remember(&["We deployed the heron"]);
    home.set_now("2026-03-03T12:00:00Z");
    home.remember(&["We deployed the stork"]);
    let found = |arguments: Value| call(&home, "memory_recall", &arguments)["hits"].to_string();
    // The second of March, at noon.
    let only_stork = found(json!({ "query": "deployed", "since": 1_772_452_800 }));
    assert!(only_stork.contains("stork") && !only_stork.contains("heron"), "{only_stork}");
    let only_heron = found(json!({ "query": "deployed", "until": 1_772_452_800.5 }));
    assert!(only_heron.contains("heron") && !only_heron.contains("stork"), "{only_heron}");
    assert!(found(json!({ "query": "deployed", "since": "yesterday" })).contains("stork"), "or words");
    let daemon = Daemon::start(&home);
    let hits = daemon.post("/api/recall", &json!({ "query": "deployed", "since": 1_772_452_800 }))["hits"].to_string();
    assert!(hits.contains("stork") && !hits.contains("heron"));
    let wrong = json!({ "query": "deployed", "since": 5, "until": 4 });
    assert_eq!(daemon.send(&daemon.request("POST", "/api/recall").json(&wrong)).status, 400);
}

#[test]
fn a_tier_is_the_same_everywhere() {
    let home = quiet();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let user = string(&home.json(&["read", "--tier", "user"])["text"]);
    assert!(user.contains("My name is Ada"));
    assert_eq!(string(&call(&home, "get_context", &json!({ "tier": "user" }))["text"]), user);
    let daemon = Daemon::start(&home);
    let get = |target: &str| daemon.send(&daemon.request("GET", target));
    assert_eq!(daemon.get("/api/context/tiers/user"), json!({ "tier": "user", "text": user }));
    assert_eq!(daemon.get("/api/context/tiers/vault")["text"], json!(null));
    assert_eq!((get("/api/context/tiers/short").status, get("/api/context/tiers/long").status), (400, 404));
    home.run(&["pause"]).done();
    assert_eq!(get("/api/context/tiers/user").status, 400, "nothing is given while memory is paused");
}

#[test]
fn a_conversation_is_summed_up_on_demand() {
    let home = quiet();
    let said = "We decided to move the billing service to PostgreSQL, because the old database is too slow.";
    home.run(&["session", "observe", "--session", "web:1", said]).done();
    let made = string(&call(&home, "summarize_session", &json!({}))["id"]);
    assert!(string(&home.json(&["show", &made])["content"]).contains("PostgreSQL"));
    assert_eq!(string(&home.json(&["session", "summarize", "web:1"])["id"]), made, "one session has one summary");
    let own = home.json(&["session", "summarize", "web:1", "--summary", "Billing moves to PostgreSQL."]);
    assert_eq!(own["id"], json!(made));
    assert!(string(&home.json(&["show", &made])["content"]).ends_with("Billing moves to PostgreSQL."));
    let daemon = Daemon::start(&home);
    let kept = daemon.post("/api/sessions/web:1/summarize", &json!({ "summary": "Billing moved." }));
    assert_eq!(kept, json!({ "id": made }));
}

#[test]
fn memory_is_distilled_for_one_agent() {
    let home = quiet();
    home.put("user/memory.md", "# Memory\n\n## What Is\n\n- [sig:3] The billing service runs on port 8080\n");
    home.run(&["session", "observe", "--session", "claude-code:1", "I always review pull requests before lunch."])
        .done();
    home.run(&["session", "observe", "--session", "codex:1", "I never deploy on a Friday afternoon."]).done();
    let distilled = call(&home, "distill_memories", &json!({ "agent": "claude-code" }));
    assert!(["changed", "unchanged"].contains(&distilled["outcome"].as_str().unwrap()), "{distilled}");
    assert!(!home.text("user/memory.md").contains("Friday"), "another agent's conversation");
    let refused = home.run(&["tool", "call", "distill_memories", "{\"user\": \"bob\"}"]);
    assert!(refused.stderr.contains("`bob` is not known here"), "{refused:?}");
    let preview = home.json(&["reflect", "--agent", "codex", "--dry-run"]);
    assert_eq!((&preview["dry_run"], &preview["target"]), (&json!(true), &json!("user by codex")));
    let daemon = Daemon::start(&home);
    let same = daemon.post("/api/reflect", &json!({ "agent": "codex", "dry_run": true }));
    assert_eq!(same["documents"], preview["documents"]);
    let both = json!({ "agent": "codex", "project": "x" });
    assert_eq!(daemon.send(&daemon.request("POST", "/api/reflect").json(&both)).status, 400);
}
