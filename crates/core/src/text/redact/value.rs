//! What stands after a label: where it begins and ends, and whether it is a secret or prose about one.

use std::ops::Range;

use super::{MARKER, Rule, WINDOW};

/// Words that follow `password:` in prose and in schemas.
const PROSE: &str = "required optional incorrect expired unknown missing invalid disabled enabled changed forgotten \
    protected string password rejected accepted undefined";

/// What stands after a separator.
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    /// Where it begins, after a quote.
    start: usize,
    quoted: bool,
    /// Nothing else follows on the line.
    last: bool,
}

impl<'a> Value<'a> {
    pub(super) fn quoted(after: &'a str) -> Option<Self> {
        let escaped = after.starts_with('\\');
        let body = after.strip_prefix('\\').unwrap_or(after);
        let quote = body.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
        let (start, body) = (after.len() - body.len() + 1, &body[1..]);
        let closes = |at: usize| body[at..].starts_with(quote) && body[..at].ends_with('\\') == escaped;
        let (end, _) = body.char_indices().take_while(|(_, c)| *c != '\n').find(|(at, _)| closes(*at))?;
        Some(Self { text: &body[..end - usize::from(escaped)], start, quoted: true, last: true })
    }

    pub(super) fn bare(after: &'a str) -> Self {
        let shown = &after[..after.floor_char_boundary(WINDOW)];
        let (text, rest) = shown.split_at(shown.find(ends_bare_value).unwrap_or(shown.len()));
        let last = rest.trim_start_matches([' ', '\t', '\r']);
        let last = last.is_empty() || last.starts_with('\n');
        let text = text.trim_end_matches(TRAILING);
        Self { text, start: 0, quoted: false, last }
    }

    /// Where the whole value stands in the text that it was read from.
    pub(super) fn range(&self, after: &str) -> Range<usize> {
        let end = self.start + self.text.len();
        let more = if self.quoted { 0 } else { after[end..].find(ends_bare_value).unwrap_or(after.len() - end) };
        let tail = after[end..end + more].trim_end_matches(TRAILING);
        self.start..end + tail.len()
    }

    pub(super) fn is_secret(&self, rule: Rule, firm: bool, wordy: bool) -> bool {
        const SHORTEST: usize = 6;
        // The longest passphrase in quotes; beyond that it is a sentence about passwords.
        const MOST_WORDS: usize = 5;
        let text = self.text;
        if text.chars().count() < SHORTEST || text.contains(MARKER) || is_placeholder(text) {
            return false;
        }
        match rule {
            Rule::Random if wordy => is_dense(text),
            Rule::Random if is_one_long_word(text) => true,
            Rule::Random | Rule::Authorization => looks_random(text) && !is_number_or_date(text),
            Rule::Password if wordy => looks_random(text),
            Rule::Password if PROSE.split(' ').any(|word| word.eq_ignore_ascii_case(text)) => false,
            Rule::Password if self.quoted => text.split_whitespace().count() <= MOST_WORDS,
            Rule::Password => firm || looks_random(text) || (self.last && text.len() >= 8 && text.is_ascii()),
        }
    }
}

/// Ends the clause rather than the value.
const TRAILING: [char; 7] = [',', '.', ')', ']', '}', '?', '*'];

fn ends_bare_value(c: char) -> bool {
    c.is_whitespace() || c >= '\u{3000}' || matches!(c, '"' | '\'' | '`' | '&' | ';' | '<' | '>' | '\u{2019}')
}

/// A digit, an unusual symbol, or a long word in mixed case; never white space.
pub(super) fn looks_random(text: &str) -> bool {
    const LONG: usize = 12;
    let upper = || text.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let mixed = text.len() >= LONG && text.bytes().any(|b| b.is_ascii_lowercase()) && upper();
    let unlike_words = text.bytes().any(|b| b.is_ascii_digit() || b"!#$%^@+~|=".contains(&b));
    !text.contains(char::is_whitespace) && (unlike_words || mixed)
}

/// Made by a machine: long hexadecimal, or a long part where letters and digits mix. After words such as "the token is"
/// nothing less will do.
fn is_dense(text: &str) -> bool {
    const SHORTEST: usize = 16;
    const SHORTEST_PART: usize = 8;
    const SHORTEST_HEX: usize = 32;
    let count = |part: &[u8], holds: fn(&u8) -> bool| part.iter().filter(|b| holds(b)).count();
    let mixed = |part: &[u8]| count(part, u8::is_ascii_alphabetic) > 0 && count(part, u8::is_ascii_digit) > 0;
    let bytes = text.as_bytes();
    let is_hex = bytes.len() >= SHORTEST_HEX && bytes.iter().all(u8::is_ascii_hexdigit);
    let is_plain = bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_+/=~".contains(b));
    // A time such as `20260301T120000Z` has two letters.
    let has_both = count(bytes, u8::is_ascii_alphabetic) > 2 && count(bytes, u8::is_ascii_digit) > 1;
    let mut parts = bytes.split(|b| !b.is_ascii_alphanumeric());
    let has_long_part = parts.any(|part| part.len() >= SHORTEST_PART && mixed(part));
    is_hex || (bytes.len() >= SHORTEST && is_plain && has_both && has_long_part)
}

/// Letters without an end: no word of a sentence is as long.
fn is_one_long_word(text: &str) -> bool {
    const LONGEST_WORD: usize = 16;
    text.len() >= LONGEST_WORD && text.bytes().all(|b| b.is_ascii_alphabetic())
}

fn is_number_or_date(text: &str) -> bool {
    text.len() < 20 && text.bytes().all(|b| b.is_ascii_digit() || b"-:.,/TZ".contains(&b))
}

/// A variable, a template, a call or a mask: the name of a secret, not the secret.
pub(super) fn is_placeholder(text: &str) -> bool {
    let is_upper_name = |s: &str| s.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let variable = text.strip_prefix('$').is_some_and(|name| name.starts_with(['{', '(']) || is_upper_name(name));
    let template = text.starts_with(['{', '<']) || (text.starts_with('%') && text.ends_with('%'));
    let looked_up = ["process.env.", "os.environ", "env."].iter().any(|source| text.starts_with(source));
    let call = looked_up || text.ends_with("()") || text.ends_with('(');
    let mask = text.bytes().all(|b| b"*xX.-_".contains(&b));
    variable || template || call || mask
}
