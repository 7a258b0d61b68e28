//! What stands after a label: where it begins and ends, and whether it is a secret or prose about one.

use std::ops::Range;

use super::MARKER;
use super::pattern::WINDOW;
use super::table::How;
use crate::text::steps;

/// Words that follow `password:` in prose, in schemas and in manuals.
const PROSE: &str = "required optional incorrect expired unknown missing invalid disabled enabled changed forgotten \
    protected string password passwort rejected accepted undefined default prompt option argument parameter stdin \
    nullable integer boolean hashed encrypted empty wrong correct secure insecure strong private public hidden \
    redacted secret random example authentication authorization unsafe";

/// How a value is tied to its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `=`.
    Firm,
    /// `:`, `|` and the like.
    Loose,
    /// Words: "is".
    Wordy,
    /// A blank behind an option: `--password x`.
    Flag,
    /// A bracket or a comma: `setPassword("x")`.
    Call,
    /// Nothing but a blank, where that is usual: .netrc, SQL, Dockerfile.
    Usual,
    /// Nothing but a blank.
    Beside,
}

/// What stands after a separator.
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    /// Where it begins, after a quote.
    start: usize,
    pub(super) quoted: bool,
    /// Nothing else follows on the line.
    last: bool,
}

impl<'a> Value<'a> {
    pub(super) fn of(after: &'a str) -> Self {
        Self::quoted(after).unwrap_or_else(|| Self::bare(after))
    }

    /// A value between quotes, which are not far apart.
    fn quoted(after: &'a str) -> Option<Self> {
        const FARTHEST: usize = 4 * WINDOW;
        let escaped = after.starts_with('\\');
        let body = after.strip_prefix('\\').unwrap_or(after);
        let quote = body.bytes().next().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        let (start, body) = (after.len() - body.len() + 1, &body[1..]);
        let bytes = &body.as_bytes()[..body.len().min(FARTHEST)];
        let closes = |at: &usize| bytes[*at] == quote && bytes[..*at].ends_with(b"\\") == escaped;
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        steps::count(line);
        let end = (0..line).find(closes)?;
        Some(Self { text: &body[..end - usize::from(escaped)], start, quoted: true, last: true })
    }

    pub(super) fn bare(after: &'a str) -> Self {
        let shown = &after[..after.floor_char_boundary(WINDOW)];
        let (text, rest) = shown.split_at(shown.find(ends_bare_value).unwrap_or(shown.len()));
        steps::count(text.len());
        let last = rest.trim_start_matches([' ', '\t', '\r']);
        let last = last.is_empty() || last.starts_with('\n');
        let text = text.trim_end_matches(TRAILING);
        Self { text, start: 0, quoted: false, last }
    }

    /// Where the whole value stands in the text that it was read from.
    pub(super) fn range(&self, after: &str) -> Range<usize> {
        let end = self.start + self.text.len();
        let more = if self.quoted { 0 } else { after[end..].find(ends_bare_value).unwrap_or(after.len() - end) };
        steps::count(more);
        let tail = after[end..end + more].trim_end_matches(TRAILING);
        self.start..end + tail.len()
    }

    /// Whether it is a secret; `in_words` where the label is a phrase, as in prose.
    pub(super) fn is_secret(&self, how: How, link: Link, in_words: bool) -> bool {
        const SHORTEST: usize = 6;
        const SHORTEST_RANDOM: usize = 4;
        let text = self.text;
        if text.contains(MARKER) || is_placeholder(text) {
            return false;
        }
        if how == How::Pin {
            return matches!(link, Link::Firm | Link::Loose | Link::Wordy) && is_pin(text);
        }
        let is_firm = matches!(link, Link::Firm | Link::Flag);
        let least = if is_firm && looks_random(text) { SHORTEST_RANDOM } else { SHORTEST };
        if text.chars().count() < least || !self.quoted && is_code(text) {
            return false;
        }
        match how {
            How::Password => self.is_password(link),
            How::Random if is_name(text) => false,
            How::Random if in_words || matches!(link, Link::Wordy | Link::Beside) => is_dense(text),
            How::Random if is_one_long_word(text) => is_firm || self.quoted || self.last,
            How::Random => looks_random(text) && !is_number_or_date(text),
            _ => is_dense(text),
        }
    }

