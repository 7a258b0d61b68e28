//! When a conversation is summarised, and what comes of it.

use serde_json::json;

use super::{quiet, said, say, timeline, until_summarised};
use crate::common::{Home, string};

#[test]
fn the_third_message_starts_a_detached_run() {
    let home = Home::new();
    assert_eq!(say(&home, "telegram:1", "I moved the launch to 3 May")["due"], json!(null));
    assert_eq!(say(&home, "telegram:1", "My name is Ada and I live in Lisbon")["due"], json!(null));
    home.json(&["session", "observe", "--session", "telegram:1", "--role", "assistant", "Noted."]);
    assert_eq!(timeline(&home), [json!(null); 0]);
    let args = ["session", "observe", "--session", "telegram:1", "Remind me to call the printer on Friday."];
    let third = home.run(&args).done();
    assert_eq!(third, "kept 1 turn of telegram:1\na summary is being made in the background\n");
    until_summarised(&home, "telegram:1", 1);
    let working = home.json(&["working"]);
    assert!(working["text"].as_str().unwrap().contains("I moved the launch to 3 May"), "{working}");
    assert_eq!(working["expires_at"], json!("2026-03-15T12:00:00Z"));
    let [chunk] = timeline(&home).try_into().unwrap();
    assert_eq!((&chunk["session"], &chunk["source"]), (&json!("telegram:1"), &json!("system")));
    assert_eq!(chunk["provenance"].as_array().unwrap().len(), 4, "each captured turn: {chunk}");
    assert!(home.text("user/profile.md").contains("My name is Ada"));
    // Nothing is taken away from the conversation, and nothing is left to do.
    assert_eq!(said(&home, "telegram:1", "user").len(), 3);
    let again = home.run(&["session", "consolidate", "telegram:1"]);
    assert_eq!((again.code, again.stdout.as_str()), (1, "nothing new was said\n"));
    // Two more are too few for another.
    assert_eq!(say(&home, "telegram:1", "The venue is booked")["due"], json!(null));
    assert_eq!(say(&home, "telegram:1", "The cake is ordered")["due"], json!(null));
    assert_eq!(timeline(&home).len(), 1);
}

#[test]
fn nine_minutes_of_silence_are_not_ten() {
    let mut home = quiet();
    home.set_now("2026-03-01T11:59:00Z");
    say(&home, "web:1", "hello");
    home.set_now("2026-03-01T12:00:00Z");
    say(&home, "telegram:1", "I moved the launch to 3 May");
    home.set_now("2026-03-01T12:09:59Z");
    say(&home, "web:1", "hello");
    assert_eq!(said(&home, "telegram:1", "summary"), [""; 0]);
    home.set_now("2026-03-01T12:10:00Z");
    say(&home, "web:1", "hello again");
    until_summarised(&home, "telegram:1", 1);
    let turns = home.json(&["session", "show", "telegram:1"])["turns"].clone();
    assert_eq!(turns[1]["at"], json!("2026-03-01T12:10:00Z"), "begun by the command at ten, not the one at nine");
    // Silent again, and nothing new.
    home.set_now("2026-03-01T12:15:00Z");
    say(&home, "web:1", "and again");
    let again = home.json(&["session", "consolidate", "telegram:1"]);
    assert_eq!(again, json!({"outcome": "nothing"}));
    assert_eq!((timeline(&home).len(), said(&home, "telegram:1", "summary").len()), (1, 1));
}

#[test]
fn a_later_command_begins_what_fell_silent_and_a_new_session_what_was_left() {
    let mut home = quiet();
    say(&home, "telegram:1", "I moved the launch to 3 May");
    home.set_now("2026-03-01T12:00:59Z");
    say(&home, "web:1", "hello");
    assert_eq!(said(&home, "telegram:1", "summary"), [""; 0], "not a minute has passed");
    home.set_now("2026-03-01T12:01:00Z");
    say(&home, "web:1", "hello again");
    until_summarised(&home, "telegram:1", 1);
    say(&home, "cli:9", "I decided to serve lemon cake");
    home.set_now("2026-03-01T12:11:00Z");
    home.run(&["list"]).done();
    until_summarised(&home, "cli:9", 1);
}

