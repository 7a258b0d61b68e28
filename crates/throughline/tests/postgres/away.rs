//! The server is away for a while: what is said meanwhile waits on the machine, and is delivered once.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use throughline_testkit::postgres::Server;

use super::common::daemon::Daemon;
use super::common::{Home, until};

pub(crate) fn home_on(server: &Server, more: &str) -> Home {
    let url = server.url();
    Home::with_config(
        "config.toml",
        &format!("[memory]\nuser_namespace = \"user\"\n{more}\n[store]\nurl = \"{url}\"\n"),
    )
}

pub(crate) fn observe(home: &Home, session: &str, text: &str) -> Value {
    home.json(&["session", "observe", "--session", session, "--role", "user", text])
}

/// What was said in a session, in order.
pub(crate) fn said(home: &Home, session: &str) -> Vec<String> {
    let shown = home.json(&["session", "show", session]);
    let turns = shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] != "summary");
    turns.map(|turn| super::common::string(&turn["content"])).collect()
}

pub(crate) fn waiting(home: &Home) -> Vec<std::path::PathBuf> {
    let found = std::fs::read_dir(home.path("spool")).into_iter().flatten().flatten().map(|file| file.path());
    found.filter(|path| path.extension().is_some_and(|end| end == "json")).collect()
}

/// A message of an assistant that keeps no transcript.
pub(crate) fn prompt(home: &Home, words: &str) {
    let input =
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "h1", "prompt": words, "cwd": home.root() });
    // Longer than usual: this machine may be busy.
    let args = ["hook", "prompt", "--client", "claude-code", "--deadline-ms", "15000"];
    let ran = home.run_with(&args, &input.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// The end of a reply of an assistant that keeps a transcript.
fn stop(home: &Home, lines: &[(&str, &str)]) {
    let row = |(nth, (role, words)): (usize, &(&str, &str))| {
        let message = json!({ "role": role, "content": words });
        let at = format!("2026-03-01T11:00:{nth:02}Z");
        json!({ "type": role, "uuid": format!("u{nth}"), "sessionId": "h2", "timestamp": at, "message": message })
            .to_string()
    };
    let rows: Vec<String> = lines.iter().enumerate().map(row).collect();
    let transcript = home.root().join("person/h2.jsonl");
    std::fs::write(&transcript, rows.join("\n") + "\n").unwrap();
    let input =
        json!({ "hook_event_name": "Stop", "session_id": "h2", "transcript_path": transcript, "cwd": home.root() });
    let ran = home.run_with(&["hook", "stop", "--client", "claude-code"], &input.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn what_is_said_meanwhile_is_delivered_once() {
    let server = Server::start();
    let home = home_on(&server, "");
    observe(&home, "cli:a", "Before");
    server.stop();

    assert_eq!(observe(&home, "cli:a", "Meanwhile, with ghp_012345678901234567890123456789abcdef")["waiting"], 1);
    assert_eq!(observe(&home, "cli:a", "Meanwhile again")["waiting"], 1);
    observe(&home, "cli:a", "This is off the record: I am tired");
    home.run(&["recall", "tea"]).failed(2, "cannot use the memory at", "check that the server runs");
    prompt(&home, "The kettle is blue");
    stop(&home, &[("user", "Where is the map?"), ("assistant", "In the drawer.")]);
    // Said again with every reply, and waiting once.
    stop(&home, &[("user", "Where is the map?"), ("assistant", "In the drawer."), ("user", "Thanks")]);
    for file in waiting(&home) {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains("ghp_0123") && !text.contains("tired"), "{text}");
    }
    assert_eq!(waiting(&home).len(), 6);

    server.start_again();
    home.run(&["stats"]).done();
    assert!(waiting(&home).is_empty());
    let expected = |home: &Home| {
        let told = said(home, "cli:a");
        assert_eq!((told.len(), told[0].as_str(), told[2].as_str()), (3, "Before", "Meanwhile again"), "{told:?}");
        assert!(told[1].starts_with("Meanwhile, with") && !told[1].contains("ghp_0123"), "{told:?}");
        assert_eq!(said(home, "claude-code:h1"), ["The kettle is blue"]);
        assert_eq!(said(home, "claude-code:h2"), ["Where is the map?", "In the drawer.", "Thanks"]);
    };
    expected(&home);
    // The transcript is read again, and the message of the hook is not said again.
    stop(&home, &[("user", "Where is the map?"), ("assistant", "In the drawer."), ("user", "Thanks")]);
    expected(&home_on(&server, ""));
    prompt(&home, "The kettle is red");
    assert_eq!(said(&home, "claude-code:h1"), ["The kettle is blue", "The kettle is red"]);
    assert!(waiting(&home).is_empty());
}

#[test]
fn killed_deliverer_does_no_harm() {
    let server = Server::start();
    let home = home_on(&server, "");
    observe(&home, "cli:a", "Turn 0");
    server.stop();
    let texts: Vec<String> = (1..=6).map(|nth| format!("Turn {nth}")).collect();
    texts.iter().for_each(|text| assert_eq!(observe(&home, "cli:a", text)["waiting"], 1));
    server.start_again();
    for pause in (0..12).map(|nth| Duration::from_millis(nth * 20)) {
        let mut deliverers: Vec<_> = (0..2)
            .map(|_| home.throughline(&["stats"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
            .collect();
        std::thread::sleep(pause);
        for deliverer in &mut deliverers {
            deliverer.kill().unwrap();
            deliverer.wait().unwrap();
        }
    }
    home.run(&["stats"]).done();
    assert!(waiting(&home).is_empty());
    let told = said(&home, "cli:a");
    assert_eq!(told, (0..=6).map(|nth| format!("Turn {nth}")).collect::<Vec<_>>());
}

#[test]
fn daemon_keeps_turns_and_delivers_them_by_itself() {
    let server = Server::start();
    let home = home_on(&server, "");
    let daemon = Daemon::start(&home);
    daemon.post("/api/sessions/web:1/turns", &json!({ "role": "user", "content": "Before" }));
    server.stop();
    let request = daemon.request("POST", "/api/sessions/web:1/turns");
    let answer = daemon.send(&request.json(&json!({ "role": "user", "content": "Meanwhile" })));
    assert_eq!((answer.status, answer.json()), (202, json!({ "waiting": 1 })));
    server.start_again();
    until(|| waiting(&home).is_empty().then_some(()));
    assert_eq!(said(&home_on(&server, ""), "web:1"), ["Before", "Meanwhile"]);
}

#[test]
fn excluded_places_leave_nothing_behind() {
    let server = Server::start();
    let home = home_on(&server, "exclude = [\"telegram\"]\n");
    server.stop();
    let told = home.run(&["session", "observe", "--session", "telegram:1", "--role", "user", "Private"]).done();
    assert_eq!(told, "off the record, and not kept\n");
    assert!(waiting(&home).is_empty());
}
