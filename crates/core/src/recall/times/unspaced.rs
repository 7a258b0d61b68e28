//! Times in scripts without spaces between words: Chinese and Japanese, and the same with Korean marks.

use jiff::civil::Time;

use super::calendar::{Calendar, Count, Part, Span, Third, Unit, year};

/// Times that are named by a fixed text: the unit, and how many of them away. Longer texts come first.
const FIXED: &[(&str, Unit, i64)] = &[
    ("大前天", Unit::Day, -3),
    ("前天", Unit::Day, -2),
    ("一昨日", Unit::Day, -2),
    ("おととい", Unit::Day, -2),
    ("그저께", Unit::Day, -2),
    ("昨天", Unit::Day, -1),
    ("昨日", Unit::Day, -1),
    ("きのう", Unit::Day, -1),
    ("어제", Unit::Day, -1),
    ("今天", Unit::Day, 0),
    ("今日", Unit::Day, 0),
    ("오늘", Unit::Day, 0),
    ("上上", Unit::Week, -2),
    ("先々週", Unit::Week, -2),
    ("先週", Unit::Week, -1),
    ("지난주", Unit::Week, -1),
    ("今週", Unit::Week, 0),
    ("이번 주", Unit::Week, 0),
    ("先々月", Unit::Month, -2),
    ("先月", Unit::Month, -1),
    ("上月", Unit::Month, -1),
    ("지난달", Unit::Month, -1),
    ("今月", Unit::Month, 0),
    ("本月", Unit::Month, 0),
    ("一昨年", Unit::Year, -2),
    ("おととし", Unit::Year, -2),
    ("前年", Unit::Year, -2),
    ("去年", Unit::Year, -1),
    ("昨年", Unit::Year, -1),
    ("작년", Unit::Year, -1),
    ("今年", Unit::Year, 0),
    ("올해", Unit::Year, 0),
];

/// Texts that hold one of the above and mean something else, or a time that is not over.
const OTHERWISE: &[&str] = &[
    "下周",
    "下週",
    "下星期",
    "下个",
    "下個",
    "来週",
    "來週",
    "来月",
    "来年",
    "毎週",
    "毎年",
    "毎月",
    "每",
    "明天",
    "明日",
    "明年",
    "后天",
    "後天",
];

const WEEKS: &[&str] = &["星期", "礼拜", "禮拜", "周", "週"];

/// A part of the day, whose name is glued to the day.
const PARTS: &[(&str, i64, Part)] = &[
    ("今天早上", 0, Part::Morning),
    ("今天上午", 0, Part::Morning),
    ("今早", 0, Part::Morning),
    ("今朝", 0, Part::Morning),
    ("今天下午", 0, Part::Afternoon),
    ("今晚", 0, Part::Night),
    ("今夜", 0, Part::Night),
    ("昨天晚上", -1, Part::Night),
    ("昨晚", -1, Part::Night),
    ("昨夜", -1, Part::Night),
    ("昨天早上", -1, Part::Morning),
    ("昨天上午", -1, Part::Morning),
    ("昨天下午", -1, Part::Afternoon),
];

/// The time at the start of a text, how many bytes name it, and whether it fits the future as well.
pub(super) fn time(text: &str, calendar: &Calendar) -> Option<(Span, usize, bool)> {
    let mut reader = Reader { rest: text, calendar, is_assumed: false };
    let span = if reader.text(OTHERWISE).is_some() { reader.otherwise() } else { reader.whole()? };
    Some((span, text.len() - reader.rest.len(), reader.is_assumed))
}

struct Reader<'a> {
    rest: &'a str,
    calendar: &'a Calendar,
    is_assumed: bool,
}

