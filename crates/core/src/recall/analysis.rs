//! Text analysis, one for the index and for queries: text goes in, searchable terms come out.
//!
//! A term holds no ASCII character but `a-z0-9` and no white space, so the index may split its text with the simplest
//! tokenizer there is. Terms do not depend on case, accents, width or normalisation form. No text is an error, no text
//! is query syntax, and nothing panics.

use std::collections::HashSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Terms kept of one query. A pasted page must not become a search over thousands of postings; a long question, even a
/// Chinese one with its pairs of characters, stays below.
pub const MAX_QUERY_TERMS: usize = 48;

/// Characters kept of one word: longer ones are encoded data, which nobody searches for by its tail.
const MAX_WORD_CHARS: usize = 64;

/// Characters in one unit of unspaced text, a base with its marks. Real ones have up to four.
const MAX_UNIT_CHARS: usize = 8;

const STOP_WORDS: &str = " a an the and or but if then else of to in on at by for from with about into over after before \
    between out up down off is are was were be been being am do does did doing done have has had having will would \
    shall should can could may might must i me my mine we us our ours you your yours he him his she her hers it its \
    they them their theirs this that these those what which who whom whose when where why how there here not no nor so \
    than too very just also any some all each both more most s t d ll m re ve don didn doesn isn wasn weren won wouldn \
    couldn shouldn ";

/// Chinese function characters, simplified and traditional: dropped alone and where a pair holds nothing else.
const STOP_CHARACTERS: &str =
    "的了是我你您他她它们們在有和就不也都很吗嗎呢吧啊呀么麼什怎哪谁誰几幾这這那与與或及请請问問一个個把被给給从從对對";

/// Pairs that are function words though one of their characters may carry meaning elsewhere.
const STOP_PAIRS: &str = " 多少 一下 可以 为什 為什 如何 是否 没有 沒有 还是 還是 ";

static STOP_WORD_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| set_of(STOP_WORDS));
static STOP_PAIR_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| set_of(STOP_PAIRS));

/// Japanese particles: dropped alone only, since pairs of them are words (かに, もの).
const STOP_KANA: &str = "のはをにがとでもへかねよ";

/// The text to index: its terms in order, separated by spaces.
pub fn index_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    each_term(&fold(text), |term| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(term.text);
    });
    out
}

/// What a query looks for: distinct terms, in order, at most [`MAX_QUERY_TERMS`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    terms: Vec<String>,
    stopped: Vec<String>,
}

impl Terms {
    /// Analyses plain text. Stop words are dropped unless nothing else remains; where there are too many terms, single
    /// characters of unspaced scripts give way first, since their pairs say more.
    pub fn of_query(text: &str) -> Self {
        // Room to choose from, and yet a bound for a hostile query.
        const POOL: usize = 4 * MAX_QUERY_TERMS;
        let (mut seen, mut content, mut stopped) = (HashSet::new(), Vec::new(), Vec::new());
        each_term(&fold(text), |term| {
            if content.len() == POOL || seen.contains(term.text) {
                return;
            }
            seen.insert(term.text.to_owned());
            let list = if term.is_stop() { &mut stopped } else { &mut content };
            list.push((term.text.to_owned(), matches!(term.origin, Origin::Single)));
        });
        let (kept, rest) = if content.is_empty() { (stopped, content) } else { (content, stopped) };
        Self { terms: bounded(kept), stopped: bounded(rest) }
    }

    /// The stop words that were dropped, as terms of their own: what is left to look for when words are not enough.
    pub fn stopped(self) -> Self {
        Self { terms: self.stopped, stopped: Vec::new() }
    }

