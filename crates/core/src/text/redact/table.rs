//! The rules of `rules.tsv`, read once: which shapes tokens have, and which words announce a secret.

use std::sync::LazyLock;

use super::pattern::{Match, Pattern};

const RULES: &str = include_str!("rules.tsv");

/// How the value behind a label is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// May be a plain word.
    Password,
    /// Looks made by a machine.
    Random,
    /// Long, letters and digits mixed.
    Dense,
    /// A few digits.
    Pin,
    /// A scheme and credentials.
    Header,
    /// `name=value; name=value`.
    Cookie,
    /// `user:password`.
    Pair,
}

impl How {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "password" => Self::Password,
            "random" => Self::Random,
            "dense" => Self::Dense,
            "pin" => Self::Pin,
            "header" => Self::Header,
            "cookie" => Self::Cookie,
            "pair" => Self::Pair,
            _ => return None,
        })
    }
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) form: &'static str,
    pub(super) kind: &'static str,
    pub(super) how: &'static str,
    pub(super) pattern: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers, and checked by the tests"))]
    pub(super) source: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the tests"))]
    pub(super) example: &'static str,
}

/// The lines of the table.
pub(super) fn rules() -> impl Iterator<Item = Rule> {
    RULES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let (form, kind, how, pattern) = (next()?, next()?, next()?, next()?);
        Some(Rule { form, kind, how, pattern, source: next()?, example: next()? })
    })
}

/// A token that is known by its shape.
pub(super) struct Token {
    pub(super) kind: &'static str,
    pub(super) pattern: Pattern,
    is_dense: bool,
}

/// A word that announces a secret.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) kind: &'static str,
    pub(super) how: How,
    /// In lower case: joined for the end of a name, with blanks for a phrase.
    words: String,
    /// Only as a whole word of the name.
    is_whole: bool,
}

/// A short option of some programs.
pub(super) struct Flag {
    pub(super) kind: &'static str,
    pub(super) how: How,
    pub(super) name: &'static str,
    pub(super) programs: Vec<&'static str>,
}

/// Everything that the scanner looks for.
pub(super) struct Table {
    tokens: Vec<Token>,
    /// Which tokens begin with a byte.
    by_first: Vec<Vec<u16>>,
    labels: Vec<Label>,
    /// Which labels end with a byte.
    by_last: Vec<Vec<u16>>,
    phrases: Vec<Label>,
    scripts: Vec<Label>,
    pub(super) flags: Vec<Flag>,
    pub(super) copulas: Vec<&'static str>,
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(Table::read);

impl Table {
    fn read() -> Self {
        let mut table = Self {
            tokens: Vec::new(),
            by_first: vec![Vec::new(); 128],
            labels: Vec::new(),
            by_last: vec![Vec::new(); 256],
            phrases: Vec::new(),
            scripts: Vec::new(),
            flags: Vec::new(),
            copulas: Vec::new(),
        };
        for rule in rules() {
            match rule.form {
                "token" => table.add_tokens(&rule),
                "label" => table.add_labels(&rule),
                "script" => table.add_scripts(&rule),
                "flag" => table.add_flags(&rule),
                "copula" => table.copulas.extend(rule.pattern.split(' ')),
                _ => {}
            }
        }
        table
    }

    fn add_tokens(&mut self, rule: &Rule) {
        for pattern in rule.pattern.split(' ').filter_map(|pattern| pattern.parse::<Pattern>().ok()) {
            let nth = self.tokens.len() as u16;
            let mut firsts = pattern.firsts();
            while firsts != 0 {
                self.by_first[firsts.trailing_zeros() as usize].push(nth);
                firsts &= firsts - 1;
            }
            self.tokens.push(Token { kind: rule.kind, pattern, is_dense: rule.how == "dense" });
        }
    }