impl Reader<'_> {
    fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = (self.rest, self.is_assumed);
        let result = rule(self);
        if result.is_none() {
            (self.rest, self.is_assumed) = before;
        }
        result
    }

    /// Reads one of these texts.
    fn text(&mut self, texts: &[&str]) -> Option<()> {
        self.rest = texts.iter().find_map(|text| self.rest.strip_prefix(text))?;
        Some(())
    }

    /// Passes over what belongs to `next` or `every`.
    fn otherwise(&mut self) -> Span {
        let _ = self.text(&["个", "個", "の"]);
        let _ = self.attempt(|this| {
            let _ = this.text(WEEKS);
            this.weekday_sign().or_else(|| this.weekday_name()).map(|_| ())
        });
        let _ = self.attempt(|this| this.text(WEEKS).and_then(|()| this.text(&["末"])));
        let _ = self.attempt(Self::month_and_day);
        self.never()
    }

    /// An empty range, which is dropped: a time was read, and it is in the future.
    fn never(&self) -> Span {
        let midnight = self.calendar.today().to_datetime(Time::midnight());
        Span { from: midnight, until: midnight }
    }

    /// A time, and what is said about it: `5月到7月`, `3月以来`, `5月5日之前`.
    fn whole(&mut self) -> Option<Span> {
        let time = self.counted_or_point()?;
        let joined = self.attempt(|this| {
            let is_list = this.text(&["和", "与", "與"]).is_some();
            if !is_list {
                this.text(&["到", "至", "から", "〜", "～", "~", "-", "–"])?;
            }
            let end = this.point()?;
            let is_closed = this.text(&["之间", "之間", "まで"]).is_some();
            if is_list && !is_closed { None } else { time.through(end) }
        });
        if joined.is_some() {
            return joined;
        }
        let side = |this: &mut Self, texts: &[&str]| this.text(texts).is_some();
        Some(if side(self, &["以来", "以來", "以降", "から"]) {
            time.since()
        } else if side(self, &["之后", "之後", "以后", "以後", "より後"]) {
            time.after()
        } else if side(self, &["之前", "以前", "より前", "前"]) {
            time.before()
        } else if side(self, &["为止", "為止", "まで"]) {
            time.until()
        } else {
            time
        })
    }

    fn counted_or_point(&mut self) -> Option<Span> {
        self.attempt(Self::counted).or_else(|| self.point())
    }

    fn point(&mut self) -> Option<Span> {
        let rules: [fn(&mut Self) -> Option<Span>; 6] =
            [Self::part, Self::fixed, Self::week, Self::month, Self::date, Self::weekday];
        rules.into_iter().find_map(|rule| self.attempt(rule))
    }

    fn part(&mut self) -> Option<Span> {
        let (text, days, part) = PARTS.iter().find(|(text, ..)| self.rest.starts_with(text))?;
        self.text(&[text])?;
        self.calendar.unit(Unit::Day, *days)?.part(*part)
    }

    /// `昨天`, `去年夏天`, `去年5月`, `先週の金曜日`, `上上周`.
    fn fixed(&mut self) -> Option<Span> {
        let (text, unit, away) = FIXED.iter().find(|(text, ..)| self.rest.starts_with(text))?;
        self.text(&[text])?;
        if *text == "上上" {
            let _ = self.text(&["个", "個"]);
            self.text(WEEKS)?;
        }
        let whole = self.calendar.unit(*unit, *away)?;
        let inner = self.attempt(|this| {
            let _ = this.text(&["的", "の", " "]);
            match unit {
                Unit::Week => this.day_of_week(*away),
                Unit::Year => this.part_of_year(whole.from.year()),
                Unit::Month => this.third().and_then(|third| whole.third(third)),
                _ => None,
            }
        });
        Some(inner.unwrap_or(whole))
    }

    fn part_of_year(&mut self, year: i16) -> Option<Span> {
        const SEASONS: [[&str; 3]; 4] =
            [["春天", "春季", "春"], ["夏天", "夏季", "夏"], ["秋天", "秋季", "秋"], ["冬天", "冬季", "冬"]];
        let season = SEASONS.iter().position(|names| self.text(names).is_some());
        if let Some(season) = season {
            return self.calendar.season(season, year);
        }
        let (month, day) = self.month_and_day()?;
        self.month_or_day(Some(year), month, day)
    }

    /// `上周`, `上个星期五`, `这周`, `本周末`.
    fn week(&mut self) -> Option<Span> {
        let away = if self.text(&["上"]).is_some() {
            -1
        } else {
            self.text(&["这", "這", "本"])?;
            0
        };
        let _ = self.text(&["个", "個"]);
        if self.text(&["月"]).is_some() {
            let month = self.calendar.unit(Unit::Month, away)?;
            return Some(self.third().and_then(|third| month.third(third)).unwrap_or(month));
        }
        self.text(WEEKS)?;
        self.attempt(|this| this.day_of_week(away)).or_else(|| self.calendar.unit(Unit::Week, away))
    }

    /// A day of a week, after the week: `五`, `末`, `金曜日`, `금요일`.
    fn day_of_week(&mut self, away: i64) -> Option<Span> {
        if self.text(&["末"]).is_some() {
            let weekend = self.calendar.unit(Unit::Weekend, away)?;
            return Some(if weekend.from.date() <= self.calendar.today() { weekend } else { self.never() });
        }
        let _ = self.text(&["の", "的"]);
        let weekday = self.weekday_sign().or_else(|| self.weekday_name())?;
        Some(self.calendar.weekday_of(weekday, away).unwrap_or_else(|| self.never()))
    }

    fn weekday_sign(&mut self) -> Option<i8> {
        let first = self.rest.chars().next()?;
        let day = "一二三四五六日天".chars().position(|sign| sign == first)?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(day.min(6) as i8)
    }

    /// `金曜日`, `금요일`, `周五`.
    fn weekday_name(&mut self) -> Option<i8> {
        let first = self.rest.chars().next()?;
        let named = |names: &str| names.chars().position(|sign| sign == first).map(|at| at as i8);
        let after = &self.rest[first.len_utf8()..];
        if let Some(day) = named("月火水木金土日").filter(|_| after.starts_with("曜")) {
            self.rest = after.strip_prefix("曜日").or_else(|| after.strip_prefix('曜'))?;
            return Some(day);
        }
        if let Some(day) = named("월화수목금토일").filter(|_| after.starts_with("요일")) {
            self.rest = after.strip_prefix("요일")?;
            return Some(day);
        }
        self.text(WEEKS)?;
        self.weekday_sign()
    }

    /// A weekday alone is the latest one; a weekend too.
    fn weekday(&mut self) -> Option<Span> {
        self.is_assumed = true;
        if self.text(&["周末", "週末"]).is_some() {
            return self.calendar.latest_weekend();
        }
        let weekday = self.weekday_name()?;
        self.calendar.weekday_before(weekday, self.calendar.today())
    }

    /// `2023年5月5日`, `2022年`.
    fn date(&mut self) -> Option<Span> {
        let year_number = self.number().filter(|n| (1900..=2100).contains(n))? as i16;
        self.text(&["年", "년"])?;
        let _ = self.text(&["的", "の", " "]);
        self.attempt(|this| this.part_of_year(year_number)).or_else(|| year(year_number.into()))
    }

    /// `5月`, `5月5日`, `五月底`.
    fn month(&mut self) -> Option<Span> {
        let (month, day) = self.month_and_day()?;
        self.is_assumed = true;
        self.month_or_day(None, month, day)
    }

    fn month_or_day(&mut self, year: Option<i16>, month: i8, day: Option<i8>) -> Option<Span> {
        match day {
            Some(day) => self.calendar.day(year, month, day),
            None => {
                let month = self.calendar.month(month, year)?;
                Some(self.third().and_then(|third| month.third(third)).unwrap_or(month))
            }
        }
    }

    fn month_and_day(&mut self) -> Option<(i8, Option<i8>)> {
        let month = self.number().filter(|n| (1..=12).contains(n))? as i8;
        self.text(&["月份", "月", "월"])?;
        let day = self.attempt(|this| {
            let _ = this.text(&[" "]);
            let day = this.number().filter(|n| (1..=31).contains(n))? as i8;
            this.text(&["日", "号", "號", "일"])?;
            Some(day)
        });
        Some((month, day))
    }

    fn third(&mut self) -> Option<Third> {
        const THIRDS: [(Third, &[&str]); 3] =
            [(Third::Early, &["上旬", "初"]), (Third::Middle, &["中旬", "半ば"]), (Third::Late, &["下旬", "底", "末"])];
        THIRDS.iter().find(|(_, texts)| self.text(texts).is_some()).map(|(third, _)| *third)
    }

    /// `三天前`, `3日前`, `2週間前`, `三个月前`, `3일 전`; `过去三天`, `最近两周`.
    fn counted(&mut self) -> Option<Span> {
        let is_rolling = self.text(&["过去", "過去", "最近", "这", "這", "この"]).is_some();
        let _ = is_rolling.then(|| self.text(&["的", "の"]));
        let count = if self.text(&["几", "幾", "数", "數"]).is_some() {
            Count { n: 3, spread: 4 }
        } else {
            Count { n: self.number()?.into(), spread: 1 }
        };
        let is_counted = self.text(&["个", "個", "ヶ", "か", "カ", "ケ"]).is_some();
        const UNITS: [(Unit, &[&str]); 6] = [
            (Unit::Day, &["天", "日間", "日", "일"]),
            (Unit::Week, &["星期", "礼拜", "禮拜", "週間", "周", "週", "주"]),
            (Unit::Month, &["月間", "月", "달"]),
            (Unit::Year, &["年間", "年", "년"]),
            (Unit::Hour, &["小时", "小時", "時間", "钟头", "시간"]),
            (Unit::Minute, &["分钟", "分鐘", "分間", "分"]),
        ];
        if self.rest.starts_with('月') && !is_counted {
            // `5月前` is a month.
            return None;
        }
        let unit = UNITS.iter().find(|(_, texts)| self.text(texts).is_some())?.0;
        if is_rolling {
            return self.calendar.past(unit, count);
        }
        self.text(&["以前", "之前", "前", " 전", "전"])?;
        self.calendar.ago(unit, count)
    }

    /// Up to four digits, or 一 to 九十九.
    fn number(&mut self) -> Option<u16> {
        let digits = self.rest.chars().take(5).map_while(digit);
        let (value, count) =
            digits.fold((0u16, 0), |(value, count), digit| (value.saturating_mul(10).saturating_add(digit), count + 1));
        if count > 0 {
            let end = self.rest.char_indices().nth(count).map_or(self.rest.len(), |(at, _)| at);
            self.rest = self.rest[end..].trim_start_matches(' ');
            return (count <= 4).then_some(value);
        }
        let signs = |c: char| "一二两兩三四五六七八九十".contains(c);
        let end = self.rest.char_indices().take(4).find(|(_, c)| !signs(*c)).map(|(at, _)| at)?;
        let number = crate::when::chinese_number(&self.rest[..end])?;
        self.rest = &self.rest[end..];
        u16::try_from(number).ok()
    }
}

fn digit(c: char) -> Option<u16> {
    match c {
        '0'..='9' => Some(c as u16 - '0' as u16),
        '０'..='９' => Some(c as u16 - '０' as u16),
        _ => None,
    }
}
