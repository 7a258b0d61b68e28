//! The memory on a PostgreSQL server, as a person meets it: on the command line and over HTTP, on two machines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![cfg(unix)]

#[path = "postgres/away.rs"]
mod away;
mod common;
#[path = "postgres/copy.rs"]
mod copy;
#[path = "postgres/isolation.rs"]
mod isolation;
#[path = "mcp/peer.rs"]
#[allow(dead_code, reason = "other tests need more of it")]
mod peer;
#[path = "proxy/place.rs"]
#[allow(dead_code, reason = "the proxy's own tests need more of it")]
mod place;
#[path = "postgres/spool.rs"]
mod spool;
#[path = "postgres/together.rs"]
mod together;

use std::sync::OnceLock;

use common::Home;
use common::daemon::Daemon;
use serde_json::json;
use throughline_testkit::postgres::Server;

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::start)
}

/// A home whose memory is a space of the server.
fn on_server(space: &str) -> Home {
    let url = server().url();
    let config = format!("[memory]\nuser_namespace = \"user\"\n\n[store]\nurl = \"{url}?space={space}\"\n");
    Home::with_config("config.toml", &config)
}

#[test]
fn two_homes_share_one_memory_and_a_conversation_goes_on_elsewhere() {
    let (laptop, desktop) = (on_server("shared"), on_server("shared"));
    laptop.remember(&["We deploy on Fridays"]);
    assert_eq!(desktop.found(&["when do we deploy"]), ["We deploy on Fridays"]);
    laptop.run(&["session", "observe", "--session", "cli:a", "--role", "user", "I moved to Porto"]).done();
    desktop.run(&["session", "observe", "--session", "cli:a", "--role", "user", "The flat is small"]).done();
    let session = laptop.json(&["session", "show", "cli:a"]).to_string();
    assert!(session.contains("I moved to Porto") && session.contains("The flat is small"), "{session}");
    assert!(!laptop.path("memory.db").exists(), "nothing is kept in a file");
    desktop.run(&["doctor"]).done();
    laptop.run(&["undo"]).done();
    assert_eq!(desktop.json(&["stats"])["knowledge"], 0);
}

#[test]
fn documents_are_rows_and_the_memory_of_a_project_is_its_file() {
    let (laptop, desktop) = (on_server("documents"), on_server("documents"));
    laptop.run_with(&["write", "user/profile"], "- likes tea\n").done();
    assert_eq!(desktop.run(&["read", "user/profile"]).done(), "- likes tea\n");
    let hash = desktop.json(&["read", "user/profile"])["hash"].as_str().unwrap().to_owned();
    desktop.run_with(&["write", "user/profile", "--if-match", &hash], "- likes coffee\n").done();
    laptop.run_with(&["write", "user/profile", "--if-match", &hash], "- likes milk\n").failed(2, "in the meantime", "");
    assert_eq!(laptop.found(&["what do I like"]), ["likes coffee"]);
    assert!(!laptop.path("user").exists() && !desktop.path("user").exists(), "no file has it");
    let verbs = laptop.json(&["history"]).to_string();
    assert!(!verbs.contains("editor"), "no machine takes another's text for an edit: {verbs}");

    std::fs::create_dir(laptop.path("stall")).unwrap();
    laptop.run(&["project", "add", "stall", "--dir", laptop.path("stall").to_str().unwrap()]).done();
    laptop.run_with(&["write", "projects/stall"], "- opens at nine\n").done();
    assert_eq!(laptop.text("stall/memory.md"), "- opens at nine\n");
    desktop.run(&["undo"]).done();
    assert_eq!(laptop.run(&["read", "user/profile"]).done(), "- likes coffee\n");
    desktop.run(&["doctor"]).done();
}

#[test]
fn a_directory_of_ones_own_keeps_files() {
    let url = format!("{}?space=own", server().url());
    let config = format!("[memory]\nuser_namespace = \"user\"\nuser_dir = \"mine\"\n\n[store]\nurl = \"{url}\"\n");
    let home = Home::with_config("config.toml", &config);
    std::fs::create_dir(home.path("mine")).unwrap();
    home.run_with(&["write", "user/profile"], "- likes tea\n").done();
    assert_eq!(home.text("mine/profile.md"), "- likes tea\n");
}

#[test]
fn spaces_are_apart() {
    let (ada, bob) = (on_server("ada"), on_server("bob"));
    ada.remember(&["My cat is called Miso"]);
    assert_eq!(bob.json(&["stats"])["changes"], 0);
    assert_eq!(bob.run(&["recall", "cat"]).code, 1, "nothing is found");
}

#[test]
fn a_daemon_serves_it() {
    let home = on_server("served");
    let daemon = Daemon::start(&home);
    daemon.post("/api/memories", &json!({ "content": "The invoice is due in March" }));
    let hits = daemon.post("/api/recall", &json!({ "query": "invoice" }))["hits"].to_string();
    assert!(hits.contains("due in March"), "{hits}");
    assert_eq!(
        on_server("served").found(&["invoice"]),
        ["The invoice is due in March"],
        "and another process finds it"
    );
}

#[test]
fn what_the_server_does_itself_is_said() {
    let home = on_server("kept");
    home.run(&["backup"]).failed(2, "this memory is kept in a store without backups", "pg_dump");
}

#[test]
fn an_address_that_leads_nowhere_is_said_without_its_password() {
    let of = |url: &str| Home::with_config("config.toml", &format!("[store]\nurl = \"{url}\"\n"));
    let home = of("postgres://ada:hunter2@127.0.0.1:1/memory");
    home.run(&["recall", "tea"]).failed(2, "cannot use the memory at postgres://127.0.0.1/memory?space=main", "");
    let shown = home.run(&["config", "show"]).done();
    assert!(shown.contains("ada:***@") && !shown.contains("hunter2"), "{shown}");
    of("mysql://a").run(&["recall", "tea"]).failed(2, "`store.url` is not usable", "docs/postgres.md");
}
