//! Dates as people write them: a text and the present moment go in, an instant comes out; and back again.
//!
//! A day, week, month or year stands for its first moment in the zone of `now`; weeks begin on Monday. What is not
//! understood is an error that names it, never a guess. The clock is not read here, and no number overflows.

use jiff::{Span, Timestamp, ToSpan, Zoned, civil};
use unicode_normalization::UnicodeNormalization;

/// Why a text is no date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// It is written in no known way.
    #[error("`{0}` is not a date")]
    Unknown(String),
    /// It is understood, but there is no such day or it is too far away.
    #[error("`{0}` is not a date on the calendar")]
    OutOfRange(String),
}

impl WhenError {
    /// What to write instead.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "try 2025-03-31, `2025-03-31 14:30`, 2025-03, yesterday, `3 days ago` or `last monday`",
            Self::OutOfRange(_) => "try a day between the years 1 and 9999, such as 2025-03-31 or `3 days ago`",
        }
    }
}

/// Reads a date. `now` gives the time zone and what words such as `yesterday` count from.
pub fn parse(text: &str, now: &Zoned) -> Result<Timestamp, WhenError> {
    let plain = text.nfkc().collect::<String>().to_lowercase();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let unknown = || WhenError::Unknown(text.trim().to_owned());
    if plain.starts_with(|c: char| c.is_ascii_digit())
        && let Some(at) = absolute(&plain, now)
    {
        return at.map_err(|_| WhenError::OutOfRange(text.trim().to_owned()));
    }
    let point = named(&plain).or_else(|| weekday_point(&plain)).or_else(|| counted(&plain)).ok_or_else(unknown)?;
    point.resolve(now).map_err(|_| WhenError::OutOfRange(text.trim().to_owned()))
}

/// A moment in human words: exact while it is near, a date when it is far.
pub fn describe(at: Timestamp, now: &Zoned) -> String {
    let local = at.to_zoned(now.time_zone().clone());
    let days = now.date().duration_until(local.date()).as_hours() / 24;
    let seconds = at.duration_since(now.timestamp()).as_secs();
    let (minutes, hours) = (seconds.abs() / 60, seconds.abs() / 3600);
    match (seconds < 0, days) {
        _ if minutes == 0 => "just now".to_owned(),
        (past, _) if hours == 0 => relative(minutes, "minute", past),
        (past, 0) => relative(hours, "hour", past),
        (_, -1) => local.strftime("yesterday %H:%M").to_string(),
        (_, 1) => local.strftime("tomorrow %H:%M").to_string(),
        (_, -6..=-2) => local.strftime("%a %H:%M").to_string(),
        (_, 2..=6) => relative(days, "day", false),
        _ if local.year() == now.year() => local.strftime("%-d %b %H:%M").to_string(),
        _ => local.strftime("%-d %b %Y").to_string(),
    }
}

fn relative(count: i64, unit: &str, past: bool) -> String {
    let plural = if count == 1 { "" } else { "s" };
    if past { format!("{count} {unit}{plural} ago") } else { format!("in {count} {unit}{plural}") }
}

/// A point in time, relative to now. Counts are negative in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Now,
    /// The first moment of a calendar unit, so many of them from the current one.
    Start(Unit, i64),
    /// Exactly so much away.
    Away(Unit, i64),
    /// The most recent such day; with `true`, before today.
    Weekday(i8, bool),
    /// That day in the week so many weeks away.
    WeekdayOf(i8, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    fn span(self, count: i64) -> Result<Span, jiff::Error> {
        match self {
            Self::Minute => Span::new().try_minutes(count),
            Self::Hour => Span::new().try_hours(count),
            Self::Day => Span::new().try_days(count),
            Self::Week => Span::new().try_weeks(count),
            Self::Month => Span::new().try_months(count),
            Self::Year => Span::new().try_years(count),
        }
    }
}

