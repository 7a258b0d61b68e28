//! Shapes of tokens: literal bytes and classes with counts. Matched from left to right without going back, so that one
//! attempt looks at each byte once.

use std::str::FromStr;

use crate::text::steps;

/// A run that may go on is judged by its beginning, so that a text full of beginnings takes linear time.
pub(super) const WINDOW: usize = 256;

/// One part of a shape.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    Byte(u8),
    /// So many bytes of a set of ASCII.
    Class {
        set: u128,
        min: usize,
        max: usize,
    },
    /// What comes before stays.
    Value,
}

/// The shape of a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern(Vec<Item>);

/// Where a token's value begins and ends, and where the part begins that no other token has in common with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) body: usize,
    /// As far as it was looked at.
    pub(super) end: usize,
    /// What it may go on with.
    open: u128,
}

impl Match {
    /// Where the whole token ends: asked once it is known to be one.
    pub(super) fn whole(&self, bytes: &[u8]) -> usize {
        self.end + if self.open == 0 { 0 } else { run_of(self.open, &bytes[self.end..]) }
    }
}

const LOWER: u128 = range(b'a', b'z');
const UPPER: u128 = range(b'A', b'Z');
const DIGITS: u128 = range(b'0', b'9');

/// The bytes from one to another, both ASCII and included.
const fn range(from: u8, to: u8) -> u128 {
    if from > to || to >= 128 { 0 } else { (u128::MAX >> (127 - to)) & (u128::MAX << from) }
}

const fn bit(byte: u8) -> u128 {
    if byte < 128 { 1 << byte } else { 0 }
}

fn holds(set: u128, byte: u8) -> bool {
    set & bit(byte) != 0
}

impl Pattern {
    /// The bytes that it can begin with.
    pub(super) fn firsts(&self) -> u128 {
        match self.0.first() {
            Some(Item::Byte(byte)) => bit(*byte),
            Some(Item::Class { set, .. }) => *set,
            _ => 0,
        }
    }

    /// The token at the beginning of `bytes`, as a whole word.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<Match> {
        let (mut at, mut start, mut body, mut open) = (0, 0, None, 0);
        for item in &self.0 {
            open = 0;
            match item {
                Item::Byte(byte) if bytes.get(at) == Some(byte) => at += 1,
                Item::Byte(_) => return None,
                Item::Class { set, min, max } => {
                    body = body.or(Some(at));
                    let run = run_of(*set, &bytes[at..bytes.len().min(at + WINDOW.min(*max))]);
                    at += (run >= *min).then_some(run)?;
                    open = if run == WINDOW { *set } else { 0 };
                }
                Item::Value => start = at,
            }
        }
        steps::count(at);
        let goes_on = bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        (open != 0 || !goes_on).then_some(Match { start, body: body.unwrap_or(start), end: at, open })
    }
}

fn run_of(set: u128, bytes: &[u8]) -> usize {
    let run = bytes.iter().position(|byte| !holds(set, *byte)).unwrap_or(bytes.len());
    steps::count(run + 1);
    run
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let mut items = Vec::new();
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            let set = match first {
                '>' => {
                    items.push(Item::Value);
                    continue;
                }
                '%' => {
                    let (name, after) = rest.split_at_checked(1).ok_or_else(|| format!("`{text}` ends with `%`"))?;
                    rest = after;
                    named_class(name).ok_or_else(|| format!("`%{name}` is no class"))?
                }
                '[' => {
                    let (class, after) = rest.split_once(']').ok_or_else(|| format!("`[` is open in `{text}`"))?;
                    rest = after;
                    listed_class(class.as_bytes())
                }
                literal if literal.is_ascii() => bit(literal as u8),
                other => return Err(format!("`{other}` is not ASCII")),
            };
            let (min, max);
            (min, max, rest) = counts(rest).ok_or_else(|| format!("bad count in `{text}`"))?;
            let is_byte = set.count_ones() == 1 && (min, max) == (1, 1);
            items.push(if is_byte { Item::Byte(set.trailing_zeros() as u8) } else { Item::Class { set, min, max } });
        }
        Ok(Self(items))
    }
}

fn named_class(name: &str) -> Option<u128> {
    Some(match name {
        "w" => LOWER | UPPER | DIGITS | bit(b'_') | bit(b'-'),
        "a" => LOWER | UPPER | DIGITS,
        "x" => range(b'a', b'f') | DIGITS,
        "d" => DIGITS,
        "A" => UPPER | DIGITS,
        "l" => LOWER | DIGITS,
        "b" => LOWER | UPPER | DIGITS | bit(b'+') | bit(b'/') | bit(b'=') | bit(b'_') | bit(b'-'),
        _ => return None,
    })
}

/// `a-z_`: ranges and single bytes.
fn listed_class(class: &[u8]) -> u128 {
    match class {
        [from, b'-', to, rest @ ..] => range(*from, *to) | listed_class(rest),
        [byte, rest @ ..] => bit(*byte) | listed_class(rest),
        [] => 0,
    }
}

/// `{n}`, `{n,}` or `{n,m}` at the beginning, or one; and what follows.
fn counts(text: &str) -> Option<(usize, usize, &str)> {
    let Some(open) = text.strip_prefix('{') else { return Some((1, 1, text)) };
    let (inside, rest) = open.split_once('}')?;
    let (min, max) = match inside.split_once(',') {
        None => (inside.parse().ok()?, inside.parse().ok()?),
        Some((min, "")) => (min.parse().ok()?, usize::MAX),
        Some((min, max)) => (min.parse().ok()?, max.parse().ok()?),
    };
    Some((min, max, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: Option<(usize, usize)>) {
        let found = pattern.parse::<Pattern>().unwrap().find(text.as_bytes());
        assert_eq!(found.map(|found| (found.start, found.whole(text.as_bytes()))), expected, "{pattern} on {text}");
    }

    #[test]
    fn shapes_are_found_as_whole_words() {
        check("ab%d{2}", "ab12 x", Some((0, 4)));
        check("ab%d{2}", "ab123", None);
        check("ab%d{2}", "ab1", None);
        check("ab%d{2,}.%x{1,2}", "ab1234.f0-", Some((0, 9)));
        check("code=>[a-c_]{2,}", "code=ab_c;", Some((5, 9)));
        check("x%a{3,}", &format!("x{}", "y".repeat(2000)), Some((0, 2001)));
    }

    #[test]
    fn refuses_shapes_that_it_does_not_know() {
        for pattern in ["%q", "[a", "a{x}", "ä", "%"] {
            assert!(pattern.parse::<Pattern>().is_err(), "{pattern}");
        }
    }
}
