//! Whether two statements are one, reworded. In doubt they are two: a repetition costs a line, a wrong merge a fact.

use super::about::{About, Property, about};
use super::lexicon;
use super::person::{has_one, plain};
use super::reading::{Reading, Word};
use crate::text::sentences::clauses;

/// Endings by which words of one family differ: `deploy` and `deployment`, `allergy` and `allergic`.
const ENDINGS: &str = " y ic ies ied s es ed d ing ment ments ion ions tion ation ations ent ents er ers ly al ance ence \
    ity ible able ive or ist ness i e n en em a o os as t te ten st ung ieren ar ando iendo amos imos ir re ai ons ez ";

/// As many letters at least must be the same.
const FAMILY: usize = 4;

/// A statement as it is compared with others: read once, compared often.
#[derive(Debug, Clone)]
pub struct Meaning {
    pub(super) text: String,
    pub(super) reading: Reading,
    pub(super) about: Option<About>,
}

impl Meaning {
    /// Reads a statement.
    pub fn of(text: &str) -> Self {
        Self { text: text.to_owned(), reading: Reading::of(text), about: about(text) }
    }

    /// Reads a statement to compare it with another: what it is about matters only if the other is about something.
    pub fn beside(text: &str, other: &Self) -> Self {
        let about = other.about.as_ref().and_then(|_| about(text));
        Self { text: text.to_owned(), reading: Reading::of(text), about }
    }

    /// Whether two statements say the same in whatever words: the same thing, property and value, or the same words but
    /// for grammar and fillers, the same numbers, names and environments, denied alike.
    pub fn is_same(&self, other: &Self) -> bool {
        let (one, another) = (&self.reading, &other.reading);
        if one.is_empty() || another.is_empty() {
            return self.text.split_whitespace().eq(other.text.split_whitespace());
        }
        if let (Some(one), Some(another)) = (&self.about, &other.about)
            && one.is_of_same_property(another)
        {
            return one.has_same_value(another);
        }
        let difference = Difference::of(one, another);
        difference.is_none_left() && is_compatible(one, another) && is_in_order(one, another)
    }

    /// Whether one of several clauses says this, without a condition: `I'm free in May, but not in June` says `I'm free in May`.
    pub fn has_part(&self, part: &Self) -> bool {
        let clauses = clauses(&self.text);
        let says = |clause: &str| {
            let clause = Self::of(clause.trim_matches([' ', ',', '，', ';']));
            clause.reading.words.len() >= PART && clause.is_same(part)
        };
        clauses.len() > 1 && !is_conditional(&self.text) && clauses.into_iter().any(says)
    }
}

/// A clause that says something by itself has so many words that carry meaning.
const PART: usize = 2;

/// Words after which a clause is said of a case alone. Apart by bars.
const CONDITIONS: &str = "if|unless|when|whenever|while|until|except|only|than|instead|not|don't|never|no|wenn|falls|ausser|si|sauf|excepto|salvo";

fn is_conditional(text: &str) -> bool {
    has_one(&plain(text), CONDITIONS)
        || ["如果", "除非", "要是", "只有", "的时候", "除了", "不", "别"].iter().any(|words| text.contains(words))
}

/// Whether two statements say the same in whatever words.
pub fn same(a: &str, b: &str) -> bool {
    Meaning::of(a).is_same(&Meaning::of(b))
}

/// The words by which a statement can be looked up: those of two that are the same in other order or spelling, or give the
/// same thing the same value, are equal.
pub fn words(text: &str) -> Vec<String> {
    let words = about(text).map_or_else(|| Reading::of(text).words, About::into_words);
    let mut words: Vec<String> = words.into_iter().map(|word| word.text).collect();
    words.retain(|word| !lexicon::is_generic(word));
    words.sort_unstable();
    words.dedup();
    words
}

/// A statement in its one reading, as far as it has one: two texts with the same reading say the same. Rewordings by words of
/// one family have different readings, so not all that [`same`] recognises is found by it.
pub fn canonical(text: &str) -> Option<String> {
    let reading = Reading::of(text);
    // What is said beside the value is part of the statement.
    let is_own = |about: &About| about.property != Property::Is && reading.words.len() <= about.len() + BESIDE;
    match about(text).filter(is_own) {
        Some(about) => Some(about.canonical()),
        None => reading.canonical(),
    }
}

/// A form such as `I live in {}` has so many words of its own at most.
const BESIDE: usize = 2;

/// Whether it is about others alone.
fn person(reading: &Reading) -> &'static str {
    if reading.persons.third && !reading.persons.first { "they" } else { "one" }
}

impl Reading {
    /// Its words in the order of the alphabet, those that are denied marked; what has an order, in order.
    fn canonical(&self) -> Option<String> {
        let spelled = |word: &Word| format!("{}{}", if word.is_denied { "!" } else { "" }, word.text);
        let sorted = |words: &mut dyn Iterator<Item = &Word>| {
            let mut words: Vec<String> = words.map(spelled).collect();
            words.sort_unstable();
            words.dedup();
            words
        };
        let says = sorted(&mut self.words.iter().filter(|word| !lexicon::is_generic(&word.text)));
        // Of few words, each says something.
        let words = if says.len() < 2 { sorted(&mut self.words.iter()) } else { says };
        if words.is_empty() {
            return None;
        }
        let is_asymmetric = self.words.iter().any(|word| lexicon::is_asymmetric(&word.text));
        let in_order = |has_order: &dyn Fn(&Word) -> bool| {
            let words: Vec<&str> =
                self.words.iter().filter(|word| has_order(word)).map(|word| word.text.as_str()).collect();
            if words.len() > 1 { words.join(" ") } else { String::new() }
        };
        let names = in_order(&|word| is_asymmetric || word.is_name && !word.is_number());
        let numbers = self.plain_numbers().collect::<Vec<_>>().join(" ");
        let meridiem = self.meridiem.unwrap_or_default();
        Some(format!("{} {} | {names} | {numbers} | {meridiem}", person(self), words.join(" ")))
    }
}

