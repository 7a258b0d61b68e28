//! Bugs that are put in on purpose: the simulation notices each of them.
#![allow(clippy::print_stdout, reason = "says which seed noticed it")]

use throughline_testkit::simulated::PlantedBug;

use crate::simulation::{run, steps};

/// Seeds within which each planted bug is noticed.
const SEEDS: u64 = 60;

/// The bug is noticed, and the seed that notices it holds without it.
#[track_caller]
fn is_noticed(bug: PlantedBug) {
    let noticed = (0..SEEDS).find_map(|seed| run(&steps(seed), Some(bug)).err().map(|why| (seed, why)));
    let Some((seed, why)) = noticed else { panic!("{bug:?} is not noticed within {SEEDS} seeds") };
    println!("{bug:?} is noticed by seed {seed}: {why}");
    assert_eq!(run(&steps(seed), None).err(), None, "seed {seed} without {bug:?}");
}

#[test]
fn acknowledging_before_the_commit_is_noticed() {
    is_noticed(PlantedBug::AcknowledgeBeforeCommit);
}

#[test]
fn a_missing_index_update_is_noticed() {
    is_noticed(PlantedBug::MissingIndexUpdate);
}

#[test]
fn a_pointer_past_a_turn_is_noticed() {
    is_noticed(PlantedBug::PointerPastTurn);
}

#[test]
fn a_dropped_tombstone_is_noticed() {
    is_noticed(PlantedBug::DroppedTombstone);
}

#[test]
fn a_lost_update_on_a_document_is_noticed() {
    is_noticed(PlantedBug::LostUpdate);
}

#[test]
fn a_fence_that_is_not_escaped_is_noticed() {
    is_noticed(PlantedBug::FenceNotEscaped);
}
