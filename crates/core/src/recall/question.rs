//! What a message asks: its parts, the words of each and how much they say, the times it names, and whose words it wants.
//!
//! Every sentence is a question of its own, and the message as a whole is another; a memory counts for the one that it
//! fits best. The last sentences weigh most: that is where people ask.

use std::collections::{HashMap, HashSet};

use jiff::Zoned;

use crate::text::{frequency, sentences::sentences};

use super::analysis;
use super::past;
use super::short_forms;
use super::times::{self, TimeRange};

/// Words of one message that are looked for: those that say most. A set of them is the bits of a `u128`.
pub const MAX_WORDS: usize = 128;

/// Sentences of one message, the last ones.
const MAX_SENTENCES: usize = 24;

/// A sentence that says less than this is read together with the one before it.
const LEAST_BITS: f32 = 24.0;

/// A message that says less than this says little: about two everyday words.
const LITTLE_BITS: f32 = 12.0;

/// How much less a sentence counts than the whole message, for every sentence behind it, and at most.
const OF_SENTENCE: f32 = 0.6;
const DISCOUNT: f32 = 0.1;
const MOST_DISCOUNT: f32 = 0.8;

/// What the most common words say: so much of a word's information does not count.
const COMMON_BITS: f32 = 6.0;
const LEAST_WEIGHT: f32 = 0.5;

/// A set of the words of a question.
pub(super) type WordSet = u128;

/// A word of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// As in the index; of a word with short forms, the one that stands for all of them.
    pub term: String,
    /// How much it says, in bits beyond a common word.
    pub weight: f32,
}

/// A sentence of the message, or all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its words.
    pub words: WordSet,
    /// Words that stand side by side in it.
    pub pairs: Vec<(u8, u8)>,
    /// How much less it counts, because more was said after it.
    pub discount: f32,
}

/// A message, read as a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its words, at most [`MAX_WORDS`].
    pub words: Vec<Word>,
    /// What is asked: the message as a whole, then each sentence.
    pub parts: Vec<Part>,
    /// The times that it names.
    pub times: Vec<TimeRange>,
    /// Whether it asks for what an assistant said.
    pub asks_assistant: bool,
    /// Whether it asks about what was.
    pub asks_past: bool,
    /// Whether it asks something at all.
    pub is_asking: bool,
    /// Whether it asks about the person, or what is theirs.
    pub is_personal: bool,
    /// Every word as it is written, folded: names are looked for among them.
    spoken: HashSet<String>,
    /// The sentences whose meaning is looked for.
    pub texts: Vec<String>,
}

impl Question {
    /// Reads a message. `now` gives the time zone, and what `yesterday` counts from.
    pub fn of(message: &str, now: &Zoned) -> Self {
        let asks_past = past::is_asked_about(message, now.timestamp());
        let mut times = times::named(message, now);
        // "On Friday" is a day of every week and "tonight" is to come, unless the message asks about what was.
        let is_over = |time: &TimeRange| !time.is_assumed && time.until <= now.timestamp();
        times.retain(|time| asks_past || is_over(time));
        let mut text = without_times(message, &times);
        if analysis::stems(&text).is_empty() {
            // A date alone is looked for as it is written, too.
            text = message.to_owned();
        }
        let sentences = joined(&sentences(&text));
        let read: Vec<Vec<(String, bool)>> = sentences.iter().map(|sentence| read(sentence)).collect();
        let has_content = read.iter().flatten().any(|(_, is_stop)| !is_stop);
        let counts = |is_stop: bool| !is_stop || !has_content;
        let words = chosen(&read, counts);
        let parts = parts(&read, &places(&words));
        Self {
            parts,
            asks_assistant: asks_assistant(message),
            is_asking: is_asking(message),
            is_personal: is_asking(message) && has_any(message, OWN) && !has_any(message, HOW_TO),
            asks_past,
            spoken: analysis::index_text(message).split(' ').map(str::to_owned).collect(),
            texts: texts(message, &sentences),
            words,
            times,
        }
    }

    /// What there is to look for in the index.
    pub fn terms(&self) -> Vec<String> {
        self.words.iter().flat_map(|word| forms(&word.term)).map(str::to_owned).collect()
    }

    /// Every term that is looked for, short forms included, and the place of its word.
    pub(super) fn places(&self) -> HashMap<&str, usize> {
        places(&self.words)
    }

