//! Whether a sentence says a statement.

use std::collections::HashSet;

use crate::recall::analysis::stems;
use crate::statements;

/// A sentence that has this share of a statement's words says it.
const SAYS: f64 = 0.8;

/// Where it is not known that a sentence is the statement's source, the statement must have this share of its words, too.
const REPEATS: f64 = 0.6;

/// Of so few words, all must be there.
const FEW: usize = 4;

/// Fewer words are in too many sentences.
const FEWEST: usize = 2;

/// A statement without its punctuation, case and inflection, its words in order: what its digest is made of. Nothing where
/// it has too few words to be told from others.
pub fn normalised(statement: &str) -> Option<String> {
    let words: Vec<String> = stems(statement).into_iter().map(|(stem, _)| stem).collect();
    (words.len() >= FEWEST).then(|| words.join(" "))
}

/// The texts whose digests a statement is known by once it is taken back: its normalised words, and its one reading, which
/// other words may have, too. None where it has too few words.
pub fn digested(statement: &str) -> Vec<String> {
    let Some(words) = normalised(statement) else { return Vec::new() };
    let reading = statements::canonical(statement).map(|reading| format!("reading: {reading}"));
    std::iter::once(words).chain(reading).collect()
}

/// The words of a text that carry its meaning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words(HashSet<String>);

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let stems = stems(text);
        let content: HashSet<String> =
            stems.iter().filter(|(_, is_stop)| !is_stop).map(|(stem, _)| stem.clone()).collect();
        // "To be or not to be" is nothing but stop words.
        Self(if content.is_empty() { stems.into_iter().map(|(stem, _)| stem).collect() } else { content })
    }

    fn shared(&self, other: &Self) -> usize {
        self.0.iter().filter(|word| other.0.contains(*word)).count()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether this sentence has every word of a statement.
    pub(super) fn has_all_of(&self, statement: &Self) -> bool {
        self.shared(statement) == statement.0.len()
    }

    /// Whether this sentence has the words of a statement.
    pub(crate) fn says(&self, statement: &Self) -> bool {
        let (all, shared) = (statement.0.len(), self.shared(statement));
        let enough = if all <= FEW { shared == all } else { shared as f64 >= SAYS * all as f64 };
        all > 0 && enough
    }

    /// Whether this sentence says a statement and little else.
    pub(crate) fn repeats(&self, statement: &Self) -> bool {
        self.says(statement) && statement.shared(self) as f64 >= REPEATS * self.0.len() as f64
    }

    /// Whether both have a word.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.shared(other) > 0
    }
}

/// Whether a sentence has the words of a statement.
pub fn says(sentence: &str, statement: &str) -> bool {
    Words::of(sentence).says(&Words::of(statement))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_it_has_the_words_of() {
        for (sentence, statement, expected) in [
            ("By the way, I live in Lisbon.", "I live in Lisbon", true),
            ("I live in Porto now.", "I live in Lisbon", false),
            ("The standup is at 10:00.", "The standup is at 9:30", false),
            ("我住在里斯本。", "我住在里斯本", true),
        ] {
            assert_eq!(says(sentence, statement), expected, "{sentence} / {statement}");
        }
        let long = Words::of("Ana, who lives in Lisbon with three dogs and a parrot, sends her regards");
        assert!(!long.repeats(&Words::of("Ana lives in Lisbon")), "it says more than that");
    }

    #[test]
    fn what_is_written_differently_is_normalised() {
        assert_eq!(normalised("I live in LISBON!"), normalised("i live  in Lisbon"));
        assert_ne!(normalised("tabs over spaces"), normalised("spaces over tabs"));
        assert_eq!(normalised("Yes."), None);
    }
}