/// What two statements do not share.
pub(super) struct Difference<'a> {
    pub(super) shared: Vec<(&'a Word, &'a Word)>,
    pub(super) only_first: Vec<&'a Word>,
    pub(super) only_second: Vec<&'a Word>,
}

impl<'a> Difference<'a> {
    /// Pairs equal words first, then those of one family.
    pub(super) fn of(first: &'a Reading, second: &'a Reading) -> Self {
        let mut left: Vec<&Word> = second.words.iter().collect();
        let (mut shared, mut only_first) = (Vec::new(), Vec::new());
        for word in &first.words {
            match left.iter().position(|other| other.text == word.text) {
                Some(at) => shared.push((word, left.remove(at))),
                None => only_first.push(word),
            }
        }
        only_first.retain(|word| match left.iter().position(|other| is_family(word, other)) {
            Some(at) => {
                shared.push((*word, left.remove(at)));
                false
            }
            None => true,
        });
        // A word that is said twice is said once.
        only_first.retain(|word| !shared.iter().any(|(known, _)| known.text == word.text));
        left.retain(|word| !shared.iter().any(|(_, known)| known.text == word.text));
        Self { shared, only_first, only_second: left }
    }

    /// Whether they share all words, or one has a few more that say little of themselves.
    pub(super) fn is_none_left(&self) -> bool {
        let is_little = |words: &[&Word]| words.len() <= 2 && words.iter().all(|word| lexicon::is_generic(&word.text));
        let (first, second) = (&self.only_first, &self.only_second);
        let is_little = first.is_empty() && is_little(second) || second.is_empty() && is_little(first);
        !self.shared.is_empty() && is_little
    }
}

/// Words that are made of one: never names and numbers, which differ by a letter.
fn is_family(a: &Word, b: &Word) -> bool {
    if a.is_sharp || b.is_sharp || !a.text.is_ascii() && !b.text.is_ascii() && a.text.chars().count() < FAMILY {
        return false;
    }
    let common =
        a.text.chars().zip(b.text.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum::<usize>();
    let is_ending = |word: &str| word.len() == common || ENDINGS.contains(&format!(" {} ", &word[common..]));
    a.text[..common].chars().count() >= FAMILY && is_ending(&a.text) && is_ending(&b.text)
}

/// Whether nothing forbids that the two say the same: numbers, times of day, persons, and what is denied.
pub(super) fn is_compatible(a: &Reading, b: &Reading) -> bool {
    let is_half_of_day_same = a.meridiem.zip(b.meridiem).is_none_or(|(a, b)| a == b);
    let is_person_same = !(a.persons.third && !a.persons.first && b.persons.first && !b.persons.third
        || b.persons.third && !b.persons.first && a.persons.first && !a.persons.third);
    a.numbers() == b.numbers()
        && a.plain_numbers().eq(b.plain_numbers())
        && is_half_of_day_same
        && is_person_same
        && is_denied_alike(a, b)
}

/// What both say is denied by both or by neither: one word at least, and every number and day.
pub(super) fn is_denied_alike(a: &Reading, b: &Reading) -> bool {
    let difference = Difference::of(a, b);
    let differs = |pair: &&(&Word, &Word)| pair.0.is_denied != pair.1.is_denied;
    let both = difference.shared.iter().any(|(a, b)| a.is_denied && b.is_denied);
    let numbers = difference.shared.iter().filter(|(word, _)| word.is_number());
    if numbers.clone().any(|pair| differs(&pair)) {
        return false;
    }
    let has_denial = |reading: &Reading| reading.words.iter().any(|word| word.is_denied);
    match (has_denial(a), has_denial(b)) {
        (true, true) => both,
        (false, false) => true,
        _ => !difference.shared.iter().any(|pair| differs(&pair)),
    }
}

/// Tabs over spaces is not spaces over tabs, and Ann who reports to Ben is not Ben's manager.
fn is_in_order(a: &Reading, b: &Reading) -> bool {
    let around = |reading: &Reading| {
        let at = reading.words.iter().position(|word| lexicon::is_asymmetric(&word.text))?;
        Some((reading.words.get(at.checked_sub(1)?)?.text.clone(), reading.words.get(at + 1)?.text.clone()))
    };
    let is_swapped = matches!((around(a), around(b)), (Some((left, right)), Some((other, another))) if left == another && right == other);
    let names = |reading: &Reading| -> Vec<String> {
        reading.words.iter().filter(|word| word.is_name).map(|word| word.text.clone()).collect()
    };
    let (mut one, mut other) = (names(a), names(b));
    let is_same_order = one == other || a.is_turned || b.is_turned;
    one.sort_unstable();
    other.sort_unstable();
    !is_swapped && (is_same_order || one != other)
}
