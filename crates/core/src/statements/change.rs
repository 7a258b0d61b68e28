//! Whether a new statement takes the place of an old one: it is about the same thing and property, and says that it is a
//! change, or the person can have one value only.

use super::numbers;
use super::reading::{Reading, Word};
use super::rejected;
use super::same::{Difference, Meaning};
use crate::recall::analysis;
use crate::text::sentences::{clauses, is_cjk};

/// Words of change and of correction, in lower case without accents; apart by bars.
const SIGNS: &str = "now|no longer|not any more|anymore|any more|actually|instead|instead of|rather than|from now on|as of|changed|\
    switched|moved|relocated|correction|i meant|i mean|sorry|turns out|no|nope|wrong|update|my new|our new|the new|renamed|replaced|\
    has become|used to|since then|going forward|that is wrong|not true|joined|\
    jetzt|nicht mehr|eigentlich|stattdessen|statt|ab sofort|korrektur|geandert|gewechselt|umgezogen|gezogen|nein|sondern|doch|\
    maintenant|desormais|en fait|plutot|au lieu de|change|demenage|correction|non|ne plus|\
    ahora|ya no|en realidad|en vez de|cambio|cambiado|a partir de ahora|correccion|mudado|mude";

/// The same in Chinese.
const SIGNS_HAN: [&str; 25] = [
    "不对",
    "不是",
    "其实",
    "现在",
    "不再",
    "改成",
    "改为",
    "改用",
    "换成",
    "换到",
    "而是",
    "更正",
    "应该是",
    "搬到",
    "搬去",
    "以后",
    "从今",
    "说错",
    "新的",
    "已经不",
    "改到",
    "换了",
    "挪到",
    "推迟到",
    "提前到",
];

/// So much of the words of both must be the same where no form says what they are about.
const ALIKE: f64 = 0.5;

/// Whether a statement says of itself that something changed or was wrong.
pub fn has_sign(text: &str) -> bool {
    let folded =
        format!(" {} ", analysis::fold(&text.to_lowercase()).replace(|c: char| !c.is_alphanumeric() && c != '\'', " "));
    let folded = folded.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let padded = format!(" {folded} ");
    // `no` is an answer at the beginning alone.
    let is_sign = |sign: &str| match sign {
        "no" | "non" | "nein" | "sorry" | "wrong" | "doch" => folded.starts_with(&format!("{sign} ")),
        sign => padded.contains(&format!(" {sign} ")),
    };
    SIGNS.split('|').map(str::trim).any(is_sign)
        || SIGNS_HAN.iter().any(|sign| text.contains(sign))
        || begins_then(text)
}

/// Whether it says in Chinese from when on: 从下个月起.
fn begins_then(text: &str) -> bool {
    const FAR: usize = 16;
    text.split('从').skip(1).any(|rest| {
        let mut near = rest.chars().take(FAR).skip_while(|c| *c != '起').skip(1);
        near.next().is_some_and(|next| next != '来')
    })
}

/// Whether a new statement takes the place of an old one. `is_change` says that it is known to be a change: a correction,
/// or a place that a name gives it.
pub fn replaces(new: &str, old: &str, is_change: bool) -> bool {
    Meaning::of(new).replaces(&Meaning::of(old), is_change)
}

impl Meaning {
    /// Whether it takes the place of an old statement: see [`replaces`].
    pub fn replaces(&self, old: &Self, is_change: bool) -> bool {
        if self.is_same(old) {
            return false;
        }
        if self.has_part(old) {
            return true;
        }
        let is_signed = || is_change || has_sign(&self.text);
        match (&self.about, &old.about) {
            (Some(new), Some(old)) if new.is_of_same_property(old) && new.is_comparable(old) => {
                !new.has_same_value(old) && (new.property.is_single() || is_signed())
            }
            _ => {
                is_signed()
                    && (rejects(&self.text, &old.text)
                        || is_reworded_value(&self.reading, &old.reading)
                        || self.moves_value(&old.reading, is_change))
            }
        }
    }
}

impl Meaning {
    /// Whether it, or a clause of it that tells a change, gives the subject of an old statement another value.
    fn moves_value(&self, old: &Reading, is_change: bool) -> bool {
        let tells = |clause: &&str| is_change || has_sign(clause);
        is_moved_value(&self.reading, old)
            || clauses(&self.text)
                .into_iter()
                .filter(tells)
                .any(|clause| is_moved_value(&Reading::of(&without_dates(clause)), old))
    }
}

/// A text without the dates that stand in brackets beside a day named by its distance: their numbers are nobody's words.
fn without_dates(text: &str) -> String {
    let is_date = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let mut parts = text.split('(');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((inside, rest)) if is_date(inside) => plain.push_str(rest),
            _ => plain.extend(["(", part]),
        }
    }
    plain
}

/// Whether it says `…, not Y`, and the old one has Y and is about the same.
pub fn rejects(new: &str, old: &str) -> bool {
    rejected::rejects(new, old)
}

