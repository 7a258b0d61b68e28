//! Stories over HTTP, MCP and hooks, told again with the memory on a PostgreSQL server: the same tests, from the same files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![allow(dead_code, reason = "some of what these files share is for stories about files")]
#![cfg(unix)]

#[path = "http/client.rs"]
mod client;
mod common;
#[path = "hooks/events.rs"]
mod events;
#[path = "hooks/going_on.rs"]
mod hooks_going_on;
#[path = "hooks/keeping.rs"]
mod hooks_keeping;
#[path = "http/forgetting.rs"]
mod http_forgetting;
#[path = "http/memories.rs"]
mod http_memories;
#[path = "http/same.rs"]
mod http_same;
#[path = "http/sessions.rs"]
mod http_sessions;
#[path = "http/shape.rs"]
mod http_shape;
#[path = "mcp/lines.rs"]
mod mcp_lines;
#[path = "mcp/peer.rs"]
mod peer;

use common::Home;

/// A person's memory that offers every tool.
fn with_all_tools() -> Home {
    Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\ntools = \"all\"\n")
}

/// Nothing is kept in a file: the stories are told where they are meant to be.
#[test]
fn the_memory_is_on_the_server() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays"]);
    assert!(common::is_on_postgres() && !home.path("memory.db").exists());
    assert_eq!(home.found(&["when do we deploy"]), ["We deploy on Fridays"]);
}
