//! Secrets out of text: what a person or an assistant wrote goes in, the same text with keys, tokens and passwords
//! replaced by `[redacted:kind]` comes out, before anything is stored or logged.
//!
//! A label stays, only its value goes. Redacting twice changes nothing, clean text is not copied, nothing panics. In
//! doubt a value that looks like a secret goes, while prose about passwords stays. What a secret looks like is data
//! (`rules.tsv`); the scanner is written by hand, so that no pattern is compiled at start, and looks at each byte a
//! bounded number of times.

mod labelled;
mod pattern;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::{borrow::Cow, ops::Range};

use crate::text::steps;
use pattern::WINDOW;
use table::{TABLE, Table};
use value::{is_dense, is_placeholder, looks_random};

/// Text without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed where nothing was found.
    pub text: Cow<'a, str>,
    /// What was found, each kind once, in order.
    pub kinds: Vec<&'static str>,
}

/// Replaces every secret in `text`.
pub fn redact(text: &str) -> Redacted<'_> {
    repeated(text, false)
}

/// The same, with as many line breaks as before: for text whose lines are cited.
pub fn redact_keeping_lines(text: &str) -> Redacted<'_> {
    repeated(text, true)
}

/// What is left may read differently once something is gone: looked at until nothing more is found.
fn repeated(text: &str, keeps_lines: bool) -> Redacted<'_> {
    const MOST: usize = 4;
    let mut found = replaced(text, keeps_lines);
    for _ in 1..MOST {
        if found.kinds.is_empty() {
            break;
        }
        let again = replaced(&found.text, keeps_lines);
        if again.kinds.is_empty() {
            break;
        }
        let kinds = again.kinds.clone();
        found.text = Cow::Owned(again.text.into_owned());
        found.kinds.extend(kinds.into_iter().filter(|kind| !found.kinds.contains(kind)).collect::<Vec<_>>());
    }
    found
}

fn replaced(text: &str, keeps_lines: bool) -> Redacted<'_> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), table: &TABLE, cookie: None };
    let (mut out, mut kinds, mut done, mut at) = (String::new(), Vec::new(), 0, 0);
    // A value that its label announced: what stands between them is looked at first.
    let mut ahead: Option<Found> = None;
    while at < text.len() {
        steps::count(1);
        let here = match scanner.step(at) {
            Step::Skip(to) => {
                at = to;
                continue;
            }
            Step::Nothing => None,
            Step::Found(found) if found.0.start > at => {
                if ahead.as_ref().is_none_or(|known| found.0.start < known.0.start || known.0.end <= at) {
                    ahead = Some(found);
                }
                None
            }
            Step::Found(found) => Some(found),
        };
        let announced = ahead.take_if(|(range, _)| range.start <= at);
        let Some((range, kind)) = announced.filter(|(range, _)| range.end > at).or(here) else {
            at += 1;
            continue;
        };
        out.extend([&text[done..at.max(range.start)], MARKER, kind, "]"]);
        if keeps_lines {
            out.extend(text[at.max(range.start)..range.end].matches('\n'));
        }
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        done = range.end;
        at = range.end;
    }
    if kinds.is_empty() {
        return Redacted { text: Cow::Borrowed(text), kinds };
    }
    out.push_str(&text[done..]);
    Redacted { text: Cow::Owned(out), kinds }
}

const MARKER: &str = "[redacted:";