/// Whether the two share most words, are about the same persons and environments, and differ in what they say of them.
fn is_reworded_value(new: &Reading, old: &Reading) -> bool {
    let difference = Difference::of(new, old);
    let all = difference.shared.len() + difference.only_first.len() + difference.only_second.len();
    let is_alike = all > 0 && difference.shared.len() as f64 >= ALIKE * all as f64;
    is_alike && is_same_subject(&difference) && (has_other_value(&difference) || is_denied_now(&difference))
}

/// Nothing but numbers, days and names may differ of what must match; and where numbers are the same, nothing may.
fn is_same_subject(difference: &Difference<'_>) -> bool {
    let only = || difference.only_first.iter().chain(&difference.only_second);
    let has_other_place = only().any(|word| word.is_sharp && !word.is_number() && !word.is_name);
    let is_value_shared = difference.shared.iter().any(|(word, _)| word.is_number());
    let differs_in_number = only().any(|word| word.is_number());
    !has_other_place && (!is_value_shared || differs_in_number)
}

/// Words and characters that tell a change and name nothing.
const OF_CHANGE: &str = " move moved get got change changed now instead actually update switch switched new postpone push pushed \
    改 换 成 到 了 起 从 现 在 不 对 是 应 该 其 实 刚 看 ";

/// Whether both give one subject a number or a date, and not the same: `the show got moved, it's on 26 June` of `the first show is on
/// 19 June`. Most of what the new one speaks of is in the old one, and half of what the old one does is in the new one.
fn is_moved_value(new: &Reading, old: &Reading) -> bool {
    let difference = Difference::of(new, old);
    let is_value =
        |word: &Word| word.is_number() || word.text.chars().all(|c| "一二三四五六七八九十两百千万半".contains(c));
    let is_topic = |word: &Word| !is_value(word) && !numbers::is_calendar(&word.text);
    let is_new_topic = |word: &&&Word| is_topic(word) && !OF_CHANGE.contains(&format!(" {} ", word.text));
    let shared = difference.shared.iter().filter(|(word, _)| is_topic(word)).count();
    let only_new = difference.only_first.iter().filter(is_new_topic).count();
    let only_old = difference.only_second.iter().filter(|word| is_topic(word)).count();
    let has_value = |words: &[&Word]| words.iter().any(|word| is_value(word));
    let has_name = |words: &[&Word]| words.iter().any(|word| word.is_name && !word.is_number());
    let is_sharp = |word: &&Word| word.is_sharp && !word.is_number() && !word.is_name && is_topic(word);
    let is_elsewhere = difference.only_first.iter().chain(&difference.only_second).any(is_sharp);
    shared > only_new
        && shared >= only_old
        && !is_elsewhere
        && !has_name(&difference.only_first)
        && has_value(&difference.only_first)
        && has_value(&difference.only_second)
        && is_dated(new) == is_dated(old)
}

/// Whether a day, a month or a date stands in it.
fn is_dated(reading: &Reading) -> bool {
    let is_day =
        |text: &str| text.starts_with("day") || text.starts_with("month") || matches!(text, "号" | "日" | "月" | "周");
    reading.words.iter().any(|word| is_day(&word.text) || numbers::is_calendar(&word.text))
}

fn has_other_value(difference: &Difference<'_>) -> bool {
    !difference.only_first.is_empty() && !difference.only_second.is_empty()
}

/// The same words, and one of the two denies them.
fn is_denied_now(difference: &Difference<'_>) -> bool {
    difference.shared.iter().any(|(new, old)| new.is_denied != old.is_denied)
}

/// A correction that says the value alone (`no, it's 5433`, `不对，是13万`), completed with the statement before it: that
/// statement with the new value in the place of the old one. Nothing where it is a whole sentence, or does not fit.
pub fn completed(short: &str, before: &str) -> Option<String> {
    if let Some((right, wrong)) = contrasted(short) {
        // What names the right value is the correction itself.
        let at = only_place(before, wrong).filter(|_| !before.contains(right))?;
        return Some([&before[..at], right, &before[at + wrong.len()..]].concat());
    }
    let value = bare_value(short)?;
    let kind = ValueKind::of(&value)?;
    let mut spans = spans(before).into_iter().filter(|(_, kind_of)| *kind_of == kind).map(|(span, _)| span);
    let (span, others) = (spans.next()?, spans.next());
    if others.is_some() || before[span.clone()] == value {
        return None;
    }
    Some([&before[..span.start], &value, &before[span.end..]].concat())
}

/// `it's 8090, not 8081`: what is right and what is wrong, where nothing else is said.
fn contrasted(short: &str) -> Option<(&str, &str)> {
    const MARKS: [&str; 10] =
        [", not ", " and not ", " not ", ", nicht ", " nicht ", ", pas ", ", no ", "，而不是", "，不是", ",不是"];
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | '!' | '，' | '。' | '！');
    let (right, wrong) = MARKS.iter().find_map(|mark| short.split_once(mark))?;
    let wrong = wrong.trim_matches(ends);
    let mut right = right.trim_matches(ends);
    let mut is_pointing = false;
    while let Some((lead, rest)) = LEADS.iter().find_map(|lead| Some((*lead, without_lead(right, lead)?))) {
        is_pointing |= POINTING.contains(&lead);
        right = rest.trim_start_matches(ends);
    }
    // `use Postgres not MySQL` says more than a value.
    let is_value = is_pointing || ValueKind::of(right).is_some();
    let is_short = |text: &str| !text.is_empty() && text.split(' ').count() <= 3 && text.chars().count() <= 24;
    (is_value && is_short(right) && is_short(wrong) && right != wrong && !right.contains(ends_clause))
        .then_some((right, wrong))
}

