//! SentencePiece's unigram model, as XLM-RoBERTa and multilingual-e5 use it: each word is split so that the scores of its
//! pieces add up to the most (Viterbi).
//!
//! The text is normalised by NFKC instead of the table that such models carry: the two differ in a few rare characters.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// What stands for a space in the vocabulary.
const SPACE: char = '\u{2581}';

/// How much worse than the worst piece an unknown character is.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The unigram model.
#[derive(Debug)]
pub(crate) struct Unigram {
    pieces: HashMap<String, (u32, f32)>,
    unknown: u32,
    /// The longest piece, in characters.
    longest: usize,
    unknown_score: f32,
}

impl Unigram {
    /// Pieces with their scores, in the order of their numbers.
    pub(crate) fn new(pieces: impl Iterator<Item = (String, f32)>, unknown: u32) -> Self {
        let pieces: HashMap<String, (u32, f32)> =
            pieces.enumerate().map(|(number, (piece, score))| (piece, (number as u32, score))).collect();
        let longest = pieces.keys().map(|piece| piece.chars().count()).max().unwrap_or(0);
        let worst = pieces.values().map(|(_, score)| *score).fold(0.0, f32::min);
        Self { pieces, unknown, longest, unknown_score: worst - UNKNOWN_PENALTY }
    }

    /// The number of a piece.
    pub(crate) fn get(&self, piece: &str) -> Option<u32> {
        self.pieces.get(piece).map(|(number, _)| *number)
    }

    /// Appends tokens until there are `limit`.
    pub(crate) fn encode(&self, text: &str, limit: usize, tokens: &mut Vec<u32>) {
        // Of a word without an end, no more is read than fits in any case.
        let most = limit.saturating_mul(self.longest.max(1));
        let mut word = String::new();
        let mut length = 0;
        for letter in text.chars().filter(|letter| !is_removed(*letter)).nfkc() {
            if letter.is_whitespace() {
                self.split(&mut word, tokens);
                length = 0;
            } else if length < most {
                if length == 0 {
                    word.push(SPACE);
                }
                word.push(letter);
                length += 1;
            }
            if tokens.len() >= limit {
                break;
            }
        }
        self.split(&mut word, tokens);
        tokens.truncate(limit);
    }

    /// Appends the pieces of a word and empties it. Unknown characters in a row are one token.
    fn split(&self, word: &mut String, tokens: &mut Vec<u32>) {
        let word = std::mem::take(word);
        let mut best = self.best(&word);
        let mut found = Vec::new();
        while let Some(step) = best.pop() {
            found.push(step.number);
            best.truncate(best.len() + 1 - step.length);
        }
        found.reverse();
        found.dedup_by(|next, before| *next == self.unknown && *before == self.unknown);
        tokens.extend(found);
    }

    /// For every character, the piece that ends with it on the best way there.
    fn best(&self, word: &str) -> Vec<Step> {
        let mut bounds: Vec<usize> = word.char_indices().map(|(start, _)| start).collect();
        let letters = bounds.len();
        bounds.push(word.len());
        let mut best: Vec<Option<Step>> = vec![None; letters];
        for start in 0..letters {
            let until_here = if start == 0 { 0.0 } else { best[start - 1].map_or(0.0, |step| step.score) };
            for length in 1..=self.longest.max(1).min(letters - start) {
                let piece = self.pieces.get(&word[bounds[start]..bounds[start + length]]);
                let (number, score) = match piece {
                    Some(piece) => *piece,
                    None if length == 1 => (self.unknown, self.unknown_score),
                    None => continue,
                };
                let step = Step { number, length, score: until_here + score };
                let end = &mut best[start + length - 1];
                if end.is_none_or(|other| step.score > other.score) {
                    *end = Some(step);
                }
            }
        }
        best.into_iter().flatten().collect()
    }
}

#[derive(Debug, Clone, Copy)]
struct Step {
    number: u32,
    /// In characters.
    length: usize,
    score: f32,
}

fn is_removed(letter: char) -> bool {
    !letter.is_whitespace() && matches!(letter.general_category(), GeneralCategory::Control | GeneralCategory::Format)
}
