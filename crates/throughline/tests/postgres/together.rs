//! Two homes on one server at the same time: a daemon hears what the other writes, and no other space; what a real process waits for.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};
use throughline_testkit::raw_http::Connection;

use super::common::Home;
use super::common::daemon::Daemon;
use super::on_server;

/// The kinds of what changed, as an open line tells next; nothing at its end.
fn next_change(events: &mut BufReader<TcpStream>) -> Option<BTreeSet<String>> {
    let mut line = String::new();
    loop {
        line.clear();
        if events.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(data) = line.strip_prefix("data: ") {
            let data: Value = serde_json::from_str(data.trim()).unwrap();
            return Some(data["kinds"].as_array().unwrap().iter().map(super::common::string).collect());
        }
    }
}

fn listening(daemon: &Daemon) -> BufReader<TcpStream> {
    let request = daemon.request("GET", "/api/events").with("Connection", "close");
    let (status, events) = Connection::open(daemon.port).unwrap().stream(&request).unwrap();
    assert_eq!(status, 200);
    events
}

#[test]
fn a_daemon_hears_another_home_and_no_other_space() {
    let (laptop, desktop, stranger) = (on_server("heard"), on_server("heard"), on_server("unheard"));
    let (daemon, theirs) = (Daemon::start(&laptop), Daemon::start(&stranger));
    let (mut events, mut their_events) = (listening(&daemon), listening(&theirs));
    desktop.remember(&["We deploy on Fridays"]);
    while !next_change(&mut events).expect("the line is open").contains("memories") {}
    // Its own change comes first there, although the other space was written to before.
    stranger.run(&["task", "add", "Write the paper"]).done();
    let first = next_change(&mut their_events).expect("the line is open");
    assert!(first.contains("tasks") && !first.contains("memories"), "{first:?}");
}

/// Runs a hook for a message in a process of its own; gives how often it waited for the server, besides connecting.
fn round_trips(home: &Home, session: &str, words: &str, transcript: Option<&str>) -> u64 {
    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": words,
        "transcript_path": transcript });
    let ran =
        home.run_with(&["hook", "prompt", "--client", "claude-code", "--deadline-ms", "60000"], &event.to_string());
    assert!(ran.stdout.contains("Lisbon"), "it was given something: {ran:?}");
    let plain =
        ["\u{1b}[0m", "\u{1b}[2m", "\u{1b}[3m"].iter().fold(ran.stderr.clone(), |text, code| text.replace(code, ""));
    let told = plain.split("round_trips=").last().unwrap();
    let digits: String = told.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Two for the answer, two to note what was given, two to keep the message, three to look which conversations fell silent, three for
/// the log of recalls, which a thread writes.
#[test]
fn hook_process_waits_for_the_server_a_few_times() {
    let mut home = on_server("counted");
    for fact in
        ["The chess club meets in Lisbon", "Clara is allergic to hazelnuts", "The train to Porto leaves at 8:40"]
    {
        home.remember(&[fact]);
    }
    home.found(&["where does the chess club meet"]);
    home.set("THROUGHLINE_LOG", "debug");
    let question = "Where does the chess club meet?";
    let kept = round_trips(&home, "kept", question, Some("/nowhere/none.jsonl"));
    assert!(kept <= 10, "{kept} with a transcript");
    let unkept = round_trips(&home, "unkept", question, None);
    assert!(unkept <= 12, "{unkept} without one");
    home.set("THROUGHLINE_LOG", "off");
    let session = home.json(&["session", "show", "claude-code:unkept"]).to_string();
    assert!(session.contains(question), "{session}");
}
