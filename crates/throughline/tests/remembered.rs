//! What was said in one conversation is there in the next, whichever way an assistant asks; and what nobody asked for is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "remembered/among_others.rs"]
mod among_others;
#[allow(dead_code, reason = "the panel's own tests use the rest")]
#[path = "panel/browser.rs"]
mod browser;
mod common;
#[path = "remembered/explained.rs"]
mod explained;
#[allow(dead_code, reason = "the tests of MCP use the rest")]
#[path = "mcp/peer.rs"]
mod peer;
#[path = "remembered/question.rs"]
mod question;
#[path = "remembered/told.rs"]
mod told;

use browser::Browser;
use common::daemon::Daemon;
use common::{Home, string};
use serde_json::{Value, json};

/// What a hook of Claude Code adds.
#[track_caller]
fn hook(home: &Home, name: &str, event: &Value) -> String {
    let arguments = ["hook", name, "--client", "claude-code", "--deadline-ms", "60000"];
    let said = home.run_with(&arguments, &event.to_string()).done();
    let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    answer.pointer("/hookSpecificOutput/additionalContext").map(string).unwrap_or_default()
}

#[test]
fn by_hook_without_a_daemon() {
    let home = told::home();
    told::check("hook", |at, message| question::by_hook(&home, at, message));
}

#[test]
fn by_hook_with_a_daemon() {
    let home = told::home();
    let _daemon = Daemon::start(&home);
    told::check("hook with a daemon", |at, message| question::by_hook(&home, at, message));
}

#[test]
fn by_http() {
    let home = told::home();
    let daemon = Daemon::start(&home);
    told::check("HTTP", |at, message| question::by_http(&daemon, at, message));
}

#[test]
fn by_mcp() {
    let home = told::home();
    told::check("memory_context", |_, message| question::by_context_tool(&home, message));
    for story in told::stories() {
        let Some(text) = story.is_given else { continue };
        let found = question::by_recall_tool(&home, &story.asks);
        assert!(found.contains(text), "`{}` lacks `{text}`: {found}", story.asks);
    }
}

#[test]
fn by_the_panels_search() {
    let home = told::home();
    let (browser, daemon) = (Browser::open(), Daemon::start(&home));
    browser.go(&string(&daemon.post("/api/links", &json!({}))["url"]));
    browser.see("main h1");
    browser.hash("#/memories");
    browser.see(".page-memories h1");
    browser.fill("input.search", "which database did we pick");
    browser.reads(".vrow", "Postgres instead of SQLite");
}
