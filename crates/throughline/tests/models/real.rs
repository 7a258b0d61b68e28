//! The real Claude Code and Codex, from npm, before a scripted model, where nothing but loopback can be reached.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::SUMMARY;
use crate::common::Home;

/// What the namespace gets: loopback, and a home of its own.
const ALONE: [&[&str]; 2] = [&["--net"], &["--net", "--map-root-user"]];

/// Where the programs of each are, installed below the build's own directory; or why they cannot be.
fn programs() -> Result<String, String> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assistants");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/install.py");
    Command::new("npm").arg("--version").output().map_err(|error| format!("npm: {error}"))?;
    let mut install = Command::new("python3");
    let done = install.arg("-B").arg(script).arg(cache).args(["claude-code", "codex"]).output();
    let done = done.map_err(|error| format!("python3: {error}"))?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8_lossy(&done.stdout).trim().replace('\n', ":"))
}

/// The options with which this machine lets us have a network of our own.
fn alone() -> Option<&'static [&'static str]> {
    let works = |options: &&&[&str]| {
        let tried = Command::new("unshare").args(**options).arg("true").stderr(Stdio::null()).status();
        tried.is_ok_and(|done| done.success())
    };
    ALONE.iter().find(works).copied()
}

#[test]
fn the_real_programs_are_models() {
    let (bin, options) = match (programs(), alone()) {
        (Ok(bin), Some(options)) => (bin, options),
        (Err(why), _) => return println!("SKIPPED: the real Claude Code and Codex were not tried: {why}"),
        (_, None) => {
            return println!("SKIPPED: the real Claude Code and Codex were not tried: no `unshare --net` here");
        }
    };
    for (name, client) in [("claude-code", "claude-code"), ("codex", "codex")] {
        let got = visit(&bin, options, name, client);
        assert_eq!(got["chosen"]["works"], true, "{got:#}");
        assert_eq!((&got["done"]["outcome"], &got["done"]["summary"]), (&json!("done"), &json!(SUMMARY)), "{got:#}");
        assert_eq!(got["done"]["facts"].as_array().map(Vec::len), Some(1), "{got:#}");
        assert_eq!(got["sessions"], json!(["telegram:1"]), "its own hooks and servers kept nothing: {got:#}");
        let tasks: Vec<&Value> = got["requests"].as_array().unwrap().iter().map(|request| &request["task"]).collect();
        assert_eq!(tasks, ["trial", "summary", "extraction"], "{got:#}");
        for request in got["requests"].as_array().unwrap() {
            let tools: Vec<&str> = request["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let acts = ["Bash", "Edit", "Write", "exec_command", "shell", "apply_patch", "memory", "mcp"];
            assert!(!tools.iter().any(|tool| acts.iter().any(|act| tool.contains(act))), "{name}: {tools:?}");
        }
        assert_eq!(got["transcripts"], json!([]), "no conversation is left in its home: {got:#}");
    }
}

/// Connects the assistant to the memory, makes it the model, and consolidates a conversation.
fn visit(bin: &str, options: &[&str], name: &str, client: &str) -> Value {
    let config = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n";
    let home = Home::with_config("config.toml", config);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/real.py");
    let how = json!({"program": env!("CARGO_BIN_EXE_throughline"), "bin": bin, "name": name, "client": client});
    let mut command = home.command("unshare");
    let output = command.args(options).args(["python3", script, &how.to_string()]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}
