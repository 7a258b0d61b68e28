//! Summaries by a language model: a scripted server in the true wire formats.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::{said, say, timeline};
use crate::common::{Home, tree};

/// Like no key that anything would recognise and take out.
const KEY: &str = "correct-horse-battery-7731";
pub(super) const SUMMARY: &str = "## Working on\n- The launch moved to 3 May";
const THREAD: &str = "## The launch moved to 3 May\n\n### Working on\n- The launch moved to 3 May";
pub(super) const FACTS: &str = r#"{"facts": [{"text": "The launch is on 3 May", "kind": "decision"}]}"#;
const PROVIDERS: [&str; 3] = ["openai", "anthropic", "ollama"];

pub(super) fn with_model(provider: &str, server: &ModelServer) -> Home {
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\n\n\
         [model]\nprovider = \"{provider}\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n",
        server.url()
    );
    let mut home = Home::with_config("config.toml", &config);
    home.set("OPENAI_API_KEY", KEY);
    home.set("ANTHROPIC_API_KEY", KEY);
    say(&home, "telegram:1", "I decided to have the launch on 3 May");
    home
}

/// Consolidates; gives what came of it and the exit code.
#[track_caller]
fn consolidate(home: &Home) -> (Value, i32) {
    let ran = home.run(&["--json", "session", "consolidate", "telegram:1"]);
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "the key is nobody's business: {ran:?}");
    (serde_json::from_str(&ran.stdout).unwrap(), ran.code)
}

/// The key is in no file, and the turn is as it was.
#[track_caller]
fn nothing_leaked_and_nothing_lost(home: &Home) {
    for (path, bytes) in tree(home.root()) {
        let has_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!has_key, "the key is in {}", path.display());
    }
    assert_eq!(said(home, "telegram:1", "user"), ["I decided to have the launch on 3 May"]);
}

#[test]
fn a_good_reply_becomes_memory() {
    for provider in PROVIDERS {
        let server = ModelServer::scripted([Step::reply(SUMMARY), Step::reply(FACTS)]);
        let home = with_model(provider, &server);
        let (done, code) = consolidate(&home);
        assert_eq!((&done["outcome"], &done["summary"], code), (&json!("done"), &json!(SUMMARY), 0), "{provider}");
        assert_eq!(home.json(&["working"])["text"], json!(THREAD));
        assert_eq!(home.listed(&["--layer", "knowledge"]), ["The launch is on 3 May"]);
        assert_eq!(server.requests().len(), 2, "{provider}");
        let request = &server.requests()[0];
        let sent = match provider {
            "openai" => request.header("authorization").map(|value| value.replace("Bearer ", "")),
            "anthropic" => request.header("x-api-key").map(str::to_owned),
            _ => None,
        };
        assert_eq!(sent, (provider != "ollama").then(|| KEY.to_owned()));
        nothing_leaked_and_nothing_lost(&home);
    }
}

#[test]
fn three_failures_and_the_raw_turns_are_archived() {
    for provider in PROVIDERS {
        // Some servers repeat the key; one that was sent none does not know it.
        let repeated = if provider == "ollama" { "nothing" } else { KEY };
        let server = ModelServer::always(Step::fail(500, &format!("oops, {repeated} upset me")));
        let home = with_model(provider, &server);
        for failures in 1..=2 {
            let (failed, code) = consolidate(&home);
            assert_eq!((&failed["outcome"], &failed["failures"], code), (&json!("failed"), &json!(failures), 2));
            assert_eq!(timeline(&home), [Value::Null; 0]);
            assert_eq!(home.json(&["session", "show", "telegram:1"])["session"]["failures"], json!(failures));
        }
        assert_eq!(server.requests().len(), 5, "three tries each, and after five failures the model is left alone");
        let (archived, code) = consolidate(&home);
        assert_eq!((&archived["outcome"], &archived["compacted"], code), (&json!("archived"), &json!(1), 0));
        let [chunk] = timeline(&home).try_into().unwrap();
        let text = chunk["content"].as_str().unwrap();
        assert!(text.contains("[RAW]") && text.contains("I decided to have the launch on 3 May"), "{text}");
        assert!(!text.contains("oops"), "no error is a memory: {text}");
        assert_eq!(home.json(&["working"])["text"], Value::Null);
        assert_eq!(consolidate(&home), (json!({"outcome": "nothing"}), 1));
        assert_eq!(timeline(&home).len(), 1);
        nothing_leaked_and_nothing_lost(&home);
    }
}

