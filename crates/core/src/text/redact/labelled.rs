//! Values that a label announces: `SMTP_PASS=x`, `--password x`, "the password for the router is x".

use super::table::{How, Label};
use super::value::{Link, Value, is_placeholder, looks_random};
use super::{Found, Scanner, authorization, kind_of};
use crate::text::steps;

/// A name longer than this is no label.
const LONGEST_NAME: usize = 64;

/// A label in the text.
struct Place {
    label: &'static Label,
    start: usize,
    end: usize,
    /// Several words, as in prose.
    is_phrase: bool,
    /// In a script without blanks.
    is_script: bool,
}

impl Scanner<'_> {
    /// The value that the label at the beginning of this word announces.
    pub(super) fn labelled(&mut self, at: usize) -> Option<Found> {
        let place = self.label_at(at)?;
        if place.label.how == How::Cookie {
            let from = self.separated(&place).map(|(from, _)| from);
            let from = from.or_else(|| self.is_flag(&place).then_some(place.end + 1));
            self.cookie = from.map(|from| self.pairs_from(from)).or(self.cookie);
            return None;
        }
        self.tagged(&place)
            .or_else(|| self.separated(&place).and_then(|(from, link)| self.judged(&place, from, link)))
            .or_else(|| self.passed(&place))
            .or_else(|| self.told(&place))
            .or_else(|| self.beside(&place))
    }

    fn label_at(&self, at: usize) -> Option<Place> {
        let rest = &self.text[at..];
        if self.bytes[at] >= 0xe0
            && let Some((label, length)) = self.table.script(rest)
        {
            return Some(Place { label, start: at, end: at + length, is_phrase: false, is_script: true });
        }
        // Letters of a script with blanks go on with a word.
        if self.bytes[at] >= 0xc0 && self.text[..at].ends_with(|c: char| c.is_alphanumeric() && c < CJK) {
            return None;
        }
        if let Some((label, length)) = self.table.phrase(rest) {
            return Some(Place { label, start: at, end: at + length, is_phrase: true, is_script: false });
        }
        let name = &rest[..name_length(rest)?];
        let (joined, is_word) = joined(name);
        let label = self.table.label(&joined, |start| is_word.contains(&start))?;
        Some(Place { label, start: at, end: at + name.len(), is_phrase: false, is_script: false })
    }

    /// `<password>x</password>`.
    fn tagged(&self, place: &Place) -> Option<Found> {
        let is_tag = self.bytes[..place.start].last() == Some(&b'<') && self.bytes.get(place.end) == Some(&b'>');
        let from = place.end + 1;
        let value = is_tag.then(|| Value::bare(&self.text[from..]))?;
        let is_closed = self.text[from + value.text.len()..].starts_with("</");
        (is_closed && value.is_secret(place.label.how, Link::Firm, false))
            .then(|| (from..from + value.text.len(), kind_of(self.table, value.text, place.label.kind)))
    }

    /// Where the value begins that a separator parts from the label, and how it is tied to it.
    fn separated(&self, place: &Place) -> Option<(usize, Link)> {
        const MOST_CLOSING: usize = 8;
        let rest = &self.text[place.end..];
        let closing = |c: &char| matches!(c, '"' | '\'' | '`' | '\\' | ']' | '*' | ' ' | '\t');
        let closed = rest.chars().take(MOST_CLOSING).take_while(closing).count();
        let (closing, after) = rest.split_at(closed);
        let in_script = ["是：", "是:", "是", "为：", "は、", "は", "는 ", "은 ", "는", "은"];
        let script = in_script.iter().find(|word| place.is_script && after.starts_with(**word));
        let (length, link) = match after.chars().next()? {
            '=' | '＝' => (1, Link::Firm),
            ':' if !after.starts_with("://") && !after.starts_with("::") => (1, Link::Loose),
            '：' | '|' => (1, Link::Loose),
            // `<add key="Password" value="x" />`
            'v' | 'V' if closing.contains('"') && after.get(1..6).is_some_and(|word| word == "alue=") => {
                (6, Link::Firm)
            }
            ',' if closing.contains(['"', '\'']) => return self.in_call(place.end + closed + 1),
            '(' if closed == 0 => return self.in_call(place.end + 1),
            _ => (script?.chars().count(), Link::Wordy),
        };
        let length: usize = after.chars().take(length).map(char::len_utf8).sum();
        let value = after[length..].trim_start_matches([':', '=', '>']);
        let value = next_line(value.trim_start_matches([' ', '\t'])).trim_start_matches([' ', '\t']);
        let value = value.strip_prefix("**").unwrap_or(value).trim_start_matches([' ', '\t']);
        steps::count(after.len() - value.len());
        Some((self.text.len() - value.len(), link))
    }

    /// The argument of a call: a value in quotes.
    fn in_call(&self, from: usize) -> Option<(usize, Link)> {
        let value = self.text[from..].trim_start_matches(' ');
        steps::count(self.text.len() - from - value.len());
        value.starts_with(['"', '\'', '`', '\\']).then(|| (self.text.len() - value.len(), Link::Call))
    }

    /// The value at `from`, if it is a secret.
    fn judged(&self, place: &Place, from: usize, link: Link) -> Option<Found> {
        let Place { label, is_phrase, .. } = place;
        let after = &self.text[from..];
        let (range, kind) = match label.how {
            How::Header if matches!(link, Link::Loose | Link::Firm | Link::Call) => authorization(self.table, after)?,
            How::Header | How::Cookie => return None,
            How::Pair => return self.second_of_pair(from, label.kind, link == Link::Flag),
            how => {
                let value = Value::of(after);
                // `PWD=/home/…` is a folder.
                let is_folder = self.text[place.start..place.end].eq_ignore_ascii_case("pwd")
                    && value.text.starts_with(['/', '~', '.']);
                if is_folder || !value.is_secret(how, link, *is_phrase) {
                    return None;
                }
                (value.range(after), kind_of(self.table, value.text, label.kind))
            }
        };
        Some((from + range.start..from + range.end, kind))
    }

    fn is_flag(&self, place: &Place) -> bool {
        let before = self.text[..place.start].trim_end_matches('-');
        let dashes = place.start - before.len();
        (1..=2).contains(&dashes) && !before.ends_with(|c: char| c.is_alphanumeric())
    }

    /// `--password x`.
    fn passed(&self, place: &Place) -> Option<Found> {
        let blanks = self.bytes[place.end..].iter().take_while(|byte| **byte == b' ').count();
        steps::count(blanks);
        let from = place.end + blanks;
        let is_option = self.bytes.get(from) == Some(&b'-');
        (blanks > 0 && !is_option && self.is_flag(place)).then(|| self.judged(place, from, Link::Flag)).flatten()
    }

    /// "the password for the router is x": a few words and a copula, or a colon, on the same line.
    fn told(&self, place: &Place) -> Option<Found> {
        const MOST_WORDS: usize = 8;
        const FARTHEST: usize = 120;
        if place.label.how == How::Header || self.is_verb(place) {
            return None;
        }
        let rest = &self.text[place.end..];
        let rest = &rest[..rest.floor_char_boundary(FARTHEST)];
        let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
        steps::count(rest.len());
        let mut at = 0;
        for word in rest.split(' ').take(MOST_WORDS) {
            let is_first = at == 0;
            at += word.len() + 1;
            let bare = word.trim_end_matches([':', '：']);
            let announces = bare.len() < word.len() || self.is_copula(bare);
            if announces && !is_first && at <= rest.len() {
                let from = place.end + at + rest[at..].bytes().take_while(|byte| *byte == b' ').count();
                if let Some(found) = self.judged(place, from, Link::Wordy) {
                    return Some(found);
                }
            }
            if word.ends_with(['.', '?', '!', ';']) || is_first && !word.is_empty() && !word.starts_with('\'') {
                return None;
            }
        }
        None
    }

    /// "pass" is a verb too.
    fn is_verb(&self, place: &Place) -> bool {
        self.text[place.start..place.end].eq_ignore_ascii_case("pass")
    }

    fn is_copula(&self, word: &str) -> bool {
        self.table.copulas.contains(&word)
            || word.is_ascii() && self.table.copulas.contains(&&*word.to_ascii_lowercase())
    }

    /// A value with nothing but a blank between: .netrc, SQL, Dockerfile, or one that cannot be a word.
    fn beside(&self, place: &Place) -> Option<Found> {
        let from = place.end + 1;
        if self.bytes.get(place.end) != Some(&b' ') || self.bytes.get(from) == Some(&b' ') || self.is_verb(place) {
            return None;
        }
        let name = &self.text[place.start..place.end];
        let is_variable = name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
        let before = &self.text[self.text.ceil_char_boundary(place.start.saturating_sub(LONGEST_NAME))..place.start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_netrc = line.contains("login ") || line.contains("machine ");
        let is_sql = self.text[from..].starts_with('\'') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
        let link = if is_variable || is_netrc || is_sql { Link::Usual } else { Link::Beside };
        self.judged(place, from, link)
    }

    /// A short option of a program that stands before it on the line: `curl -u bob:x`.
    pub(super) fn flagged(&mut self, at: usize) -> Option<Found> {
        const FARTHEST: usize = 200;
        if self.bytes[..at].last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return None;
        }
        let rest = &self.text[at..];
        let table = self.table;
        let line = self.text[self.text.ceil_char_boundary(at.saturating_sub(FARTHEST))..at].rsplit('\n').next()?;
        for flag in table.flags.iter().filter(|flag| rest.starts_with(flag.name)) {
            let names = |word: &str| flag.programs.contains(&word.rsplit('/').next().unwrap_or(word));
            steps::count(line.len());
            if !line.split([' ', '(', '`', '$', '"']).any(names) {
                continue;
            }
            let after = &rest[flag.name.len()..];
            // `-psecret` touches its option; the others have a blank or `=`.
            let touches = flag.name == "-p" && after.starts_with(|c: char| c.is_ascii_alphanumeric());
            let value = after.trim_start_matches(' ').trim_start_matches('=');
            steps::count(after.len() - value.len());
            if value.len() == after.len() && !touches || value.starts_with('-') {
                continue;
            }
            if flag.how == How::Cookie {
                self.cookie = Some(self.pairs_from(self.text.len() - value.len()));
                return None;
            }
            let from = self.text.len() - value.len();
            if flag.how == How::Pair {
                return self.second_of_pair(from, flag.kind, true);
            }
            let value = Value::of(&self.text[from..]);
            if !value.is_secret(flag.how, Link::Flag, false) || !value.quoted && value.text.contains(':') {
                continue;
            }
            let range = value.range(&self.text[from..]);
            return Some((from + range.start..from + range.end, flag.kind));
        }
        None
    }

    /// Where the pairs of a cookie begin: the quote that opens does not end them.
    fn pairs_from(&self, from: usize) -> usize {
        from + usize::from(matches!(self.bytes.get(from), Some(b'"' | b'\'')))
    }

    /// The password of `user:password` or `user / password`.
    fn second_of_pair(&self, from: usize, kind: &'static str, is_flag: bool) -> Option<Found> {
        let after = self.text[from..].trim_start_matches(['"', '\'', '`']);
        let base = self.text.len() - after.len();
        let user = after.bytes().take(LONGEST_NAME).take_while(|byte| !b":/% \n\"'`".contains(byte)).count();
        steps::count(user);
        let parted = after.get(user..).filter(|_| user > 0)?;
        let password = match is_flag {
            true => parted.strip_prefix([':', '%'])?,
            false => parted.trim_start_matches(' ').strip_prefix([':', '/'])?.trim_start_matches(' '),
        };
        let value = Value::bare(password);
        let is_group = value.text.bytes().all(|byte| byte.is_ascii_digit());
        let hidden =
            value.text.len() < 4 || is_placeholder(value.text) || is_group || value.text.contains(super::MARKER);
        let is_secret = !hidden && (is_flag || looks_random(value.text) && !value.text.contains('/'));
        let start = base + after.len() - password.len();
        is_secret.then(|| (start..start + value.range(password).end, kind))
    }
}

/// From here on scripts are written without blanks.
const CJK: char = '\u{2e80}';

/// The length of the name at the beginning of `text`; `None` if it is too long for a label.
fn name_length(text: &str) -> Option<usize> {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let goes_on = c.is_alphanumeric() && c < CJK || c == '_' || c == '-';
        if !goes_on {
            break;
        }
        if at >= LONGEST_NAME {
            return None;
        }
        end = at + c.len_utf8();
    }
    steps::count(end + 1);
    let name = text[..end].trim_end_matches(['-', '_']);
    Some(name.len()).filter(|length| *length > 0)
}

/// A name in lower case without `-`, `_` and a number at its end, and where its words begin.
fn joined(name: &str) -> (String, Vec<usize>) {
    let (mut joined, mut words, mut previous) = (String::with_capacity(name.len()), Vec::new(), '_');
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '-');
    for c in name.chars() {
        if matches!(previous, '_' | '-') || previous.is_lowercase() && c.is_uppercase() {
            words.push(joined.len());
        }
        if !matches!(c, '_' | '-') {
            joined.extend(c.to_lowercase());
        }
        previous = c;
    }
    (joined, words)
}

/// The value may stand on the line below its label.
fn next_line(text: &str) -> &str {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text)
}