impl Point {
    fn resolve(self, now: &Zoned) -> Result<Timestamp, jiff::Error> {
        let today = now.date();
        let monday = |date: civil::Date| date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days());
        let day = match self {
            Self::Now => return Ok(now.timestamp()),
            Self::Away(unit, count) => return Ok(now.checked_add(unit.span(count)?)?.timestamp()),
            Self::Start(unit @ (Unit::Minute | Unit::Hour | Unit::Day), count) => {
                today.checked_add(unit.span(count)?)?
            }
            Self::Start(Unit::Week, count) => monday(today)?.checked_add(Unit::Week.span(count)?)?,
            Self::Start(Unit::Month, count) => today.first_of_month().checked_add(Unit::Month.span(count)?)?,
            Self::Start(Unit::Year, count) => today.first_of_year().checked_add(Unit::Year.span(count)?)?,
            Self::Weekday(day, before_today) => {
                let back = i64::from((today.weekday().to_monday_zero_offset() - day).rem_euclid(7));
                today.checked_sub(if back == 0 && before_today { 7 } else { back }.days())?
            }
            Self::WeekdayOf(day, weeks) => monday(today)?.checked_add((weeks * 7 + i64::from(day)).days())?,
        };
        Ok(day.to_zoned(now.time_zone().clone())?.timestamp())
    }
}

/// A date in digits: RFC 3339, Unix seconds, or local time to any precision. `None` if it is written otherwise.
fn absolute(plain: &str, now: &Zoned) -> Option<Result<Timestamp, jiff::Error>> {
    const SHORTEST_UNIX: usize = 9;
    let bytes = plain.as_bytes();
    if bytes.iter().all(u8::is_ascii_digit) {
        return match bytes.len() {
            4 => Some(local(&format!("{plain}-01-01"), now)),
            length if length >= SHORTEST_UNIX => Some(match plain.parse() {
                Ok(seconds) => Timestamp::from_second(seconds),
                Err(_) => Timestamp::from_second(i64::MAX),
            }),
            _ => None,
        };
    }
    let shape = |at: usize| bytes.get(at) == Some(&b'-') && bytes[..at].iter().rev().take(2).all(u8::is_ascii_digit);
    match bytes.len() {
        7 if shape(4) => Some(local(&format!("{plain}-01"), now)),
        10.. if shape(4) && shape(7) => match plain.parse().or_else(|_| local(plain, now)) {
            // The day exists, so it is the rest that is not understood.
            Err(_) if plain.get(..10).is_some_and(|day| day.parse::<civil::Date>().is_ok()) => None,
            result => Some(result),
        },
        _ => None,
    }
}

fn local(plain: &str, now: &Zoned) -> Result<Timestamp, jiff::Error> {
    Ok(plain.parse::<civil::DateTime>()?.to_zoned(now.time_zone().clone())?.timestamp())
}

/// Fixed expressions.
fn named(plain: &str) -> Option<Point> {
    use Unit::{Day, Month, Week, Year};
    Some(match plain {
        "now" | "jetzt" | "ahora" | "现在" => Point::Now,
        "today" | "heute" | "hoy" | "今天" | "今日" => Point::Start(Day, 0),
        "yesterday" | "gestern" | "ayer" | "昨天" | "昨日" => Point::Start(Day, -1),
        "the day before yesterday" | "vorgestern" | "anteayer" | "前天" => Point::Start(Day, -2),
        "tomorrow" | "morgen" | "mañana" | "明天" | "明日" => Point::Start(Day, 1),
        "the day after tomorrow" | "übermorgen" | "pasado mañana" | "后天" | "後天" => Point::Start(Day, 2),
        "this week" | "diese woche" | "esta semana" | "本周" | "这周" | "這週" | "本週" => {
            Point::Start(Week, 0)
        }
        "last week" | "letzte woche" | "la semana pasada" | "semana pasada" | "上周" | "上週" | "上个星期"
        | "上星期" => Point::Start(Week, -1),
        "next week" | "nächste woche" | "la próxima semana" | "下周" | "下週" => Point::Start(Week, 1),
        "this month" | "diesen monat" | "este mes" | "本月" | "这个月" | "這個月" => Point::Start(Month, 0),
        "last month" | "letzten monat" | "el mes pasado" | "上个月" | "上個月" | "上月" => {
            Point::Start(Month, -1)
        }
        "next month" | "nächsten monat" | "el próximo mes" | "下个月" | "下個月" => Point::Start(Month, 1),
        "this year" | "dieses jahr" | "este año" | "今年" => Point::Start(Year, 0),
        "last year" | "letztes jahr" | "el año pasado" | "去年" => Point::Start(Year, -1),
        "next year" | "nächstes jahr" | "el próximo año" | "明年" => Point::Start(Year, 1),
        "前年" => Point::Start(Year, -2),
        _ => return None,
    })
}

