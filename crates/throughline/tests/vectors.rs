//! Vectors of memories: made in the background, with and without a daemon.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::time::Duration;

use common::daemon::Daemon;
use common::{Home, until};
use serde_json::{Value, json};
use throughline_testkit::model_server::{BAD, EmbedServer, Embeds};

fn config(model: &str, url: &str) -> String {
    let embeddings = format!("[embeddings]\nprovider = \"ollama\"\nmodel = \"{model}\"\nbase_url = \"{url}\"\n");
    format!("[memory]\nuser_namespace = \"user\"\n\n{embeddings}")
}

fn home_with(server: &EmbedServer) -> Home {
    Home::with_config("config.toml", &config("m", &server.url()))
}

/// `embedded` and `of` in the stats; nothing before the first run.
fn embedded(home: &Home) -> Option<(u64, u64)> {
    let stats = home.json(&["stats"]);
    let number = |name: &str| stats["embeddings"][name].as_u64();
    Some((number("embedded")?, number("of")?))
}

fn database(home: &Home) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(home.path("memory.db")).unwrap();
    database.busy_timeout(Duration::from_secs(120)).unwrap();
    database
}

fn vectors(home: &Home) -> i64 {
    database(home).query_row("SELECT count(*) FROM memory_vectors", [], |row| row.get(0)).unwrap()
}

fn observe(home: &Home, session: &str, count: usize) {
    let line = |nth: usize| format!("{}\n", json!({"role": "user", "content": format!("message number {nth}")}));
    let lines: String = (0..count).map(line).collect();
    home.run_with(&["session", "observe", "--session", session, "--json"], &lines).done();
}

#[test]
fn a_command_waits_for_all_vectors_and_says_how_many_there_are() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = home_with(&server);
    home.remember(&["The automobile stands in the garage."]);
    home.remember(&[&format!("A {BAD} crossed the road.")]);
    assert!(server.requests().is_empty(), "two are not worth a run");
    assert!(!home.run(&["doctor"]).done().contains("embedded"), "a few that wait are no remark");
    server.now_for("m", Embeds::Refuses(400));
    let told = home.run(&["reindex", "--vectors"]).done();
    assert_eq!(told, "embedded 1 of 2 memories by ollama/m, 1 refused\n");
    let expected = json!({"model": "ollama/m", "embedded": 1, "refused": 1, "of": 2});
    assert_eq!(home.json(&["stats"])["embeddings"], expected);
    assert!(home.run(&["stats"]).done().contains("embedded 1 of 2 memories by ollama/m"));
    assert_eq!(home.json(&["reindex"])["embeddings"], expected, "the vectors stay");
    assert!(!home.run(&["doctor"]).done().contains("embedded"), "nothing is missing");
    let again = home.json(&["reindex", "--vectors"]);
    assert_eq!((&again["memories"]["embedded"], &again["memories"]["missing"]), (&json!(0), &json!(0)), "{again}");
    let exported = home.run(&["export"]).done();
    assert!(!exported.contains("vector") && !exported.contains("ollama"), "vectors are not exported");
}

#[test]
fn without_an_embedder_nothing_is_embedded_and_the_command_says_why() {
    let home = Home::with_config("config.toml", "[embeddings]\nprovider = \"none\"\n");
    home.remember(&["The automobile stands in the garage."]);
    home.run(&["reindex", "--vectors"]).failed(2, "no embedder is configured", "[embeddings]");
    assert_eq!(embedded(&home), None);
}

#[test]
fn what_piles_up_is_embedded_in_the_background() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = home_with(&server);
    observe(&home, "web:a", 2);
    assert!(server.requests().is_empty(), "two are not worth a run");
    observe(&home, "web:b", 2);
    let lines: String = (0..20).map(|nth| format!("- fact number {nth}\n")).collect();
    home.run_with(&["write", "user/notes"], &lines).done();
    until(|| (embedded(&home)? == (24, 24)).then_some(()));
}

#[test]
fn a_conversation_that_ended_is_embedded_to_the_last_word() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = home_with(&server);
    observe(&home, "web:a", 2);
    home.json(&["session", "end", "web:a"]);
    until(|| embedded(&home).filter(|(embedded, of)| embedded == of && *of >= 2));
}

#[test]
fn a_run_that_failed_is_not_repeated_at_once() {
    let server = EmbedServer::start(Embeds::Fails(401));
    let mut home = home_with(&server);
    observe(&home, "web:a", 2);
    home.run(&["reindex", "--vectors"]);
    let before = server.requests().len();
    assert!(before > 0);
    let lines: String = (0..20).map(|nth| format!("- fact number {nth}\n")).collect();
    home.run_with(&["write", "user/notes"], &lines).done();
    home.run(&["list"]).done();
    assert_eq!(server.requests().len(), before, "it rests");
    server.now_for("m", Embeds::Well(16));
    home.set_now("2026-03-01T12:30:00Z");
    home.run(&["list"]).done();
    // The conversation fell silent meanwhile, and is consolidated: that leaves entries, too.
    until(|| embedded(&home).filter(|(embedded, of)| embedded == of && *of >= 22));
}

#[test]
fn the_daemon_embeds_what_is_written_and_what_changed() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = home_with(&server);
    let _daemon = Daemon::start(&home);
    let id = home.remember(&["The automobile stands in the garage."]);
    until(|| (embedded(&home)? == (1, 1)).then_some(()));
    let sql = "SELECT what FROM job_runs WHERE job = 'embedding' ORDER BY row LIMIT 1";
    let what: String = until(|| database(&home).query_row(sql, [], |row| row.get(0)).ok());
    assert_eq!(what, "1 memory got its vector of ollama/m, 0 are left");
    observe(&home, "web:a", 2);
    home.json(&["edit", &id, "--content", "The automobile was sold."]);
    until(|| (vectors(&home) == 3 && embedded(&home)? == (3, 3)).then_some(()));
    let asked = |text: &str| {
        let requests = server.requests();
        requests.iter().any(|request| request.body["input"].as_array().unwrap().contains(&Value::from(text)))
    };
    until(|| asked("The automobile was sold.").then_some(()));
    home.json(&["forget", &id, "--erase", "--yes"]);
    assert_eq!(vectors(&home), 2, "it goes with its memory");
}

#[test]
fn another_model_takes_over_when_its_vectors_are_complete() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = home_with(&server);
    observe(&home, "web:a", 2);
    home.json(&["reindex", "--vectors"]);
    home.put("config.toml", &config("other", &server.url()));
    server.now_for("other", Embeds::Fails(503));
    assert_eq!(home.run(&["reindex", "--vectors"]).code, 2);
    assert_eq!(embedded(&home), Some((2, 2)), "the vectors of the model before");
    server.now_for("other", Embeds::Well(24));
    home.json(&["reindex", "--vectors"]);
    let sets: Vec<(String, i64)> = database(&home)
        .prepare("SELECT model, dimension FROM memory_vector_sets")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!((sets, vectors(&home)), (vec![("other".to_owned(), 24)], 2));
}