/// Where a secret stands, and its kind.
type Found = (Range<usize>, &'static str);

/// What a byte begins.
enum Step {
    Nothing,
    /// A secret, here or further on.
    Found(Found),
    /// Text in which nothing is looked for, up to here.
    Skip(usize),
}

impl From<Option<Found>> for Step {
    fn from(found: Option<Found>) -> Self {
        found.map_or(Self::Nothing, Self::Found)
    }
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    table: &'static Table,
    /// Where the pairs of a cookie begin; they end with the line or the quote.
    cookie: Option<usize>,
}

impl Scanner<'_> {
    fn step(&mut self, at: usize) -> Step {
        let (before, here) = self.bytes.split_at(at);
        match here[0] {
            b'[' if here.starts_with(MARKER.as_bytes()) => {
                marker_end(here).map_or(Step::Nothing, |end| Step::Skip(at + end))
            }
            b'-' if here.starts_with(b"-----BEGIN ") => {
                self.private_key_end(at).map(|end| (at..end, "private-key")).into()
            }
            b'-' => self.flagged(at).into(),
            b':' if here.starts_with(b"://") => self.userinfo(at + 3).into(),
            b'=' if self.cookie.is_some_and(|from| from <= at) => self.cookie_value(at).into(),
            b'\n' | b'"' | b'\'' if self.cookie.is_some_and(|from| from <= at) => {
                self.cookie = None;
                Step::Nothing
            }
            // Only ASCII goes on with a word: Chinese text touches what it quotes.
            b if b.is_ascii_alphanumeric()
                && !before.last().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') =>
            {
                let rest = &self.text[at..];
                let known = known_token(self.table, rest).or_else(|| bearer(self.table, rest));
                let known = known.map(|(range, kind)| (at + range.start..at + range.end, kind));
                known.or_else(|| self.labelled(at)).into()
            }
            b'_' if !before.last().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') => self.labelled(at).into(),
            b if b >= 0xc0 => self.labelled(at).into(),
            _ => Step::Nothing,
        }
    }

    /// The end of a PEM private key; a torn one goes on to the end of the text.
    fn private_key_end(&self, at: usize) -> Option<usize> {
        const LONGEST_TITLE: usize = 64;
        let title = &self.text[at + "-----BEGIN ".len()..];
        let title = &title[..title.floor_char_boundary(LONGEST_TITLE)];
        title[..title.find("-----")?].contains("PRIVATE KEY").then_some(())?;
        let Some(footer) = self.text[at..].find("-----END ") else { return Some(self.text.len()) };
        steps::count(footer);
        let name = at + footer + "-----END ".len();
        let dashes = self.text[name..].find("-----").map_or(self.text.len(), |dashes| name + dashes + 5);
        steps::count(dashes - name);
        Some(dashes)
    }

    /// The password between `user:` and the last `@` before the host, since a password may hold one; or a token alone.
    fn userinfo(&self, start: usize) -> Option<Found> {
        const SHORTEST_TOKEN: usize = 16;
        let rest = &self.bytes[start..];
        let end = rest.iter().position(|b| is_authority_end(*b)).unwrap_or(rest.len());
        steps::count(end);
        let userinfo = &self.text[start..start + end];
        let userinfo = &userinfo[..userinfo.rfind('@')?];
        if userinfo.contains(MARKER) {
            return None;
        }
        match userinfo.split_once(':') {
            Some((user, password)) if password != "x-oauth-basic" => {
                let from = start + user.len() + 1;
                // `localhost:8080?mail=me@example.org` has a port.
                let is_port =
                    password.split(['?', '#']).next().is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
                let hidden =
                    is_port && password.contains(['?', '#']) || password.is_empty() || is_placeholder(password);
                (!hidden).then(|| (from..from + password.len(), "url-password"))
            }
            other => {
                let user = other.map_or(userinfo, |(user, _)| user);
                let is_token = user.len() >= SHORTEST_TOKEN && looks_random(user) && !is_placeholder(user);
                is_token.then(|| (start..start + user.len(), kind_of(self.table, user, "url-token")))
            }
        }
    }

    /// The value behind `=` in a cookie.
    fn cookie_value(&self, at: usize) -> Option<Found> {
        const SHORTEST: usize = 8;
        const LONGEST_NAME: usize = 40;
        const TELLING: [&str; 8] = ["sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "remember"];
        let rest = &self.bytes[at + 1..];
        let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b';' | b'"' | b'\'' | b',' | b'`' | b'[');
        let shown = &rest[..rest.len().min(16 * WINDOW)];
        let end = shown.iter().position(ends).unwrap_or(shown.len());
        steps::count(end);
        let value = self.text.get(at + 1..at + 1 + end)?;
        let from = self.text.ceil_char_boundary(at.saturating_sub(LONGEST_NAME));
        let name = self.text[from..at].rsplit([' ', ';', ':', '"', '\'']).next().unwrap_or_default();
        let is_telling = TELLING.iter().any(|word| name.to_ascii_lowercase().contains(word));
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        let is_secret = value.len() >= SHORTEST && !is_number && (looks_random(value) || is_telling);
        let is_secret = is_secret && !value.contains(MARKER) && !is_placeholder(value);
        is_secret.then(|| (at + 1..at + 1 + end, kind_of(self.table, value, "cookie")))
    }
}

/// The end of `[redacted:kind]`.
fn marker_end(bytes: &[u8]) -> Option<usize> {
    const LONGEST: usize = 40;
    let kind = &bytes[MARKER.len()..bytes.len().min(MARKER.len() + LONGEST)];
    let end = kind.iter().position(|byte| *byte == b']')?;
    let is_kind = kind[..end].iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    is_kind.then_some(MARKER.len() + end + 1)
}