    fn add_labels(&mut self, rule: &Rule) {
        let Some(how) = How::named(rule.how) else { return };
        for words in rule.pattern.split(' ') {
            let (words, is_whole) = words.strip_prefix('=').map_or((words, false), |words| (words, true));
            let joined = words.replace(['_', '-'], "");
            if words.contains('_') {
                self.phrases.push(Label { kind: rule.kind, how, words: words.replace('_', " "), is_whole });
            }
            let Some(last) = joined.bytes().last() else { continue };
            self.by_last[usize::from(last)].push(self.labels.len() as u16);
            self.labels.push(Label { kind: rule.kind, how, words: joined, is_whole });
        }
    }

    fn add_scripts(&mut self, rule: &Rule) {
        let Some(how) = How::named(rule.how) else { return };
        let label = |words: &str| Label { kind: rule.kind, how, words: words.to_owned(), is_whole: false };
        self.scripts.extend(rule.pattern.split(' ').map(label));
    }

    fn add_flags(&mut self, rule: &Rule) {
        let (Some(how), Some((names, programs))) = (How::named(rule.how), rule.pattern.split_once(" < ")) else {
            return;
        };
        let flag = |name| Flag { kind: rule.kind, how, name, programs: programs.split(' ').collect() };
        self.flags.extend(names.split(' ').map(flag));
    }

    /// The token at the beginning of `bytes`, and its kind.
    pub(super) fn token(&self, bytes: &[u8]) -> Option<(Match, &'static str)> {
        let first = usize::from(*bytes.first()?);
        self.by_first.get(first)?.iter().find_map(|nth| {
            let token = &self.tokens[usize::from(*nth)];
            let found = token.pattern.find(bytes).filter(|found| token.is_likely(&bytes[found.body..found.end]))?;
            Some((found, token.kind))
        })
    }

    /// The label that a name ends with. `name` is in lower case without `-` and `_`; `begins_word` says whether a word of
    /// the name begins at one of its bytes.
    pub(super) fn label(&self, name: &str, begins_word: impl Fn(usize) -> bool) -> Option<&Label> {
        let last = name.bytes().last()?;
        self.by_last[usize::from(last)].iter().map(|nth| &self.labels[usize::from(*nth)]).find(|label| {
            let start = name.len().checked_sub(label.words.len());
            start.is_some_and(|start| name.ends_with(&label.words) && (!label.is_whole || begins_word(start)))
        })
    }

    /// The label of several words at the beginning of `text`, and its length.
    pub(super) fn phrase(&self, text: &str) -> Option<(&Label, usize)> {
        let first = text.chars().next()?.to_lowercase().next()?;
        self.phrases.iter().filter(|label| label.words.starts_with(first)).find_map(|label| {
            let mut given = text.char_indices();
            let mut lower = label.words.chars();
            loop {
                let (next, expected) = (given.next(), lower.next());
                match (next, expected) {
                    (Some((_, c)), Some(expected)) if c == expected || c.to_lowercase().eq([expected]) => {}
                    (Some((_, '’')), Some('\'')) => {}
                    (next, None) => {
                        let end = next.map_or(text.len(), |(at, _)| at);
                        return (!next.is_some_and(|(_, c)| c.is_alphanumeric())).then_some((label, end));
                    }
                    _ => return None,
                }
            }
        })
    }

    /// The label of a script without blanks at the beginning of `text`, and its length.
    pub(super) fn script(&self, text: &str) -> Option<(&Label, usize)> {
        let label = self.scripts.iter().find(|label| text.starts_with(&label.words))?;
        Some((label, label.words.len()))
    }

    /// A token of every shape, for the tests.
    #[cfg(test)]
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }
}

impl Token {
    /// Whether no person writes this: words in lower case have neither digits nor capitals.
    fn is_likely(&self, body: &[u8]) -> bool {
        if self.is_dense {
            // `sk-learn-…` and other words with hyphens have no digit or no long part.
            const LONG: usize = 10;
            let has_long = body.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| part.len() >= LONG);
            return has_long && body.iter().any(u8::is_ascii_digit);
        }
        body.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    }
}
