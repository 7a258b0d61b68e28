//! Simulated processes, faults and interleavings, over the SQLite store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "../../testkit/suites/simulation/bugs.rs"]
mod bugs;
mod fixture;
#[path = "../../testkit/suites/simulation/mod.rs"]
mod simulation;

use fixture::fixture;

const SEEDS: u64 = 200;
