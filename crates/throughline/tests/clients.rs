//! Real assistants from npm, headless and at a terminal, before a scripted model and where nothing but loopback can be reached.
//! Two of them here; `scripts/clients` tries all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![allow(clippy::print_stdout, reason = "what was not tried is said")]

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a client's visit found: each check, and what is wrong.
fn visit(client: &str) -> Option<Value> {
    if Command::new("npm").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: {client} was not tried: no npm here");
        return None;
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assistants");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/run.py");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).arg(env!("CARGO_BIN_EXE_throughline")).arg(cache).arg(client);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.starts_with("SKIPPED") {
        println!("{errors}");
        return None;
    }
    assert!(output.status.success(), "{client}: {errors}");
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    Some(found[0].take())
}

#[track_caller]
fn check(client: &str) {
    let Some(found) = visit(client) else { return };
    let checks = found["checks"].as_array().unwrap();
    let wrong: Vec<&Value> = checks.iter().filter(|check| !check[1].is_null()).collect();
    assert!(checks.len() > 20, "{client}: {checks:#?}");
    assert!(wrong.is_empty(), "{client} {}: {wrong:#?}", found["version"]);
}

#[test]
fn claude_code() {
    check("claude-code");
}

#[test]
fn codex() {
    check("codex");
}