/// `monday`, `last mon`, 周一, 上周一.
fn weekday_point(plain: &str) -> Option<Point> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    for week in ["周", "週", "星期"] {
        if let Some((which, day)) = plain.split_once(week) {
            let day = "一二三四五六日天".chars().position(|c| day.chars().eq([c]))?.min(6) as i8;
            return match which {
                "" => Some(Point::Weekday(day, false)),
                "上" | "上个" | "上個" => Some(Point::WeekdayOf(day, -1)),
                "这" | "這" | "本" => Some(Point::WeekdayOf(day, 0)),
                _ => None,
            };
        }
    }
    let (before_today, name) = plain.strip_prefix("last ").map_or((false, plain), |name| (true, name));
    let name = name.strip_prefix("on ").unwrap_or(name);
    let day = DAYS.iter().position(|day| name.len() >= 3 && day.starts_with(name))?;
    Some(Point::Weekday(day as i8, before_today))
}

/// `3 days ago`, `in 2 weeks`, `vor einer Woche`, `hace 3 días`, 三天前.
fn counted(plain: &str) -> Option<Point> {
    if let Some(point) = counted_chinese(plain) {
        return Some(point);
    }
    let (words, sign) = if let Some(words) = plain.strip_suffix(" ago") {
        (words, -1)
    } else if let Some(words) = plain.strip_prefix("vor ").or_else(|| plain.strip_prefix("hace ")) {
        (words, -1)
    } else {
        (plain.strip_prefix("in ").or_else(|| plain.strip_prefix("en "))?, 1)
    };
    let (count, unit) = words.split_once(' ')?;
    let unit = match unit {
        "minute" | "minutes" | "min" | "mins" | "minuten" | "minuto" | "minutos" => Unit::Minute,
        "hour" | "hours" | "stunde" | "stunden" | "hora" | "horas" => Unit::Hour,
        "day" | "days" | "tag" | "tage" | "tagen" | "día" | "días" | "dia" | "dias" => Unit::Day,
        "week" | "weeks" | "woche" | "wochen" | "semana" | "semanas" => Unit::Week,
        "month" | "months" | "monat" | "monate" | "monaten" | "mes" | "meses" => Unit::Month,
        "year" | "years" | "jahr" | "jahre" | "jahren" | "año" | "años" => Unit::Year,
        _ => return None,
    };
    Some(Point::Away(unit, sign * number(count)?))
}

/// A count in digits or words; one that fits no number is as far out of range as any.
fn number(word: &str) -> Option<i64> {
    const WORDS: [&str; 10] = [
        " a an one ein eine einem einer un una ",
        " two zwei dos ",
        " three drei tres ",
        " four vier cuatro ",
        " five fünf cinco ",
        " six sechs seis ",
        " seven sieben siete ",
        " eight acht ocho ",
        " nine neun nueve ",
        " ten zehn diez ",
    ];
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        return Some(word.parse().unwrap_or(i64::MAX));
    }
    let position = WORDS.iter().position(|words| words.split(' ').any(|known| !known.is_empty() && known == word))?;
    Some(position as i64 + 1)
}

