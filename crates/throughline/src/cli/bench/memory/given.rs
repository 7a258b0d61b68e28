//! What was given, and how much of the evidence stands in it.

use std::collections::HashSet;

use throughline_core::context::neutralise;
use throughline_core::recall::{Terms, distinct_words};
use throughline_core::text::redact::redact;
use throughline_core::text::tokens;

/// So much of a turn's content words must stand in one line for the turn to be there in part.
const ENOUGH: f64 = 0.6;

/// What an assistant is given for a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Given {
    /// What the session begins with.
    pub(super) opening: String,
    /// What comes with the message; empty where nothing does.
    pub(super) block: String,
    /// How long the message waited for it.
    pub(super) ms: f64,
}

impl Given {
    /// The size of the block alone, in tokens.
    pub(super) fn tokens(&self) -> usize {
        tokens::estimate(&self.block)
    }

    /// Whether the message got nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.block.trim().is_empty()
    }
}

/// A text that is looked for, in the shapes in which it may be shown.
pub(super) struct Wanted {
    shapes: Vec<String>,
    words: Vec<String>,
}

impl Wanted {
    pub(super) fn new(text: &str) -> Self {
        let shown = redact(text).text.into_owned();
        let mut shapes = vec![squeezed(text), squeezed(&neutralise(&shown)), squeezed(&shown)];
        shapes.dedup();
        Self { shapes, words: content_words(text) }
    }
}

/// A text that was given, prepared for looking into it.
pub(super) struct Shown {
    whole: String,
    lines: Vec<HashSet<String>>,
}

impl Shown {
    pub(super) fn new(text: &str) -> Self {
        let lines = text.lines().map(|line| distinct_words(line).into_iter().collect());
        Self { whole: squeezed(text), lines: lines.collect() }
    }

    /// Whether the whole text stands there.
    pub(super) fn has(&self, wanted: &Wanted) -> bool {
        wanted.shapes.iter().any(|shape| stands_in(&self.whole, shape))
    }

    /// Whether most of its content words stand in one line.
    pub(super) fn has_part(&self, wanted: &Wanted) -> bool {
        let enough = ENOUGH * wanted.words.len() as f64;
        let shared = |line: &HashSet<String>| wanted.words.iter().filter(|word| line.contains(*word)).count() as f64;
        self.has(wanted) || !wanted.words.is_empty() && self.lines.iter().any(|line| shared(line) >= enough)
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text stands in another as words of its own: `hi` does not stand in `this`.
fn stands_in(text: &str, wanted: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (first, last) = (wanted.chars().next(), wanted.chars().next_back());
    !wanted.is_empty()
        && text.match_indices(wanted).any(|(at, _)| {
            let joined_before = is_letter(first) && is_letter(text[..at].chars().next_back());
            let joined_after = is_letter(last) && is_letter(text[at + wanted.len()..].chars().next());
            !joined_before && !joined_after
        })
}

/// A word that no text has: with it, the analysis of a few words drops all stop words among them.
const COMPANION: &str = "qzxqzx";

/// So many characters of a text without blanks are analysed at once, so that no term is dropped for want of room.
const PIECE: usize = 16;

/// The distinct terms of a text without stop words, by the engine's own analysis, however long the text is.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let (mut seen, mut words) = (HashSet::new(), Vec::new());
    for piece in text.split_whitespace().flat_map(pieces) {
        let terms = Terms::of_query(&format!("{piece} {COMPANION}"));
        for term in terms.as_slice().iter().filter(|term| !COMPANION.starts_with(term.as_str())) {
            if seen.insert(term.clone()) {
                words.push(term.clone());
            }
        }
    }
    words
}

/// A word, or the pieces of a text that has no blanks; two pieces share a character, so that no pair is lost.
fn pieces(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    if word.is_ascii() || letters.len() <= PIECE {
        return vec![word.to_owned()];
    }
    (0..letters.len() - 1)
        .step_by(PIECE - 1)
        .map(|at| letters[at..letters.len().min(at + PIECE)].iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, turn: &str, expected: (bool, bool)) {
        let (shown, wanted) = (Shown::new(given), Wanted::new(turn));
        assert_eq!((shown.has(&wanted), shown.has_part(&wanted)), expected, "{turn} in {given}");
    }

    #[test]
    fn a_turn_is_whole_whatever_its_white_space_and_its_brackets() {
        check("- [x 2024-01-01] I like\n  green tea.", "I  like green\ntea.", (true, true));
        check("- a (/memory-context> b", "a </memory-context> b", (true, true));
        check("- This is it", "hi", (false, false));
        check("- 我喜欢喝绿茶。", "喜欢喝绿茶", (true, true));
        check("", "", (false, false));
    }

    #[test]
    fn most_words_within_one_line_are_a_part() {
        let turn = "I visited the museum in Lisbon with Ada yesterday";
        check("- visited the museum in Lisbon yesterday", turn, (false, true));
        check("- visited the museum\n- in Lisbon\n- with Ada", turn, (false, false));
        check("- I was in the with", turn, (false, false));
        check("- 参观了里斯本的博物馆", "昨天参观了里斯本的博物馆", (false, true));
    }

    #[test]
    fn content_words_have_no_stop_words_and_no_bound() {
        assert_eq!(content_words("the of and"), [""; 0]);
        let long: String = (0..500).map(|nth| format!("word{nth} ")).collect();
        assert_eq!(content_words(&long).len(), 500);
        let chinese: String = ('一'..='龥').take(200).collect();
        assert!(content_words(&chinese).len() > 300);
    }

    #[test]
    fn silence_and_size_are_of_the_block_alone() {
        let given = Given { opening: "Ada likes tea".to_owned(), ..Given::default() };
        assert_eq!((given.is_silent(), given.tokens()), (true, 0));
    }
}
