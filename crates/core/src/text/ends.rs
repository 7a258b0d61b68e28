//! The beginning and the end of a long text.

use std::borrow::Cow;

/// At most `max` characters: the text itself, or its beginning and, three times as long, its end, which is where people
/// ask. The two are cut between words where that is possible, and stand on lines of their own.
pub fn ends(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max || text.chars().nth(max).is_none() {
        return Cow::Borrowed(text);
    }
    let first = max / 4;
    let last = max.saturating_sub(first + SEPARATOR.len());
    let first_end = text.char_indices().nth(first).map_or(text.len(), |(at, _)| at);
    let last_start = text.char_indices().rev().nth(last.saturating_sub(1)).map_or(0, |(at, _)| at);
    let (beginning, end) = (&text[..first_end], &text[last_start..]);
    let beginning = beginning.rsplit_once(char::is_whitespace).map_or(beginning, |(whole, _)| whole);
    let end = end.split_once(char::is_whitespace).map_or(end, |(_, whole)| whole);
    Cow::Owned(format!("{beginning}{SEPARATOR}{end}"))
}

const SEPARATOR: &str = "\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_of_a_long_text_are_kept() {
        let text = format!("First of all, {}. Which port is it?", "noise ".repeat(10_000));
        let kept = ends(&text, 400);
        assert!(kept.starts_with("First of all, noise") && kept.ends_with("noise . Which port is it?"), "{kept}");
        assert!(kept.chars().count() <= 400 && kept.contains("noise\n\nnoise"), "{kept}");
    }

    #[test]
    fn a_short_text_stays_as_it_is() {
        for text in ["", "Which port?", "端口号是多少？", &"é".repeat(40)] {
            assert_eq!(ends(text, 40), text);
        }
    }

    #[test]
    fn a_text_without_blanks_is_cut_between_characters() {
        let kept = ends(&"记忆".repeat(1000), 41).into_owned();
        assert_eq!(kept.chars().count(), 41);
        assert_eq!(ends("aaaa", 1).chars().count(), 3, "never less than a character of the end");
    }
}
