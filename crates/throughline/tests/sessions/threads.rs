//! Threads with the offline model and with a scripted one: what a conversation leaves for the next, and what it does not.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::models::{FACTS, with_model};
use super::{prompt, quiet, say};
use crate::common::daemon::Daemon;
use crate::common::{Home, string};

const LAUNCH: [&str; 3] = [
    "I'm working on the launch page in site/index.html.",
    "Let's use the blue theme for the launch page.",
    "Remind me to call the printer on Friday.",
];

/// Says something and has it consolidated.
#[track_caller]
fn after(home: &Home, session: &str, texts: &[&str]) {
    texts.iter().for_each(|text| drop(say(home, session, text)));
    assert_eq!(home.json(&["session", "consolidate", session])["outcome"], json!("done"));
}

/// The sessions that have a thread, the latest first.
#[track_caller]
fn threads(home: &Home) -> Vec<String> {
    let ran = home.run(&["--json", "working"]);
    let working: Value = serde_json::from_str(&ran.stdout).unwrap();
    let threads = working["threads"].as_array().into_iter().flatten();
    threads.map(|thread| string(&thread["session"])).collect()
}

#[test]
fn small_talk_leaves_every_thread_as_it_is() {
    let mut home = quiet();
    after(&home, "telegram:1", &LAUNCH);
    let file = home.text("user/working.md");
    let content = "## I'm working on the launch page in site/index.html\n\n\
        ### Working on\n- I'm working on the launch page in site/index.html.\n\n\
        ### Decisions\n- Let's use the blue theme for the launch page.\n\n\
        ### Open threads\n- Remind me to call the printer on Friday.\n";
    assert!(file.ends_with(&format!("\n\n{content}")), "{file}");
    home.set_now("2026-03-01T12:05:00Z");
    for (session, text) in [
        ("telegram:1", "Thanks, bye"),
        ("web:1", "What is 2+2?"),
        ("web:2", "Where were we?"),
        ("web:3", "ok go on"),
        ("web:4", "Good morning! How are you?"),
        ("web:5", "哈哈，谢谢"),
    ] {
        after(&home, session, &[text]);
        assert_eq!(home.text("user/working.md"), file, "its date too: {text}");
    }
}

#[test]
fn lines_of_working_memory_are_found_and_not_listed() {
    let home = quiet();
    after(&home, "telegram:1", &LAUNCH);
    assert!(home.text("user/working.md").contains("blue theme"));
    let is_line = |memory: &Value| memory["kind"] == "bullet" && memory["layer"] == "archive";
    for args in [&["list"][..], &["list", "--layer", "archive"], &["list", "--status", "any"]] {
        let listed = home.json(args);
        assert!(!listed["memories"].as_array().unwrap().iter().any(is_line), "{args:?}: {listed}");
    }
    let daemon = Daemon::start(&home);
    let listed = daemon.get("/api/memories?status=any");
    assert!(!listed["memories"].as_array().unwrap().iter().any(is_line), "{listed}");
}

#[test]
fn one_off_requests_make_no_thread() {
    let home = quiet();
    for (n, text) in [
        "then let's remove it.",
        "run it again",
        "Translate this sentence into German.",
        "What is the difference between TCP and UDP?",
        "Convert 30 USD to EUR",
        "write a haiku about rain",
        "help me find a word for tired",
        "帮我翻译这句话",
        "I prefer tea over coffee.",
    ]
    .into_iter()
    .enumerate()
    {
        after(&home, &format!("web:{n}"), &[text]);
        assert_eq!(threads(&home), [""; 0], "{text}");
    }
    assert_eq!(home.run(&["working"]).code, 1);
    assert_eq!(prompt(&home, "web:new", "hello").matches("Recent context").count(), 0);
}

#[test]
fn done_removes_a_thread() {
    for said in ["done", "OK, that's finished now. Thanks!", "erledigt", "搞定了"] {
        let home = quiet();
        after(&home, "telegram:1", &LAUNCH);
        after(&home, "web:1", &["I'm fixing the invoices of the shop in shop/invoice.py."]);
        assert_eq!(threads(&home), ["web:1", "telegram:1"]);
        after(&home, "telegram:1", &[said]);
        assert_eq!(threads(&home), ["web:1"], "{said}");
        assert!(!home.text("user/working.md").contains("launch"), "{said}");
        let found = home.found(&["the launch page"]);
        assert!(found.iter().any(|text| text.contains("launch page")), "it is in the archive still: {found:?}");
    }
}

#[test]
fn a_thread_is_closed_by_command_and_opened_by_undo() {
    let home = quiet();
    after(&home, "telegram:1", &LAUNCH);
    let shown = home.run(&["working"]).done();
    let id = string(&home.json(&["working"])["threads"][0]["id"]);
    assert!(shown.contains(&id[..8]) && shown.contains("telegram:1"), "{shown}");
    let told = home.run(&["working", "close", &id[..8]]).done();
    assert!(told.starts_with("closed ") && told.contains("launch page"), "{told}");
    assert_eq!(home.run(&["working"]).code, 1);
    home.run(&["undo"]).done();
    assert_eq!(threads(&home), ["telegram:1"]);
    assert!(home.text("user/working.md").contains("launch page"));
}

