//! The memory for assistants that speak MCP, through the real binary: with a client that is not ours, and line by line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "mcp/clients.rs"]
mod clients;
mod common;
#[path = "mcp/conformance.rs"]
mod conformance;
#[path = "mcp/endings.rs"]
mod endings;
#[path = "mcp/fences.rs"]
mod fences;
#[path = "mcp/lines.rs"]
mod lines;
#[path = "mcp/peer.rs"]
mod peer;
#[path = "mcp/sampling.rs"]
mod sampling;
#[path = "mcp/sdk.rs"]
mod sdk;

use common::Home;

/// A person's memory that offers every tool.
fn with_all_tools() -> Home {
    Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\ntools = \"all\"\n")
}