    /// The places of its words in a text.
    pub fn words_in(&self, text: &str) -> HashSet<usize> {
        let places = self.places();
        analysis::stems(text).iter().filter_map(|(stem, _)| places.get(stem.as_str()).copied()).collect()
    }

    /// Whether there is no word to look for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it says little, times aside: `what happened on May 5?`, `thanks!`, `run it again`.
    pub fn says_little(&self) -> bool {
        self.parts.first().is_none_or(|whole| self.weight(whole.words) < LITTLE_BITS)
    }

    /// Whether the message says a name.
    pub fn names(&self, name: &str) -> bool {
        let name = analysis::index_text(name);
        !name.is_empty() && name.split(' ').all(|word| self.spoken.contains(word))
    }

    /// How much some of its words say together.
    pub fn weight(&self, words: WordSet) -> f32 {
        bits(words).map(|at| self.words[at].weight).sum()
    }
}

/// The stems of a sentence; words that have short forms are read as one.
fn read(sentence: &str) -> Vec<(String, bool)> {
    let standard = |(stem, is_stop): (String, bool)| (short_forms::standard(&stem).to_owned(), is_stop);
    analysis::stems(sentence).into_iter().map(standard).collect()
}

fn places(words: &[Word]) -> HashMap<&str, usize> {
    words.iter().enumerate().flat_map(|(at, word)| forms(&word.term).map(move |form| (form, at))).collect()
}

/// A term and its other forms.
fn forms(term: &str) -> impl Iterator<Item = &str> {
    let others = short_forms::forms(term).unwrap_or_default().iter().map(String::as_str);
    std::iter::once(term).chain(others.filter(move |form| *form != term))
}

/// The places of the words in a set.
pub(super) fn bits(mut words: WordSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = words.trailing_zeros() as usize;
        words &= words.wrapping_sub(1);
        (at < MAX_WORDS).then_some(at)
    })
}

/// How much a term says beyond a common word.
pub(super) fn weight(term: &str) -> f32 {
    (frequency::bits(term) - COMMON_BITS).max(LEAST_WEIGHT) * share_of_characters(term)
}

/// How much a word says: as much as the most common of its forms.
fn weight_of_word(term: &str) -> f32 {
    forms(term).map(weight).fold(f32::MAX, f32::min)
}

/// What a term counts by the number of its characters: a single one of an unspaced script stands in words of any meaning, and
/// its pairs say the rest.
pub(super) fn share_of_characters(term: &str) -> f32 {
    const SINGLE: f32 = 0.25;
    if analysis::is_unspaced_unit(term) { SINGLE } else { 1.0 }
}

/// The message with blanks where it names a time: a date is no word to look for.
fn without_times(message: &str, times: &[TimeRange]) -> String {
    let mut text = message.to_owned();
    for time in times.iter().rev() {
        let place = time.text_range.clone();
        text.replace_range(place.clone(), &" ".repeat(place.len()));
    }
    text
}

/// Sentences that say something on their own; the first of many are read as one.
fn joined(sentences: &[&str]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut said = f32::MAX;
    for sentence in sentences {
        let content = analysis::stems(sentence).into_iter().filter(|(_, is_stop)| !is_stop);
        let says: f32 = content.map(|(term, _)| weight(&term)).sum();
        match joined.last_mut().filter(|_| said < LEAST_BITS || says < LEAST_BITS) {
            Some(last) => {
                last.push(' ');
                last.push_str(sentence);
                said += says;
            }
            None => {
                joined.push((*sentence).to_owned());
                said = says;
            }
        }
    }
    if joined.len() > MAX_SENTENCES {
        let first = joined.drain(..=joined.len() - MAX_SENTENCES).collect::<Vec<_>>().join(" ");
        joined.insert(0, first);
    }
    joined
}

/// The distinct words that count, in order; of too many, those that say most, the later the sooner.
fn chosen(read: &[Vec<(String, bool)>], counts: impl Fn(bool) -> bool) -> Vec<Word> {
    let mut last: HashMap<&str, usize> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (sentence, terms) in read.iter().enumerate() {
        for (term, _) in terms.iter().filter(|(_, is_stop)| counts(*is_stop)) {
            if last.insert(term, sentence).is_none() {
                order.push(term);
            }
        }
    }
    let mut words: Vec<(usize, Word)> = order
        .iter()
        .enumerate()
        .map(|(at, term)| (at, Word { term: (*term).to_owned(), weight: weight_of_word(term) }))
        .collect();
    if words.len() > MAX_WORDS {
        let value = |word: &Word| {
            let behind = read.len() - 1 - last.get(word.term.as_str()).copied().unwrap_or_default();
            word.weight * (1.0 - discount(behind))
        };
        words.sort_by(|(_, a), (_, b)| value(b).total_cmp(&value(a)));
        words.truncate(MAX_WORDS);
        words.sort_by_key(|(at, _)| *at);
    }
    words.into_iter().map(|(_, word)| word).collect()
}

