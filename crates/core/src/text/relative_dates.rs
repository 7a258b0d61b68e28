//! Days that a text names by their distance ("tomorrow", 下周三, "vor drei Tagen"), with the date that is meant beside them.
//!
//! A memory is read on another day than it was made: `tomorrow` becomes `tomorrow (2026-05-06)`. English, Chinese, German,
//! French and Spanish.

use std::borrow::Cow;
use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::sentences::{is_cjk, is_word_char};
use super::{named_dates, steps};

/// So many days of one text get their date.
const MAX_DATES: usize = 4;

/// How far around a phrase the text is looked at for what it means, in bytes.
const NEAR: usize = 300;

/// What a phrase means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distance {
    Days(i32),
    Weeks(i32),
    Months(i32),
    Years(i32),
}

use Distance::{Days, Months, Weeks, Years};

/// Phrases without a number, longer ones before shorter ones that they contain.
const PHRASES: &[(&str, Distance)] = &[
    ("the day after tomorrow", Days(2)),
    ("day after tomorrow", Days(2)),
    ("the day before yesterday", Days(-2)),
    ("tomorrow", Days(1)),
    ("yesterday", Days(-1)),
    ("last night", Days(-1)),
    ("today", Days(0)),
    ("tonight", Days(0)),
    ("this morning", Days(0)),
    ("this afternoon", Days(0)),
    ("this evening", Days(0)),
    ("next week", Weeks(1)),
    ("last week", Weeks(-1)),
    ("this week", Weeks(0)),
    ("next month", Months(1)),
    ("last month", Months(-1)),
    ("this month", Months(0)),
    ("next year", Years(1)),
    ("last year", Years(-1)),
    ("this year", Years(0)),
    ("大后天", Days(3)),
    ("大前天", Days(-3)),
    ("后天", Days(2)),
    ("明天", Days(1)),
    ("明晚", Days(1)),
    ("明早", Days(1)),
    ("今天", Days(0)),
    ("今晚", Days(0)),
    ("今早", Days(0)),
    ("昨天", Days(-1)),
    ("昨晚", Days(-1)),
    ("前天", Days(-2)),
    ("下个月", Months(1)),
    ("上个月", Months(-1)),
    ("这个月", Months(0)),
    ("下周", Weeks(1)),
    ("上周", Weeks(-1)),
    ("这周", Weeks(0)),
    ("本周", Weeks(0)),
    ("下星期", Weeks(1)),
    ("上星期", Weeks(-1)),
    ("明年", Years(1)),
    ("去年", Years(-1)),
    ("今年", Years(0)),
    ("übermorgen", Days(2)),
    ("vorgestern", Days(-2)),
    ("heute", Days(0)),
    ("gestern", Days(-1)),
    ("morgen", Days(1)),
    ("nächste woche", Weeks(1)),
    ("letzte woche", Weeks(-1)),
    ("diese woche", Weeks(0)),
    ("nächsten monat", Months(1)),
    ("letzten monat", Months(-1)),
    ("nächstes jahr", Years(1)),
    ("letztes jahr", Years(-1)),
    ("après-demain", Days(2)),
    ("avant-hier", Days(-2)),
    ("aujourd'hui", Days(0)),
    ("demain", Days(1)),
    ("ce soir", Days(0)),
    ("ce matin", Days(0)),
    ("hier", Days(-1)),
    ("la semaine prochaine", Weeks(1)),
    ("la semaine dernière", Weeks(-1)),
    ("cette semaine", Weeks(0)),
    ("le mois prochain", Months(1)),
    ("le mois dernier", Months(-1)),
    ("l'année prochaine", Years(1)),
    ("l'année dernière", Years(-1)),
    ("l'an dernier", Years(-1)),
    ("pasado mañana", Days(2)),
    ("anteayer", Days(-2)),
    ("hoy", Days(0)),
    ("mañana", Days(1)),
    ("ayer", Days(-1)),
    ("anoche", Days(-1)),
    ("la próxima semana", Weeks(1)),
    ("la semana que viene", Weeks(1)),
    ("la semana pasada", Weeks(-1)),
    ("esta semana", Weeks(0)),
    ("el próximo mes", Months(1)),
    ("el mes que viene", Months(1)),
    ("el mes pasado", Months(-1)),
    ("el próximo año", Years(1)),
    ("el año que viene", Years(1)),
    ("el año pasado", Years(-1)),
];

