//! A client that we did not write: the official Python SDK lists and calls everything, over both transports and in the
//! revisions with and without a handshake.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::daemon::Daemon;
use crate::common::{Home, installed};
use crate::with_all_tools;

/// The version of the SDK that the tests were written with.
const SDK: &str = "mcp==2.3.0";

/// Python with the SDK.
pub(crate) fn python() -> PathBuf {
    installed::python("mcp-client", &[SDK])
}

/// What the client got.
#[track_caller]
fn visit(home: &Home, how: &Value) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/client.py");
    let output = home.command(python()).arg(script).arg(how.to_string()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

fn on_stdio(home: &Home, mode: &str, directory: &Path) -> Value {
    let env = json!({ "THROUGHLINE_HOME": home.path(""), "THROUGHLINE_NOW": crate::common::NOON });
    let program = env!("CARGO_BIN_EXE_throughline");
    visit(home, &json!({ "command": program, "env": env, "directory": directory, "mode": mode }))
}

/// How the client reaches a daemon.
pub(crate) fn how(daemon: &Daemon, mode: &str) -> Value {
    json!({ "url": format!("http://{}/mcp", daemon.host()), "token": daemon.token, "mode": mode })
}

/// A project in which the client works.
fn with_project(home: &Home) -> PathBuf {
    let dir = home.root().join("my trains");
    std::fs::create_dir_all(&dir).unwrap();
    home.run(&["project", "add", "trains", "--dir", dir.to_str().unwrap()]).done();
    dir
}

/// Everything was offered and everything was answered.
#[track_caller]
fn check(got: &Value, protocol: &str) {
    assert_eq!(got["protocol"], protocol);
    assert!(got["instructions"].as_str().unwrap().contains("memory_recall"), "{}", got["instructions"]);
    check_tools(got);
    check_calls(got);
    check_resources(got);
    check_prompts(got);
}

fn check_tools(got: &Value) {
    let tools = got["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "memory_recall",
            "memory_write",
            "memory_forget",
            "record_fact",
            "memory_context",
            "memory_explain",
            "memory_store",
            "update_project_memory",
            "summarize_session",
            "get_context",
            "distill_memories",
        ]
    );
    for tool in tools {
        let hints = &tool["annotations"];
        assert!(tool["title"].is_string() && hints["title"] == tool["title"], "{tool}");
        assert_eq!(hints["openWorldHint"], false, "{tool}");
        let reading = ["memory_recall", "memory_context", "memory_explain", "get_context"];
        let is_read = reading.iter().any(|name| tool["name"] == *name);
        assert_eq!(hints["readOnlyHint"], is_read, "{tool}");
        assert!(hints["destructiveHint"].is_boolean() && hints["idempotentHint"].is_boolean(), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
    let forget = &tools[2]["annotations"];
    assert!(forget["destructiveHint"] == true && forget["idempotentHint"] == true, "{forget}");
}

fn check_calls(got: &Value) {
    let calls = got["calls"].as_array().unwrap();
    let (done, refused) = calls.split_at(calls.len() - 2);
    for call in done {
        assert_eq!(call["is_error"], false, "{call}");
    }
    for tool in got["tools"].as_array().unwrap() {
        assert!(done.iter().any(|call| call["tool"] == tool["name"]), "{} was not called", tool["name"]);
    }
    for call in refused {
        assert_eq!(call["is_error"], true, "{call}");
        let told = call["answer"].as_str().unwrap();
        assert!(told.starts_with("invalid: ") && told.contains("\nhint: "), "{call}");
    }
    assert_eq!(got["no_tool"]["code"], -32602, "{}", got["no_tool"]);
    let receipts = done.iter().filter(|call| call["tool"] == "memory_write");
    assert!(
        receipts.clone().count() == 4 && done[0]["answer"]["recallable"] == true,
        "{:?}",
        receipts.collect::<Vec<_>>()
    );
}

fn check_resources(got: &Value) {
    let resources = got["resources"].as_object().unwrap();
    let text = |uri: &str| resources[uri].as_str().unwrap();
    assert!(text("memory://profile").contains("The person is called Ada"));
    assert!(text("memory://project").contains("Timetables are fetched every night"));
    assert!(resources.contains_key("memory://working") && resources.contains_key("memory://patterns"));
    let entry = format!("memory://entry/{}", got["entry"].as_str().unwrap());
    assert!(text(&entry).contains("Ada's train leaves at ten") && text(&entry).contains("source: agent"));
    assert_eq!(got["templates"][0]["uriTemplate"], "memory://entry/{id}");
    for refused in ["no_resource", "no_entry", "forgotten"] {
        assert_eq!(got[refused]["data"]["code"], "not_found", "{}", got[refused]);
        assert!(got[refused]["data"]["hint"].is_string(), "{}", got[refused]);
    }
}

fn check_prompts(got: &Value) {
    let text = |name: &str| got["prompts"][name].as_str().unwrap();
    assert_eq!(got["prompts"].as_object().unwrap().len(), 3);
    let start = text("start_session");
    for part in [
        "The person is called Ada",
        "Timetables are fetched every night",
        "Ada's train leaves at ten",
        "When does Ada's train leave?",
    ] {
        assert!(start.contains(part), "no `{part}` in {start}");
    }
    assert!(text("remember_this").contains("I moved to Porto."));
    assert!(text("review_memory").contains("The person is called Ada"));
    for refused in ["no_text", "no_prompt"] {
        assert_eq!(got[refused]["code"], -32602, "{}", got[refused]);
    }
}

#[test]
fn the_official_client_uses_everything_on_standard_input_and_output() {
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let home = with_all_tools();
        let project = with_project(&home);
        check(&on_stdio(&home, mode, &project), protocol);
    }
}

#[test]
fn the_official_client_uses_everything_over_http() {
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let home = with_all_tools();
        with_project(&home);
        let daemon = Daemon::start(&home);
        let got = visit(&home, &how(&daemon, mode));
        assert_eq!(got["stranger"], 401);
        if mode == "auto" {
            let sessions = home.json(&["session", "list"]);
            let id = sessions["sessions"][0]["id"].as_str().unwrap();
            assert_eq!(id, "mcp:official-sdk-2026-03-01", "calls that nothing holds together share a day");
        }
        // Nothing says where this client works: facts go to the person's own memory file.
        let recorded = got["calls"].as_array().unwrap().iter().find(|call| call["tool"] == "record_fact").unwrap();
        assert_eq!(recorded["answer"]["file"], "user/memory", "{recorded}");
        check_tools(&got);
        check_calls(&got);
        assert_eq!(got["protocol"], protocol);
        assert_eq!(daemon.stop().code, 0, "it ends by itself");
    }
}

#[test]
fn over_http_the_clients_roots_name_the_project() {
    let home = with_all_tools();
    let project = with_project(&home);
    let other = home.root().join("other");
    std::fs::create_dir_all(&other).unwrap();
    home.run(&["project", "add", "other", "--dir", other.to_str().unwrap()]).done();
    let daemon = Daemon::start(&home);
    let mut how = how(&daemon, "legacy");
    how["roots"] = json!([format!("file://{}", project.display()).replace(' ', "%20")]);
    check(&visit(&home, &how), "2025-11-25");
    assert!(home.json(&["session", "list"])["sessions"][0]["project"] == "trains");
}
