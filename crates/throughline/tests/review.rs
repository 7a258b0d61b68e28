//! What was learnt without being asked: shown with its evidence until somebody has seen it; and what conversations are called.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::daemon::Daemon;
use common::{Home, string};
use serde_json::{Value, json};

/// A namespace, and nothing that starts by itself.
const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

/// A conversation that is over: what was said in it was made into memories.
fn learn(home: &Home, session: &str, said: &[&str]) {
    for text in said {
        home.run(&["session", "observe", "--session", session, text]).done();
    }
    home.run(&["session", "end", session]).done();
}

fn items(home: &Home) -> Vec<Value> {
    home.json(&["review"])["items"].as_array().unwrap().clone()
}

/// The one item that says this.
#[track_caller]
fn item(home: &Home, text: &str) -> Value {
    let mut found: Vec<Value> =
        items(home).into_iter().filter(|item| string(&item["memory"]["content"]).contains(text)).collect();
    assert!(!found.is_empty(), "no `{text}` in {:?}", items(home));
    found.remove(0)
}

fn id(item: &Value) -> String {
    string(&item["memory"]["id"])
}

#[test]
fn what_was_learnt_is_new_until_it_is_seen() {
    let home = quiet();
    home.remember(&["We deploy on Fridays at noon"]);
    assert_eq!(items(&home), Vec::<Value>::new(), "what a person stored is nothing new");
    assert_eq!(home.run(&["review", "--list"]).code, 1);
    learn(
        &home,
        "web:1",
        &["The staging server is called heron.", "We decided to use PostgreSQL for the billing service."],
    );
    let learnt = item(&home, "PostgreSQL");
    assert_eq!(learnt["evidence"][0]["content"], "We decided to use PostgreSQL for the billing service.");
    assert_eq!(learnt["evidence"][0]["title"], "The staging server is called heron", "{learnt}");
    assert!(learnt.get("replaced").is_none());
    assert!(
        home.found(&["which database for billing?"]).iter().any(|text| text.contains("PostgreSQL")),
        "known meanwhile"
    );
    let list = home.run(&["review", "--list"]).done();
    assert!(list.contains("PostgreSQL") && list.contains("The staging server is called heron"), "{list}");

    let kept = home.json(&["review", &id(&learnt), "keep"]);
    assert_eq!((&kept["verdict"], &kept["memory"]["source"]), (&json!("keep"), &json!("user")), "now their own word");
    assert!(!items(&home).iter().any(|item| id(item) == id(&learnt)));
    home.json(&["undo"]);
    assert_eq!(home.json(&["show", &id(&learnt)])["source"], "system");
    assert!(items(&home).iter().any(|item| id(item) == id(&learnt)), "a verdict that was undone leaves it new");
}

#[test]
fn an_edit_and_a_rule_are_the_persons_word() {
    let home = quiet();
    let at = ["session", "observe", "--session", "one", "--project", "apollo"];
    home.run(&[&at[..], &["We decided to use PostgreSQL for the billing service."]].concat()).done();
    home.run(&["session", "end", "one"]).done();
    let learnt = item(&home, "PostgreSQL");
    home.run(&["review", &id(&learnt), "edit"]).failed(2, "needs the new content", "nothing was changed");
    home.run(&["review", &id(&learnt), "keep", "and more"]).failed(2, "`edit` alone", "nothing was changed");
    let edited = home.json(&["review", &id(&learnt), "edit", "Billing runs on PostgreSQL 16"]);
    assert_eq!(
        (&edited["memory"]["content"], &edited["memory"]["source"]),
        (&json!("Billing runs on PostgreSQL 16"), &json!("user"))
    );
    assert_eq!(items(&home).iter().filter(|item| item.to_string().contains("PostgreSQL 16")).count(), 0);
    let rule = home.json(&["review", &id(&learnt), "rule"]);
    assert_eq!((&rule["memory"]["significance"], &rule["memory"]["id"]), (&json!(4), &learnt["memory"]["id"]));

    learn(&home, "two", &["We decided to write all commit messages in English."]);
    let learnt = item(&home, "commit messages");
    let rule = home.json(&["review", &id(&learnt), "rule"]);
    assert_eq!(rule["memory"]["layer"], "identity", "a rule of no project opens every session: {rule}");
    assert!(home.text("user/profile.md").contains("commit messages in English"));
    assert_eq!(home.json(&["show", &id(&learnt)])["status"], "inactive", "it stands in one place");
    assert!(!items(&home).iter().any(|item| item.to_string().contains("commit messages")));
    home.json(&["undo"]);
    assert_eq!(home.json(&["show", &id(&learnt)])["status"], "active", "all of it was one change");
    let profile = std::fs::read_to_string(home.path("user/profile.md")).unwrap_or_default();
    assert!(!profile.contains("commit messages"));
}