/// `next`, `last` and `this` around the name of a weekday: words before, words after, and the week that is meant.
const AROUND: &[(&str, &str, i32)] = &[
    ("next ", "", 1),
    ("this ", "", 0),
    ("this coming ", "", 0),
    ("last ", "", -1),
    ("下周", "", 1),
    ("下星期", "", 1),
    ("下个星期", "", 1),
    ("这周", "", 0),
    ("本周", "", 0),
    ("上周", "", -1),
    ("上星期", "", -1),
    ("nächsten ", "", 1),
    ("kommenden ", "", 0),
    ("diesen ", "", 0),
    ("letzten ", "", -1),
    ("", " prochain", 1),
    ("ce ", "", 0),
    ("", " dernier", -1),
    ("el próximo ", "", 1),
    ("este ", "", 0),
    ("el ", " que viene", 1),
    ("el ", " pasado", -1),
];

const WEEKDAYS: [(&str, i8); 42] = [
    ("monday", 0),
    ("tuesday", 1),
    ("wednesday", 2),
    ("thursday", 3),
    ("friday", 4),
    ("saturday", 5),
    ("sunday", 6),
    ("一", 0),
    ("二", 1),
    ("三", 2),
    ("四", 3),
    ("五", 4),
    ("六", 5),
    ("日", 6),
    ("天", 6),
    ("montag", 0),
    ("dienstag", 1),
    ("mittwoch", 2),
    ("donnerstag", 3),
    ("freitag", 4),
    ("samstag", 5),
    ("sonntag", 6),
    ("lundi", 0),
    ("mardi", 1),
    ("mercredi", 2),
    ("jeudi", 3),
    ("vendredi", 4),
    ("samedi", 5),
    ("dimanche", 6),
    ("lunes", 0),
    ("martes", 1),
    ("miércoles", 2),
    ("jueves", 3),
    ("viernes", 4),
    ("sábado", 5),
    ("domingo", 6),
    ("mon", 0),
    ("tue", 1),
    ("wed", 2),
    ("thu", 3),
    ("fri", 4),
    ("sat", 5),
];

/// Words around a number of days, weeks or months, and the sign of the distance.
const COUNTED: &[(&str, &str, i32)] = &[
    ("in ", "", 1),
    ("", " ago", -1),
    ("vor ", "", -1),
    ("dans ", "", 1),
    ("il y a ", "", -1),
    ("dentro de ", "", 1),
    ("hace ", "", -1),
    ("", "后", 1),
    ("", "前", -1),
    ("", "之后", 1),
    ("", "之前", -1),
    ("", " from now", 1),
    ("en ", "", 1),
];

