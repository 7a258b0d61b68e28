//! Inputs made from others: a few changes each, with pieces of the corpus and words that mean something to a target.

use throughline_testkit::Random;

/// Longest input, in bytes.
const LONGEST: usize = 16 * 1024;

/// Changes to one input, at most.
const MOST_CHANGES: usize = 6;

/// Texts that readers of text give a meaning to.
const WORDS: [&str; 48] = [
    "<memory-context>",
    "</memory-context>",
    "< / MEMORY_CONTEXT",
    "‹",
    "<think>",
    "</think>",
    "```",
    "~~~",
    "- ",
    "* ",
    "1. ",
    "## ",
    "## What Is\n",
    "[sig:5] ",
    "[sig:",
    "--- ",
    "\n",
    "\r\n",
    "\r",
    "\u{2028}",
    "\u{85}",
    "\t",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "\u{301}",
    "用户",
    "👩‍💻",
    "İ",
    "ﷺ",
    "{\"",
    "\":",
    "[]",
    "{}",
    "null",
    "1e999",
    "-9223372036854775808",
    "\\u0000",
    "\\ud800",
    "yesterday",
    "last friday",
    "2026-02-30",
    "9999-12-31",
    "..",
    "/",
    "con",
    "cli:main",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
];

/// Makes inputs from a corpus. One seed gives one sequence.
pub struct Mutator {
    random: Random,
    corpus: Vec<Vec<u8>>,
}

impl Mutator {
    /// Over these inputs; an empty corpus is one with an empty input.
    pub fn new(seed: u64, mut corpus: Vec<Vec<u8>>) -> Self {
        if corpus.is_empty() {
            corpus.push(Vec::new());
        }
        Self { random: Random::new(seed), corpus }
    }

    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = self.random.one_of(&self.corpus).cloned().unwrap_or_default();
        for _ in 0..=self.random.below(MOST_CHANGES) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.below(input.len() + 1);
        match self.random.below(9) {
            0 => self.flip(input),
            1 => input.truncate(at),
            2 => drop(input.drain(self.range(input, at))),
            3 => insert(input, at, &[self.random.number() as u8]),
            4 | 5 => {
                let word = self.random.one_of(&WORDS).copied().unwrap_or_default();
                insert(input, at, word.as_bytes());
            }
            6 => {
                let other = self.random.one_of(&self.corpus).cloned().unwrap_or_default();
                let from = self.random.below(other.len() + 1);
                let piece = other[self.range(&other, from)].to_vec();
                insert(input, at, &piece);
            }
            7 => {
                let piece = input[self.range(input, at)].to_vec();
                let times = 1 + self.random.below(64);
                insert(input, at, &piece.repeat(times.min(LONGEST / (piece.len() + 1))));
            }
            _ => self.number(input),
        }
    }

    fn flip(&mut self, input: &mut [u8]) {
        let at = self.random.below(input.len());
        let by = 1 << self.random.below(8);
        if let Some(byte) = input.get_mut(at) {
            *byte ^= by;
        }
    }

    /// Another number in the place of one byte or four.
    fn number(&mut self, input: &mut [u8]) {
        const NUMBERS: [u32; 8] = [0, 1, 127, 128, 255, 65_535, 0x7fff_ffff, u32::MAX];
        let at = self.random.below(input.len());
        let bytes = self.random.one_of(&NUMBERS).copied().unwrap_or_default().to_le_bytes();
        let wide = if self.random.below(2) == 0 { 1 } else { 4 };
        for (byte, new) in input.iter_mut().skip(at).take(wide).zip(bytes) {
            *byte = new;
        }
    }

    /// A piece from `from` on, mostly a short one.
    fn range(&mut self, input: &[u8], from: usize) -> std::ops::Range<usize> {
        let left = input.len() - from;
        let most = if self.random.below(4) == 0 { left } else { left.min(24) };
        from..from + self.random.below(most + 1)
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_sequence_within_the_limit() {
        let corpus = vec![b"- a line\n".to_vec(), vec![7; 9000]];
        let inputs = |seed| {
            let mut mutator = Mutator::new(seed, corpus.clone());
            (0..500).map(|_| mutator.input()).collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        assert!(inputs(3).iter().all(|input| input.len() <= LONGEST));
    }
}
