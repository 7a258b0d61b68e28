//! The daemon: one per memory, found by other commands, doing by itself what is due, and stopped with everything kept.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![cfg(unix)]

#[path = "daemon/backups.rs"]
mod backups;
#[path = "daemon/client.rs"]
mod client;
mod common;
#[path = "daemon/talking.rs"]
mod talking;
#[path = "daemon/tls.rs"]
mod tls;
#[path = "daemon/vanishing.rs"]
mod vanishing;

use std::collections::BTreeSet;

use client::{Daemon, next_event, run_serve, taken_port};
use common::{Home, string, until};
use serde_json::json;
use throughline_testkit::model_server::{EmbedServer, Embeds};

fn exchange(home: &Home, session: &str, messages: &[&str]) {
    for message in messages {
        home.run(&["session", "observe", "--session", session, message]).done();
    }
}

fn is_consolidated(home: &Home, session: &str) -> bool {
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    let state = sessions.as_array().unwrap().iter().find(|state| state["id"] == session).cloned();
    state.is_some_and(|state| state["consolidated"] != json!(0))
}

#[test]
fn a_daemon_says_where_it_is_and_stops_when_asked() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.ready["memory"], json!(home.path("")));
    assert_eq!(daemon.ready["process"], json!(daemon.process()));
    assert!(string(&daemon.ready["link"]).starts_with(&format!("{}/open?code=", string(&daemon.ready["url"]))));
    assert_eq!(common::mode(&home.path("daemon.json")), 0o600);
    let ended = daemon.stop();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "one object was promised, and came before: {ended:?}");
    assert!(!home.path("daemon.json").exists());
}

/// Else memory that threads freed stays with the process after a peak.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_daemon_limits_the_arenas_of_its_allocator() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let environment = std::fs::read(format!("/proc/{}/environ", daemon.process())).unwrap();
    let limits = environment.split(|byte| *byte == 0).filter(|one| one.starts_with(b"MALLOC_ARENA_MAX="));
    assert_eq!(limits.collect::<Vec<_>>(), [b"MALLOC_ARENA_MAX=2"]);
}

#[test]
fn a_second_daemon_is_told_where_the_first_is() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let url = string(&daemon.ready["url"]);
    run_serve(&home, &["--port", "0"]).failed(2, &format!("a daemon already runs on this memory at {url}"), "panel");
    // Killed, it leaves nothing that stands in the way.
    drop(daemon);
    Daemon::start(&home);
}

#[test]
fn a_port_of_somebody_else_is_said_to_be_theirs() {
    let (_listener, port) = taken_port();
    let said = format!("the port {port} belongs to another program");
    run_serve(&Home::new(), &["--port", &port]).failed(2, &said, "--port");
    let home = Home::with_config("config.toml", &format!("[server]\nport = {port}\n"));
    run_serve(&home, &[]).failed(2, &said, "--port");
    Daemon::start(&home);
}

#[test]
fn nothing_is_bound_beyond_this_machine_by_accident() {
    let home = Home::new();
    run_serve(&home, &["--bind", "0.0.0.0", "--port", "0"]).failed(2, "from other machines", "--insecure-bind");
    home.put("no.pem", "this is no certificate");
    let file = home.path("no.pem").display().to_string();
    let with_tls = ["--bind", "0.0.0.0", "--port", "0", "--tls-cert", &file, "--tls-key", &file];
    run_serve(&home, &with_tls).failed(2, "cannot use the certificate", "PEM");
    let half = Home::with_config("config.toml", "[server]\ntls_cert = \"no.pem\"\n");
    run_serve(&half, &["--port", "0"]).failed(2, "a certificate needs its key", "tls_key");
    let daemon = Daemon::start_with(&Home::new(), &["--bind", "0.0.0.0", "--insecure-bind"]);
    assert_eq!(string(&daemon.ready["url"]), format!("http://127.0.0.1:{}", daemon.port));
}

#[test]
fn a_service_file_names_this_program_and_this_home() {
    let home = Home::new();
    for (system, program) in [("systemd", "ExecStart=\""), ("launchd", "<string>")] {
        let text = home.run(&["serve", &format!("--print-service={system}")]).done();
        assert!(text.contains(&format!("{program}{}", env!("CARGO_BIN_EXE_throughline"))), "{text}");
        assert!(text.contains(&home.path("").display().to_string()), "{text}");
    }
    let usual = home.run(&["serve", "--print-service"]).done();
    assert!(usual.contains(if cfg!(target_os = "macos") { "<plist" } else { "[Service]" }), "{usual}");
    assert!(!home.path("").exists(), "nothing else was done");
}

#[test]
fn the_daemon_consolidates_what_other_commands_make_due() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    let daemon = Daemon::start(&home);
    exchange(&home, "cli:main", &["My name is Ada.", "I live in Lisbon.", "I prefer tea to coffee."]);
    until(|| is_consolidated(&home, "cli:main").then_some(()));
    let (outcome, what) = until(|| daemon.log("consolidation").into_iter().next());
    assert_eq!(outcome, "done");
    assert!(what.starts_with("1 conversation, "), "the daemon did it, and nobody else: {what}");
    assert_eq!(daemon.stop().code, 0);
    // Without it, a command starts a run of its own.
    exchange(&home, "cli:other", &["One.", "Two.", "I moved to Porto."]);
    until(|| is_consolidated(&home, "cli:other").then_some(()));
}