/// A unit of time by its name.
type Unit = (&'static str, fn(i32) -> Distance);

const UNITS: &[Unit] = &[
    ("days", Days),
    ("day", Days),
    ("weeks", Weeks),
    ("week", Weeks),
    ("months", Months),
    ("month", Months),
    ("天", Days),
    ("个星期", Weeks),
    ("周", Weeks),
    ("个月", Months),
    ("tagen", Days),
    ("tag", Days),
    ("wochen", Weeks),
    ("woche", Weeks),
    ("monaten", Months),
    ("monat", Months),
    ("jours", Days),
    ("jour", Days),
    ("semaines", Weeks),
    ("semaine", Weeks),
    ("mois", Months),
    ("días", Days),
    ("día", Days),
    ("semanas", Weeks),
    ("semana", Weeks),
    ("meses", Months),
    ("mes", Months),
];

const NUMBERS: &[(&str, i32)] = &[
    ("a", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("ten", 10),
    ("einem", 1),
    ("einer", 1),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("un", 1),
    ("une", 1),
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
    ("una", 1),
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("一", 1),
    ("两", 2),
    ("三", 3),
    ("四", 4),
    ("五", 5),
    ("六", 6),
    ("七", 7),
    ("十", 10),
];

/// A text with dates beside the days that it names by their distance from `today`.
pub fn dated(text: &str, today: Date) -> Cow<'_, str> {
    let lower: String = text.chars().map(lower).collect();
    // Folding keeps the length of every character, so that places in one are places in the other.
    if lower.len() != text.len() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at, mut copied, mut dates) = (String::new(), 0, 0, 0);
    while at < lower.len() && dates < MAX_DATES {
        steps::count(1);
        let found = is_start(&lower, at).then(|| phrase_at(&lower, at, today)).flatten();
        match found {
            Some((end, date)) if !text[end..].trim_start().starts_with('(') && is_allowed(&lower, at, &date) => {
                out.push_str(&text[copied..end]);
                out.push_str(&format!(" ({date})"));
                (copied, at, dates) = (end, end, dates + 1);
            }
            Some((end, _)) => at = end,
            None => at += lower[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    if dates == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Where the text around a place is.
fn near(text: &str, at: usize) -> Range<usize> {
    text.floor_char_boundary(at.saturating_sub(NEAR))..text.ceil_char_boundary((at + NEAR).min(text.len()))
}

fn is_allowed(text: &str, at: usize, date: &str) -> bool {
    let near = near(text, at);
    named_dates::allow(&text[near.clone()], at - near.start, date)
}

fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) if single.len_utf8() == c.len_utf8() => single,
        _ => c,
    }
}

fn is_start(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let is_word = text[at..].starts_with(is_word_char);
    !is_word || before.is_none_or(|before| !is_word_char(before) && before != '-')
}

fn is_end(text: &str, end: usize) -> bool {
    let ends_in_word = text[..end].chars().next_back().is_some_and(is_word_char);
    !ends_in_word || !text[end..].starts_with(|c| is_word_char(c) || c == '-')
}

/// The end of the phrase at a place, and the date that it means.
fn phrase_at(text: &str, at: usize, today: Date) -> Option<(usize, String)> {
    weekday_at(text, at, today).or_else(|| counted_at(text, at, today)).or_else(|| {
        let rest = &text[at..];
        let (phrase, distance) = PHRASES.iter().find(|(phrase, _)| rest.starts_with(phrase))?;
        let end = at + phrase.len();
        (is_end(text, end) && !is_other_sense(text, at, phrase))
            .then(|| date(*distance, today))
            .flatten()
            .map(|date| (end, date))
    })
}

/// `guten Morgen`, `la mañana` and `por la mañana` name no day; nor does `hier` in German.
fn is_other_sense(text: &str, at: usize, phrase: &str) -> bool {
    const NOT_AFTER: [&str; 14] = [
        "guten ", "am ", "jeden ", "la ", "esta ", "de ", "cada ", "heute ", "in der ", "jeder ", "gestern ",
        "por la ", "las ", "der ",
    ];
    let is_morning = matches!(phrase, "morgen" | "mañana");
    let before = &text[..at];
    let is_german = || {
        let near = format!(" {} ", &text[near(text, at)]);
        steps::count(near.len());
        [" der ", " die ", " das ", " ist ", " ich ", " wir ", " und "].iter().any(|word| near.contains(word))
    };
    is_morning && NOT_AFTER.iter().any(|words| before.ends_with(words)) || phrase == "hier" && is_german()
}

fn weekday_at(text: &str, at: usize, today: Date) -> Option<(usize, String)> {
    let rest = &text[at..];
    for (before, after, week) in AROUND {
        let Some(named) = rest.strip_prefix(before) else { continue };
        for (name, offset) in WEEKDAYS {
            let is_fitting = name.starts_with(is_cjk) == before.starts_with(is_cjk);
            let Some(left) = named.strip_prefix(name).filter(|_| is_fitting) else { continue };
            let Some(left) = left.strip_prefix(after) else { continue };
            let end = text.len() - left.len();
            if is_end(text, end) {
                return in_week(today, *week, offset).map(|date| (end, date.to_string()));
            }
        }
    }
    None
}

/// The weekday of the week before, this week or the next one.
fn in_week(today: Date, week: i32, offset: i8) -> Option<Date> {
    let day = monday(today)?.checked_add((7 * week + i32::from(offset)).days()).ok()?;
    // `last Friday` on a Saturday is yesterday.
    let later = day.checked_add(7.days()).ok()?;
    Some(if week < 0 && later < today { later } else { day })
}

fn monday(today: Date) -> Option<Date> {
    let since: i8 = today.weekday().since(Weekday::Monday);
    today.checked_sub(i32::from(since).days()).ok()
}

/// `in three days`, `2 weeks ago`, 三天后.
fn counted_at(text: &str, at: usize, today: Date) -> Option<(usize, String)> {
    let rest = &text[at..];
    for (before, after, sign) in COUNTED {
        let Some(counted) =
            rest.strip_prefix(before).filter(|_| *before != "in " || !is_told(&text[near(text, at).start..at]))
        else {
            continue;
        };
        let Some((number, left)) = number(counted) else { continue };
        let left = left.trim_start_matches(' ');
        for (unit, distance) in UNITS {
            let Some(left) = left.strip_prefix(unit).and_then(|left| left.strip_prefix(after)) else { continue };
            let end = text.len() - left.len();
            if is_end(text, end) {
                let date = match distance(sign * number) {
                    Weeks(weeks) => day(today, 7 * weeks),
                    other => date(other, today),
                };
                return date.map(|date| (end, date));
            }
        }
    }
    None
}

/// `I read it in two weeks` says how long it took.
fn is_told(before: &str) -> bool {
    const PAST: &str = " ran read did wrote made lost spent took went got built sold won ate drove saw ";
    let is_past = |word: &str| word.len() > 4 && word.ends_with("ed") || PAST.contains(&format!(" {word} "));
    steps::count(before.len());
    before.rsplit([',', ';', '.']).next().is_some_and(|clause| clause.split_whitespace().any(is_past))
}

fn number(text: &str) -> Option<(i32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits) {
        return Some((text[..digits].parse().ok()?, &text[digits..]));
    }
    let fits = |(word, _): &&(&str, i32)| {
        text.strip_prefix(word).is_some_and(|left| left.starts_with(' ') || word.starts_with(is_cjk))
    };
    NUMBERS.iter().find(fits).map(|(word, number)| (*number, &text[word.len()..]))
}

