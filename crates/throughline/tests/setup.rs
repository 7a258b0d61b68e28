//! The first hour: an empty home on a machine with assistants, past conversations, a downloaded export and two repositories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "setup/conversation.rs"]
mod conversation;
#[path = "setup/uninstalling.rs"]
mod uninstalling;

use std::path::{Path, PathBuf};

use common::{Home, string, tree, until, zipped};
use serde_json::{Value, json};

/// A service manager that keeps what it is told in files, as far as the program asks.
const SYSTEMCTL: &str = "#!/bin/sh\ncd \"${0%/*}\" || exit 1\nshift\necho \"$*\" >>log\ncase $1 in\n\
    is-enabled) test -e enabled ;;\nis-active) test -e active ;;\n\
    enable) touch enabled; if test \"$2\" = --now; then touch active; fi ;;\n\
    disable) rm -f enabled active ;;\nesac\n";

/// A person's own file.
fn person(home: &Home, below: &str) -> PathBuf {
    home.root().join("person").join(below)
}

fn has(home: &Home, below: &str, bytes: impl AsRef<[u8]>) {
    let path = person(home, below);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// A machine with Claude Code and Codex, each with a past conversation in a repository, and an export of ChatGPT.
fn machine() -> Home {
    let mut home = Home::new();
    has(&home, ".claude.json", "{\"numStartups\":3}");
    has(&home, ".claude/settings.json", "{\n\t// mine\n\t\"model\": \"opus\",\n}\n");
    has(&home, ".claude/CLAUDE.md", "- Write commit messages in the imperative.\n");
    has(&home, ".config/mimeapps.list", "");
    has(&home, ".codex/config.toml", "model = \"x\" # mine\n");
    for (repository, notes, text) in [
        ("shop", "CLAUDE.md", "- The shop is built with just.\n"),
        ("garden", "AGENTS.md", "- The garden is watered by a cron job at six.\n"),
    ] {
        std::fs::create_dir_all(person(&home, repository).join(".git")).unwrap();
        has(&home, &format!("{repository}/{notes}"), text);
    }
    let said = json!({ "type": "user", "uuid": "u1", "sessionId": "7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01",
        "cwd": person(&home, "shop"), "timestamp": "2026-02-01T10:00:00Z",
        "message": { "role": "user", "content": "We decided to keep the linter rules in biome.json." } });
    has(&home, ".claude/projects/-shop/7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01.jsonl", format!("{said}\n"));
    let meta = json!({ "timestamp": "2026-02-02T10:00:00Z", "type": "session_meta",
        "payload": { "id": "0199c0de-5a5a-7c3d-8f10-3b1f2a6d7e02", "cwd": person(&home, "garden") } });
    let said = json!({ "timestamp": "2026-02-02T10:00:01Z", "type": "response_item", "payload": { "type": "message",
        "role": "user", "content": [{ "type": "input_text", "text": "Rename the flag to --verbose" }] } });
    has(
        &home,
        ".codex/sessions/2026/02/02/rollout-2026-02-02T10-00-00-0199c0de-5a5a-7c3d-8f10-3b1f2a6d7e02.jsonl",
        format!("{meta}\n{said}\n"),
    );
    has(&home, "Downloads/chatgpt-export.zip", export());
    // The sources of some program, which are no export.
    has(&home, "Downloads/sources.zip", zipped(&[("repo/CLAUDE.md", b"- Not about this person.\n")]));
    with_systemctl(&mut home);
    home
}

/// The export of ChatGPT that the importer's own tests read, as it is mailed.
fn export() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/import/chatgpt/conversations.json");
    zipped(&[("conversations.json", &std::fs::read(path).unwrap())])
}

/// A machine of which no program is found but a few, and our service manager.
fn with_systemctl(home: &mut Home) {
    let programs = home.root().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for tool in ["sh", "touch", "rm", "cat", "python3"] {
        let place = ["/bin", "/usr/bin"].map(|dir| Path::new(dir).join(tool)).into_iter().find(|path| path.exists());
        place.into_iter().for_each(|place| std::os::unix::fs::symlink(place, programs.join(tool)).unwrap());
    }
    program(home, "systemctl", SYSTEMCTL);
    home.set("PATH", programs.to_str().unwrap());
}