fn discount(behind: usize) -> f32 {
    (DISCOUNT * behind as f32).min(MOST_DISCOUNT)
}

fn parts(read: &[Vec<(String, bool)>], places: &HashMap<&str, usize>) -> Vec<Part> {
    let part = |terms: &[(String, bool)], discount: f32| -> Part {
        let place = |term: &(String, bool)| places.get(term.0.as_str()).map(|at| *at as u8);
        let words = terms.iter().filter_map(place).fold(0, |set, at| set | 1 << at);
        let beside = terms.windows(2).filter_map(|pair| place(&pair[0]).zip(place(&pair[1])));
        let mut pairs: Vec<(u8, u8)> = beside.filter(|(left, right)| left != right).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Part { words, pairs, discount }
    };
    let whole = part(&read.concat(), 0.0);
    let mut parts = vec![whole];
    if read.len() > 1 {
        let of_sentence = |at: usize| OF_SENTENCE + discount(read.len() - 1 - at);
        parts.extend(read.iter().enumerate().map(|(at, terms)| part(terms, of_sentence(at))));
        parts.retain(|part| part.words != 0);
    }
    parts
}

/// What is embedded: the end of the message and, where it has several sentences, the last of them.
fn texts(message: &str, sentences: &[String]) -> Vec<String> {
    const LONGEST: usize = 600;
    let message = message.trim();
    let from = message.char_indices().rev().nth(LONGEST - 1).map_or(0, |(at, _)| at);
    let mut texts = vec![message[from..].to_owned()];
    if let (true, Some(last)) = (sentences.len() > 1, sentences.last()) {
        texts.push(last.trim().to_owned());
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// Words that ask for what an assistant said, between word boundaries.
const OF_ASSISTANT: &[&str] = &[
    "you",
    "your",
    "remind me",
    "previous chat",
    "previous conversation",
    "we discussed",
    "we talked",
    "we chatted",
    // German, French, Spanish
    "hast du",
    "du hast",
    "deine",
    "haben wir besprochen",
    "as-tu",
    "tu as",
    "tu m'as",
    "nous avons parlé",
    "dijiste",
    "me dijiste",
    "recomendaste",
    "hablamos",
];

/// The same in scripts without word boundaries.
const OF_ASSISTANT_PIECES: &[&str] = &[
    "你说",
    "你推荐",
    "你建议",
    "你提到",
    "你给",
    "你之前",
    "你上次",
    "您说",
    "提醒我",
    "言った",
    "教えてくれ",
    "おすすめして",
];

fn asks_assistant(message: &str) -> bool {
    let text = message.to_lowercase();
    OF_ASSISTANT.iter().any(|phrase| past::has_phrase(&text, phrase))
        || OF_ASSISTANT_PIECES.iter().any(|piece| text.contains(piece))
}

#[cfg(test)]
mod tests;

/// Words that ask, and words that mean the person or what is theirs.
const ASKING: &[&str] = &[
    "what", "what's", "when", "where", "which", "who", "whose", "why", "how", "wann", "wo", "was", "welche", "welcher",
    "welches", "wer", "wie", "quel", "quelle", "quand", "où", "qui", "comment", "cuál", "cuándo", "dónde", "quién",
    "cómo", "qué",
];
const OWN: &[&str] = &[
    "i", "my", "mine", "me", "we", "our", "us", "ich", "mein", "meine", "meinen", "wir", "unser", "unsere", "je",
    "mon", "ma", "mes", "nous", "notre", "nos", "yo", "mi", "mis", "nuestro", "nuestra", "nosotros",
];

/// Words that ask how something is done, by anybody.
const HOW_TO: &[&str] = &["how do i", "how can i", "how do we", "how can we"];

fn is_asking(message: &str) -> bool {
    message.contains(['?', '？']) || has_any(message, ASKING)
}

fn has_any(message: &str, words: &[&str]) -> bool {
    let text = message.to_lowercase();
    words.iter().any(|word| past::has_phrase(&text, word))
}