fn ends_clause(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '，' | '；' | '：' | '?' | '？')
}

/// Those of [`LEADS`] that stand for what was said before.
const POINTING: [&str; 9] = ["it's", "it is", "its", "that's", "i meant", "es ist", "c'est", "es", "是"];

/// What stands before the right value of a correction.
const LEADS: [&str; 26] = [
    "no",
    "nope",
    "actually",
    "sorry",
    "wait",
    "oh",
    "correction",
    "it's",
    "it is",
    "its",
    "that's",
    "i meant",
    "i mean",
    "on",
    "at",
    "in",
    "nein",
    "es ist",
    "eigentlich",
    "non",
    "c'est",
    "en fait",
    "es",
    "不对",
    "其实",
    "是",
];

fn without_lead<'a>(text: &'a str, lead: &str) -> Option<&'a str> {
    let head = text.get(..lead.len()).filter(|head| head.replace('’', "'").eq_ignore_ascii_case(lead))?;
    let rest = &text[head.len()..];
    let is_word_end = !lead.is_ascii() || rest.starts_with([' ', ',', '.', ':', '!']);
    is_word_end.then_some(rest)
}

/// Where a value stands in a text as a whole word, once.
fn only_place(text: &str, value: &str) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
    let mut places = text.match_indices(value).map(|(at, _)| at).filter(|at| {
        let (before, after) = (&text[..*at], &text[at + value.len()..]);
        let is_cut = value.contains(is_cjk) || !is_part(before.chars().next_back()) && !is_part(after.chars().next());
        let is_decimal = after.starts_with(['.', ',']) && after[1..].starts_with(|c: char| c.is_ascii_digit());
        is_cut && !is_decimal
    });
    places.next().filter(|_| places.next().is_none())
}

/// What can take the place of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Number,
    Day,
}

impl ValueKind {
    fn of(value: &str) -> Option<Self> {
        let lower = analysis::fold(&value.to_lowercase());
        if numbers::day(&lower).is_some() || is_han_day(value) {
            return Some(Self::Day);
        }
        value.starts_with(|c: char| c.is_ascii_digit()).then_some(Self::Number)
    }
}

fn is_han_day(value: &str) -> bool {
    ["周", "星期", "礼拜"].iter().any(|week| value.strip_prefix(week).is_some_and(|day| day.chars().count() == 1))
}

/// The numbers with their units, and the days, of a text.
fn spans(text: &str) -> Vec<(std::ops::Range<usize>, ValueKind)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let len = value_len(&text[at..]);
        if let Some(kind) = ValueKind::of(&text[at..at + len]).filter(|_| len > 0) {
            spans.push((at..at + len, kind));
        }
        at += if len > 0 { len } else { c.len_utf8() };
    }
    spans
}

/// How long the value or the word is that a text begins with.
fn value_len(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    if is_cjk(first) {
        let day: String = text.chars().take(4).collect();
        let week = ["星期", "礼拜", "周"].iter().find(|week| day.starts_with(*week));
        return week.map_or(0, |week| week.len() + text[week.len()..].chars().next().map_or(0, char::len_utf8));
    }
    let word = text.find(|c: char| !(c.is_alphanumeric() && !is_cjk(c) || ".,:".contains(c))).unwrap_or(text.len());
    let word = text[..word].trim_end_matches(['.', ',', ':']).len();
    let is_number = first.is_ascii_digit();
    let unit = text[word..].chars().next().filter(|c| is_number && "万千百亿元块%€$点号".contains(*c));
    word + unit.map_or(0, char::len_utf8)
}

/// The value of a correction that says nothing else.
fn bare_value(short: &str) -> Option<String> {
    const AROUND: &str = " no nope not sorry actually wait oh it it's its is that that's was i mean meant should be correction make \
        on at in to now then instead rather um am auf doch nein es ist non c'est le à en fait no el las son en realidad ";
    const AROUND_HAN: [&str; 14] =
        ["不对", "不是", "应该是", "应该", "其实", "是", "说错了", "更正", "我", "哦", "改成", "改到", "才对", "在"];
    if !has_sign(short) {
        return None;
    }
    let mut rest = short.to_owned();
    for word in AROUND_HAN {
        rest = rest.replace(word, " ");
    }
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && !"%€$".contains(c)).to_owned();
    let words: Vec<String> =
        rest.split([' ', ',', '，', '。', '；', '!', '！']).map(clean).filter(|word| !word.is_empty()).collect();
    let mut values = words.into_iter().filter(|word| !AROUND.contains(&format!(" {} ", word.to_lowercase())));
    let (value, more) = (values.next()?, values.next());
    (more.is_none() && ValueKind::of(&value).is_some()).then_some(value)
}
