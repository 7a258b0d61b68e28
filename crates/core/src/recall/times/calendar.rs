//! Ranges of days on the calendar, counted from today. No number overflows: what is not on the calendar is `None`.

use jiff::civil::{Date, DateTime, Time, date};
use jiff::{ToSpan, Zoned};

/// From a moment until another, which is not part of it, in local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub from: DateTime,
    pub until: DateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Year,
}

/// So many units; `spread` is how many of them the words leave open (`a few` is about three, and could be two or five).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub n: i64,
    pub spread: i64,
}

/// A part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// A third of a longer time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Third {
    Early,
    Middle,
    Late,
}

/// Months of the seasons in the northern hemisphere; a winter belongs to the year in which it begins.
const SEASON_STARTS: [i8; 4] = [3, 6, 9, 12];

impl Span {
    pub(super) fn days(from: Date, until: Date) -> Self {
        Self { from: from.to_datetime(Time::midnight()), until: until.to_datetime(Time::midnight()) }
    }

    pub(super) fn day(day: Date) -> Option<Self> {
        Some(Self::days(day, day.tomorrow().ok()?))
    }

    /// Everything from its beginning on.
    pub(super) fn since(self) -> Self {
        Self { from: self.from, until: date(9999, 12, 1).to_datetime(Time::midnight()) }
    }

    /// Everything after it.
    pub(super) fn after(self) -> Self {
        Self { from: self.until, ..self.since() }
    }

    /// Everything up to its end.
    pub(super) fn until(self) -> Self {
        Self { from: date(1, 1, 2).to_datetime(Time::midnight()), until: self.until }
    }

    /// Everything before it.
    pub(super) fn before(self) -> Self {
        Self { until: self.from, ..self.until() }
    }

    /// From here to the end of another. Where this would begin later (`November to February`), it is of an earlier year.
    pub(super) fn through(mut self, end: Self) -> Option<Self> {
        if self.from >= end.until {
            let years = i64::from(self.from.year()) - i64::from(end.from.year());
            self.from = self.from.checked_sub(years.years()).ok()?;
        }
        if self.from >= end.until {
            self.from = self.from.checked_sub(1.year()).ok()?;
        }
        Some(Self { from: self.from, until: end.until })
    }

    /// A part of this one day.
    pub(super) fn part(self, part: Part) -> Option<Self> {
        let hour = |hours: i64| self.from.checked_add(hours.hours()).ok();
        let (from, until) = match part {
            Part::Morning => (0, 12),
            Part::Afternoon => (12, 18),
            Part::Evening => (18, 24),
            Part::Night => (18, 30),
        };
        Some(Self { from: hour(from)?, until: hour(until)? })
    }

    pub(super) fn third(self, third: Third) -> Option<Self> {
        let (first, last) = (self.from.date(), self.until.date());
        let days = i64::from(first.until(last).ok()?.get_days());
        let at = |part: i64| first.checked_add((days * part / 3).days()).ok();
        Some(match third {
            Third::Early => Self::days(first, at(1)?),
            Third::Middle => Self::days(at(1)?, at(2)?),
            Third::Late => Self::days(at(2)?, last),
        })
    }
}

/// The days around a moment.
pub(super) struct Calendar {
    now: DateTime,
    today: Date,
}

impl Calendar {
    pub(super) fn new(now: &Zoned) -> Self {
        Self { now: now.datetime(), today: now.date() }
    }

    pub(super) fn today(&self) -> Date {
        self.today
    }

    /// A calendar unit so many of them away from the current one: weeks begin on Monday.
    pub(super) fn unit(&self, unit: Unit, away: i64) -> Option<Span> {
        let monday = self.monday(away);
        match unit {
            Unit::Minute | Unit::Hour => None,
            Unit::Day => Span::day(self.today.checked_add(away.days()).ok()?),
            Unit::Week => Some(Span::days(monday?, monday?.checked_add(7.days()).ok()?)),
            Unit::Weekend => weekend_of(monday?),
            Unit::Month => {
                let first = self.today.first_of_month().checked_add(away.months()).ok()?;
                Some(Span::days(first, first.checked_add(1.month()).ok()?))
            }
            Unit::Year => year(i64::from(self.today.year()) + away),
        }
    }