#[test]
fn a_session_of_a_project_begins_with_its_own_threads() {
    let home = quiet();
    for (session, project, text) in [
        ("web:1", "shop", "I'm fixing the invoices in shop/invoice.py."),
        ("web:2", "blog", "I'm writing the post about rye bread in posts/rye.md."),
    ] {
        home.json(&["session", "observe", "--session", session, "--project", project, text]);
        home.run(&["session", "consolidate", session]).done();
    }
    home.json(&["session", "observe", "--session", "web:3", "--project", "shop", "hello"]);
    let given = prompt(&home, "web:3", "hello");
    assert!(given.contains("### Working on\n- I'm fixing the invoices in shop/invoice.py."), "{given}");
    assert!(given.contains("- Elsewhere (blog): I'm writing the post about rye bread"), "{given}");
    assert!(!given.contains("### Working on\n- I'm writing the post"), "{given}");
    let plain = prompt(&home, "web:4", "hello");
    assert!(plain.contains("- I'm fixing the invoices") && plain.contains("- I'm writing the post"), "{plain}");
}

/// A conversation of several turns in which something is corrected, remembered, finished and left open.
const STORY: [(&str, &str); 13] = [
    ("user", "Hi! My name is Ada and I live in Lisbon."),
    ("assistant", "Hello Ada!"),
    ("user", "I'm working on the launch page in site/index.html."),
    ("assistant", "I see. Which theme do you want?"),
    ("user", "Let's use the blue theme for the launch page."),
    ("user", "Our tax rate in Portugal is 23%."),
    ("user", "Remember that."),
    ("assistant", "Noted."),
    ("user", "I prefer short answers. I am allergic to peanuts."),
    ("assistant", "I've added the blue theme to site/index.html."),
    ("user", "TODO: write the changelog for 2.4"),
    ("user", "Remind me to call the printer on Friday."),
    ("assistant", "I will."),
];

/// What is known of the story, and its thread, when it is consolidated after every so many turns.
#[track_caller]
fn told(batch: usize) -> (BTreeSet<String>, String, String) {
    let home = quiet();
    for turns in STORY.chunks(batch) {
        let lines: String =
            turns.iter().map(|(role, text)| format!("{}\n", json!({ "role": role, "content": text }))).collect();
        home.run_with(&["session", "observe", "--session", "web:1"], &lines).done();
        home.run(&["session", "consolidate", "web:1"]).done();
    }
    let facts: BTreeSet<String> = home.listed(&["--layer", "knowledge"]).into_iter().collect();
    let summary = home.listed(&["--layer", "archive", "--tag", "session"]);
    assert_eq!(summary.len(), 1, "one summary of the session: {summary:?}");
    (facts, home.text("user/working.md"), summary[0].clone())
}

#[test]
fn the_same_conversation_in_any_batches_gives_the_same_memory() {
    let whole = told(STORY.len());
    assert!(whole.0.len() >= 2 && whole.1.contains("launch page") && whole.1.contains("printer"), "{whole:?}");
    for batch in [1, 2, 3, 5] {
        assert_eq!(told(batch), whole, "in batches of {batch}");
    }
}

#[test]
fn a_model_keeps_replaces_and_closes_the_thread_of_its_conversation() {
    let nothing = || [Step::reply("NOTHING"), Step::reply(r#"{"facts": []}"#)];
    let steps = [
        vec![Step::reply("# Launch\n\n## Working on\n- The launch moved to 3 May"), Step::reply(FACTS)],
        nothing().to_vec(),
        vec![Step::reply("# Invoices\n\n## Open threads\n- Fix the invoices"), Step::reply(r#"{"facts": []}"#)],
        vec![Step::reply("## Done\n- The launch"), Step::reply(r#"{"facts": []}"#)],
        nothing().to_vec(),
    ];
    let server = ModelServer::scripted(steps.concat());
    let home = with_model("openai", &server);
    after(&home, "telegram:1", &[]);
    let file = home.text("user/working.md");
    after(&home, "web:1", &["Good morning!"]);
    assert_eq!(home.text("user/working.md"), file, "small talk elsewhere");
    after(&home, "web:2", &["The invoices are wrong"]);
    assert_eq!(threads(&home), ["web:2", "telegram:1"]);
    after(&home, "telegram:1", &["We launched!"]);
    assert_eq!(threads(&home), ["web:2"]);
    after(&home, "web:2", &["Done, thanks."]);
    assert_eq!(threads(&home), [""; 0]);
    let asked = server.requests()[6].body.to_string();
    assert!(asked.contains("Task: summary") && asked.contains("<thread>"), "{asked}");
}
