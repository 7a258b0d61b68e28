//! Random operations against a plain model, over the PostgreSQL store: fewer than over SQLite, as each asks a server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;
#[path = "../../testkit/suites/model/mod.rs"]
mod model;

use fixture::fixture;

const CASES: u32 = 8;
const LONG_RUN: usize = 1500;
