//! The tier that runs with every test: a few kills, the same checks. `scripts/torture` runs a hundred of each.

#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::path::Path;

use throughline_torture::words::{Report, Upheaval};

#[track_caller]
fn check(workers: usize, kills: usize, entries: u64, is_old: bool) -> Report {
    let home = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned();
    let report = Upheaval { program, workers, kills, entries, is_old, seed: 1 }.run(home.path()).unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "{report:#?}");
    assert_eq!(report.kills, kills);
    report
}

#[test]
fn searches_equal_a_scan_after_processes_were_killed_while_merging() {
    let report = check(1, 8, 2000, false);
    assert!(report.acknowledged > 2000 && report.segments > 8, "{report:#?}");
}

#[test]
fn searches_equal_a_scan_after_eight_processes_were_killed_at_once() {
    check(8, 16, 2000, false);
}

#[test]
fn searches_equal_a_scan_after_processes_were_killed_while_migrating() {
    check(2, 12, 20_000, true);
}
