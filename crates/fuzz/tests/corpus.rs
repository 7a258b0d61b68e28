//! Every kept input holds, and so do some thousand that are made from them. A longer run is `scripts/fuzz`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use throughline_fuzz::{Failure, TARGETS, corpus_of, fences, fuzz, named};

/// Inputs that are made for each target.
const MADE: u64 = 300;

#[test]
fn every_target_holds_on_its_corpus_and_beyond() {
    let mut broken = Vec::new();
    for target in TARGETS {
        let mut left = MADE;
        let figures = fuzz(target, 7, || {
            left = left.saturating_sub(1);
            left > 0
        });
        match figures {
            Ok(figures) => assert!(figures.kept > 3, "{} has too few kept inputs", target.name),
            Err(Failure { why, input }) => {
                broken.push(format!("{}: {why}\n  {:?}", target.name, String::from_utf8_lossy(&input)));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The corpus stays small enough for the repository.
#[test]
fn the_corpus_takes_less_than_a_megabyte() {
    let size: usize = TARGETS.iter().flat_map(|target| corpus_of(target).unwrap()).map(|(_, bytes)| bytes.len()).sum();
    assert!(size < 1_000_000, "{size} bytes");
}

/// A planted bug: escaping that knows one spelling of the tag, or none.
#[test]
fn a_fence_that_is_not_escaped_is_reported() {
    let corpus: Vec<Vec<u8>> =
        corpus_of(named("fences").unwrap()).unwrap().into_iter().map(|(_, bytes)| bytes).collect();
    let bugs: [fn(&str) -> String; 2] = [str::to_owned, |text| text.replace("</memory-context>", "‹/memory-context>")];
    for escape in bugs {
        let is_noticed = |input: &Vec<u8>| {
            let text = String::from_utf8_lossy(input).into_owned();
            std::panic::catch_unwind(|| fences::holds(&text, escape)).is_err()
        };
        assert!(corpus.iter().any(is_noticed), "no kept input breaks it");
    }
}
