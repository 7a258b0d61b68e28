//! What `--json` prints: the shapes that users' scripts rely on.

use serde_json::Value;

use crate::common::Home;

/// What every memory says of itself.
const MEMORY: &[&str] = &[
    "id",
    "key",
    "content",
    "layer",
    "category",
    "source",
    "status",
    "significance",
    "importance",
    "tags",
    "project",
    "task",
    "session",
    "namespace",
    "kind",
    "created_at",
    "updated_at",
    "expires_at",
    "supersedes",
    "provenance",
    "recall_count",
    "last_recalled_at",
    "version",
];

#[track_caller]
fn has(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("not an object: {value}"));
    let missing: Vec<_> = keys.iter().filter(|key| !object.contains_key(**key)).collect();
    assert!(missing.is_empty(), "{missing:?} missing in {value:#}");
}

fn lived_in() -> Home {
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon", "--key", "deploy", "--tag", "ops", "--project", "apollo"]);
    home.remember(&["--layer", "identity", "My name is Ada"]);
    home.run_with(&["write", "user/working"], "- shipping the parser\n").done();
    home
}

#[test]
fn a_memory_has_the_same_fields_wherever_it_is_printed() {
    let home = lived_in();
    for args in [
        &["remember", "The office is in Oslo", "--key", "office"][..],
        &["show", "deploy"],
        &["edit", "deploy", "--sig", "4"],
        &["restore", "deploy", "1"],
    ] {
        has(&home.json(args), MEMORY);
    }
    for args in [&["remember", "x"][..], &["edit", "deploy", "--sig", "5"]] {
        has(&home.json(args), &["outcome", "redacted"]);
    }
    let listing = home.json(&["list", "--limit", "2"]);
    has(&listing, &["memories", "cursor"]);
    has(&listing["memories"][0], MEMORY);
    let rest = home.json(&["list", "--cursor", listing["cursor"].as_str().unwrap()]);
    assert_eq!((rest["memories"].as_array().unwrap().len(), &rest["cursor"]), (2, &Value::Null));
    let recall = home.json(&["recall", "deploy"]);
    has(&recall, &["recall_id", "hits"]);
    has(&recall["hits"][0], MEMORY);
    has(&recall["hits"][0], &["score", "why"]);
    has(&recall["hits"][0]["why"], &["found_by", "features"]);
    has(&recall["hits"][0]["why"]["features"][0], &["name", "value", "points"]);
}

#[test]
fn every_other_command_keeps_its_shape() {
    let home = lived_in();
    for (args, keys) in [
        (&[][..], &["memory", "config", "version", "stats", "working", "health"][..]),
        (&["stats"], &["knowledge", "archive", "bullets", "inactive", "changes", "recalls", "bytes", "identity"]),
        (&["history", "deploy"], &["versions"]),
        (&["history", "user/profile"], &["versions"]),
        (&["history"], &["changes"]),
        (&["read", "user/facts"], &["name", "markdown"]),
        (&["read", "user/nothing"], &["name", "markdown"]),
        (&["profile"], &["text", "usage"]),
        (&["working"], &["text", "updated_at", "expires_at"]),
        (&["context", "--message", "when do we deploy?"], &["system_prompt", "message", "parts"]),
        (&["export"], &["version", "exported_at", "memories", "documents", "history", "document_history", "turns"]),
        (&["export", "--out", "all.json"], &["path", "memories"]),
        (&["import", "all.json"], &["added", "kept", "documents", "set_aside", "inactive"]),
        (&["backup"], &["path"]),
        (&["reindex"], &["indexed"]),
        (&["doctor"], &["problems", "remarks"]),
        (&["config", "check"], &["path", "ok"]),
        (&["config", "show"], &["path", "settings"]),
        (&["forget", "deploy"], &["id", "already"]),
        (&["undo"], &["undone", "change", "memories", "documents"]),
        (&["restore", "user/profile", "1"], &["name", "text"]),
        (&["forget", "deploy", "--erase", "--yes"], &["id", "sources", "versions", "recalls", "turns", "unreached"]),
    ] {
        has(&home.json(args), keys);
    }
}

#[test]
fn a_failure_in_json_mode_is_json_too_and_still_ends_with_its_code_and_its_hint() {
    let home = lived_in();
    for (args, code, word) in [
        (&["show", "zzzzzz", "--json"][..], 1, "not_found"),
        (&["write", "user/facts", "--json"], 2, "invalid"),
        (&["recall", "x", "--since", "today", "--until", "yesterday", "--json"], 2, "invalid"),
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, code, "{ran:?}");
        let body: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(body["error"]["code"], word);
        assert!(ran.stderr.contains(&format!("error: {}", body["error"]["message"].as_str().unwrap())), "{ran:?}");
        assert!(ran.stderr.contains(&format!("hint: {}", body["error"]["hint"].as_str().unwrap())), "{ran:?}");
    }
}

#[test]
fn completions_come_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.run(&["completions", shell]).done();
        assert!(script.contains("throughline") && script.contains("THROUGHLINE_COMPLETE"), "{shell}");
    }
    assert!(!home.path("").exists(), "printing a script makes no home");
}

#[test]
fn version_and_help_are_answers() {
    let home = Home::new();
    let number = format!("throughline {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(home.run(&["-V"]).done(), number);
    assert!(home.run(&["--version"]).done().starts_with(&format!("{number}build ")));
    assert!(home.run(&["--help"]).done().contains("Usage: throughline"));
    assert!(home.run(&["restore", "--help"]).done().contains("Usage: throughline restore"));
    assert!(!home.path("").exists());
}

#[test]
fn json_carries_every_character_unchanged() {
    let home = Home::new();
    let every: String =
        ('\u{1}'..='\u{2ff}').chain(['\u{7f}', '\u{9b}', '\u{202e}', '\u{feff}', '\u{10ffff}', '.']).collect();
    home.run_with(&["remember", "-", "--key", "every"], &format!("a{every}")).done();
    assert_eq!(home.json(&["show", "every"])["content"].as_str().unwrap(), format!("a{every}"));
    assert_eq!(home.json(&["export"])["memories"][0]["content"].as_str().unwrap(), format!("a{every}"));
}