/// A process for each of them once took a machine down.
#[test]
fn many_silent_conversations_are_done_by_one_run_and_one_more_waits() {
    let mut home = quiet();
    let names: Vec<String> = (0..12).map(|nth| format!("telegram:{nth}")).collect();
    for name in &names {
        say(&home, name, "I moved the launch to 3 May");
    }
    home.set_now("2026-03-01T12:11:00Z");
    let lock = |name: &str| {
        let file = std::fs::File::create(home.path(name)).unwrap();
        file.lock().unwrap();
        file
    };
    let (current, next) = (lock("waiting.lock"), lock("waiting-next.lock"));
    let late = home.run(&["session", "consolidate", "--waiting", "--json"]);
    assert_eq!((late.code, late.stdout.contains("\"looked_at\": 0")), (1, true), "{}", late.stdout);
    drop((current, next));
    home.run(&["list"]);
    for name in &names {
        until_summarised(&home, name, 1);
    }
}

#[test]
fn triggers_can_be_turned_off() {
    let config =
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nidle_consolidation_minutes = 0\n";
    let mut home = Home::with_config("config.toml", config);
    for n in 0..5 {
        assert_eq!(say(&home, "web:1", &format!("message {n}"))["due"], json!(null));
    }
    home.set_now("2026-03-02T12:00:00Z");
    assert_eq!(say(&home, "web:2", "hello")["due"], json!(null));
    assert_eq!(timeline(&home), [json!(null); 0]);
}

#[test]
fn a_host_hands_in_its_own_summary() {
    let home = quiet();
    say(&home, "web:1", "I moved the launch to 3 May");
    let done = home.json(&["session", "consolidate", "web:1", "--summary", "## Working on\n- the launch in May"]);
    assert_eq!((&done["outcome"], &done["compacted"]), (&json!("done"), &json!(1)));
    assert_eq!(
        (&done["summary"], &done["documents"][0]),
        (&json!("## Working on\n- the launch in May"), &json!("user/working"))
    );
    let shown = "## the launch in May\n\n### Working on\n- the launch in May";
    assert_eq!(home.json(&["working"])["text"], json!(shown));
    assert_eq!(timeline(&home)[0]["id"], done["timeline"]);
    say(&home, "web:1", "The venue is booked");
    let piped = home.run_with(&["session", "consolidate", "web:1", "--summary", "-"], "## Working on\n- the venue\n");
    assert!(piped.done().starts_with("summarised 1 turn, "));
    assert!(said(&home, "web:1", "summary").last().unwrap().contains("the venue"));
    // A host may sum up again where nothing is pending.
    let kept = home.json(&["session", "consolidate", "web:1", "--summary", "## Working on\n- the guests"]);
    assert_eq!((&kept["outcome"], &kept["compacted"]), (&json!("done"), &json!(0)));
    assert!(home.text("user/working.md").contains("- the guests"));
    assert!(string(&timeline(&home)[0]["content"]).ends_with("- the guests"));
}

#[test]
fn a_hosts_summary_from_a_time_leaves_what_was_said_later() {
    let mut home = quiet();
    say(&home, "web:1", "I moved the launch to 3 May");
    home.set_now("2026-03-01T12:05:00Z");
    say(&home, "web:1", "The venue is booked");
    let summary = "## Working on\n- the launch in May";
    let from = ["session", "consolidate", "web:1", "--summary", summary, "--until", "2026-03-01T12:01:00Z"];
    let done = home.json(&from);
    assert_eq!((&done["outcome"], &done["compacted"]), (&json!("done"), &json!(1)));
    assert_eq!(home.json(&from), json!({"outcome": "nothing"}), "handed in twice, it is taken once");
    let rest = home.json(&["session", "consolidate", "web:1"]);
    assert_eq!((&rest["outcome"], &rest["compacted"]), (&json!("done"), &json!(1)));
    assert_eq!(home.json(&from), json!({"outcome": "nothing"}), "it is older than what is known");
}

#[test]
fn an_error_is_no_summary_whoever_hands_it_in() {
    let home = quiet();
    say(&home, "web:1", "I moved the launch to 3 May");
    let ran = home.run(&["--json", "session", "consolidate", "web:1", "--summary", "Internal Server Error"]);
    let failed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &failed["outcome"], &failed["failures"]), (2, &json!("failed"), &json!(1)));
    assert_eq!(timeline(&home), [json!(null); 0]);
}