fn program(home: &Home, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = home.root().join("programs").join(name);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What systemctl was told to change.
fn told(home: &Home) -> Vec<String> {
    let log = std::fs::read_to_string(home.root().join("programs/log")).unwrap_or_default();
    log.lines().filter(|line| !line.starts_with("is-") && *line != "show-environment").map(str::to_owned).collect()
}

/// Each step with what becomes of it.
fn actions(plan: &Value) -> Vec<(String, String)> {
    let of = |list: &Value, name: &str| -> Vec<(String, String)> {
        list.as_array().unwrap().iter().map(|one| (string(&one[name]), string(&one["action"]))).collect()
    };
    [of(&plan["clients"], "client"), of(&plan["imports"], "name")].concat()
}

/// Waits until memories were made of everything that was taken in.
fn until_consolidated(home: &Home) {
    until(|| {
        let sessions = home.json(&["session", "list"])["sessions"].clone();
        let is_done = |one: &Value| one["consolidated"].as_i64() >= one["imported_to"].as_i64();
        sessions.as_array().unwrap().iter().all(is_done).then_some(())
    });
}

#[test]
fn a_dry_run_and_a_run_without_a_terminal_change_nothing() {
    let home = machine();
    let before = tree(&person(&home, ""));
    let shown = home.json(&["setup", "--dry-run"]);
    let expected = [
        ("claude-code", "connect"),
        ("codex", "connect"),
        ("past conversations of claude-code", "import"),
        ("past conversations of codex", "import"),
        ("~/Downloads/chatgpt-export.zip", "import"),
        ("~/.claude/CLAUDE.md", "import"),
        ("~/garden/AGENTS.md", "import"),
        ("~/shop/CLAUDE.md", "import"),
    ];
    assert_eq!(actions(&shown["plan"]), expected.map(|(name, action)| (name.to_owned(), action.to_owned())));
    let zip = &shown["plan"]["imports"][2];
    assert_eq!((&zip["conversations"], &zip["turns"]), (&json!(3), &json!(7)), "{zip}");
    assert_eq!(zip["first_said_at"], "2024-05-01T08:00:01Z");
    assert_eq!(shown["plan"]["service"]["action"], "install");
    assert_eq!(shown["plan"]["model"], json!({ "now": "offline", "costs": "free: rules in this program" }));
    assert_eq!((&shown["changed"], &shown["dry_run"]), (&json!(false), &json!(true)));

    let told_why = home.run(&["setup"]);
    assert_eq!((told_why.code, told_why.stderr.as_str()), (2, ""), "{told_why:?}");
    for text in ["connect  codex", "no terminal to ask on; `--yes` does what is above"] {
        assert!(told_why.stdout.contains(text), "no `{text}`: {}", told_why.stdout);
    }
    assert_eq!(tree(&person(&home, "")), before);
    assert!(!home.path("").exists(), "not even a memory was made");
    assert_eq!(told(&home), Vec::<String>::new());
}

#[test]
fn all_is_set_up_once_and_the_second_run_changes_nothing() {
    let home = machine();
    let done = home.json(&["setup", "--yes"]);
    assert_eq!((&done["changed"], &done["problems"]), (&json!(true), &json!([])), "{done}");
    assert_eq!(done["try"].as_array().unwrap().len(), 3, "{done}");
    tells_what_was_learnt(&home, &done);
    assert_eq!(told(&home), ["daemon-reload", "enable --now throughline"]);
    let unit = std::fs::read_to_string(person(&home, ".config/systemd/user/throughline.service")).unwrap();
    assert!(unit.contains("serve --no-link") && unit.contains("THROUGHLINE_HOME="), "{unit}");
    let listed = home.json(&["connect"]);
    for client in ["claude-code", "codex"] {
        let one = listed["clients"].as_array().unwrap().iter().find(|one| one["client"] == client).unwrap();
        assert!(one["user"]["parts"].as_array().unwrap().iter().any(|part| part == "hooks"), "{one}");
    }
    for (words, kind) in [("biome.json", "turn"), ("flag --verbose", "turn"), ("green brompton", "turn")] {
        assert!(!home.found(&["--kind", kind, words]).is_empty(), "{words}");
    }
    let shop = home.json(&["recall", "built with just", "--project", "shop"]);
    assert_eq!(shop["hits"][0]["content"], "The shop is built with just.", "{shop}");
    assert!(home.found(&["not about this person"]).is_empty(), "sources are no export");
    until_consolidated(&home);

    let before = tree(&person(&home, ""));
    let again = home.json(&["setup", "--yes"]);
    assert_eq!((&again["changed"], &again["done"]), (&json!(false), &json!([])), "{again}");
    assert!(!actions(&again["plan"]).iter().any(|(_, action)| ["connect", "import"].contains(&action.as_str())));
    assert_eq!(tree(&person(&home, "")), before);
    assert_eq!(told(&home).len(), 2, "the service was not touched again");
    let said = home.run(&["setup", "--yes"]).done();
    assert!(said.contains("everything is set up: nothing was changed") && said.contains("Try next:"), "{said}");
    let dry = home.run(&["setup", "--dry-run"]).done();
    assert!(dry.contains("nothing new in past conversations of codex"), "{dry}");
    assert!(dry.ends_with("nothing was changed: there is nothing to do\n") && !dry.contains("--yes"), "{dry}");
}

/// The end of setup tells what came of the conversations, or that some are being read still.
#[track_caller]
fn tells_what_was_learnt(home: &Home, done: &Value) {
    let learnt = &done["learnt"];
    let (read, left) = (learnt["conversations"].as_u64().unwrap_or_default(), learnt["left"].as_u64());
    assert_eq!(read + left.unwrap_or(5 - read), 5, "{done}");
    assert_eq!(done["notes"].to_string().contains("in the background"), read < 5, "{done}");
    if read == 5 {
        assert!(learnt["memories"].as_u64().unwrap() >= learnt["newest"].as_array().unwrap().len() as u64, "{learnt}");
        assert_eq!(done["known"]["knowledge"], home.json(&["stats"])["knowledge"], "{done}");
    }
    // What is suggested to ask for is in the memory.
    let asks = done["try"].as_array().unwrap().iter().filter_map(|one| one.as_str()?.split('"').nth(1));
    for words in asks {
        assert!(!home.found(&[words]).is_empty(), "nothing is found by `{words}`: {done}");
    }
}

#[test]
fn a_missing_service_manager_is_reported_and_is_no_failure() {
    let mut home = machine();
    let empty = home.root().join("tmp");
    home.set("PATH", empty.to_str().unwrap());
    let done = home.json(&["setup", "--yes"]);
    assert_eq!((&done["problems"], &done["plan"]["service"]["action"]), (&json!([]), &json!("missing")), "{done}");
    assert!(string(&done["plan"]["service"]["reason"]).contains("no systemd"));
    assert!(!person(&home, ".config/systemd").exists());
    let dry = home.run(&["setup", "--dry-run"]).done();
    assert!(dry.contains("`throughline serve` starts the daemon by hand"), "{dry}");
}

#[test]
fn one_assistant_that_cannot_be_connected_keeps_no_step_from_being_done() {
    let home = machine();
    has(&home, ".claude/settings.json", "{\n  \"hooks\": oops\n}\n");
    let shown = home.json(&["setup", "--dry-run"]);
    assert_eq!(actions(&shown["plan"])[0], ("claude-code".to_owned(), "impossible".to_owned()));
    let done = home.json(&["setup", "--yes"]);
    assert_eq!(done["changed"], true);
    assert!(std::fs::read_to_string(person(&home, ".codex/config.toml")).unwrap().contains("throughline"));
    assert_eq!(std::fs::read(person(&home, ".claude/settings.json")).unwrap(), b"{\n  \"hooks\": oops\n}\n");
}

#[test]
fn no_model_is_paid_for_what_is_taken_in() {
    let home = machine();
    home.put("config.toml", "[model]\nprovider = \"anthropic\"\nmodel = \"m\"\n");
    let done = home.json(&["setup", "--yes"]);
    let notes = done["notes"].to_string();
    assert!(notes.contains("makes memories of them with your model, in about 10 requests"), "{notes}");
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    assert!(sessions.as_array().unwrap().iter().all(|one| one["consolidated"] == 0), "{sessions}");
}