    fn monday(&self, weeks: i64) -> Option<Date> {
        self.today.checked_add((weeks * 7 - offset(self.today)).days()).ok()
    }

    /// So long ago: a day, or a range as long as the unit with that day in its middle.
    pub(super) fn ago(&self, unit: Unit, count: Count) -> Option<Span> {
        match unit {
            Unit::Minute | Unit::Hour => self.moments_ago(if unit == Unit::Hour { 60 } else { 1 }, count),
            Unit::Weekend => self.unit(Unit::Weekend, -count.n),
            _ => beside(self.today, unit, Count { n: -count.n, ..count }),
        }
    }

    fn moments_ago(&self, minutes: i64, count: Count) -> Option<Span> {
        let half = minutes * count.n.max(count.spread) / 2 + 1;
        let middle = self.now.checked_sub((minutes * count.n).minutes()).ok()?;
        Some(Span { from: middle.checked_sub(half.minutes()).ok()?, until: middle.checked_add(half.minutes()).ok()? })
    }

    /// The last so many units, today included.
    pub(super) fn past(&self, unit: Unit, count: Count) -> Option<Span> {
        let from = away(self.today, unit, -(count.n + count.spread - 1))?;
        Some(Span::days(from, self.today.tomorrow().ok()?))
    }

    /// The latest such weekday (0 is Monday) before a day.
    pub(super) fn weekday_before(&self, weekday: i8, day: Date) -> Option<Span> {
        let back = (offset(day) - i64::from(weekday) - 1).rem_euclid(7) + 1;
        Span::day(day.checked_sub(back.days()).ok()?)
    }

    /// That weekday of a week, if it is not in the future.
    pub(super) fn weekday_of(&self, weekday: i8, weeks: i64) -> Option<Span> {
        let day = self.monday(weeks)?.checked_add(i64::from(weekday).days()).ok()?;
        if day <= self.today { Span::day(day) } else { None }
    }

    /// The weekend that is, or was last.
    pub(super) fn latest_weekend(&self) -> Option<Span> {
        let is_on = offset(self.today) >= 5;
        self.unit(Unit::Weekend, if is_on { 0 } else { -1 })
    }

    /// A month; without a year the latest that has begun.
    pub(super) fn month(&self, month: i8, of: Option<i16>) -> Option<Span> {
        let this = self.today.year();
        let year = of.unwrap_or(if month <= self.today.month() { this } else { this - 1 });
        let first = Date::new(year, month, 1).ok()?;
        Some(Span::days(first, first.checked_add(1.month()).ok()?))
    }

    /// The latest such month that is over.
    pub(super) fn last_month_named(&self, month: i8) -> Option<Span> {
        let this = self.today.year();
        self.month(month, Some(if month < self.today.month() { this } else { this - 1 }))
    }

    /// A day; without a year the latest that is not in the future.
    pub(super) fn day(&self, of: Option<i16>, month: i8, day: i8) -> Option<Span> {
        let this = self.today.year();
        match of {
            Some(year) => Span::day(Date::new(year, month, day).ok()?),
            // A leap day is at most eight years ago.
            None => (this - 8..=this)
                .rev()
                .filter_map(|year| Date::new(year, month, day).ok())
                .find(|day| *day <= self.today)
                .and_then(Span::day),
        }
    }

    /// A season (0 is spring) of the year in which it begins.
    pub(super) fn season(&self, season: usize, year: i16) -> Option<Span> {
        let first = Date::new(year, *SEASON_STARTS.get(season)?, 1).ok()?;
        Some(Span::days(first, first.checked_add(3.months()).ok()?))
    }

