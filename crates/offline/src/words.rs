//! The words of a text, to tell whether two texts say the same.
//!
//! In doubt two texts differ: taking a change of mind for a repetition would lose it, while a repetition costs a line.

use std::hash::{DefaultHasher, Hash, Hasher};

use throughline_core::recall::Terms;

use throughline_core::text::sentences::is_cjk;

/// Texts that share this much of their words say the same.
const NEAR: f64 = 0.8;

/// A text whose words are to this part in another one adds nothing to it.
const COVERED: f64 = 0.9;

/// The words that carry meaning, hashed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// In the order of the text, each once.
    ordered: Vec<u64>,
    /// The same, sorted.
    sorted: Vec<u64>,
    /// Those with a digit, sorted.
    numbers: Vec<u64>,
    negated: bool,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let terms = Terms::of_query(text);
        let all_weak = terms.as_slice().iter().all(|term| is_weak(term));
        let kept = || terms.as_slice().iter().filter(|term| all_weak || !is_weak(term));
        let ordered: Vec<u64> = kept().map(|term| hash(term)).collect();
        let mut numbers: Vec<u64> =
            kept().filter(|term| term.contains(|c: char| c.is_numeric())).map(|term| hash(term)).collect();
        let mut sorted = ordered.clone();
        sorted.sort_unstable();
        numbers.sort_unstable();
        Self { ordered, sorted, numbers, negated: is_negated(text) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.ordered.len()
    }

    /// How many words both have.
    pub(super) fn shared(&self, other: &Self) -> usize {
        self.ordered.iter().filter(|word| other.has(word)).count()
    }

    /// Whether both have a word that is no number.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.ordered.iter().any(|word| self.numbers.binary_search(word).is_err() && other.has(word))
    }

    fn has(&self, word: &u64) -> bool {
        self.sorted.binary_search(word).is_ok()
    }

    /// The share of all words of both that both have.
    pub(super) fn overlap(&self, other: &Self) -> f64 {
        let shared = self.shared(other);
        let all = self.len() + other.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    /// The share of these words that the other has too.
    pub(super) fn share_in(&self, other: &Self) -> f64 {
        if self.is_empty() { 0.0 } else { self.shared(other) as f64 / self.len() as f64 }
    }

    /// Whether this says nothing that the other does not.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        self.negated == other.negated
            && self.numbers.iter().all(|number| other.has(number))
            && (self.share_in(other) >= COVERED || (self.overlap(other) >= NEAR && self.numbers == other.numbers))
            && self.in_order_of(other)
    }

    /// Tabs over spaces is not spaces over tabs.
    fn in_order_of(&self, other: &Self) -> bool {
        let mine = self.ordered.iter().filter(|word| other.has(word));
        let theirs = other.ordered.iter().filter(|word| self.has(word));
        mine.eq(theirs)
    }
}

/// A CJK character alone, or beside a pronoun: who speaks differs between a statement and a note about it.
fn is_weak(term: &str) -> bool {
    let mut chars = term.chars();
    chars.clone().all(is_cjk) && (chars.clone().count() == 1 || chars.any(|c| "我你您他她它们們".contains(c)))
}

fn hash(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

fn is_negated(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let negative = |word: &str| {
        let word = word.trim_matches('\'');
        word.ends_with("n't")
            || matches!(
                word,
                "not"
                    | "no"
                    | "never"
                    | "without"
                    | "stop"
                    | "hate"
                    | "dislike"
                    | "cannot"
                    | "nicht"
                    | "kein"
                    | "keine"
                    | "keinen"
                    | "nie"
                    | "nunca"
                    | "sin"
                    | "pas"
                    | "jamais"
                    | "sans"
            )
    };
    lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(negative)
        || ["不", "没", "沒", "别", "別", "讨厌", "ない", "ません"].into_iter().any(|mark| lower.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(new: &str, old: &str, expected: bool) {
        assert_eq!(Words::of(new).repeats(&Words::of(old)), expected, "{new:?} in {old:?}");
    }

    #[test]
    fn knows_a_repetition() {
        check("I prefer tabs over spaces.", "The person prefers tabs over spaces", true);
        check("My name is Ada", "my name is Ada!", true);
        check("我喜欢喝绿茶", "用户喜欢喝绿茶。", true);
        check("Always run the tests before a commit", "Always run all the tests before every commit", true);
    }

    #[test]
    fn a_change_is_no_repetition() {
        check("I prefer spaces over tabs", "I prefer tabs over spaces", false);
        check("I don't like tea", "I like tea", false);
        check("我不喜欢喝茶", "我喜欢喝茶", false);
        check(
            "The staging database of the shop listens on port 5433",
            "The staging database of the shop listens on port 5432",
            false,
        );
        check("My name is Ada and I live in London", "My name is Ada", false);
        check("", "", false);
    }
}