    /// The terms, in the order of the query.
    pub fn as_slice(&self) -> &[String] {
        &self.terms
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The terms of a text in order, each word by its stem alone, and whether it is a stop word: what a question consists of.
pub fn stems(text: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut stemmed = false;
    each_term(&fold(text), |term| {
        // A word gives its stem and then, where it differs, its plain form.
        let is_plain_form = matches!(term.origin, Origin::Word(plain) if plain == term.text);
        if !(is_plain_form && stemmed) {
            found.push((term.text.to_owned(), term.is_stop()));
        }
        stemmed = matches!(term.origin, Origin::Word(_)) && !is_plain_form;
    });
    found
}

/// At most [`MAX_QUERY_TERMS`] terms; the flag marks single characters of unspaced scripts.
fn bounded(mut terms: Vec<(String, bool)>) -> Vec<String> {
    if terms.len() > MAX_QUERY_TERMS && terms.iter().any(|(_, single)| !single) {
        terms.retain(|(_, single)| !single);
    }
    terms.into_iter().take(MAX_QUERY_TERMS).map(|(term, _)| term).collect()
}

/// One term as it is met.
struct Term<'a> {
    text: &'a str,
    origin: Origin<'a>,
}

/// Where a term comes from. Whether it is a stop word is worked out of this on demand: only queries ask.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// A word, in its plain form.
    Word(&'a str),
    /// The only character of its run.
    Alone,
    /// One character of a run that has pairs too.
    Single,
    /// Two neighbours.
    Pair(&'a str, &'a str),
}

impl Term<'_> {
    fn is_stop(&self) -> bool {
        match self.origin {
            Origin::Word(plain) => STOP_WORD_SET.contains(plain),
            Origin::Alone | Origin::Single => is_in(STOP_CHARACTERS, self.text) || is_in(STOP_KANA, self.text),
            Origin::Pair(left, right) => {
                is_in(STOP_CHARACTERS, left) && is_in(STOP_CHARACTERS, right) || STOP_PAIR_SET.contains(self.text)
            }
        }
    }
}

/// Case, accents, width, points and invisible characters folded away; what is left is in NFC.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    let mut last = ' ';
    for c in text.chars().map(without_symbol_letters).nfkd() {
        // й is a letter of its own, not an и with an accent.
        if c == '\u{306}' && last == 'и' {
            folded.push(c);
            last = c;
        }
        if is_dropped(c) {
            continue;
        }
        for lower in c.to_lowercase() {
            match fold_letter(lower) {
                Some(plain) => folded.push_str(plain),
                None => folded.push(lower),
            }
            last = lower;
        }
    }
    if folded.is_ascii() { folded } else { folded.nfc().collect() }
}

/// Symbols that NFKD would turn into letters and glue to the word before them.
fn without_symbol_letters(c: char) -> char {
    if matches!(c, '™' | '℠' | 'ℹ' | 'Ⓜ') { ' ' } else { c }
}

/// Marks and invisible characters that are no part of a word's spelling.
fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}'
        // Hebrew points; Arabic vowels and the stretching line, but not madda and hamza (653-655).
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        // Soft hyphen, joiners, directions, variation selectors.
        | '\u{ad}' | '\u{61c}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}')
}

/// Letters that no decomposition makes plain.
fn fold_letter(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ø' => "o",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ħ' => "h",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

/// Whether a term is one character of an unspaced script.
pub(crate) fn is_unspaced_unit(term: &str) -> bool {
    let mut characters = term.chars();
    characters.next().is_some_and(is_unspaced) && characters.next().is_none()
}

/// Scripts written without spaces between words (Hangul has them, but its particles cling to the words).
fn is_unspaced(c: char) -> bool {
    c >= '\u{e00}'
        && matches!(c,
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{30ff}' | '\u{3105}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{a9e0}'..='\u{a9ff}'
            | '\u{aa60}'..='\u{aa7f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{1aff0}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}')
}

fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

/// Begins a word. Enclosed letters (🅰) count as alphabetic in Unicode, yet people use them as pictures.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (c >= '\u{80}'
            && c.is_alphanumeric()
            && c != '\u{2bc}'
            && !is_mark(c)
            && !matches!(c, '\u{1f100}'..='\u{1f1ff}'))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}')
}