#[test]
fn facts_that_cannot_be_read_cost_the_facts_alone() {
    for provider in PROVIDERS {
        let server = ModelServer::scripted([Step::reply(SUMMARY), Step::reply("Sure! The facts are: launch, May.")]);
        let home = with_model(provider, &server);
        let ran = home.run(&["--json", "session", "consolidate", "telegram:1"]);
        let done: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&done["outcome"], &done["facts"], ran.code), (&json!("done"), &json!([]), 0), "{ran:?}");
        assert_eq!(home.json(&["working"])["text"], json!(THREAD));
        assert_eq!(home.listed(&["--layer", "knowledge"]), [""; 0]);
        nothing_leaked_and_nothing_lost(&home);
    }
}

#[test]
fn what_is_no_summary_is_not_stored() {
    let steps = [
        Step::Empty,
        Step::CutOff("## Working on\n- The lau".to_owned()),
        Step::Refusal,
        Step::Html,
        Step::Malformed(b"{\"choices\": 7}".to_vec()),
        Step::fail(401, &format!("Incorrect API key provided: {KEY}")),
        Step::ResetAfter(vec!["## Working".to_owned()]),
    ];
    for step in steps {
        let server = ModelServer::always(step.clone());
        let home = with_model("openai", &server);
        let (failed, code) = consolidate(&home);
        assert_eq!((&failed["outcome"], code), (&json!("failed"), 2), "{step:?}");
        assert!(server.requests().len() <= 3, "{step:?}");
        assert_eq!(timeline(&home), [Value::Null; 0], "{step:?}");
        assert_eq!(said(&home, "telegram:1", "summary"), [""; 0], "{step:?}");
        nothing_leaked_and_nothing_lost(&home);
    }
}

#[test]
fn reasoning_is_no_part_of_a_summary_and_a_busy_server_is_asked_again() {
    let server = ModelServer::scripted([Step::busy("0"), Step::ReasoningTags(SUMMARY.to_owned()), Step::reply(FACTS)]);
    let home = with_model("openai", &server);
    let (done, _) = consolidate(&home);
    assert_eq!((&done["outcome"], &done["summary"]), (&json!("done"), &json!(SUMMARY)));
    assert_eq!(server.steps_left(), 0);
}

#[test]
fn a_summary_after_failures_takes_all_that_was_said() {
    let server = ModelServer::scripted([Step::fail(400, "no"), Step::reply(SUMMARY), Step::reply(FACTS)]);
    let home = with_model("openai", &server);
    assert_eq!(consolidate(&home).0["outcome"], json!("failed"));
    say(&home, "telegram:1", "The venue is booked");
    let (done, _) = consolidate(&home);
    assert_eq!((&done["outcome"], &done["compacted"]), (&json!("done"), &json!(2)));
    let state = home.json(&["session", "show", "telegram:1"])["session"].clone();
    assert_eq!(state["failures"], json!(0), "they were in a row no longer");
    assert_eq!(timeline(&home).len(), 1);
}

#[test]
fn a_budget_that_is_spent_ends_the_asking() {
    let server = ModelServer::scripted([Step::reply(SUMMARY), Step::reply(FACTS)]);
    let home = with_model("openai", &server);
    let config = home.text("config.toml") + "daily_tokens = 10\n";
    home.put("config.toml", &config);
    let (done, _) = consolidate(&home);
    assert_eq!((&done["outcome"], &done["facts"]), (&json!("done"), &json!([])));
    assert_eq!(server.requests().len(), 1, "the facts were no longer paid for");
    nothing_leaked_and_nothing_lost(&home);
}
