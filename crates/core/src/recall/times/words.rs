//! Words of a message, and what they mean in the languages that are written with spaces.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::text::steps;

use super::calendar::{Count, Part, Third, Unit};

/// No word of the lists below is longer; longer ones are not looked at.
const MAX_WORD: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// One character of an unspaced script.
    Character,
    Mark,
}

/// A word, a run of digits, or one other character.
#[derive(Debug)]
pub(super) struct Token<'a> {
    /// In lower case and without accents.
    pub text: Cow<'a, str>,
    pub kind: Kind,
    pub range: Range<usize>,
    /// Whether white space or the start of the text is before it.
    pub is_spaced: bool,
    pub is_capital: bool,
}

/// The tokens of a text, white space left out.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let (mut rest, mut is_spaced) = (text, true);
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        let kind = kind(first);
        let length = match kind {
            Kind::Mark | Kind::Character => first.len_utf8(),
            _ => rest.find(|c| self::kind(c) != kind && !is_combining_mark(c)).unwrap_or(rest.len()),
        };
        steps::count(length);
        let (word, after) = rest.split_at(length);
        rest = after;
        if first.is_whitespace() {
            is_spaced = true;
            continue;
        }
        let is_capital = first.is_uppercase();
        let folded = if kind == Kind::Character { Cow::Borrowed(word) } else { folded(word) };
        out.push(Token { text: folded, kind, range: start..start + length, is_spaced, is_capital });
        is_spaced = false;
    }
    out
}

fn kind(c: char) -> Kind {
    match c {
        '0'..='9' | '０'..='９' => Kind::Number,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{9fff}' => {
            Kind::Character
        }
        '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' => Kind::Character,
        c if c.is_alphanumeric() => Kind::Word,
        _ => Kind::Mark,
    }
}

fn folded(word: &str) -> Cow<'_, str> {
    if word.len() > MAX_WORD {
        return Cow::Borrowed("");
    }
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect())
}

/// Whether a list, separated by spaces and with one at both ends, holds the word.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    position(&[list], word).is_some()
}

/// Which of several lists holds the word.
fn position(lists: &[&str], word: &str) -> Option<usize> {
    let holds = |list: &str| !word.is_empty() && list.split(' ').any(|known| known == word);
    lists.iter().position(|list| holds(list))
}

const MONTHS: [&str; 12] = [
    "january jan januar janner janvier enero",
    "february feb februar fevrier febrero",
    "march mar marz maerz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug aout agosto",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez decembre diciembre",
];

/// Months that are names or common words as well: they count beside a number or after a preposition.
const WEAK_MONTHS: &str =
    " march mar mars may mai mayo april apr avril abril june jun jan juni julio august aug sep sept dec ";

/// A month from 1, and whether the word alone says so.
pub(super) fn month(word: &str) -> Option<(i8, bool)> {
    Some((position(&MONTHS, word)? as i8 + 1, !is_one_of(WEAK_MONTHS, word)))
}

const WEEKDAYS: [&str; 7] = [
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miercoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sabado",
    "sunday sonntag dimanche domingo",
];
const SHORT_WEEKDAYS: [&str; 7] = ["mon", "tue tues", "wed weds", "thu thur thurs", "fri", "sat", "sun"];

/// A weekday from Monday, which is 0.
pub(super) fn weekday(word: &str) -> Option<i8> {
    Some(position(&WEEKDAYS, word)? as i8)
}

/// `Mon`, which is a French word as well.
pub(super) fn short_weekday(word: &str) -> Option<i8> {
    Some(position(&SHORT_WEEKDAYS, word)? as i8)
}

const UNITS: [(Unit, &str); 7] = [
    (Unit::Day, "day days tag tage tagen jour jours dia dias"),
    (Unit::Week, "week weeks woche wochen semaine semaines semana semanas"),
    (Unit::Weekend, "weekend weekends wochenende wochenenden finde"),
    (Unit::Month, "month months monat monate monaten monats mois mes meses"),
    (Unit::Year, "year years jahr jahre jahren jahres an ans annee annees ano anos"),
    (Unit::Hour, "hour hours stunde stunden heure heures hora horas"),
    (Unit::Minute, "minute minutes minuten minuto minutos min mins"),
];

pub(super) fn unit(word: &str) -> Option<Unit> {
    UNITS.iter().find(|(_, words)| is_one_of(words, word)).map(|(unit, _)| *unit)
}

const SEASONS: [&str; 4] = [
    "spring fruhling fruhjahr printemps primavera",
    "summer sommer ete verano",
    "autumn fall herbst automne otono",
    "winter hiver invierno",
];

