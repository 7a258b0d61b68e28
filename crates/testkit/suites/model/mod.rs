//! Random operations through the engine, over any store, do what plain lists of versions with an undo stack would do. How many, the
//! test program says that takes this in: `CASES` short runs, and one of `LONG_RUN` operations.
#![allow(clippy::print_stdout, reason = "says where a long run failed")]

mod acts;
mod compare;
mod memories;
mod pair;
mod plain;
mod replacing;
mod tasks;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use pair::Pair;

const OPS: usize = 40;

/// How often everything is compared.
const INTERVAL: usize = 250;

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_a_plain_map_would_do(acts in proptest::collection::vec(acts::any(), OPS)) {
        let mut pair = Pair::new();
        acts.iter().for_each(|act| pair.act(act));
        pair.finish();
    }
}

/// What was touched is compared after each operation, everything at intervals. `THROUGHLINE_SEED` chooses another run.
#[test]
fn long_run_equals_the_plain_model() {
    let seed = seed();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut pair, acts) = (Pair::new(), acts::any());
    for nth in 1..=crate::LONG_RUN {
        let now = Now { seed, nth, act: acts.new_tree(&mut runner).unwrap().current() };
        pair.act(&now.act);
        if nth % INTERVAL == 0 {
            pair.compare_all();
        }
    }
    pair.finish();
    pair.check_coverage();
}

/// Where a long run is: said if it fails there.
struct Now {
    seed: u64,
    nth: usize,
    act: acts::Act,
}

impl Drop for Now {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("THROUGHLINE_SEED={} fails at operation {}: {:?}", self.seed, self.nth, self.act);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a person repeats a failing run, or tries another")]
fn seed() -> u64 {
    std::env::var("THROUGHLINE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_260_301)
}