/// Calls `emit` for every term of folded text, in order.
fn each_term(folded: &str, mut emit: impl FnMut(Term<'_>)) {
    let mut rest = folded;
    let mut apostrophe_after_word = false;
    while let Some(first) = rest.chars().next() {
        if !is_letter(first) {
            apostrophe_after_word &= is_mark(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let unspaced = is_unspaced(first);
        let same = |c: char| is_mark(c) || (is_letter(c) && is_unspaced(c) == unspaced);
        let (piece, after) = rest.split_at(rest.find(|c| !same(c)).unwrap_or(rest.len()));
        if unspaced {
            run_terms(piece, &mut emit);
        } else if !(apostrophe_after_word && piece == "s") {
            word_terms(piece, &mut emit);
        }
        rest = after;
        apostrophe_after_word = rest.starts_with(is_apostrophe);
        rest = rest.strip_prefix(is_apostrophe).unwrap_or(rest);
    }
}

/// A word gives its stem and, where it differs, its plain form.
fn word_terms(word: &str, emit: &mut impl FnMut(Term<'_>)) {
    let word = word.char_indices().nth(MAX_WORD_CHARS).map_or(word, |(end, _)| &word[..end]);
    let origin = Origin::Word(word);
    if let Some(stemmer) = stemmer_for(word) {
        let stem = stemmer.stem(word);
        if stem != word && stem.starts_with(is_letter) && stem.chars().all(|c| is_letter(c) || is_mark(c)) {
            emit(Term { text: &stem, origin });
        }
    }
    emit(Term { text: word, origin });
}

fn stemmer_for(word: &str) -> Option<Stemmer> {
    let algorithm = match word.chars().next()? {
        _ if word.is_ascii() => {
            let stemmable = word.len() > 2 && word.bytes().any(|b| b.is_ascii_lowercase());
            return stemmable.then(|| Stemmer::create(Algorithm::English));
        }
        '\u{370}'..='\u{3ff}' => Algorithm::Greek,
        '\u{400}'..='\u{52f}' => Algorithm::Russian,
        '\u{600}'..='\u{6ff}' => Algorithm::Arabic,
        _ => return None,
    };
    Some(Stemmer::create(algorithm))
}

/// A run of an unspaced script gives every character and every pair of neighbours.
fn run_terms(run: &str, emit: &mut impl FnMut(Term<'_>)) {
    let mut pair = String::new();
    let mut units = units(run).peekable();
    let mut alone = true;
    while let Some(unit) = units.next() {
        let next = units.peek();
        emit(Term { text: unit, origin: if alone && next.is_none() { Origin::Alone } else { Origin::Single } });
        if let Some(next) = next {
            pair.clear();
            pair.push_str(unit);
            pair.push_str(next);
            emit(Term { text: &pair, origin: Origin::Pair(unit, next) });
        }
        alone = false;
    }
}

/// Characters with the marks that follow them (Thai tones, Burmese vowels); marks beyond the limit are left out.
fn units(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest[first.len_utf8()..].find(|c| !is_mark(c)).map_or(rest.len(), |at| first.len_utf8() + at);
        let (unit, after) = rest.split_at(end);
        rest = after;
        Some(unit.char_indices().nth(MAX_UNIT_CHARS).map_or(unit, |(cut, _)| &unit[..cut]))
    })
}

fn is_in(characters: &str, unit: &str) -> bool {
    let mut chars = unit.chars();
    matches!((chars.next(), chars.next()), (Some(c), None) if characters.contains(c))
}

/// Whether a list, separated by spaces and with one at both ends, holds the word.
/// The words of a list, to look one up.
fn set_of(list: &'static str) -> HashSet<&'static str> {
    list.split(' ').filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(index_text(text), expected, "of {text:?}");
    }

    fn check_query(text: &str, expected: &[&str]) {
        assert_eq!(Terms::of_query(text).as_slice(), expected, "of {text:?}");
    }

    #[test]
    fn words_give_stem_and_plain_form() {
        check("The Cats were running.", "the cat cats were run running");
        check("snake_case, kebab-case & v1.2.3", "snake case kebab case v1 2 3");
        check("John's don’t 's", "john don t s");
        check("Ελληνικός ΕΛΛΗΝΙΚΟΣ", "ελληνικ ελληνικοσ ελληνικ ελληνικοσ");
        check("книги", "книг книги");
        check("हिन्दी में", "हिन्दी में");
        check(&"x".repeat(100), &"x".repeat(64));
    }

    #[test]
    fn spelling_folds() {
        check("Café CAFE\u{301} cafe\u{ad}", "cafe cafe cafe");
        check("Straße Łódź Đà Ørsted Æon œuvre", "strass strasse lodz da orst orsted aeon oeuvr oeuvre");
        check("ＦＵＬＬ Ⅳ ﬁn", "full iv fin");
        check("Ёж еж", "еж еж");
        check("й и\u{306} и", "й й и");
        check("مُحَمَّد", "محمد");
        check("שָׁלוֹם", "שלום");
        check("İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul");
        check("Apple™ 🅰 x²", "appl apple x2");
    }

    #[test]
    fn unspaced_scripts_give_characters_and_pairs() {
        check("我爱北京", "我 我爱 爱 爱北 北 北京 京");
        check("用Rust写", "用 rust 写");
        check("ﾊﾟﾝが", "パ パン ン ンが が");
        check("한국", "한 한국 국");
        check("ไม่", "ไ ไม่ ม่");
        check("𠮷野家", "𠮷 𠮷野 野 野家 家");
    }

    #[test]
    fn queries_drop_stop_words_unless_nothing_else_remains() {
        check_query("what is the Database?", &["databas", "database"]);
        check_query("what is it", &["what", "is", "it"]);
        check_query("cats cat CATS", &["cat", "cats"]);
        check_query("我的猫是什么", &["的猫", "猫", "猫是"]);
        check_query("的", &["的"]);
        check_query("猫の名前", &["猫", "猫の", "の名", "名", "名前", "前"]);
        check_query("2024", &["2024"]);
    }

    #[test]
    fn nothing_searchable_gives_no_terms() {
        for text in ["", " \n", "?!…", "🎉👨‍👩‍👧", "\u{301}\u{200d}"] {
            assert!(Terms::of_query(text).is_empty(), "of {text:?}");
            assert_eq!(index_text(text), "");
        }
        check_query("\" OR NEAR(*", &["near"]);
    }

    #[test]
    fn long_queries_keep_pairs_before_single_characters() {
        let text: String = ('一'..).take(60).collect();
        let terms = Terms::of_query(&text);
        assert_eq!(terms.as_slice().len(), MAX_QUERY_TERMS);
        assert!(terms.as_slice().iter().all(|term| term.chars().count() == 2));
    }

    /// Text that reaches the stemmers and the folding more often than arbitrary characters do.
    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a-zA-Z0-9' ]{0,40}",
            "[\u{300}-\u{36f}a-zÀ-ɏ\u{370}-\u{3ff}\u{1f00}-\u{1fff} ]{0,40}",
            "[\u{400}-\u{52f}\u{300}-\u{308}]{0,40}",
            "[\u{600}-\u{6ff}\u{fb50}-\u{feff}]{0,40}",
            "[\u{900}-\u{dff} ]{0,20}",
            "[\u{e00}-\u{eff}\u{1000}-\u{109f}\u{1780}-\u{17ff}]{0,20}",
            "[\u{3000}-\u{30ff}\u{4e00}-\u{4eff}\u{1100}-\u{11ff}\u{ac00}-\u{adff}\u{ff00}-\u{ffef}]{0,30}",
        ]
    }

    proptest! {
        #[test]
        fn terms_obey_the_alphabet(text in any_text()) {
            let index = index_text(&text);
            for term in index.split(' ').filter(|_| !index.is_empty()) {
                prop_assert!(!term.is_empty() && term.chars().count() <= MAX_WORD_CHARS);
                prop_assert!(term.chars().all(|c| !c.is_whitespace()
                    && (!c.is_ascii() || c.is_ascii_lowercase() || c.is_ascii_digit())), "{term:?}");
            }
        }

        #[test]
        fn normalisation_form_does_not_matter(text in any_text()) {
            let index = index_text(&text);
            prop_assert_eq!(&index_text(&text.nfc().collect::<String>()), &index);
            prop_assert_eq!(&index_text(&text.nfd().collect::<String>()), &index);
        }

        #[test]
        fn every_query_term_is_in_the_index(text in any_text()) {
            let index = index_text(&text);
            let terms = Terms::of_query(&text);
            prop_assert!(terms.as_slice().len() <= MAX_QUERY_TERMS);
            prop_assert_eq!(terms.is_empty(), index.is_empty());
            for term in terms.as_slice() {
                prop_assert!(index.split(' ').any(|word| word == term), "{term:?} in {index:?}");
            }
        }
    }
}