/// A season from spring, which is 0.
pub(super) fn season(word: &str) -> Option<usize> {
    position(&SEASONS, word)
}

const PARTS: [(Part, &str); 4] = [
    (Part::Morning, "morning morgen fruh vormittag matin manana"),
    (Part::Afternoon, "afternoon nachmittag tarde midi"),
    (Part::Evening, "evening abend soir"),
    (Part::Night, "night nacht nuit noche"),
];

pub(super) fn part(word: &str) -> Option<Part> {
    PARTS.iter().find(|(_, words)| is_one_of(words, word)).map(|(part, _)| *part)
}

const THIRDS: [(Third, bool, &str); 6] = [
    (Third::Early, false, "early anfang debut"),
    (Third::Middle, false, "mid mitte mi"),
    (Third::Late, false, "late ende fin"),
    (Third::Early, true, "beginning start principios principio comienzos inicios"),
    (Third::Middle, true, "middle mediados milieu"),
    (Third::Late, true, "end finales fines"),
];

/// `early May`; the longer ways to say it need a preposition and are in the second list.
pub(super) fn third(word: &str) -> Option<(Third, bool)> {
    THIRDS.iter().find(|(_, _, words)| is_one_of(words, word)).map(|(third, needs_of, _)| (*third, *needs_of))
}

const ORDINALS: [&str; 5] = [
    "first erste ersten erstes premier premiere primer primera",
    "second zweite zweiten zweites deuxieme segundo segunda",
    "third dritte dritten drittes troisieme tercer tercera",
    "fourth vierte vierten viertes quatrieme cuarto cuarta",
    "last letzte letzten letztes dernier derniere ultimo ultima",
];

/// `first` is 0; `last` is -1.
pub(super) fn ordinal(word: &str) -> Option<i64> {
    position(&ORDINALS, word).map(|at| if at == 4 { -1 } else { at as i64 })
}

const COUNTS: [&str; 12] = [
    "a an one ein eine einem einer einen un une una",
    "two zwei deux dos",
    "three drei trois tres",
    "four vier quatre cuatro",
    "five funf cinq cinco",
    "six sechs six seis",
    "seven sieben sept siete",
    "eight acht huit ocho",
    "nine neun neuf nueve",
    "ten zehn dix diez",
    "eleven elf onze once",
    "twelve zwolf douze doce",
];

const FEW: &str = " few several some einigen einige paar quelques plusieurs unos unas varios varias ";
const COUPLE: &str = " couple par ";

/// A count in words.
pub(super) fn count(word: &str) -> Option<Count> {
    if is_one_of(FEW, word) {
        return Some(Count { n: 3, spread: 4 });
    }
    if is_one_of(COUPLE, word) {
        return Some(Count { n: 2, spread: 2 });
    }
    position(&COUNTS, word).map(|at| Count { n: at as i64 + 1, spread: 1 })
}

/// Other words that an expression may begin with.
const STARTS: &str = " last past previous letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen \
    vergangenes dernier derniers derniere dernieres ultimo ultimos ultima ultimas this diese diesen dieser dieses diesem ce cet \
    cette este esta between zwischen entre from von vom de du del desde since seit depuis after nach apres despues before vor \
    avant antes until till bis hasta il hace today tonight yesterday heute gestern vorgestern hoy ayer anoche anteayer antier \
    aujourd hier nuit ";

/// Characters that an expression may begin with.
const CHARACTERS: &str = "一二两兩三四五六七八九十几幾数數大前昨今上先本去下来來毎每明后後这這过過最周週星礼禮月火水木金土日おきこ\
    그어오지이작올월화수목금토일";

/// Whether an expression may begin with a token. Most words of a text do not, and are passed over with one look-up.
pub(super) fn may_begin(token: &Token<'_>) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let pairs = UNITS.iter().map(|(_, words)| words).chain(PARTS.iter().map(|(_, words)| words));
        let pairs = pairs.chain(THIRDS.iter().map(|(_, _, words)| words));
        let lists =
            MONTHS.iter().chain(&WEEKDAYS).chain(&SHORT_WEEKDAYS).chain(&SEASONS).chain(&ORDINALS).chain(&COUNTS);
        let lists = lists.chain(pairs).chain([&FEW, &COUPLE, &STARTS]);
        lists.flat_map(|list| list.split(' ')).filter(|word| !word.is_empty()).collect()
    });
    match token.kind {
        Kind::Word => WORDS.contains(token.text.as_ref()),
        Kind::Number => true,
        Kind::Character => token.text.starts_with(|c| CHARACTERS.contains(c)),
        Kind::Mark => false,
    }
}
