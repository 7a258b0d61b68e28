//! The preview is what is then given: over a conversation of twenty messages, byte for byte, by HTTP, hook and chat.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::io::Write as _;
use std::process::Stdio;

use common::daemon::Daemon;
use common::{Home, string, until};
use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\nconsolidation_provider = \"offline\"\n";

const MESSAGES: [&str; 20] = [
    "hello there",
    "when do we deploy?",
    "when do we deploy?",
    "and who approves the deploy?",
    "which database does the shop use?",
    "what did we do yesterday?",
    "thanks",
    "the database again, please",
    "what is the port of the staging server?",
    "and of production?",
    "when do we deploy, and to which server?",
    "我们什么时候部署？",
    "is the parser written in Rust?",
    "what of the parser is missing?",
    "run it again",
    "who approves?",
    "how is the deploy done on Fridays?",
    "which port, which database, which server?",
    "do we deploy on Mondays now?",
    "one last time: deploy, database, parser, port?",
];

/// A memory about what the messages ask.
fn furnish(home: &Home) {
    home.remember(&["--layer", "identity", "My name is Ada"]);
    for fact in [
        "We deploy on Fridays at noon",
        "Ines approves every deploy",
        "The shop uses PostgreSQL as its database",
        "The staging server listens on port 8081",
        "The parser is written in Rust",
        "我们每周五中午部署",
    ] {
        home.remember(&[fact]);
    }
    embed(home);
}

/// Makes all vectors: those that are made between a preview and what is given would change what fits.
fn embed(home: &Home) {
    home.run(&["reindex", "--vectors"]).done();
}

/// What happens to the memory while the conversation goes on.
fn meanwhile(home: &Home, at: usize) {
    match at {
        9 => drop(home.remember(&["The production server listens on port 443"])),
        13 => drop(home.remember(&["The parser has no error recovery yet"])),
        17 => home.put("user/profile.md", "- My name is Ada\n- I like short answers\n"),
        _ => return,
    }
    embed(home);
}

struct Preview {
    system_prompt: String,
    message: String,
}

#[track_caller]
fn preview(home: &Home, session: &str, message: &str) -> Preview {
    let shown = home.json(&["context", "--session", session, "--message", message]);
    Preview { system_prompt: string(&shown["system_prompt"]), message: string(&shown["message"]) }
}

/// How many of the messages were given anything: a comparison of nothing with nothing proves nothing.
#[track_caller]
fn assert_some_were_given(given: usize) {
    assert!((3..20).contains(&given), "{given} of 20 messages were given a memory");
}

#[test]
fn by_http() {
    let home = Home::with_config("config.toml", QUIET);
    furnish(&home);
    let daemon = Daemon::start(&home);
    daemon.post("/api/sessions", &json!({ "channel": "web", "session": "web:one", "system_prompt": "Be kind." }));
    let mut given = 0;
    for (at, message) in MESSAGES.into_iter().enumerate() {
        meanwhile(&home, at);
        let expected = preview(&home, "web:one", message);
        let context = daemon.post("/api/sessions/web:one/context", &json!({ "message": message }));
        assert_eq!(string(&context["system_prompt"]), expected.system_prompt, "{message}");
        assert_eq!(string(&context["message"]), expected.message, "{message}");
        given += usize::from(expected.message != message);
        for (role, content) in [("user", message), ("assistant", "I see.")] {
            daemon.post("/api/sessions/web:one/turns", &json!({ "role": role, "content": content }));
        }
    }
    assert_some_were_given(given);
}

#[test]
fn by_hook() {
    let home = Home::with_config("config.toml", QUIET);
    furnish(&home);
    let hook = |name: &str, event: &str, more: Value| -> String {
        let mut input = json!({ "session_id": "one", "cwd": home.root(), "hook_event_name": event });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let arguments = ["hook", name, "--client", "claude-code", "--deadline-ms", "60000"];
        let answer: Value = serde_json::from_str(&home.run_with(&arguments, &input.to_string()).done()).unwrap();
        answer.pointer("/hookSpecificOutput/additionalContext").map(string).unwrap_or_default()
    };
    let opening = preview(&home, "claude-code:one", "hello").system_prompt;
    let begun = hook("session-start", "SessionStart", json!({ "source": "startup" }));
    assert!(!opening.is_empty() && begun.contains(&opening), "{opening}\n---\n{begun}");
    let mut given = 0;
    for (at, message) in MESSAGES.into_iter().enumerate() {
        meanwhile(&home, at);
        let expected = preview(&home, "claude-code:one", message);
        assert_eq!(expected.system_prompt, opening, "the opening stays as it was");
        let block = expected.message.strip_suffix(message).unwrap().trim_end().to_owned();
        let added = hook("prompt", "UserPromptSubmit", json!({ "prompt": message }));
        assert_eq!(added, block, "{message}");
        given += usize::from(!block.is_empty());
    }
    assert_some_were_given(given);
}

#[test]
fn by_chat() {
    let server = ModelServer::always(Step::reply("I see."));
    let config =
        format!("{QUIET}\n[model]\nprovider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n", server.url());
    let mut home = Home::with_config("config.toml", &config);
    home.set("OPENAI_API_KEY", "correct-horse-battery-7731");
    furnish(&home);
    // One process for all messages: what a chat does in the background when it ends would change the memory in between.
    let mut chat =
        home.throughline(&["chat", "--session", "one"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut typing = chat.stdin.take().unwrap();
    until(|| home.run(&["session", "show", "one"]).code.eq(&0).then_some(()));
    let mut given = 0;
    for (at, message) in MESSAGES.into_iter().enumerate() {
        meanwhile(&home, at);
        let expected = preview(&home, "cli:one", message);
        writeln!(typing, "{message}").unwrap();
        let sent = until(|| server.requests().get(at).map(|request| request.body.clone()));
        let messages = sent["messages"].as_array().unwrap();
        assert_eq!(string(&messages[0]["content"]), expected.system_prompt, "{message}");
        assert_eq!(string(&messages.last().unwrap()["content"]), expected.message, "{message}");
        given += usize::from(expected.message != message);
    }
    drop(typing);
    assert!(chat.wait().unwrap().success());
    assert_some_were_given(given);
}
