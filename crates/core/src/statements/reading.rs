//! A statement as it is compared: its words without grammar and fillers, each in one spelling.
//!
//! Goes in: one sentence or a few. Comes out: its words in order, those that are denied marked. Never happens: two
//! numbers, days, names or environments that become one.

use super::lexicon;
use super::numbers;
use super::phrases::{phrase_at, spelled_out};
use super::traits;
use crate::recall::analysis;
use crate::text::frequency::zipf;
use crate::text::sentences::is_cjk;

/// More words are no statement: the rest is left out.
const MAX_WORDS: usize = 120;

/// A longer word in capitals is emphasis.
const LONGEST_INITIALS: usize = 4;

/// One word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its one spelling.
    pub(super) text: String,
    /// A number, a day, a name, an environment, a relation: equal, or another.
    pub(super) is_sharp: bool,
    /// Whether it begins with a capital letter, in a language that does not write every noun so.
    pub(super) is_name: bool,
    /// Whether the statement denies it.
    pub(super) is_denied: bool,
}

/// Who a statement is about, by its pronouns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Persons {
    pub(super) first: bool,
    pub(super) third: bool,
}

/// A statement as it is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Words that carry meaning, in order.
    pub(super) words: Vec<Word>,
    /// Words that add little: left out of comparisons.
    pub(super) light: Vec<String>,
    pub(super) persons: Persons,
    /// `am` or `pm`, where one is said.
    pub(super) meridiem: Option<&'static str>,
    /// What a passive or a copula marks: the order of names may differ.
    pub(super) is_turned: bool,
    /// Where the words of the clause begin that is being read.
    clause_from: usize,
}

/// A piece of the text: a word as written, or the end of a clause.
enum Piece {
    Word(String),
    Break,
}

impl Reading {
    pub(super) fn of(text: &str) -> Self {
        let pieces = pieces(&spelled_out(text));
        let written: Vec<&str> = pieces.iter().filter_map(Piece::word).collect();
        let capitals = capitals(&written);
        let mut reading = Self::default();
        let (mut at, mut is_denied) = (0, false);
        for clause in pieces.split(|piece| matches!(piece, Piece::Break)) {
            let words: Vec<String> = clause.iter().filter_map(Piece::word).map(analysed).collect();
            reading.clause_from = reading.words.len();
            reading.clause(&words, &capitals[at..at + words.len()], &mut is_denied);
            at += words.len();
            is_denied = false;
        }
        reading.words.truncate(MAX_WORDS);
        reading.clause_from = 0;
        reading.name_trait();
        reading
    }

    /// A statement that is a trait in other words is that trait.
    fn name_trait(&mut self) {
        let words = self.words.iter().map(|word| (word.text.as_str(), word.is_denied));
        if let Some(name) = traits::trait_of(words) {
            self.words = vec![Word { text: name.to_owned(), is_sharp: false, is_name: false, is_denied: false }];
        }
    }

    fn clause(&mut self, words: &[String], capitals: &[bool], is_denied: &mut bool) {
        let plain: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut at = 0;
        while at < plain.len() {
            let (len, read) = match phrase_at(&plain[at..]) {
                Some((len, read)) => (len, read.to_vec()),
                None => (1, vec![plain[at]]),
            };
            self.note_persons(&plain[at..at + len]);
            let is_name = len == 1 && capitals[at];
            let has_number = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let has_number = has_number.filter_map(|at| plain.get(at)).any(|word| numbers::number(word).is_some());
            for word in read {
                self.word(word, is_name, has_number, is_denied);
            }
            at += len;
        }
    }

    fn note_persons(&mut self, words: &[&str]) {
        for word in words {
            self.persons.first |= matches!(
                *word,
                "i" | "me" | "my" | "mine" | "we" | "us" | "our" | "我" | "ich" | "je" | "yo" | "mi" | "mon" | "ma"
            );
            self.persons.third |= matches!(*word, "he" | "she" | "they" | "his" | "her" | "their" | "他" | "她");
            self.is_turned |= matches!(
                *word,
                "by" | "von" | "par" | "por" | "is" | "are" | "was" | "were" | "ist" | "est" | "es" | "是"
            );
            match *word {
                "am" if self.words.last().is_some_and(|word| word.is_number()) => self.meridiem = Some("am"),
                "pm" => self.meridiem = Some("pm"),
                _ => {}
            }
        }
    }

    fn word(&mut self, word: &str, is_name: bool, has_number: bool, is_denied: &mut bool) {
        if lexicon::is_denying(word) || lexicon::DENYING_HAN.contains(word) {
            self.deny_before(word);
            *is_denied = true;
            return;
        }
        if matches!(word, "am" | "pm") {
            return;
        }
        if lexicon::is_turning(word) {
            *is_denied = false;
        }
        let Some((text, is_sharp)) = read(word, is_name, has_number) else { return };
        if lexicon::is_light(&text) {
            self.light.push(text);
            return;
        }
        self.words.push(Word { text, is_sharp: is_sharp || is_name, is_name, is_denied: *is_denied });
    }

    /// What is denied may stand before the word that denies it: the verb in German and French, anything in Chinese.
    fn deny_before(&mut self, word: &str) {
        let words = &mut self.words[self.clause_from..];
        if lexicon::DENYING_HAN.contains(word) {
            words.iter_mut().for_each(|word| word.is_denied = true);
        } else if lexicon::is_denying_verb_before(word)
            && let Some(verb) = words.last_mut()
        {
            verb.is_denied = true;
        }
    }