fn date(distance: Distance, today: Date) -> Option<String> {
    match distance {
        Days(days) => day(today, days),
        Weeks(weeks) => {
            let first = monday(today)?.checked_add((7 * weeks).days()).ok()?;
            Some(format!("{first} to {}", first.checked_add(6.days()).ok()?))
        }
        Months(months) => today.checked_add(months.months()).ok().map(|date| date.strftime("%Y-%m").to_string()),
        Years(years) => today.checked_add(years.years()).ok().map(|date| date.strftime("%Y").to_string()),
    }
}

fn day(today: Date, days: i32) -> Option<String> {
    today.checked_add(days.days()).ok().map(|date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::undated::undated;

    /// Phrases that get no date had the whole text looked at, each of them.
    #[test]
    fn dating_is_linear() {
        let today = jiff::civil::date(2026, 5, 5);
        for piece in ["tea ", "we march 1 yesterday ", "ich hier ", "it rained in 2 days "] {
            crate::text::steps::check_linear(piece, 200, |text| dated(text, today).len());
        }
    }

    #[test]
    fn days_get_their_date() {
        let tuesday = jiff::civil::date(2026, 5, 5);
        for (text, expected) in [
            ("The dentist is tomorrow at 9", "The dentist is tomorrow (2026-05-06) at 9"),
            ("Tom moved last month", "Tom moved last month (2026-04)"),
            ("demo next Wednesday", "demo next Wednesday (2026-05-13)"),
            ("demo this Friday", "demo this Friday (2026-05-08)"),
            ("we met last Friday", "we met last Friday (2026-05-01)"),
            ("release in three days", "release in three days (2026-05-08)"),
            ("2 weeks ago we moved", "2 weeks ago (2026-04-21) we moved"),
            ("下周三开会", "下周三 (2026-05-13)开会"),
            ("明天见张总", "明天 (2026-05-06)见张总"),
            ("三天后上线", "三天后 (2026-05-08)上线"),
            ("Morgen ist Abgabe", "Morgen (2026-05-06) ist Abgabe"),
            ("guten morgen", "guten morgen"),
            ("El examen es mañana", "El examen es mañana (2026-05-06)"),
            ("trabajo por la mañana", "trabajo por la mañana"),
            ("rendez-vous lundi prochain", "rendez-vous lundi prochain (2026-05-11)"),
            ("We deploy on Fridays", "We deploy on Fridays"),
            ("tomorrow (2026-05-06) we fly", "tomorrow (2026-05-06) we fly"),
            ("holiday next week", "holiday next week (2026-05-11 to 2026-05-17)"),
            ("I watched all films in two weeks", "I watched all films in two weeks"),
            ("last year on March 15th we met", "last year (2025) on March 15th we met"),
        ] {
            assert_eq!(dated(text, tuesday), expected);
            assert_eq!(undated(expected), undated(text));
        }
    }
}