    fn is_password(&self, link: Link) -> bool {
        // The longest passphrase in quotes; beyond that it is a sentence about passwords.
        const MOST_WORDS: usize = 5;
        let text = self.text;
        let is_prose = PROSE.split(' ').any(|word| word.eq_ignore_ascii_case(text)) || is_name(text);
        let in_few_words = self.quoted && text.split_whitespace().count() <= MOST_WORDS;
        let is_random = looks_random(text) && !is_other(text);
        match link {
            _ if is_prose => false,
            Link::Firm | Link::Loose if self.quoted => in_few_words,
            Link::Firm => !is_number_or_date(text) || text.len() >= 8 && !text.starts_with("0x"),
            Link::Loose => is_random && !is_number_or_date(text) || self.last && is_strange_word(text),
            Link::Wordy => is_random && !is_number_or_date(text) || in_few_words && !text.contains(' '),
            Link::Flag => in_few_words || looks_random(text) || is_strange_word(text),
            Link::Usual => in_few_words || looks_random(text),
            Link::Call => self.quoted && is_random && !text.contains(' '),
            Link::Beside => is_strong(text),
        }
    }
}

/// Ends the clause rather than the value.
const TRAILING: [char; 7] = [',', '.', ')', ']', '}', '?', '*'];

fn ends_bare_value(c: char) -> bool {
    c.is_whitespace() || c >= '\u{3000}' || matches!(c, '"' | '\'' | '`' | '&' | ';' | '<' | '>' | '\u{2019}')
}

/// A word at the end of its line that is long enough for a password.
fn is_strange_word(text: &str) -> bool {
    text.len() >= 8 && text.is_ascii()
}

/// A digit, an unusual symbol, or a long word in mixed case; never white space.
pub(super) fn looks_random(text: &str) -> bool {
    const LONG: usize = 12;
    let upper = || text.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let mixed = text.len() >= LONG && text.bytes().any(|b| b.is_ascii_lowercase()) && upper();
    let unlike_words = text.bytes().any(|b| b.is_ascii_digit() || b"!#$%^@+~|=".contains(&b));
    !text.contains(char::is_whitespace) && (unlike_words || mixed)
}

/// Three of lower case, upper case, digits and symbols in eight characters: nobody writes such a word otherwise.
fn is_strong(text: &str) -> bool {
    const SHORTEST: usize = 8;
    let has = |holds: fn(&u8) -> bool| usize::from(text.bytes().any(|byte| holds(&byte)));
    let symbols = has(|byte| b"!#$%^&@*+?".contains(byte));
    let kinds = has(u8::is_ascii_lowercase) + has(u8::is_ascii_uppercase) + has(u8::is_ascii_digit) + symbols;
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%^&@*+?_-".contains(&byte));
    text.len() >= SHORTEST && plain && kinds >= 3 && has(u8::is_ascii_digit) == 1 && !is_other(text)
}

/// Made by a machine: long hexadecimal, or a long part where letters and digits mix. After words such as "the token is"
/// nothing less will do.
pub(super) fn is_dense(text: &str) -> bool {
    const SHORTEST: usize = 16;
    const SHORTEST_PART: usize = 8;
    const SHORTEST_HEX: usize = 32;
    let count = |part: &[u8], holds: fn(&u8) -> bool| part.iter().filter(|b| holds(b)).count();
    let mixed = |part: &[u8]| count(part, u8::is_ascii_alphabetic) > 0 && count(part, u8::is_ascii_digit) > 0;
    let bytes = text.as_bytes();
    let is_hex = bytes.len() >= SHORTEST_HEX && bytes.iter().all(u8::is_ascii_hexdigit);
    let is_plain = bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_+/=~%.".contains(b));
    // A time such as `20260301T120000Z` has two letters.
    let has_both = count(bytes, u8::is_ascii_alphabetic) > 2 && count(bytes, u8::is_ascii_digit) > 1;
    let parts = || bytes.split(|b| !b.is_ascii_alphanumeric());
    let has_long_part = parts().any(|part| part.len() >= SHORTEST_PART && mixed(part));
    // `8f3k-29dk-x81m-q7ze`: short parts, most of them mixed.
    let has_mixed_parts = parts().count() >= 3 && parts().filter(|part| mixed(part)).count() * 4 >= parts().count() * 3;
    is_hex || (bytes.len() >= SHORTEST && is_plain && has_both && (has_long_part || has_mixed_parts) && !is_other(text))
}

