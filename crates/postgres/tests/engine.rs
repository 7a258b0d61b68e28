//! The verbs of the engine, over the PostgreSQL store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "../../testkit/suites/engine/mod.rs"]
mod engine;
mod fixture;

use fixture::fixture;
