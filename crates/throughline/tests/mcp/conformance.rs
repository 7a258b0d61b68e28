//! The official conformance suite of the protocol, from npm, against the daemon.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::daemon::Daemon;
use crate::common::{Home, installed};

/// The suite, and a Node.js that is new enough for it.
const PACKAGES: [&str; 2] = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22.23.3"];

/// Scenarios that call a tool, read a resource or get a prompt of the suite's reference server. `docs/mcp.md` names them.
const FIXTURES: [&str; 32] = [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-with-logging",
    "tools-call-error",
    "tools-call-with-progress",
    "tools-call-sampling",
    "tools-call-elicitation",
    "json-schema-2020-12",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "server-sse-polling",
    "http-custom-header-server-validation",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "input-required-result-non-tool-request",
];

/// The same for prompts.
const FIXTURE_PROMPTS: [&str; 4] =
    ["prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"];

/// Single checks of other scenarios that need a tool of the reference server.
const FIXTURE_CHECKS: [&str; 4] = [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
];

/// Where the suite and its Node.js are.
fn programs() -> PathBuf {
    installed::node("mcp-conformance", &PACKAGES).join("node_modules")
}

/// Every check of one revision.
#[track_caller]
fn run(home: &Home, daemon: &Daemon, revision: &str) -> Vec<Value> {
    let results = home.root().join(revision);
    std::fs::create_dir_all(&results).unwrap();
    let how = json!({
        "suite": programs().join("@modelcontextprotocol/conformance/dist/index.js"),
        "daemon": format!("http://{}", daemon.host()),
        "token": daemon.token,
        "revision": revision,
        "results": results,
    });
    let mut node = home.command(programs().join(".bin/node"));
    node.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/conformance.mjs")).arg(how.to_string());
    let output = node.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

fn word<'a>(check: &'a Value, name: &str) -> &'a str {
    check[name].as_str().unwrap()
}

/// Whether a check is about what only the reference server has.
fn needs_fixture(check: &Value) -> bool {
    let scenario = word(check, "scenario");
    FIXTURES.contains(&scenario) || FIXTURE_PROMPTS.contains(&scenario) || FIXTURE_CHECKS.contains(&word(check, "id"))
}

#[test]
fn every_check_that_needs_no_fixture_passes() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let checks: Vec<Value> =
        ["2025-11-25", "2026-07-28"].iter().flat_map(|revision| run(&home, &daemon, revision)).collect();
    let fell_short = |check: &&Value| matches!(word(check, "status"), "FAILURE" | "WARNING");
    let wrong: Vec<&Value> = checks.iter().filter(fell_short).filter(|check| !needs_fixture(check)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let passed = checks.iter().filter(|check| word(check, "status") == "SUCCESS" && !needs_fixture(check)).count();
    assert!(passed >= 75, "{passed} of {}", checks.len());

    // What is listed as not applicable is indeed not: a scenario that we could pass must not hide here.
    let short: BTreeSet<&str> =
        checks.iter().filter(fell_short).flat_map(|check| [word(check, "scenario"), word(check, "id")]).collect();
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md")).unwrap();
    for name in FIXTURES.iter().chain(&FIXTURE_PROMPTS).chain(&FIXTURE_CHECKS) {
        assert!(short.contains(name), "{name} applies");
        assert!(docs.contains(&format!("`{name}`")), "docs/mcp.md does not name {name}");
    }
}
