//! The HTTP API as programs use it: the real daemon on a free port, and a client that speaks just enough HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "http/client.rs"]
mod client;
mod common;
#[path = "http/documents.rs"]
mod documents;
#[path = "http/forgetting.rs"]
mod forgetting;
#[path = "http/memories.rs"]
mod memories;
#[path = "http/same.rs"]
mod same;
#[path = "http/sessions.rs"]
mod sessions;
#[path = "http/shape.rs"]
mod shape;
