//! How a server ends: with its client, whatever becomes of that, and not before what it confirmed is stored.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::Home;
use crate::peer::{PATIENCE, Peer};

#[test]
fn a_server_ends_when_its_client_hangs_up() {
    let home = Home::new();
    let (status, rest, _) = Peer::start(home.throughline(&["mcp"])).end();
    assert!(status.success() && rest.is_empty(), "before a word was said: {status} {rest:?}");
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    peer.call("memory_recall", json!({ "query": "tea" }));
    let (status, ..) = peer.end();
    assert!(status.success(), "{status}");
    assert_eq!(home.json(&["session", "list"])["sessions"].as_array().unwrap().len(), 1, "one that called");
}

#[test]
fn what_was_asked_before_the_client_hung_up_is_done_and_answered() {
    let home = Home::new();
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    for id in 100..120 {
        let arguments = json!({ "action": "add", "layer": "L1", "content": format!("Shelf {id} holds nails") });
        let params = json!({ "name": "memory_write", "arguments": arguments });
        peer.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    let (status, rest, errors) = peer.end();
    assert!(status.success(), "{status}: {errors}");
    let confirmed = rest.iter().filter(|answer| answer["result"]["structuredContent"]["outcome"] == "created");
    assert_eq!(confirmed.count(), 20, "{rest:?}");
    assert_eq!(home.listed(&["--limit", "50"]).len(), 20);
}

#[cfg(unix)]
#[test]
fn a_server_ends_when_it_is_told_to() {
    let home = Home::new();
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    let pid = peer.child.id().to_string();
    assert!(std::process::Command::new("kill").arg(&pid).status().unwrap().success());
    let start = Instant::now();
    while peer.child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(peer.child.wait().unwrap().success());
}

/// One that has ended and was not yet asked for its end runs no more.
#[cfg(target_os = "linux")]
fn is_running(process: &str) -> bool {
    let state = std::fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    state.is_ok_and(|state| !state.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// The parent dies, and somebody else keeps the server's input open: here, this test.
#[cfg(target_os = "linux")]
#[test]
fn a_server_whose_parent_dies_ends_though_its_input_stays_open() {
    let home = Home::new();
    let mut command = home.command("sh");
    let script = "exec 3<&0; \"$THROUGHLINE\" mcp <&3 & echo $! > \"$HOME/server\"; wait";
    command.args(["-c", script]).env("THROUGHLINE", env!("CARGO_BIN_EXE_throughline"));
    let mut peer = Peer::greeted(command);
    let server = std::fs::read_to_string(home.root().join("person/server")).unwrap();
    assert!(is_running(server.trim()), "the server runs");
    peer.child.kill().unwrap();
    peer.child.wait().unwrap();
    let start = Instant::now();
    while is_running(server.trim()) {
        assert!(start.elapsed() < PATIENCE, "an orphan stays behind");
        std::thread::sleep(Duration::from_millis(20));
    }
}
