//! Clients over HTTP that never say goodbye.

use serde_json::json;
use throughline_testkit::raw_http::Response;

use crate::common::Home;
use crate::common::daemon::Daemon;

/// As many as the daemon keeps.
const MOST: usize = 64;

fn ask(daemon: &Daemon, session: Option<&str>, method: &str) -> Response {
    let client = json!({ "name": "test", "version": "1" });
    let params = match session {
        None => json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        Some(_) => json!({}),
    };
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = daemon.request("POST", "/mcp").with("Accept", "application/json, text/event-stream");
    let request = session.iter().fold(request, |request, id| request.with("Mcp-Session-Id", id));
    daemon.send(&request.json(&message))
}

#[test]
fn of_too_many_clients_the_one_that_was_silent_for_longest_begins_anew() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let connect = || {
        let response = ask(&daemon, None, "initialize");
        assert_eq!(response.status, 200, "{response:?}");
        response.header("mcp-session-id").expect("a session").to_owned()
    };
    let is_known = |session: &str| match ask(&daemon, Some(session), "ping").status {
        200 => true,
        404 => false,
        status => panic!("{status}"),
    };
    let (first, second) = (connect(), connect());
    for _ in 2..MOST {
        connect();
    }
    assert!(is_known(&first), "as many as there is room for are kept");
    let last = connect();
    assert!(!is_known(&second), "the one that was silent for longest is gone");
    assert!(is_known(&first) && is_known(&last));
}
