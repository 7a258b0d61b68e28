//! The examples run as they are shown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "../examples/embed.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod embed;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use common::daemon::Daemon;
use common::{Home, Ran};

fn example(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(name)
}

#[test]
fn an_assistant_of_ones_own_knows_tomorrow_what_was_said_today() {
    let home = tempfile::tempdir().unwrap();
    let told = embed::story(home.path()).unwrap();
    assert!(told.contains("(consolidated: 6 turns)"), "{told}");
    let (_, tomorrow) = told.split_once("the next conversation begins with:").unwrap();
    assert!(tomorrow.contains("according to earlier records") && tomorrow.contains("Fridays at noon"), "{told}");
}

/// What the bot answers, line by line.
fn chat(home: &Home, session: &str, messages: &str) -> String {
    let mut command = home.command(example("shell-bot"));
    command.arg(session).env("THROUGHLINE", env!("CARGO_BIN_EXE_throughline")).stdin(Stdio::piped());
    let mut bot = command.spawn().unwrap();
    bot.stdin.take().unwrap().write_all(messages.as_bytes()).unwrap();
    Ran::of(bot.wait_with_output().unwrap()).done()
}

#[test]
fn the_bot_in_shell_remembers_across_conversations() {
    let home = Home::new();
    let first = chat(&home, "shell:monday", "We deploy on Fridays at noon.\n\nMy favourite colour is teal.\n");
    assert_eq!(first.lines().count(), 2, "{first}");
    let second = chat(&home, "shell:tuesday", "When do we deploy?\n");
    assert!(second.contains("according to earlier records") && second.contains("Fridays at noon"), "{second}");
}

#[test]
fn the_script_over_http_stores_finds_and_converses() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let told = Ran::of(home.command("python3").arg(example("python-http.py")).output().unwrap()).done();
    assert!(told.contains("found We deploy on Fridays at noon"), "{told}");
    assert!(told.contains("assistant: according to earlier records: - "), "{told}");
    assert_eq!(home.json(&["session", "list"])["sessions"].as_array().unwrap().len(), 1);
}
