//! What a correction names as wrong: `…, not Y`.

use crate::recall::{Terms, distinct_words};

/// What stands before that which is wrong, in lower case.
const MARKS: [&str; 9] =
    [" not ", "instead of ", "rather than ", "no longer ", "不是", "而非", " statt ", " en vez de ", " au lieu de "];

/// What follows one of these is about something else: `instead of MySQL for the orders`.
const LINKS: [&str; 8] = [" for ", " in ", " on ", " because ", " since ", " and ", " but ", " when "];

/// At most so many words are what is wrong; what follows is a reason.
const MAX_WORDS: usize = 4;

/// At most so many characters are, where words have no spaces.
const MAX_CHARS: usize = 40;

/// Whether it says `…, not Y`, and the memory has Y and one more of its words.
pub(super) fn rejects(correction: &str, memory: &str) -> bool {
    names_as_wrong(correction, &distinct_words(memory))
}

fn names_as_wrong(correction: &str, known: &[String]) -> bool {
    let is_known = |word: &&String| known.binary_search(word).is_ok();
    let said = Terms::of_query(correction);
    rejected(correction).into_iter().any(|wrong| {
        let wrong = distinct_words(wrong);
        let (of_wrong, of_others): (Vec<&String>, Vec<&String>) =
            said.as_slice().iter().partition(|word| wrong.binary_search(word).is_ok());
        let mut others = of_others.iter().filter(|word| !is_single(word));
        !of_wrong.is_empty() && of_wrong.iter().all(is_known) && others.any(is_known)
    })
}

/// A character of a script without spaces says little alone.
fn is_single(word: &str) -> bool {
    let mut chars = word.chars();
    matches!((chars.next(), chars.next()), (Some(c), None) if !c.is_ascii())
}

/// What a correction says is wrong.
fn rejected(text: &str) -> Vec<&str> {
    // The same length in bytes, so that places in one are places in the other.
    let lower = text.to_ascii_lowercase();
    let ends = |mark: &'static str| lower.match_indices(mark).take(4).map(|(at, mark)| at + mark.len());
    MARKS.into_iter().flat_map(ends).map(|at| first_words(&text[at..])).collect::<Vec<_>>()
}

/// The first words of a clause.
fn first_words(text: &str) -> &str {
    let text = text.trim_start();
    let ends = |(at, c): (usize, char)| {
        let at_gap = text[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace);
        matches!(c, '，' | '。' | '；' | '！' | '？' | '、' | '\n')
            || (at_gap && matches!(c, ',' | '.' | ';' | '!' | '?'))
    };
    let end = text.char_indices().find(|found| ends(*found)).map_or(text.len(), |(at, _)| at);
    let clause = LINKS.iter().filter_map(|link| text[..end].find(link)).min().map_or(&text[..end], |at| &text[..at]);
    let words = clause.match_indices(' ').nth(MAX_WORDS - 1).map_or(clause, |(at, _)| &clause[..at]);
    words.char_indices().nth(MAX_CHARS).map_or(words, |(at, _)| &words[..at])
}

#[cfg(test)]
mod tests {
    use crate::statements::replaces;

    #[test]
    fn a_correction_means_what_it_names_as_wrong() {
        for (correction, memory) in [
            ("Actually the standup is at 10, not 9:30.", "Our standup is at 9:30."),
            ("No, I meant whole wheat starter, not rye", "The bread has a rye starter"),
            ("Actually, use Postgres instead of MySQL for orders", "Orders are kept in MySQL"),
            ("no it's Tuesday not Wednesday for the review", "The review is every Wednesday"),
            ("不是周三，是周四开会。", "我们周三开会"),
            ("我们周四开会，不是周三。", "我们周三下午开会"),
            ("No, the staging port is 5433", "The staging port is 5432"),
        ] {
            assert!(replaces(correction, memory, true), "{correction:?} of {memory:?}");
        }
    }

    #[test]
    fn and_nothing_else() {
        for (correction, memory) in [
            ("Actually the standup is at 10, not 9:30.", "The bakery opens at 9:30."),
            ("Actually the standup is at 10, not 9:30.", "The standup is in the blue room on Mondays and Fridays"),
            ("No, I meant whole wheat starter, not rye", "Rye whisky is for guests"),
            ("Actually, that is not it", "That is how it is"),
            ("不是周三，是周四开会。", "周三去游泳"),
        ] {
            assert!(!replaces(correction, memory, true), "{correction:?} of {memory:?}");
        }
    }
}
