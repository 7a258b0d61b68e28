//! Quotations inside a text: who puts words between quotation marks does not say them.

use std::ops::Range;

use crate::text::sentences::is_cjk;
use crate::text::steps;

/// Shorter quotations are names of things: "strict" mode.
const MIN_WORDS: usize = 3;

/// The longer quotations of a text, marks included. One that is not closed lasts to the end.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Marks that nobody closes from some place on, with too few words behind them: the same further on have no more.
    let mut unclosed = Vec::new();
    let mut at = 0;
    while let Some((open, mark)) = next_mark(text, at) {
        let inside = open + mark.len_utf8();
        steps::count(inside - at);
        if unclosed.contains(&mark) {
            at = inside;
            continue;
        }
        let close = closing(mark).and_then(|marks| text[inside..].char_indices().find(|(_, c)| marks.contains(c)));
        let end = close.map_or(text.len(), |(at, mark)| inside + at + mark.len_utf8());
        let is_closed = close.is_some();
        steps::count(end - inside);
        let quoted = &text[inside..close.map_or(text.len(), |(at, _)| inside + at)];
        if size(quoted) >= MIN_WORDS && (is_closed || mark != '\'') {
            found.push(open..end);
            if !is_closed {
                break;
            }
        }
        if !is_closed {
            unclosed.push(mark);
        }
        // An inch mark, or an apostrophe: the rest may still hold a quotation.
        at = if is_closed { end } else { inside };
    }
    found
}

/// What stands for a quotation that was left out.
pub const QUOTED: &str = "“…”";

/// A text with [`QUOTED`] in the place of its longer quotations.
pub fn without_quotations(text: &str) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for quote in quotations(text) {
        out.push_str(&text[at..quote.start]);
        out.push_str(QUOTED);
        at = quote.end;
    }
    out + &text[at..]
}

fn next_mark(text: &str, from: usize) -> Option<(usize, char)> {
    let begins =
        |at: usize| text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() || is_cjk(before));
    text[from..].char_indices().map(|(at, c)| (from + at, c)).find(|(at, c)| match c {
        '"' | '\'' | '‘' => begins(*at) && text[at + c.len_utf8()..].starts_with(|c: char| !c.is_whitespace()),
        c => closing(*c).is_some(),
    })
}

fn closing(mark: char) -> Option<&'static [char]> {
    Some(match mark {
        '"' => &['"', '”'],
        '\'' => &['\''],
        '‘' => &['’'],
        '“' => &['”', '"'],
        '„' => &['“', '”', '"'],
        '«' => &['»'],
        '»' => &['«'],
        '「' => &['」'],
        '『' => &['』'],
        '《' => &['》'],
        '＂' => &['＂'],
        _ => return None,
    })
}

/// About how many words; two Han characters are one.
fn size(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() || is_cjk(c)).filter(|word| !word.is_empty()).count();
    words + text.chars().filter(|c| is_cjk(*c) && c.is_alphanumeric()).count() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of a row of marks that nobody closes was looked for to the end.
    #[test]
    fn finding_quotations_is_linear() {
        for piece in ["«", "‘a", "'a ", "\"a ", "„", "「」", "tea "] {
            let text = |text: &str| without_quotations(&format!("“a” {text}"));
            steps::check_linear(piece, 20, text);
        }
    }

    #[test]
    fn long_quotations_are_found() {
        for (text, expected) in [
            ("He said \"I hate all tabs\" again", vec!["\"I hate all tabs\""]),
            ("use \"strict\" mode", vec![]),
            ("她说“我最讨厌开会了”。", vec!["“我最讨厌开会了”"]),
            ("it's what I don't like", vec![]),
            ("Er meinte „ich mag keine Tabs“ dazu", vec!["„ich mag keine Tabs“"]),
            ("a 24\" screen", vec![]),
            ("note: \"never trust anyone over", vec!["\"never trust anyone over"]),
            ("a \"b c d e 'f g h i\" j k", vec!["\"b c d e 'f g h i\""]),
            ("“a b c d 'e f g h", vec!["“a b c d 'e f g h"]),
        ] {
            let found: Vec<&str> = quotations(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "of {text:?}");
        }
    }
}
