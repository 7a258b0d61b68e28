//! The tier that runs with every test: each way twice, the same checks. `scripts/vanish` runs fifty of each.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::path::Path;

use throughline_torture::daemon::Program;
use throughline_torture::vanish::{Vanishing, Way};

#[track_caller]
fn check(way: Way) {
    let program = Program::within(Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned());
    let report = Vanishing { program, way, runs: 2, seed: 1 }.run().unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "{report:#?}");
    assert_eq!((report.runs, report.recovered + report.ended), (2, 2), "{report:#?}");
    assert!(report.refused > 0 && report.ended <= usize::from(way == Way::Overlaid) * 2, "{report:#?}");
}

#[test]
fn nothing_confirmed_is_lost_when_the_database_is_moved_away_and_back() {
    check(Way::Moved);
}

#[test]
fn nothing_confirmed_afterwards_is_lost_when_the_database_is_replaced() {
    check(Way::Replaced);
}

#[test]
fn nothing_confirmed_afterwards_is_lost_when_the_database_is_truncated() {
    check(Way::Truncated);
}

#[test]
fn nothing_confirmed_afterwards_is_lost_when_the_database_is_deleted() {
    check(Way::Deleted);
}

#[test]
fn nothing_confirmed_afterwards_is_lost_when_an_older_home_is_copied_over() {
    check(Way::Overwritten);
}

#[test]
fn nothing_confirmed_afterwards_is_lost_when_noise_is_written_into_the_database() {
    check(Way::Garbled);
}
