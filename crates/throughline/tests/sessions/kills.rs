//! Several processes at one conversation: at once, in the middle, and killed.

use std::collections::BTreeMap;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::models::{FACTS, SUMMARY, with_model};
use super::{quiet, said, say, timeline};
use crate::common::{Home, string, until};

fn start(home: &Home) -> Child {
    home.throughline(&["--json", "session", "consolidate", "telegram:1"]).spawn().unwrap()
}

#[track_caller]
fn outcome(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Pointer and timeline agree: each turn is captured as often as it should be, and none twice.
#[track_caller]
fn agrees(home: &Home, round: u64) -> Vec<String> {
    let shown = home.json(&["session", "show", "telegram:1"]);
    let mut captured: BTreeMap<String, usize> = BTreeMap::new();
    for chunk in timeline(home) {
        for id in chunk["provenance"].as_array().unwrap() {
            *captured.entry(string(id)).or_default() += 1;
        }
    }
    assert!(captured.values().all(|times| *times == 1), "round {round}: {captured:?}");
    let is_turn = |turn: &&Value| turn["role"] != "summary";
    let turns: Vec<String> =
        shown["turns"].as_array().unwrap().iter().filter(is_turn).map(|turn| string(&turn["id"])).collect();
    assert_eq!(said(home, "telegram:1", "summary").len(), timeline(home).len(), "round {round}");
    turns.into_iter().filter(|id| !captured.contains_key(id)).collect()
}

#[test]
fn a_killed_run_leaves_everything_and_the_next_completes_it() {
    let home = quiet();
    for round in 0..12_u64 {
        say(&home, "telegram:1", &format!("I decided to order {} lemons for stall {round}", round * 7 + 3));
        say(&home, "telegram:1", &format!("Remind me to call supplier number {round} on Friday."));
        let mut run = start(&home);
        // Anywhere from its first instruction to its last.
        std::thread::sleep(Duration::from_micros(round * 7919 % 12 * 3000));
        run.kill().unwrap();
        run.wait().unwrap();
        let left = agrees(&home, round);
        assert!(left.is_empty() || left.len() == 2, "round {round}: all of a batch or nothing, not {left:?}");
        let finished = home.json(&["session", "consolidate", "telegram:1"]);
        let expected = if left.is_empty() { "nothing" } else { "done" };
        assert_eq!(finished["outcome"], json!(expected), "round {round}");
        assert_eq!(agrees(&home, round), [""; 0]);
        assert_eq!(timeline(&home).len() as u64, round + 1);
    }
    assert_eq!(said(&home, "telegram:1", "user").len(), 24);
    home.run(&["doctor"]).done();
}

#[test]
fn of_several_runs_at_once_one_does_it() {
    let home = quiet();
    say(&home, "telegram:1", "I moved the launch to 3 May");
    let runs: Vec<Child> = (0..4).map(|_| start(&home)).collect();
    let mut outcomes: Vec<String> = runs.into_iter().map(|run| string(&outcome(run)["outcome"])).collect();
    outcomes.sort();
    assert_eq!(outcomes, ["done", "nothing", "nothing", "nothing"]);
    assert_eq!(agrees(&home, 0), [""; 0]);
    assert_eq!(timeline(&home).len(), 1);
}

/// The server asks for patience; meanwhile the person goes on.
#[test]
fn a_turn_that_arrives_meanwhile_waits_for_the_next_time() {
    let steps = [Step::busy("3"), Step::reply(SUMMARY), Step::reply(FACTS), Step::reply(SUMMARY), Step::reply(FACTS)];
    let server = ModelServer::scripted(steps);
    let home = with_model("openai", &server);
    let run = start(&home);
    until(|| {
        home.run(&["session", "list"]);
        (!server.requests().is_empty()).then_some(())
    });
    say(&home, "telegram:1", "The venue is booked");
    let first = outcome(run);
    assert_eq!((&first["outcome"], &first["compacted"]), (&json!("done"), &json!(1)));
    assert_eq!(agrees(&home, 0).len(), 1);
    let second = home.json(&["session", "consolidate", "telegram:1"]);
    assert_eq!((&second["outcome"], &second["compacted"]), (&json!("done"), &json!(1)));
    assert_eq!(agrees(&home, 1), [""; 0]);
    let asked = server.requests();
    assert!(!asked[1].body.to_string().contains("The venue is booked"));
    assert!(asked[3].body.to_string().contains("The venue is booked"));
}
