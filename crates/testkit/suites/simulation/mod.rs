//! A simulation: several processes over one store and one directory, in steps that a seed chooses, with faults in between, held
//! against plain collections.
//!
//! What may go wrong: the store refuses, or reports a failure though it is done; a process dies, between two steps or inside one;
//! another process does something between a read and the write that follows; the person saves a file meanwhile; the model
//! fails, answers garbage, or takes longer than its lease; the clock jumps. What must hold: [`check`].
//!
//! The test program that takes this in says how many seeds a usual run has (`SEEDS`): `THROUGHLINE_SEEDS` makes it longer,
//! `THROUGHLINE_SEED` is the first. `bugs.rs` is taken in beside it.
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

pub(crate) use steps::steps;

use steps::Step;
use world::World;

/// Seeds that together leave nothing out.
const ENOUGH_SEEDS: u64 = 200;

/// Runs that make a failing list of steps shorter, at most.
const SHORTENING: usize = 300;

/// What happened, a line for each step; or what is wrong.
pub(crate) type Outcome = Result<Vec<String>, String>;

pub(crate) fn run(steps: &[Step], bug: Option<PlantedBug>) -> Outcome {
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
        "seed {seed}: {why}\nrepeat it with: THROUGHLINE_SEED={seed} cargo test -p {} --test simulation\n\
         these {} steps are enough ({again}):\n{}",
        env!("CARGO_PKG_NAME"),
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
    let (first, count) = (seed.unwrap_or(0), seeds.unwrap_or(if seed.is_some() { 1 } else { crate::SEEDS }));
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
    let all: String = (0..ENOUGH_SEEDS).flat_map(steps).map(|step| format!("{step:?} ")).collect();
    for word in steps::NAMES {
        assert!(all.matches(word).count() > 20, "{word}: {}", all.matches(word).count());
    }
}
