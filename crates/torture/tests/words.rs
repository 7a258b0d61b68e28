//! The tier that runs with every test: a few kills, the same checks. `scripts/torture` runs a hundred of each.

#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::path::Path;

use throughline_torture::words::{Report, Upheaval};

#[track_caller]
fn check(workers: usize, kills: usize, entries: u64, is_old: bool) -> Report {
    let home = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned();
    let turns = if is_old { entries / 4 } else { 0 };
    let report = Upheaval { program, workers, kills, entries, turns, is_old, seed: 1 }.run(home.path()).unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "{report:#?}");
    assert_eq!((report.kills, report.processes), (kills, kills * workers));
    report
}

#[test]
fn searches_equal_a_scan_after_processes_were_killed_while_merging() {
    let report = check(1, 8, 2000, false);
    assert!(report.acknowledged > 2000 && report.segments > 8 && report.compared > 100, "{report:#?}");
}

#[test]
fn searches_equal_a_scan_after_eight_processes_were_killed_at_once() {
    let report = check(8, 3, 2000, false);
    assert!(report.compared > 30, "{report:#?}");
}

#[test]
fn searches_equal_a_scan_after_processes_were_killed_while_migrating() {
    let report = check(2, 8, 12_000, true);
    assert!(report.within_migration > 0 && report.within_removal > 0, "{report:#?}");
}
