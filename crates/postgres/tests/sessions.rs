//! Sessions and their consolidation, over the PostgreSQL store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;
#[path = "../../testkit/suites/sessions/mod.rs"]
mod sessions;

use fixture::fixture;