#[test]
fn a_replacement_is_shown_with_what_it_replaced_and_dropping_it_brings_that_back() {
    let home = quiet();
    let old = home.remember(&["The deploy runs on Friday"]);
    learn(&home, "one", &["Actually, the deploy runs on Thursday, not on Friday."]);
    assert_eq!(home.json(&["show", &old])["status"], "inactive");
    let new = item(&home, "Thursday");
    assert_eq!(
        (&new["replaced"]["id"], &new["replaced"]["content"]),
        (&json!(old), &json!("The deploy runs on Friday"))
    );
    let dropped = home.json(&["review", &id(&new), "drop"]);
    assert_eq!((&dropped["verdict"], &dropped["restored"][0]["id"]), (&json!("drop"), &json!(old)));
    assert_eq!(home.json(&["show", &old])["status"], "active");
    assert_eq!(home.json(&["show", &id(&new)])["status"], "inactive");
    assert!(!items(&home).iter().any(|item| item["replaced"]["id"] == json!(old)));
    home.json(&["undo"]);
    assert_eq!(home.json(&["show", &old])["status"], "inactive", "and that is one change, too");
}

#[test]
fn lines_of_the_profile_are_reviewed_as_entries_are() {
    let home = quiet();
    learn(&home, "one", &["My name is Ada Lovelace."]);
    let profile = || std::fs::read_to_string(home.path("user/profile.md")).unwrap_or_default();
    let line = || items(&home).into_iter().find(|item| item["memory"]["kind"] == "bullet");
    assert!(profile().contains("Ada Lovelace"), "{}", profile());
    let learnt = line().expect("the line is new");
    assert!(learnt["evidence"].to_string().contains("My name is Ada Lovelace"), "{learnt}");
    home.json(&["review", &id(&learnt), "keep"]);
    assert_eq!(line(), None);
    home.run(&["reindex"]).done();
    assert_eq!(line(), None, "nor after the index was made anew");
}

#[test]
fn review_over_http_is_what_the_command_prints() {
    let home = quiet();
    let old = home.remember(&["The deploy runs on Friday"]);
    learn(&home, "one", &["Actually, the deploy runs on Thursday, not on Friday."]);
    learn(&home, "two", &["We decided to use PostgreSQL for the billing service."]);
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.get("/api/review"), home.json(&["review"]));
    let all = daemon.get("/api/review")["items"].as_array().unwrap().len();
    let first = daemon.get("/api/review?limit=1");
    let cursor = string(&first["cursor"]);
    let rest = daemon.get(&format!("/api/review?cursor={cursor}"));
    assert_eq!(rest["items"].as_array().unwrap().len(), all - 1, "page by page");
    let (new, kept) = (item(&home, "Thursday"), item(&home, "PostgreSQL"));
    let verdict = |item: &Value, body: Value| daemon.post(&format!("/api/review/{}", id(item)), &body);
    assert_eq!(verdict(&kept, json!({ "verdict": "keep" }))["memory"]["source"], "user");
    assert_eq!(verdict(&new, json!({ "verdict": "drop" }))["restored"][0]["id"], json!(old));
    let wrong = daemon
        .send(&daemon.request("POST", &format!("/api/review/{}", id(&kept))).json(&json!({ "verdict": "maybe" })));
    assert_eq!(wrong.status, 400);
    let unknown = daemon.send(&daemon.request("POST", "/api/review/zzzzzz").json(&json!({ "verdict": "keep" })));
    assert_eq!(unknown.status, 404);
}

#[test]
fn a_conversation_is_called_as_its_host_says_or_after_its_first_message() {
    let home = quiet();
    let daemon = Daemon::start(&home);
    let turn = |session: &str, text: &str| {
        daemon.post(&format!("/api/sessions/{session}/turns"), &json!({ "role": "user", "content": text }));
    };
    daemon.post("/api/sessions", &json!({ "channel": "web", "session": "1", "title": "Trip to Oslo" }));
    turn("web:1", "When does the train leave?");
    turn("web:2", "Don't remember this: I am leaving.");
    turn("web:2", "Can you fix the parser? It fails on tabs.");
    daemon.post("/api/sessions", &json!({ "channel": "web", "session": "3" }));
    let listed = daemon.get("/api/sessions");
    let title = |id: &str| {
        let sessions = listed["sessions"].as_array().unwrap();
        string(&sessions.iter().find(|session| session["id"] == id).unwrap()["title"])
    };
    assert_eq!(title("web:1"), "Trip to Oslo");
    assert_eq!(title("web:2"), "Can you fix the parser?");
    assert_eq!(title("web:3"), "a conversation on web");
    assert_eq!(daemon.get("/api/sessions/web:2")["session"]["title"], "Can you fix the parser?");
    daemon.post("/api/sessions", &json!({ "channel": "web", "session": "2", "title": "The parser" }));
    assert_eq!(daemon.get("/api/sessions/web:2")["session"]["title"], "The parser");
    drop(daemon);
    assert!(home.run(&["session", "list"]).done().contains("Trip to Oslo"));
    assert!(home.run(&["session", "show", "web:2"]).done().starts_with("The parser\n"));
    home.run(&["session", "observe", "--session", "cli:4", "--title", "Taxes", "where is the form?"]).done();
    assert!(home.run(&["session", "list"]).done().contains("Taxes"));
}
