//! What every store must do, done by the PostgreSQL store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;
#[path = "../../testkit/suites/stores/mod.rs"]
mod stores;

use fixture::fixture;
