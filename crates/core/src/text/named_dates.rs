//! Dates that a text names itself ("May 15th", 5月15日), beside days that it names by their distance.
//!
//! Where the two do not agree, somebody told it later than it was said or miscounted: the date that was named is right, and none
//! is put beside the distance.

use super::sentences::{clauses, is_word_char};
use super::steps;

/// Names of months, in lower case.
const MONTHS: [(&str, u8); 50] = [
    ("january", 1),
    ("jan", 1),
    ("february", 2),
    ("feb", 2),
    ("march", 3),
    ("mar", 3),
    ("april", 4),
    ("apr", 4),
    ("may", 5),
    ("june", 6),
    ("jun", 6),
    ("july", 7),
    ("jul", 7),
    ("august", 8),
    ("aug", 8),
    ("september", 9),
    ("sept", 9),
    ("sep", 9),
    ("october", 10),
    ("oct", 10),
    ("november", 11),
    ("nov", 11),
    ("december", 12),
    ("dec", 12),
    ("januar", 1),
    ("februar", 2),
    ("märz", 3),
    ("mai", 5),
    ("juni", 6),
    ("juli", 7),
    ("oktober", 10),
    ("dezember", 12),
    ("janvier", 1),
    ("février", 2),
    ("mars", 3),
    ("avril", 4),
    ("juin", 6),
    ("juillet", 7),
    ("août", 8),
    ("septembre", 9),
    ("octobre", 10),
    ("novembre", 11),
    ("décembre", 12),
    ("enero", 1),
    ("febrero", 2),
    ("marzo", 3),
    ("abril", 4),
    ("mayo", 5),
    ("junio", 6),
    ("julio", 7),
];

/// Whether a date may stand beside the phrase at a place of a text in lower case: no other month is named with a day in its clause.
/// `date` is as it would be shown, `2026-05-06`, `2026-05`, `2026` or a range.
pub(super) fn allow(text: &str, at: usize, date: &str) -> bool {
    steps::count(text.len());
    let mut begin = 0;
    let mut clause = text;
    for part in clauses(text) {
        let start = begin;
        begin += part.len();
        if start <= at && at < begin {
            clause = part;
        }
    }
    let months: Vec<u8> = date.split(" to ").filter_map(|day| day.get(5..7)?.parse().ok()).collect();
    months.is_empty() || named(clause).iter().all(|month| months.contains(month))
}

/// The months that are named with a day.
fn named(text: &str) -> Vec<u8> {
    let words: Vec<&str> = text.split(|c: char| !is_word_char(c)).filter(|word| !word.is_empty()).collect();
    let is_day = |word: Option<&&str>| {
        let digits = word.map_or(0, |word| word.bytes().take_while(u8::is_ascii_digit).count());
        (1..=2).contains(&digits) && word.is_some_and(|word| word.len() <= digits + 2)
    };
    let before = |nth: usize| nth.checked_sub(1).and_then(|nth| words.get(nth));
    // `15 de mayo`, `the 15th of May`.
    let day_before = |nth: usize| {
        let is_joint = before(nth).is_some_and(|word| matches!(*word, "de" | "of"));
        is_day(before(nth)) || is_joint && is_day(nth.checked_sub(2).and_then(|nth| words.get(nth)))
    };
    let month = |(nth, word): (usize, &&str)| {
        let (_, month) = MONTHS.iter().find(|(name, _)| name == word)?;
        (is_day(words.get(nth + 1)) || day_before(nth)).then_some(*month)
    };
    let mut months: Vec<u8> = words.iter().enumerate().filter_map(month).collect();
    months.extend(text.match_indices('月').filter_map(|(at, _)| month_before(&text[..at])));
    months
}

/// The number that a text ends with: 5 of `定在5`.
fn month_before(text: &str) -> Option<u8> {
    let text = text.trim_end();
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    text[text.len() - digits..].parse().ok().filter(|month| (1..=12).contains(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_that_is_named_with_a_day_counts() {
        for (text, expected) in [
            ("on may 15th", vec![5]),
            ("the 15th of may", vec![5]),
            ("15. märz", vec![3]),
            ("el 3 de mayo", vec![5]),
            ("定在5月15日", vec![5]),
            ("we may leave", vec![]),
            ("in march", vec![]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn a_date_that_contradicts_the_named_one_is_left_out() {
        assert!(!allow("last month on may 15th", 0, "2023-06"));
        assert!(allow("last month on may 15th", 0, "2023-05"));
        assert!(allow("last year on may 15th", 0, "2022"));
        assert!(allow("may 1st was fine, yesterday was not", 18, "2026-04-06"));
    }
}