#[test]
fn the_daemon_catches_up_on_conversations_that_fell_silent_while_it_was_away() {
    let mut home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    exchange(&home, "cli:main", &["My name is Ada."]);
    home.set_now("2026-03-01T12:30:00Z");
    let daemon = Daemon::start(&home);
    until(|| is_consolidated(&home, "cli:main").then_some(()));
    until(|| (!daemon.log("consolidation").is_empty()).then_some(()));
}

#[test]
fn changes_by_other_processes_and_by_editors_are_heard() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let daemon = Daemon::start(&home);
    let (status, mut events) = daemon.stream("GET", "/api/events", None);
    assert_eq!(status, 200);
    let mut hears = |kind: &str| {
        let mut heard = BTreeSet::new();
        while !heard.contains(kind) {
            let (name, data) = next_event(&mut events).expect("the line is open");
            assert_eq!(name, "change");
            assert!(data["at"].is_string(), "{data}");
            heard.extend(data["kinds"].as_array().unwrap().iter().map(string));
        }
    };
    home.remember(&["We deploy on Fridays"]);
    hears("memories");
    home.run(&["session", "observe", "--session", "cli:main", "hello"]).done();
    hears("sessions");
    home.run(&["recall", "deploy"]).done();
    hears("recalls");
    home.put("user/profile.md", "# Profile\n\n- My name is Ada Lovelace\n");
    hears("documents");
    home.run(&["task", "add", "Write the paper"]).done();
    hears("tasks");
    assert_eq!(daemon.stop().code, 0, "a listener does not keep it");
    while next_event(&mut events).is_some() {}
}

#[test]
fn so_many_listen_and_no_more() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let listening: Vec<_> = (0..32).map(|_| daemon.stream("GET", "/api/events", None)).collect();
    assert!(listening.iter().all(|(status, _)| *status == 200));
    let (status, answer) = daemon.ask("GET", "/api/events", None);
    assert_eq!((status, &answer["error"]["code"]), (429, &json!("busy")));
    drop(listening);
    until(|| (daemon.stream("GET", "/api/events", None).0 == 200).then_some(()));
}

#[test]
fn activity_is_told_by_the_persons_days() {
    let mut home = Home::new();
    home.set("TZ", "America/New_York");
    // Still the day before, where the person is.
    home.set_now("2026-03-01T04:30:00Z");
    home.remember(&["late at night"]);
    home.set_now("2026-03-01T15:00:00Z");
    home.remember(&["in the morning"]);
    home.run(&["recall", "morning"]).done();
    home.run(&["session", "observe", "--session", "cli:main", "hello"]).done();
    let daemon = Daemon::start(&home);
    let day = |day: &str, remembered, turns, recalls, changes| json!({"day": day, "remembered": remembered, "turns": turns, "recalls": recalls, "changes": changes});
    let days = daemon.get("/api/activity?days=3")["days"].clone();
    assert_eq!(
        days,
        json!([day("2026-02-27", 0, 0, 0, 0), day("2026-02-28", 1, 0, 0, 1), day("2026-03-01", 1, 1, 1, 1)])
    );
    assert_eq!(daemon.get("/api/activity")["days"].as_array().map(Vec::len), Some(90));
    for bad in ["days=0", "days=4000", "days=x", "weeks=1"] {
        let (status, answer) = daemon.ask("GET", &format!("/api/activity?{bad}"), None);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid")), "{bad}");
    }
}

#[test]
fn jobs_are_listed_and_unknown_ones_are_not_run() {
    let home = Home::with_config("config.toml", "[server]\nbackup_every_hours = 0\n");
    let daemon = Daemon::start(&home);
    let jobs = daemon.get("/api/jobs")["jobs"].clone();
    let named: Vec<(String, String)> =
        jobs.as_array().unwrap().iter().map(|job| (string(&job["name"]), string(&job["every"]))).collect();
    let expected = [
        ("consolidation", "when needed"),
        ("retention", "never"),
        ("reflection", "when needed"),
        ("backup", "never"),
        ("embedding", "when needed"),
    ];
    assert_eq!(named, expected.map(|(name, every)| (name.to_owned(), every.to_owned())), "memory is off here");
    let (status, answer) = daemon.ask("POST", "/api/jobs/gardening/run", None);
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("not_found")));
    assert_eq!(daemon.run("embedding"), ("done".to_owned(), "nothing to do".to_owned()));
    assert_eq!(daemon.run("consolidation"), ("done".to_owned(), "nothing to do".to_owned()));
    assert!(daemon.log("backup").is_empty(), "it is off");
}

#[test]
fn a_file_is_in_the_vault_at_once_and_a_job_gives_it_its_vectors() {
    let server = EmbedServer::start(Embeds::Well(16));
    let embeddings = format!("[embeddings]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"{}\"\n", server.url());
    let home = Home::with_config("config.toml", &embeddings);
    let file = home.root().join("garage.md");
    std::fs::write(&file, "The automobile stands in the garage.").unwrap();
    let daemon = Daemon::start(&home);
    let (status, added) = daemon.ask("POST", "/api/vault", Some(&json!({ "paths": [file] })));
    assert_eq!((status, &added["indexed"]), (200, &json!(1)), "{added}");
    let expected = json!({"model": "ollama/m", "embedded": 0, "refused": 0, "missing": 1});
    assert_eq!(added["embeddings"], expected, "what the job has to do");
    let (outcome, what) = until(|| daemon.log("embedding").into_iter().next());
    assert_eq!((outcome.as_str(), what.as_str()), ("done", "1 passage got its vector of ollama/m, 0 are left"));
}
