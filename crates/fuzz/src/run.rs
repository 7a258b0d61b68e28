//! Runs a target over its corpus, and over inputs made from it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::{Mutator, Target};

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Inputs of the corpus.
    pub kept: usize,
    /// Inputs that were made.
    pub made: u64,
}

/// An input that breaks a property.
#[derive(Debug)]
pub struct Failure {
    /// The bytes.
    pub input: Vec<u8>,
    /// What is broken.
    pub why: String,
}

/// The kept inputs of a target, by name.
pub fn corpus_of(target: &Target) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    paths.into_iter().map(|path| fs::read(&path).map(|bytes| (path, bytes))).collect()
}

/// Runs a target on one input.
pub fn replay(target: &Target, input: &[u8]) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let why = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned();
        Failure { input: shortest(target, input), why }
    })
}

/// Runs a target on its corpus, then on inputs made from it for as long as `go_on` says so.
pub fn fuzz(target: &Target, seed: u64, mut go_on: impl FnMut() -> bool) -> Result<Figures, Failure> {
    let corpus: Vec<Vec<u8>> = corpus_of(target)
        .unwrap_or_else(|error| panic!("the corpus of {}: {error}", target.name))
        .into_iter()
        .map(|(_, bytes)| bytes)
        .collect();
    let mut figures = Figures { kept: corpus.len(), made: 0 };
    corpus.iter().try_for_each(|input| replay(target, input))?;
    let mut mutator = Mutator::new(seed, corpus);
    while go_on() {
        replay(target, &mutator.input())?;
        figures.made += 1;
    }
    Ok(figures)
}

/// As little of an input as still breaks a property, as far as some hundred tries find it.
fn shortest(target: &Target, input: &[u8]) -> Vec<u8> {
    let mut tries = 300;
    let breaks = |input: &[u8]| catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err();
    let mut input = input.to_vec();
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() && tries > 0 {
            tries -= 1;
            let end = (at + piece).min(input.len());
            let shorter = [&input[..at], &input[end..]].concat();
            if breaks(&shorter) { input = shorter } else { at = end }
        }
        piece /= 2;
    }
    input
}
