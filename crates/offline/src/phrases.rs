//! Lists of phrases, found by their first character: a longer list costs no time at places where none begins.

use std::collections::HashMap;

use super::lexicon::{fold, prefix};
use throughline_core::text::sentences::is_word_char;

/// Phrases in lower case.
#[derive(Debug)]
pub(super) struct Phrases {
    by_first: HashMap<char, Vec<&'static str>>,
}

impl Phrases {
    /// From a list between bars.
    pub(super) fn new(list: &'static str) -> Self {
        Self::of(list.split('|'))
    }

    /// From phrases one by one.
    pub(super) fn of(list: impl Iterator<Item = &'static str>) -> Self {
        let mut by_first: HashMap<char, Vec<&'static str>> = HashMap::new();
        for phrase in list.map(str::trim_start) {
            if let Some(first) = phrase.chars().next() {
                by_first.entry(first).or_default().push(phrase);
            }
        }
        Self { by_first }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.by_first.is_empty()
    }

    /// The ends of the phrases that the text begins with.
    pub(super) fn ends<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        let first = text.chars().next().map(fold);
        let phrases = first.and_then(|first| self.by_first.get(&first)).into_iter().flatten();
        phrases.filter_map(move |phrase| prefix(text, phrase))
    }

    /// Whether the text begins with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.ends(text).next().is_some()
    }

    /// What follows the longest of them that the text begins with.
    pub(super) fn after<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.ends(text).max().map(|end| text[end..].trim_start())
    }

    /// Whether one of them stands somewhere in the text, as whole words.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let mut before = ' ';
        text.char_indices().any(|(at, c)| {
            let starts = !is_word_char(before) || !is_word_char(c);
            before = c;
            starts && self.begin(&text[at..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_whole_words_anywhere() {
        let phrases = Phrases::new("if i|e.g|如果|, not");
        for (text, expected) in [
            ("as IF I knew", true),
            ("as if in doubt", false),
            ("see, e.g. this", true),
            ("motif i", false),
            ("我如果", true),
            ("a, not b", true),
            ("", false),
        ] {
            assert_eq!(phrases.are_in(text), expected, "in {text:?}");
        }
    }

    #[test]
    fn the_longest_is_cut_off() {
        let phrases = Phrases::new("remember|remember that");
        assert_eq!(phrases.after("Remember that I left"), Some("I left"));
        assert_eq!(phrases.after("Remembering"), None);
        assert!(Phrases::new("").is_empty());
    }
}
