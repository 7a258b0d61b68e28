//! Consolidation with the model of a connected client: the official Python SDK offers sampling and answers well, badly or
//! not at all.

use std::path::PathBuf;
use std::process::{Child, Output};
use std::time::Instant;

use serde_json::{Value, json};

use crate::common::daemon::Daemon;
use crate::common::{Home, NOON, until};
use crate::sdk::{how, python};

const SAID: &str = "I decided to have the launch on 3 May";
const SUMMARY: &str = "## Working on\n- The launch moved to 3 May";
const FACTS: &str = r#"{"facts": [{"text": "The launch is on 3 May", "kind": "decision"}]}"#;

/// Every message makes a conversation due.
fn machine(model: &str, more: &str) -> Home {
    let memory = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 1\nflush_every_prompts = 0\n";
    Home::with_config("config.toml", &format!("{memory}{more}\n[model]\n{model}"))
}

fn without_reflection(model: &str) -> Home {
    machine(model, "\n[reflection]\nevery_hours = 0\n")
}

/// A client that stays connected until it is told to go.
struct Client {
    child: Option<Child>,
    stop: PathBuf,
}

impl Client {
    fn start(home: &Home, mut how: Value, answers: &str) -> Self {
        if how["tool"].is_null() {
            how["tool"] = json!("memory_recall");
        }
        let stop = home.root().join("stop");
        let replies = json!({ "summary": SUMMARY, "extraction": FACTS, "reflection": "{\"operations\": []}" });
        for (key, value) in [("answers", json!(answers)), ("root", json!(home.root())), ("replies", replies)] {
            how[key] = value;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/sampler.py");
        let child = home.command(python()).arg("-B").arg(script).arg(how.to_string()).spawn().unwrap();
        Self { child: Some(child), stop }
    }

    fn on_stdio(home: &Home, answers: &str) -> Self {
        Self::start(home, stdio(home, "legacy"), answers)
    }

    /// Goes; gives what it got.
    #[track_caller]
    fn end(mut self) -> Value {
        std::fs::write(&self.stop, "").unwrap();
        let Output { status, stdout, stderr } = self.child.take().unwrap().wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{stderr}");
        let got: Value = serde_json::from_slice(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        // The client was slow, or had to wait for a model: models here take longer than this, or for ever.
        assert!(
            got["slowest"].as_f64() < Some(10.0) && got["calls"].as_u64() > Some(0),
            "a call of a tool waited: {got}"
        );
        got
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn stdio(home: &Home, mode: &str) -> Value {
    let env = json!({ "THROUGHLINE_HOME": home.path(""), "THROUGHLINE_NOW": NOON });
    json!({ "command": env!("CARGO_BIN_EXE_throughline"), "env": env, "directory": home.root(), "mode": mode })
}

/// Whether `model list` says that a connected client offers sampling.
fn is_offered(home: &Home) -> bool {
    let models = home.json(&["model", "list"])["models"].clone();
    models.as_array().unwrap().iter().any(|model| model["name"] == "sampling" && model["available"] == true)
}

fn wait_until_offered(home: &Home) {
    until(|| is_offered(home).then_some(()));
}

fn say(home: &Home) {
    home.json(&["session", "observe", "--session", "telegram:1", SAID]);
}

/// The row of the ledger, by provider and purpose.
fn spent(home: &Home, provider: &str, purpose: &str) -> Option<Value> {
    let rows = home.json(&["stats"])["spending"].clone();
    rows.as_array().unwrap().iter().find(|row| row["provider"] == provider && row["purpose"] == purpose).cloned()
}

fn wait_until_spent(home: &Home, provider: &str, purpose: &str) -> Value {
    until(|| spent(home, provider, purpose))
}

/// A good client answers everything, and what it says becomes memory.
fn check_good(home: &Home, client: Client) {
    wait_until_offered(home);
    say(home);
    wait_until_spent(home, "sampling", "extraction");
    until(|| (home.listed(&["--layer", "knowledge"]) == ["The launch is on 3 May"]).then_some(()));
    let summary = spent(home, "sampling", "summary").unwrap();
    assert_eq!((&summary["model"], &summary["calls"]), (&json!("sampling-sdk"), &json!(1)));
    assert!(summary["tokens_in"].as_u64() > Some(50) && summary["tokens_out"].as_u64() > Some(5), "{summary}");
    assert_eq!(spent(home, "offline", "summary"), None);
    let got = client.end();
    let asked = got["asked"].as_array().unwrap();
    assert_eq!(asked.len(), 2, "{got}");
    for (request, task) in asked.iter().zip(["Task: summary", "Task: extraction"]) {
        let prompt = request["prompt"].as_str().unwrap();
        assert!(prompt.starts_with(task) && prompt.contains(SAID), "{prompt}");
        assert!(request["max_tokens"].as_u64() > Some(100) && request["hints"] == json!(["small"]), "{request}");
    }
    until(|| (!is_offered(home)).then_some(()));
}

#[test]
fn the_clients_model_answers_on_standard_input_and_output() {
    let home = without_reflection("provider = \"sampling\"\nmodel = \"small\"\n");
    let client = Client::on_stdio(&home, "well");
    check_good(&home, client);
}

#[test]
fn the_clients_model_answers_over_http() {
    let home = without_reflection("provider = \"sampling\"\nmodel = \"small\"\n");
    let daemon = Daemon::start(&home);
    let client = Client::start(&home, how(&daemon, "legacy"), "well");
    check_good(&home, client);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_daemon_leaves_due_work_to_the_process_that_has_a_client() {
    let home = without_reflection("provider = \"sampling\"\nmodel = \"small\"\n");
    let daemon = Daemon::start(&home);
    let client = Client::on_stdio(&home, "well");
    check_good(&home, client);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn the_client_reflects_too() {
    let mut home = machine("provider = \"sampling\"\n", "");
    home.set_now("2026-02-26T12:00:00Z");
    say(&home);
    wait_until_spent(&home, "offline", "extraction");
    home.set_now(NOON);
    let client = Client::on_stdio(&home, "well");
    until(|| spent(&home, "sampling", "reflection"));
    let got = client.end();
    let tasks = got["asked"].as_array().unwrap().iter().map(|asked| asked["prompt"].as_str().unwrap());
    assert!(tasks.into_iter().any(|prompt| prompt.starts_with("Task: reflection")), "{got}");
}

/// A bad client costs its own reply and nothing else: the offline model does the work.
#[track_caller]
fn check_bad(home: &Home, client: Client, what: &str) -> Value {
    wait_until_offered(home);
    say(home);
    wait_until_spent(home, "offline", "extraction");
    let learnt = until(|| Some(home.listed(&["--layer", "knowledge"])).filter(|learnt| !learnt.is_empty()));
    assert!(learnt.iter().any(|fact| fact.contains("3 May")), "{what}: {learnt:?}");
    let got = client.end();
    assert_eq!(got["asked"].as_array().unwrap().len(), 1, "{what}: one try: {got}");
    got
}

#[test]
fn bad_answers_leave_the_work_to_the_offline_model() {
    for answers in ["refuse", "raise", "garbage", "nothing", "image"] {
        let home = without_reflection("provider = \"sampling\"\n");
        let client = Client::on_stdio(&home, answers);
        check_bad(&home, client, answers);
        let row = spent(&home, "sampling", "summary").unwrap();
        let expected = if answers == "garbage" { ("calls", 1) } else { ("failures", 1) };
        assert_eq!(row[expected.0], expected.1, "{answers}: {row}");
    }
}

#[test]
fn answers_that_are_too_long_are_not_read() {
    // Over the limit of a reply; over the limit of a message, which is dropped.
    for size in [2 << 20, 5 << 20] {
        let home = without_reflection("provider = \"sampling\"\ntimeout_seconds = 20\n");
        let mut how = stdio(&home, "legacy");
        how["size"] = json!(size);
        let client = Client::start(&home, how, "huge");
        check_bad(&home, client, &format!("{size} bytes"));
    }
}

#[test]
fn a_client_that_hangs_is_given_up_and_then_left_alone() {
    let home = without_reflection("provider = \"sampling\"\ntimeout_seconds = 1\n");
    let client = Client::on_stdio(&home, "hang");
    wait_until_offered(&home);
    for failures in 1..=2 {
        say(&home);
        until(|| spent(&home, "sampling", "summary").filter(|row| row["failures"] == failures));
        until(|| spent(&home, "offline", "summary").filter(|row| row["calls"] == failures));
    }
    say(&home);
    until(|| spent(&home, "offline", "summary").filter(|row| row["calls"] == 3));
    assert_eq!(client.end()["asked"].as_array().unwrap().len(), 2, "it rests after two failures");
}

#[test]
fn over_http_a_client_that_hangs_is_given_up() {
    let home = without_reflection("provider = \"sampling\"\ntimeout_seconds = 1\n");
    let daemon = Daemon::start(&home);
    let client = Client::start(&home, how(&daemon, "legacy"), "hang");
    check_bad(&home, client, "http");
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_client_that_hangs_and_goes_holds_up_nobody() {
    let home = machine("provider = \"sampling\"\n", "tools = \"all\"\n\n[reflection]\nevery_hours = 0\n");
    let mut how = stdio(&home, "legacy");
    // A tool that waits for its turn, but not behind a client.
    how["tool"] = json!("summarize_session");
    let client = Client::start(&home, how, "hang");
    wait_until_offered(&home);
    say(&home);
    until(|| home.root().join("called").exists().then_some(()));
    let got = client.end();
    assert_eq!(got["asked"].as_array().unwrap().len(), 1, "{got}");
    assert!(got["leaving"].as_f64() < Some(60.0), "{got}");
    wait_until_spent(&home, "offline", "extraction");
}

#[test]
fn a_spent_budget_ends_the_asking() {
    let home = without_reflection("provider = \"sampling\"\ndaily_tokens = 10\n");
    let client = Client::on_stdio(&home, "well");
    wait_until_offered(&home);
    say(&home);
    wait_until_spent(&home, "sampling", "summary");
    say(&home);
    until(|| spent(&home, "offline", "summary"));
    assert_eq!(client.end()["asked"].as_array().unwrap().len(), 1, "the rest was not paid for");
}

#[test]
fn without_a_client_that_offers_it_the_offline_model_works() {
    // The newest revision has no requests of the server's own.
    for (mode, answers) in [("legacy", "unable"), ("auto", "well")] {
        let home = without_reflection("provider = \"sampling\"\n");
        let client = Client::start(&home, stdio(&home, mode), answers);
        until(|| home.root().join("connected").exists().then_some(()));
        say(&home);
        wait_until_spent(&home, "offline", "extraction");
        assert!(!is_offered(&home), "{mode}, {answers}");
        assert_eq!(client.end()["asked"], json!([]));
        assert_eq!(spent(&home, "sampling", "summary"), None);
    }
}

#[test]
fn nothing_is_sent_to_a_client_whose_model_was_not_chosen() {
    let home = without_reflection("provider = \"offline\"\n");
    let client = Client::on_stdio(&home, "well");
    wait_until_offered(&home);
    say(&home);
    wait_until_spent(&home, "offline", "extraction");
    // Chosen while the client is connected, it is asked from then on.
    let chosen = home.json(&["model", "use", "sampling", "--yes"]);
    assert_eq!((&chosen["provider"], &chosen["works"]), (&json!("sampling"), &Value::Null));
    say(&home);
    wait_until_spent(&home, "sampling", "extraction");
    assert_eq!(client.end()["asked"].as_array().unwrap().len(), 2);
}

#[test]
fn a_daemon_that_waits_for_a_client_can_be_stopped() {
    let home = without_reflection("provider = \"sampling\"\n");
    let daemon = Daemon::start(&home);
    let client = Client::start(&home, how(&daemon, "legacy"), "hang");
    wait_until_offered(&home);
    say(&home);
    until(|| home.root().join("asked").exists().then_some(()));
    let began = Instant::now();
    assert_eq!(daemon.stop().code, 0);
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    drop(client);
}