/// Letters without an end: no word of a sentence is as long.
fn is_one_long_word(text: &str) -> bool {
    const LONGEST_WORD: usize = 16;
    text.len() >= LONGEST_WORD && text.bytes().all(|b| b.is_ascii_alphabetic())
}

fn is_number_or_date(text: &str) -> bool {
    let is_hex = text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    is_hex || text.len() < 20 && text.bytes().all(|b| b.is_ascii_digit() || b"-:.,/TZ_+".contains(&b))
}

fn is_pin(text: &str) -> bool {
    (4..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Something else that has digits in it: an address, a path, a version, the name of a file.
fn is_other(text: &str) -> bool {
    let is_path = text.contains("://") || text.starts_with(['/', '~', '.', '#', '@', '-']) || text.contains('\\');
    let is_version = text.trim_start_matches('v').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_file = (2..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_lowercase());
    let slashes = text.bytes().filter(|byte| *byte == b'/').count();
    let is_place = slashes > 0 && text.split('/').all(|part| part.bytes().filter(u8::is_ascii_digit).count() < 3);
    is_path || is_version || is_file || is_place
}

/// An expression of a program: it names a secret, and is none.
fn is_code(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_dotted = text.contains('.') && text.split('.').all(is_part);
    // A call or an index opens a bracket behind a name.
    let is_call = ['(', '['].iter().any(|open| text.split_once(*open).is_some_and(|(name, _)| is_callee(name)));
    // `_bindgen_ty_5`, `nl80211_pattern_support`
    let few_digits = text.bytes().filter(u8::is_ascii_digit).count() <= 5;
    let is_lower = |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_word = |part: &str| part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_snake = text.contains('_') && few_digits && text.split('_').all(is_lower) && text.split('_').any(is_word);
    is_snake
        || is_dotted
        || is_call
        || text.contains("::")
        || text.starts_with(['(', '[', '|', '&', '!', '?', '+', '/', ','])
}

fn is_callee(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:!@&*".contains(&byte))
}

/// The name of a secret: `user_password2`, `accessToken`, `api-key-1`.
fn is_name(text: &str) -> bool {
    const WORDS: [&str; 7] = ["password", "passwd", "token", "secret", "apikey", "credential", "passwort"];
    let lower = text.to_ascii_lowercase();
    let names = WORDS.iter().any(|word| lower.contains(word)) || lower.contains("key");
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let parted = text.contains(['_', '-', '.']) || text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    names && is_plain && (digits == 0 || digits <= 2 && parted)
}

/// A variable, a template, a call or a mask: the name of a secret, not the secret.
pub(super) fn is_placeholder(text: &str) -> bool {
    let is_name = |s: &str| s.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b':');
    let is_upper_name = |s: &str| s.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let variable =
        text.strip_prefix('$').is_some_and(|name| name.starts_with(['{', '(']) || is_upper_name(name) || is_name(name));
    let template = text.starts_with(['{', '<']) || (text.starts_with('%') && text.ends_with('%'));
    let looked_up = ["process.env.", "os.environ", "env."].iter().any(|source| text.starts_with(source));
    let call = looked_up || text.ends_with("()") || text.ends_with('(');
    let mask = text.bytes().all(|b| b"*xX.-_".contains(&b));
    let told = text.starts_with("YOUR") || text.starts_with("your-") || text.starts_with("your_");
    variable || template || call || mask || told
}
