//! Simulated processes, faults and interleavings, over the PostgreSQL store: fewer seeds than over SQLite, as each step asks a
//! server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;
#[path = "../../testkit/suites/simulation/mod.rs"]
mod simulation;

use fixture::fixture;

const SEEDS: u64 = 16;