    /// Whether it says nothing that can be compared.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Its numbers in order, without days, months and periods: 8080 to 80 is not 80 to 8080.
    pub(super) fn plain_numbers(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str()).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Its numbers, days and months, sorted.
    pub(super) fn numbers(&self) -> Vec<&str> {
        let mut numbers: Vec<&str> =
            self.words.iter().filter(|word| word.is_number()).map(|word| word.text.as_str()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

impl Word {
    /// Whether it is a number, a day or a month.
    pub(super) fn is_number(&self) -> bool {
        let digits = self.text.strip_prefix("day").or_else(|| self.text.strip_prefix("month")).unwrap_or(&self.text);
        digits.starts_with(|c: char| c.is_ascii_digit()) || numbers::is_period(&self.text)
    }
}

impl Piece {
    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Break => None,
        }
    }
}

/// The one spelling of a word, and whether it must match exactly; none if it is grammar.
fn read(word: &str, is_name: bool, has_number: bool) -> Option<(String, bool)> {
    if let Some(number) = numbers::number(word) {
        return Some((number, true));
    }
    if let Some(day) = numbers::day(word).or_else(|| numbers::month(word, has_number)) {
        return Some((day, true));
    }
    if numbers::is_calendar(word) {
        return Some((word.to_owned(), true));
    }
    let is_han = word.chars().all(is_cjk);
    if is_han && word.chars().all(lexicon::is_function_han) || lexicon::is_function(word) && !is_name {
        return None;
    }
    let stem = if is_name || is_han || numbers::is_period(word) { word.to_owned() } else { lexicon::stem(word) };
    let text = lexicon::grouped(word).or_else(|| lexicon::grouped(&stem)).map_or(stem, str::to_owned);
    let is_sharp = lexicon::is_sharp(word) || lexicon::is_sharp(&text);
    // `mails` and `mail` are one word, and so are relations.
    Some((text, is_sharp))
}

/// A word in lower case, without accents, marks of possession and signs of money.
fn analysed(word: &str) -> String {
    let lower = word.to_lowercase();
    let owner = lower.strip_suffix("'s").unwrap_or(&lower).trim_end_matches('\'');
    analysis::fold(owner)
}

/// The words of a text and where its clauses end. A hyphen, a point or a colon inside a word stays in it; a hyphen that
/// makes no word of kinship parts two words.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins = matches!(c, '.' | ':' | ',' | '\'' | '-' | '/')
            && !word.is_empty()
            && chars.peek().is_some_and(|next| next.is_alphanumeric() && !is_cjk(*next));
        let joins = joins && (!matches!(c, ',' | ':') || word.ends_with(|c: char| c.is_ascii_digit()));
        let joins = joins && (c != '\'' || chars.peek() == Some(&'s'));
        if c.is_alphanumeric() && !is_cjk(c) || joins {
            word.push(c);
            continue;
        }
        flush(&mut pieces, &mut word);
        if is_cjk(c) && c.is_alphanumeric() {
            pieces.push(Piece::Word(c.to_string()));
        } else if matches!(
            c,
            ',' | '.' | ';' | '!' | '?' | '，' | '。' | '；' | '！' | '？' | '、' | '(' | ')' | '\n' | '—'
        ) {
            pieces.push(Piece::Break);
        }
    }
    flush(&mut pieces, &mut word);
    pieces
}

fn flush(pieces: &mut Vec<Piece>, word: &mut String) {
    let whole = std::mem::take(word);
    let lower = whole.to_lowercase();
    let is_kin = lexicon::KINSHIP.iter().any(|part| lower.contains(part));
    let parts: Vec<&str> =
        if is_kin || lower.starts_with("e-") { vec![&whole] } else { whole.split(['-', '/']).collect() };
    pieces.extend(parts.into_iter().filter(|part| !part.is_empty()).map(|part| Piece::Word(part.to_owned())));
}

/// Which words are names: capitals, but for an ordinary first word, for emphasis, and in German, where every noun has one.
fn capitals(words: &[&str]) -> Vec<bool> {
    const GERMAN: &str = " ich wir ist der das und unser mein meine ";
    let is_capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    let is_german = words.iter().any(|word| GERMAN.contains(&format!(" {} ", word.to_lowercase())));
    let is_name = |(at, word): (usize, &&str)| {
        let lower = word.to_lowercase();
        let is_emphasis = word.len() > LONGEST_INITIALS && word.chars().all(char::is_uppercase);
        is_capital(word) && !is_german && lower != "i" && (at > 0 && !is_emphasis || !is_common(&lower))
    };
    words.iter().enumerate().map(is_name).collect()
}

/// Whether a word that begins a sentence is an ordinary one.
fn is_common(word: &str) -> bool {
    let plain = analysis::fold(word.strip_suffix("'s").unwrap_or(word));
    let stem = lexicon::stem(&plain);
    let is_frequent = zipf(&plain).max(zipf(&stem)) >= 3.5;
    is_frequent || lexicon::is_function(&plain) || lexicon::is_denying(&plain) || lexicon::grouped(&stem).is_some()
}
