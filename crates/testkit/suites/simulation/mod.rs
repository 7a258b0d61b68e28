//! A simulation: several processes over one store and one directory, in steps that a seed chooses, with faults in between, held
//! against plain collections.
//!
//! What may go wrong: the store refuses, or reports a failure though it is done; a process dies, between two steps or inside one;
//! another process does something between a read and the write that follows; the person saves a file meanwhile; the model
//! fails, answers garbage, or takes longer than its lease; the clock jumps. What must hold: [`check`].
//!
//! A failing seed says how to repeat it, and which of its steps are enough. `docs/testing.md` says more.
#![allow(clippy::print_stdout, reason = "says how to repeat what failed")]

mod acts;
mod check;
mod moments;
mod plain;
mod steps;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use throughline_testkit::simulated::PlantedBug;

use steps::{Step, steps};
use world::World;

/// Seeds of a usual run. `THROUGHLINE_SEEDS` makes it longer, `THROUGHLINE_SEED` is the first.
const SEEDS: u64 = 200;

/// Seeds within which each planted bug is noticed.
const SEEDS_FOR_BUGS: u64 = 60;

/// Runs that make a failing list of steps shorter, at most.
const SHORTENING: usize = 300;

/// What happened, a line for each step; or what is wrong.
type Outcome = Result<Vec<String>, String>;

fn run(steps: &[Step], bug: Option<PlantedBug>) -> Outcome {
    World::new(bug).run(steps)
}

/// As few of the steps as still fail.
fn shortest(all: &[Step]) -> Vec<Step> {
    let (mut kept, mut runs, mut piece) = (all.to_vec(), 0, all.len() / 2);
    while piece > 0 && runs < SHORTENING {
        let (mut at, before) = (0, kept.len());
        while at < kept.len() && runs < SHORTENING {
            let end = (at + piece).min(kept.len());
            let fewer = [&kept[..at], &kept[end..]].concat();
            runs += 1;
            if run(&fewer, None).is_err() { kept = fewer } else { at = end }
        }
        if piece > 1 || kept.len() == before {
            piece /= 2;
        }
    }
    kept
}

/// Tells how to repeat a failing seed.
fn report(seed: u64, why: &str) -> String {
    let fewest = shortest(&steps(seed));
    let told: Vec<String> = fewest.iter().map(|step| format!("  {step:?}")).collect();
    let again = run(&fewest, None).err().unwrap_or_default();
    format!(
        "seed {seed}: {why}\nrepeat it with: THROUGHLINE_SEED={seed} cargo test -p throughline-sqlite --test simulation\n\
         these {} steps are enough ({again}):\n{}",
        fewest.len(),
        told.join("\n")
    )
}

#[allow(clippy::disallowed_methods, reason = "a person repeats a failing run, or makes a longer one")]
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

#[test]
fn every_seed_ends_as_plain_collections_would() {
    let (seed, seeds) = (given("THROUGHLINE_SEED"), given("THROUGHLINE_SEEDS"));
    let (first, count) = (seed.unwrap_or(0), seeds.unwrap_or(if seed.is_some() { 1 } else { SEEDS }));
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= first + count || !failed.lock().unwrap().is_empty() {
                        break;
                    }
                    if let Err(why) = run(&steps(seed), None) {
                        failed.lock().unwrap().push((seed, why));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    if let Some((seed, why)) = failed.first() {
        let report = report(*seed, why);
        println!("{report}");
        panic!("{report}");
    }
}

#[test]
fn a_seed_is_one_story() {
    for seed in 0..4 {
        assert_eq!(run(&steps(seed), None), run(&steps(seed), None), "seed {seed}");
    }
}

/// The seeds together do every act and meet every trouble.
#[test]
fn no_act_and_no_trouble_is_left_out() {
    let all: String = (0..SEEDS).flat_map(steps).map(|step| format!("{step:?} ")).collect();
    for word in steps::NAMES {
        assert!(all.matches(word).count() > 20, "{word}: {}", all.matches(word).count());
    }
}

/// The bug is noticed, and the seed that notices it holds without it.
#[track_caller]
fn is_noticed(bug: PlantedBug) {
    let noticed = (0..SEEDS_FOR_BUGS).find_map(|seed| run(&steps(seed), Some(bug)).err().map(|why| (seed, why)));
    let Some((seed, why)) = noticed else { panic!("{bug:?} is not noticed within {SEEDS_FOR_BUGS} seeds") };
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
