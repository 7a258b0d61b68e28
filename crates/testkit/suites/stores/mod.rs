//! What every store must do, whatever it keeps memories in: one test per promise.
//!
//! A test file of a store crate takes this suite in with `#[path]`, and says beside it what it runs on; the other suites are
//! taken in the same way:
//!
//! ```ignore
//! mod fixture;
//! #[path = "../../testkit/suites/stores/mod.rs"]
//! mod stores;
//!
//! use fixture::fixture; // fn fixture() -> impl StoreFixture
//! ```
//!
//! So each promise is an ordinary `#[test]` of that crate: it has a name of its own, runs by itself and in parallel under
//! `cargo test` and nextest, its output is captured, and none can be left out of a list. Other suites that run on any store
//! do the same: they stand beside this one, and take their stores from `crate::fixture()`.
//!
//! Beside what the store needs itself, the crate has these dev-dependencies for the suites: `jiff`, `proptest`, `serde_json`,
//! `tempfile`, `throughline-core`, `throughline-documents` and `throughline-testkit`.

mod activity;
mod backlogs;
mod breakers;
mod builders;
mod candidates;
mod change_tokens;
mod changes;
mod entries;
mod erasure;
mod filters;
mod health;
mod history;
mod index;
mod injections;
mod jobs;
mod leases;
mod ledger;
mod memory_vectors;
mod mutes;
mod neighbours;
mod off_record;
mod projects;
mod recalls;
mod reflections;
mod replying;
mod reviews;
mod sessions;
mod tasks;
mod threads;
mod transfer;
mod turns;
mod vault;
mod vectors;
mod versioned;
mod withdrawals;

use jiff::SignedDuration;
use throughline_core::model::*;
use throughline_core::ports::*;
use throughline_core::recall::{
    AskedBy, Candidate, CandidateMark, Contribution, Filter, FoundBy, Pool, RecallRecord, RecalledHit, Retrieved,
    Scope, Terms, Why, analysis,
};
use throughline_core::vault::{Chunk, Packed, Passage, Place, UnreadFile, VaultDocument};
use throughline_testkit::Fresh;
use throughline_testkit::stores::*;

use builders::*;

/// An empty store.
fn make() -> Fresh {
    Fresh::new(super::fixture())
}
