//! Whether a new statement takes the place of an old one: it is about the same thing and property, and says that it is a
//! change, or the person can have one value only.

use super::numbers;
use super::reading::Reading;
use super::rejected;
use super::same::{Difference, Meaning};
use crate::recall::analysis;
use crate::text::sentences::is_cjk;

/// Words of change and of correction, in lower case without accents; apart by bars.
const SIGNS: &str = "now|no longer|not any more|anymore|any more|actually|instead|instead of|rather than|from now on|as of|changed|\
    switched|moved|relocated|correction|i meant|i mean|sorry|turns out|no|nope|wrong|update|my new|our new|the new|renamed|replaced|\
    has become|used to|since then|going forward|that is wrong|not true|joined|\
    jetzt|nicht mehr|eigentlich|stattdessen|statt|ab sofort|korrektur|geandert|gewechselt|umgezogen|gezogen|nein|sondern|doch|\
    maintenant|desormais|en fait|plutot|au lieu de|change|demenage|correction|non|ne plus|\
    ahora|ya no|en realidad|en vez de|cambio|cambiado|a partir de ahora|correccion|mudado|mude";

/// The same in Chinese.
const SIGNS_HAN: [&str; 20] = [
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
    SIGNS.split('|').map(str::trim).any(is_sign) || SIGNS_HAN.iter().any(|sign| text.contains(sign))
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
        let is_signed = || is_change || has_sign(&self.text);
        match (&self.about, &old.about) {
            (Some(new), Some(old)) if new.is_of_same_property(old) && new.is_comparable(old) => {
                !new.has_same_value(old) && (new.property.is_single() || is_signed())
            }
            _ => is_signed() && (rejects(&self.text, &old.text) || is_reworded_value(&self.reading, &old.reading)),
        }
    }
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
    let value = bare_value(short)?;
    let kind = ValueKind::of(&value)?;
    let mut spans = spans(before).into_iter().filter(|(_, kind_of)| *kind_of == kind).map(|(span, _)| span);
    let (span, others) = (spans.next()?, spans.next());
    if others.is_some() || before[span.clone()] == value {
        return None;
    }
    Some([&before[..span.start], &value, &before[span.end..]].concat())
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
        nein es ist non c'est en fait no es son en realidad ";
    const AROUND_HAN: [&str; 12] =
        ["不对", "不是", "应该是", "应该", "其实", "是", "说错了", "更正", "我", "哦", "改成", "才对"];
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
