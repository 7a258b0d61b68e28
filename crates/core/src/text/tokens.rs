//! The one token estimator: text goes in, a count or a prefix within a budget comes out.
//!
//! Every budget uses it, so that what was cut to fit is never measured differently later. A cut never lies inside a
//! character, and `estimate(cut(text, n)) <= n` holds for any text.

use unicode_normalization::char::is_combining_mark;

/// Characters of Latin text, and of any other but CJK, in a token.
const CHARS_PER_TOKEN: usize = 4;

/// The part of a prefix, in percent, that is given up to end at a line or a word.
const TIDY_PERCENT: usize = 15;

/// How far back the beginning of a cluster of joined characters is looked for; beyond that it is no real text.
const MAX_CLUSTER_CHARS: usize = 32;

/// About how many tokens a text takes: one for four characters, rounded up, and one for each CJK character.
pub fn estimate(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(CHARS_PER_TOKEN);
    }
    text.chars().fold(Count::default(), Count::plus).tokens()
}

/// The longest prefix of at most `max_tokens`, which ends at a line or a word if one ends nearby, without trailing white
/// space. A text that fits comes back as it is.
pub fn cut(text: &str, max_tokens: usize) -> &str {
    let end = longest_fit(text, max_tokens);
    if end == text.len() {
        return text;
    }
    let end = whole_cluster(text, end);
    text[..tidy_end(text, end)].trim_end()
}

#[derive(Clone, Copy, Default)]
struct Count {
    wide: usize,
    other: usize,
}

impl Count {
    fn plus(self, c: char) -> Self {
        if is_wide(c) { Self { wide: self.wide + 1, ..self } } else { Self { other: self.other + 1, ..self } }
    }

    fn tokens(self) -> usize {
        self.wide + self.other.div_ceil(CHARS_PER_TOKEN)
    }
}

/// Han, kana, Hangul, and the punctuation and full-width forms that go with them.
fn is_wide(c: char) -> bool {
    c >= '\u{1100}'
        && matches!(c,
            '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{1b000}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}')
}

/// The byte at which the budget is used up. Estimates only grow with the text, so the first excess decides.
fn longest_fit(text: &str, max_tokens: usize) -> usize {
    let mut count = Count::default();
    for (at, c) in text.char_indices() {
        count = count.plus(c);
        if count.tokens() > max_tokens {
            return at;
        }
    }
    text.len()
}

/// Moves back so that no base loses its marks, no emoji its parts, no flag its second letter and no `\r\n` its half.
fn whole_cluster(text: &str, end: usize) -> usize {
    let mut at = end;
    for _ in 0..MAX_CLUSTER_CHARS {
        if !splits_cluster(text, at) {
            return at;
        }
        at = text[..at].char_indices().next_back().map_or(0, |(before, _)| before);
    }
    end
}

fn splits_cluster(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let (Some(left), Some(right)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    let is_flag_letter = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    left == '\u{200d}'
        || extends(right)
        || (left, right) == ('\r', '\n')
        || (is_flag_letter(right)
            && before.chars().rev().take(MAX_CLUSTER_CHARS).take_while(|c| is_flag_letter(*c)).count() % 2 == 1)
}

/// Continues the character before it: marks, joiners, variation selectors, skin tones, tags.
fn extends(c: char) -> bool {
    c >= '\u{300}'
        && (is_combining_mark(c)
            || matches!(c, '\u{200c}' | '\u{200d}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}'))
}

/// The end of the last line within the last part of the prefix, else that of the last word, else `end`.
fn tidy_end(text: &str, end: usize) -> usize {
    let start = text.floor_char_boundary(end - end * TIDY_PERCENT / 100);
    let (tail, after) = (&text[start..end], &text[end..]);
    if after.starts_with(['\n', '\r']) {
        return end;
    }
    if let Some(at) = tail.rfind('\n') {
        return start + at;
    }
    let may_end_anywhere = |c: Option<char>| c.is_none_or(|c| is_wide(c) || c.is_whitespace());
    if may_end_anywhere(after.chars().next()) || may_end_anywhere(tail.chars().next_back()) {
        return end;
    }
    let boundary = tail.char_indices().rev().find(|(_, c)| is_wide(*c) || c.is_whitespace());
    boundary.map_or(end, |(at, c)| start + at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn estimates_latin_by_four_and_cjk_by_one() {
        for (text, expected) in [
            ("", 0),
            ("a", 1),
            ("four", 1),
            ("fives", 2),
            ("éééé", 1),
            ("我爱你", 3),
            ("カタカナ、", 5),
            ("한국어", 3),
            ("我用Rust", 3),
            ("我a", 2),
            ("привет", 2),
        ] {
            assert_eq!(estimate(text), expected, "of {text:?}");
        }
    }

    #[test]
    fn cuts_at_the_budget_and_tidily() {
        for (text, max, expected) in [
            ("short", 2, "short"),
            ("keeps its space ", 4, "keeps its space "),
            ("anything", 0, ""),
            ("abcdefghij", 2, "abcdefgh"),
            ("我爱你们", 2, "我爱"),
            ("我用Rust写", 3, "我用Rust"),
            ("the quick brown fox jumps over", 7, "the quick brown fox jumps"),
            ("the quick brown foxes\nab cd", 6, "the quick brown foxes"),
            ("one two    three", 2, "one two"),
            ("abc e\u{301}fgh", 1, "abc"),
            ("abce\u{301}fgh", 1, "abc"),
            ("ab👨\u{200d}👩\u{200d}👧", 1, "ab"),
            ("abc🇩🇪", 1, "abc"),
            ("🇩🇪🇩🇪🇩🇪", 1, "🇩🇪🇩🇪"),
        ] {
            assert_eq!(cut(text, max), expected, "of {text:?} to {max}");
        }
    }

    #[test]
    fn a_cluster_without_end_is_cut_all_the_same() {
        let marks = format!("a{}", "\u{301}".repeat(400));
        assert_eq!(estimate(cut(&marks, 50)), 50);
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), "[a-z \n]{0,200}", "[a-z一-二\u{301}\u{200d}🇦-🇿👨 \r\n]{0,60}"]
    }

    proptest! {
        #[test]
        fn a_cut_is_a_prefix_within_the_budget(text in any_text(), max in 0usize..60) {
            let short = cut(&text, max);
            prop_assert!(text.starts_with(short));
            prop_assert!(estimate(short) <= max);
        }

        #[test]
        fn what_fits_stays(text in any_text()) {
            prop_assert_eq!(cut(&text, estimate(&text)), &text);
            prop_assert_eq!(cut(&text, usize::MAX), &text);
        }
    }
}
