//! The tier that runs with every test: a few kills, the same checks. `scripts/torture` runs hundreds.

#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::path::Path;

use throughline_torture::talk::Interruption;

#[test]
fn whoever_is_killed_while_consolidating_loses_nothing_and_does_nothing_twice() {
    let home = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned();
    let report = Interruption { program, kills: 16, seed: 1 }.run(home.path()).unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "{report:#?}");
    assert_eq!(report.kills, 16);
    assert!(report.kept > 16 && report.timeline > 0, "{report:#?}");
}
