//! The tier that runs with every test: small figures, the same checks. `scripts/torture` runs the large ones.

#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::path::Path;

use throughline_torture::siege::{Record, Siege};
use throughline_torture::verdict::Verdict;

fn siege(kills: usize, seed: u64) -> Siege {
    let program = Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned();
    Siege { program, workers: 8, ops: 260, kills, pace: 40, seed, keys: 3, keyed: 30, profile: 4 }
}

#[track_caller]
fn check(siege: &Siege) -> Record {
    let home = tempfile::tempdir().unwrap();
    let record = siege.run(home.path()).unwrap();
    assert_eq!(record.errors, Vec::<String>::new());
    let verdict = Verdict::of(home.path(), &record).unwrap();
    assert!(verdict.is_clean(), "{verdict:#?}");
    record
}

#[test]
fn eight_processes_at_once_lose_nothing_and_see_no_error() {
    let record = check(&siege(0, 1));
    assert!(record.ops >= 2000, "{}", record.ops);
    assert!(record.said.len() >= 1000, "{}", record.said.len());
}

#[test]
fn nothing_acknowledged_is_lost_when_processes_are_killed() {
    let record = check(&siege(12, 2));
    assert_eq!(record.killed.len(), 12);
}

/// Eight processes want one document at once: every line that was acknowledged is in the file, in its history and in
/// the index, and no process takes another's write for an edit by hand.
#[test]
fn a_document_that_everybody_writes_takes_every_write() {
    check(&Siege { ops: 60, keyed: 0, profile: 90, ..siege(0, 4) });
}

/// Eight processes want the same key at once: each is told that its text was stored, and each text was.
#[test]
fn a_key_that_everybody_writes_takes_every_write() {
    let record = check(&Siege { ops: 40, keys: 1, keyed: 100, profile: 0, ..siege(0, 3) });
    assert!(record.ops >= 320, "{}", record.ops);
}
