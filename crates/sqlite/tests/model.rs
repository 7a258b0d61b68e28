//! Random operations against a plain model, over the SQLite store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;
#[path = "../../testkit/suites/model/mod.rs"]
mod model;

use fixture::fixture;

const CASES: u32 = 64;
const LONG_RUN: usize = 10_000;
