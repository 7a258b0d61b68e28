//! Whether two facts say the same. In doubt they differ: a repetition costs a line, a wrong merge costs a fact.

use crate::recall::{Terms, distinct_words, overlap};

/// Facts that share this much of their words may say the same.
const ALIKE: f64 = 0.9;

/// Words that turn a sentence around; the `t` is what is left of `don't`.
const NEGATIONS: [&str; 16] = [
    "not", "no", "never", "without", "none", "t", "cannot", "nicht", "kein", "keine", "pas", "不", "没", "别", "无",
    "未",
];

/// Whether two facts say the same: nearly all words shared in the same order, the same numbers, and as often a "not".
pub fn says_the_same(a: &str, b: &str) -> bool {
    let (one, other) = (distinct_words(a), distinct_words(b));
    overlap(&one, &other) >= ALIKE && negations(a) == negations(b) && numbers(a) == numbers(b) && is_in_order(a, b)
}

/// Tabs over spaces is not spaces over tabs.
fn is_in_order(a: &str, b: &str) -> bool {
    let (one, other) = (Terms::of_query(a), Terms::of_query(b));
    let shared = |mine: &Terms, theirs: &Terms| -> Vec<String> {
        mine.as_slice().iter().filter(|word| theirs.as_slice().contains(word)).cloned().collect()
    };
    shared(&one, &other) == shared(&other, &one)
}

/// How often a text says no.
pub(crate) fn negations(text: &str) -> usize {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| NEGATIONS.contains(word)).count();
    let cjk = lower.chars().filter(|c| NEGATIONS.contains(&c.to_string().as_str()) && !c.is_ascii()).count();
    words + cjk
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_numeric()).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_repetitions_are_the_same() {
        for (a, b, expected) in [
            ("Prefers tea over coffee", "prefers  TEA over coffee.", true),
            ("Uses Rust 1.95", "Uses Rust 1.96", false),
            ("The API is stable", "The API is not stable", false),
            ("我喜欢喝茶", "我喜欢喝茶。", true),
            ("我喜欢喝茶", "我不喜欢喝茶", false),
            ("", "", false),
            ("call Ann", "call Bob", false),
            ("Prefers tabs over spaces", "Prefers spaces over tabs", false),
        ] {
            assert_eq!(says_the_same(a, b), expected, "{a} / {b}");
        }
    }
}