    /// The latest such season that is over or, with `begun`, that has begun.
    pub(super) fn last_season(&self, season: usize, begun: bool) -> Option<Span> {
        let this = self.today.year();
        let mut years = (this - 2..=this).rev().filter_map(|year| self.season(season, year));
        years.find(|span| if begun { span.from.date() <= self.today } else { span.until.date() <= self.today })
    }
}

fn weekend_of(monday: Date) -> Option<Span> {
    Some(Span::days(monday.checked_add(5.days()).ok()?, monday.checked_add(7.days()).ok()?))
}

/// A whole year.
pub(super) fn year(year: i64) -> Option<Span> {
    let first = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
    Some(Span::days(first, first.checked_add(1.year()).ok()?))
}

fn away(day: Date, unit: Unit, n: i64) -> Option<Date> {
    let span = match unit {
        Unit::Minute | Unit::Hour => return None,
        Unit::Day => n.days(),
        Unit::Week | Unit::Weekend => (n * 7).days(),
        Unit::Month => n.months(),
        Unit::Year => n.years(),
    };
    day.checked_add(span).ok()
}

/// What is so many units (negative: before) away from a day: a day, or a range as long as the unit around it.
pub(super) fn beside(day: Date, unit: Unit, count: Count) -> Option<Span> {
    let middle = away(day, unit, count.n)?;
    let days = count.spread
        * match unit {
            Unit::Week => 7,
            Unit::Month => 31,
            Unit::Year => 365,
            _ => 1,
        };
    let from = middle.checked_sub((days / 2).days()).ok()?;
    Some(Span::days(from, from.checked_add(days.days()).ok()?))
}

/// The one unit that ends where a time begins, or begins where it ends: `the week before 9 June`.
pub(super) fn next_to(time: Span, unit: Unit, before: bool) -> Option<Span> {
    let (first, end) = (time.from.date(), time.until.date());
    match (unit, before) {
        // On a Sunday, too, it is that of the week before.
        (Unit::Weekend, true) => weekend_of(first.checked_sub((offset(first) + 7).days()).ok()?),
        (Unit::Weekend, false) => {
            // The Monday of the week whose Saturday comes next.
            let days = if offset(end) > 5 { 7 } else { 0 } - offset(end);
            weekend_of(end.checked_add(days.days()).ok()?)
        }
        (_, true) => Some(Span::days(away(first, unit, -1)?, first)),
        (_, false) => Some(Span::days(end, away(end, unit, 1)?)),
    }
}

/// Days since Monday.
fn offset(day: Date) -> i64 {
    i64::from(day.weekday().to_monday_zero_offset())
}

/// The `n`th unit of a month, from 0; -1 is the last.
pub(super) fn nth_of(month: Span, unit: Unit, n: i64) -> Option<Span> {
    let (first, end) = (month.from.date(), month.until.date());
    match unit {
        Unit::Day if n >= 0 => Span::day(first.checked_add(n.days()).ok()?),
        Unit::Day => Span::day(end.yesterday().ok()?),
        Unit::Week if n >= 0 => {
            let from = first.checked_add((n * 7).days()).ok()?;
            Some(Span::days(from, from.checked_add(7.days()).ok()?.min(end)))
        }
        Unit::Week => Some(Span::days(end.checked_sub(7.days()).ok()?, end)),
        Unit::Weekend => {
            let saturday = nth_weekday(month, 5, n)?.from.date();
            Some(Span::days(saturday, saturday.checked_add(2.days()).ok()?))
        }
        _ => None,
    }
}

/// The `n`th such weekday of a month, from 0; -1 is the last.
pub(super) fn nth_weekday(month: Span, weekday: i8, n: i64) -> Option<Span> {
    let first = month.from.date();
    let weekday = jiff::civil::Weekday::from_monday_zero_offset(weekday).ok()?;
    let n = i8::try_from(if n < 0 { -1 } else { n + 1 }).ok()?;
    Span::day(first.nth_weekday_of_month(n, weekday).ok()?)
}