fn counted_chinese(plain: &str) -> Option<Point> {
    let plain: String = plain.chars().filter(|c| *c != ' ').collect();
    let past = ["以前", "之前", "前"].iter().find_map(|end| Some((plain.strip_suffix(end)?, -1)));
    let future = || ["以后", "之后", "后", "後"].iter().find_map(|end| Some((plain.strip_suffix(end)?, 1)));
    let (words, sign) = past.or_else(future)?;
    let at = words.find(|c: char| !c.is_ascii_digit() && !"一二两兩三四五六七八九十".contains(c))?;
    let (count, unit) = words.split_at(at);
    let unit = match unit.trim_start_matches(['个', '個']) {
        "分钟" | "分鐘" | "分" => Unit::Minute,
        "小时" | "小時" | "钟头" => Unit::Hour,
        "天" | "日" => Unit::Day,
        "周" | "週" | "星期" | "礼拜" => Unit::Week,
        "月" => Unit::Month,
        "年" => Unit::Year,
        _ => return None,
    };
    Some(Point::Away(unit, sign * number(count).or_else(|| chinese_number(count))?))
}

/// 一 to 九十九.
pub(crate) fn chinese_number(text: &str) -> Option<i64> {
    let digit = |text: &str| match text {
        "两" | "兩" => Some(2),
        _ => "一二三四五六七八九".chars().position(|c| text.chars().eq([c])).map(|at| at as i64 + 1),
    };
    let Some((tens, ones)) = text.split_once('十') else { return digit(text) };
    let tens = if tens.is_empty() { 1 } else { digit(tens)? };
    let ones = if ones.is_empty() { 0 } else { digit(ones)? };
    Some(tens * 10 + ones)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A Wednesday, ten days after the clocks went forward. The zone is spelled out, since a machine may know none.
    fn now() -> Zoned {
        let zone = jiff::tz::TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        civil::date(2025, 4, 9).at(15, 30, 0, 0).to_zoned(zone).unwrap()
    }

    #[test]
    fn reads_dates_as_people_write_them() {
        for (text, expected) in [
            ("2025-01-02T03:04:05Z", "2025-01-02T03:04:05Z"),
            ("2025-01-02t03:04:05.5+01:00", "2025-01-02T02:04:05.5Z"),
            ("1700000000", "2023-11-14T22:13:20Z"),
            (" 2025-01-02 ", "2025-01-01T23:00:00Z"),
            ("2025-07-02", "2025-07-01T22:00:00Z"),
            ("2025-07-02  14:30", "2025-07-02T12:30:00Z"),
            ("2025-07-02 14:30:15", "2025-07-02T12:30:15Z"),
            ("2025-03-30 02:30", "2025-03-30T01:30:00Z"),
            ("2025-07", "2025-06-30T22:00:00Z"),
            ("２０２５", "2024-12-31T23:00:00Z"),
            ("NOW", "2025-04-09T13:30:00Z"),
            ("today", "2025-04-08T22:00:00Z"),
            ("Yesterday", "2025-04-07T22:00:00Z"),
            ("tomorrow", "2025-04-09T22:00:00Z"),
            ("5 minutes ago", "2025-04-09T13:25:00Z"),
            ("an hour ago", "2025-04-09T12:30:00Z"),
            ("2  weeks   ago", "2025-03-26T14:30:00Z"),
            ("one month ago", "2025-03-09T14:30:00Z"),
            ("in 3 days", "2025-04-12T13:30:00Z"),
            ("last week", "2025-03-30T22:00:00Z"),
            ("this week", "2025-04-06T22:00:00Z"),
            ("last month", "2025-02-28T23:00:00Z"),
            ("last year", "2023-12-31T23:00:00Z"),
            ("wednesday", "2025-04-08T22:00:00Z"),
            ("last wednesday", "2025-04-01T22:00:00Z"),
            ("last monday", "2025-04-06T22:00:00Z"),
            ("thu", "2025-04-02T22:00:00Z"),
            ("昨天", "2025-04-07T22:00:00Z"),
            ("前天", "2025-04-06T22:00:00Z"),
            ("上周", "2025-03-30T22:00:00Z"),
            ("上周三", "2025-04-01T22:00:00Z"),
            ("周日", "2025-04-05T22:00:00Z"),
            ("三天前", "2025-04-06T13:30:00Z"),
            ("3 天前", "2025-04-06T13:30:00Z"),
            ("两个月前", "2025-02-09T14:30:00Z"),
            ("十二年前", "2013-04-09T13:30:00Z"),
            ("去年", "2023-12-31T23:00:00Z"),
            ("vor 3 Tagen", "2025-04-06T13:30:00Z"),
            ("letzte Woche", "2025-03-30T22:00:00Z"),
            ("hace 3 di\u{301}as", "2025-04-06T13:30:00Z"),
            ("la semana pasada", "2025-03-30T22:00:00Z"),
        ] {
            assert_eq!(parse(text, &now()).map(|at| at.to_string()), Ok(expected.to_owned()), "of {text:?}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for text in [
            "",
            "soon",
            "-1700000000",
            "12345",
            "3 ago",
            "in days",
            "天前",
            "last",
            "ago",
            "25-01-01",
            "2025-01-01 noon",
        ] {
            assert_eq!(parse(text, &now()), Err(WhenError::Unknown(text.to_owned())));
        }
        for text in ["2025-02-30", "2025-13", "99999999999999999999 days ago", "90000 years ago", "1700000000000"] {
            assert_eq!(parse(text, &now()), Err(WhenError::OutOfRange(text.to_owned())));
        }
        assert_eq!(parse(" soon ", &now()).unwrap_err().to_string(), "`soon` is not a date");
    }

    #[test]
    fn describes_near_and_far() {
        for (at, expected) in [
            ("2025-04-09T15:29:31", "just now"),
            ("2025-04-09T15:30:20", "just now"),
            ("2025-04-09T15:25:00", "5 minutes ago"),
            ("2025-04-09T14:29:00", "1 hour ago"),
            ("2025-04-09T00:10:00", "15 hours ago"),
            ("2025-04-08T14:30:00", "yesterday 14:30"),
            ("2025-04-07T14:30:00", "Mon 14:30"),
            ("2025-04-03T00:00:00", "Thu 00:00"),
            ("2025-04-02T23:59:00", "2 Apr 23:59"),
            ("2025-03-03T14:30:00", "3 Mar 14:30"),
            ("2024-03-03T14:30:00", "3 Mar 2024"),
            ("2025-04-09T16:30:00", "in 1 hour"),
            ("2025-04-10T14:30:00", "tomorrow 14:30"),
            ("2025-04-12T14:30:00", "in 3 days"),
            ("2025-12-03T14:30:00", "3 Dec 14:30"),
            ("2026-12-03T14:30:00", "3 Dec 2026"),
        ] {
            let at = local(&at.to_lowercase(), &now()).unwrap();
            assert_eq!(describe(at, &now()), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = parse(&text, &now());
        }

        #[test]
        fn no_number_panics(count in "[0-9]{1,22}", unit in "(minutes|hours|days|weeks|months|years) ago", ahead: bool) {
            let text = if ahead { format!("in {count} {}", unit.trim_end_matches(" ago")) } else { format!("{count} {unit}") };
            let _ = parse(&text, &now());
            let _ = parse(&count, &now());
        }

        #[test]
        fn every_instant_has_a_description(seconds in Timestamp::MIN.as_second()..Timestamp::MAX.as_second()) {
            let at = Timestamp::from_second(seconds).unwrap();
            prop_assert!(!describe(at, &now()).is_empty());
            prop_assert_eq!(parse(&at.to_string(), &now()).is_ok(), at.as_second() >= -62_167_219_200);
        }
    }
}