/// A token of a known shape at the beginning of `text`.
fn known_token(table: &Table, text: &str) -> Option<Found> {
    let bytes = text.as_bytes();
    if let Some((found, kind)) = table.token(bytes) {
        return Some((found.start..found.whole(bytes), kind));
    }
    jwt_length(bytes).map(|end| (0..end, "jwt"))
}

/// The kind of a value that is one known token as a whole, else that of its label.
fn kind_of(table: &Table, value: &str, label: &'static str) -> &'static str {
    known_token(table, value).filter(|(range, _)| *range == (0..value.len())).map_or(label, |(_, kind)| kind)
}

fn run_length(bytes: &[u8], also: &[u8]) -> usize {
    let run = bytes.iter().position(|b| !b.is_ascii_alphanumeric() && !also.contains(b)).unwrap_or(bytes.len());
    steps::count(run + 1);
    run
}

/// `eyJ….….…`: header, payload, signature, and further parts where it is encrypted.
fn jwt_length(bytes: &[u8]) -> Option<usize> {
    const LONGEST_PART: usize = 16 * WINDOW;
    const MOST_PARTS: usize = 5;
    if !bytes.starts_with(b"eyJ") {
        return None;
    }
    // A header without a bound would be read again by each beginning in it.
    let mut end = Some(run_length(&bytes[..bytes.len().min(2 * WINDOW)], b"-_")).filter(|run| *run >= 10)?;
    let mut parts = 1;
    while bytes.get(end) == Some(&b'.') && parts < MOST_PARTS {
        let rest = &bytes[end + 1..];
        let part = run_length(&rest[..rest.len().min(LONGEST_PART)], b"-_");
        // Unsigned ones end with a full stop; a later one ends the sentence.
        (end, parts) = if part == 0 && parts > 2 { (end, MOST_PARTS) } else { (end + 1 + part, parts + 1) };
    }
    let end = if parts >= 3 { end + run_length(&bytes[end..], b"-_") } else { end };
    (parts >= 3 && end >= 24).then_some(end)
}

/// `Bearer` and a long token, without any label.
fn bearer(table: &Table, text: &str) -> Option<Found> {
    let (scheme, _) = text.split_at_checked(6)?;
    let (range, token) = scheme.eq_ignore_ascii_case("bearer").then(|| next_word(text, 6)).flatten()?;
    (token.len() >= 16 && looks_random(token)).then(|| (range, kind_of(table, token, "bearer")))
}

/// The credentials of an `Authorization` header, after their scheme.
fn authorization(table: &Table, after: &str) -> Option<Found> {
    const SCHEMES: [(&str, &str); 8] = [
        ("bearer", "bearer"),
        ("basic", "basic-auth"),
        ("token", "token"),
        ("apikey", "api-key"),
        ("api-key", "api-key"),
        ("key", "api-key"),
        ("bot", "token"),
        ("geniekey", "api-key"),
    ];
    let shown = &after.as_bytes()[..after.len().min(WINDOW)];
    let opened = shown.iter().position(|b| !matches!(b, b'\\' | b'"' | b'\'' | b'`')).unwrap_or(shown.len());
    let scheme_end = opened + run_length(&shown[opened..], b"-");
    let named = SCHEMES.iter().find(|(name, _)| after[opened..scheme_end].eq_ignore_ascii_case(name));
    let Some((_, kind)) = named else {
        // Without a scheme only what a machine made.
        let end = opened + run_length(&shown[opened..], b"-._~+/=");
        return is_dense(&after[opened..end])
            .then(|| (opened..end, kind_of(table, &after[opened..end], "authorization")));
    };
    let (range, token) = next_word(after, scheme_end)?;
    let prose = token.bytes().all(|b| b.is_ascii_lowercase());
    (!prose && !is_placeholder(token)).then(|| (range, kind_of(table, token, kind)))
}

/// The token after the white space at `from`; it is judged by its beginning, and goes as a whole.
fn next_word(text: &str, from: usize) -> Option<(Range<usize>, &str)> {
    let blanks = text[from..].bytes().take(WINDOW).take_while(|b| matches!(b, b' ' | b'\t')).count();
    steps::count(blanks);
    let start = from + blanks;
    if blanks == 0 {
        return None;
    }
    let rest = &text.as_bytes()[start..];
    let token = &text[start..start + run_length(rest, b"-._~+/=")];
    let token = token.trim_end_matches('.');
    (!token.is_empty()).then_some((start..start + token.len(), token))
}

fn is_authority_end(b: u8) -> bool {
    b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>')
}
