//! Single times in words: `yesterday`, `last Friday`, `early May`, `the first weekend of August`, `last summer`.

use super::calendar::{Part, Span, Unit, nth_of, nth_weekday};
use super::phrases::Parser;
use super::words::{self, Kind, is_one_of};

const LAST: &str = " last past previous letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen \
    vergangenes ";
const LAST_AFTER: &str = " dernier derniere passe passee pasado pasada ";
const THIS: &str = " this diese diesen dieser dieses diesem ce cet cette este esta ";
/// Words before a weekday that make it one day and not any.
const WEEKDAY_LEADS: &str = " on since from after before am vom seit ce le du el last ";

impl Parser<'_> {
    /// One time, without anything about it.
    pub(super) fn point(&mut self) -> Option<Span> {
        self.first_of(&[
            Self::third,
            Self::nth,
            Self::numeric_date,
            Self::worded_date,
            Self::fixed,
            Self::last,
            Self::last_after,
            Self::this,
            Self::month_name,
            Self::season,
            Self::weekday,
            Self::weekend,
            Self::year_alone,
        ])
    }

    /// `early May`, `Ende 2022`, `a principios de mayo`.
    fn third(&mut self) -> Option<Span> {
        // `fin de semana`.
        if self.attempt(Self::unit).is_some() {
            return None;
        }
        let (third, needs_of) = self.take(words::third)?;
        let _ = self.mark("-");
        if needs_of {
            self.word(" of de du del ")?;
        }
        self.skip(" in of the de des du del la el l ");
        self.is_led = true;
        let whole = self.first_of(&[
            Self::month_name,
            Self::season,
            Self::last,
            Self::last_after,
            Self::this,
            Self::year_alone,
        ])?;
        whole.third(third)
    }

    /// `the first weekend of August`, `le premier lundi de mai 2023`.
    fn nth(&mut self) -> Option<Span> {
        let n = self.take(words::ordinal)?;
        let weekday = self.attempt(|this| this.take(words::weekday));
        let unit = if weekday.is_none() { Some(self.unit()?) } else { None };
        self.word(" of in im des du de d ")?;
        self.skip(" the l d ");
        self.is_led = true;
        let month = self.month_name()?;
        match (weekday, unit) {
            (Some(weekday), _) => nth_weekday(month, weekday, n),
            (_, Some(unit)) => nth_of(month, unit, n),
            _ => None,
        }
    }

    /// `yesterday evening`, `heute früh`, `anoche`, `aujourd'hui`.
    fn fixed(&mut self) -> Option<Span> {
        let (days, part) = self.first_of(&[
            |this| {
                this.word(" avant ")?;
                let _ = this.mark("-");
                this.word(" hier ")?;
                Some((-2, None))
            },
            |this| {
                this.word(" aujourd ")?;
                this.mark("'’")?;
                this.word(" hui ").map(|()| (0, None))
            },
            |this| {
                // In German it is `here`.
                this.word(" hier ")?;
                let part = this.take(|word| is_one_of(" matin soir midi nuit apres ", word).then(|| words::part(word)));
                (part.is_some() || this.is_french()).then(|| (-1, part.flatten()))
            },
            |this| {
                this.take(|word| {
                    Some(match word {
                        "today" | "heute" | "hoy" => (0, None),
                        "tonight" => (0, Some(Part::Night)),
                        "yesterday" | "gestern" | "ayer" => (-1, None),
                        "anoche" => (-1, Some(Part::Night)),
                        "vorgestern" | "anteayer" | "antier" => (-2, None),
                        _ => return None,
                    })
                })
            },
        ])?;
        let day = self.calendar.unit(Unit::Day, days)?;
        match part {
            Some(part) => day.part(part),
            None => self.with_part(day),
        }
    }

    /// A part of the day, if one is named after it.
    fn with_part(&mut self, day: Span) -> Option<Span> {
        let part = self.attempt(|this| {
            this.skip(" in por the la en ");
            this.take(words::part)
        });
        part.map_or(Some(day), |part| day.part(part))
    }

    /// Whether the words around are French: `hier` is a German word, too.
    fn is_french(&self) -> bool {
        const AROUND: usize = 12;
        const FRENCH: &str = " le la les des du est que qu on nous ai avons a avez as ont etait c j d l fait dit pour avec \
            quoi moi je tu vous un une ";
        let near = &self.tokens[self.at.saturating_sub(AROUND)..self.tokens.len().min(self.at + AROUND)];
        near.iter().any(|token| is_one_of(FRENCH, &token.text))
            && !near
                .iter()
                .any(|token| is_one_of(" ist der das die und ich wir was hat sind ein eine war ", &token.text))
    }

    /// `last week`, `last Friday night`, `letzten Mai`, `last summer`, `last night`.
    pub(super) fn last(&mut self) -> Option<Span> {
        self.word(LAST)?;
        // The French year is an English article.
        if self.peek()?.text == "an" {
            return None;
        }
        if let Some(part) = self.attempt(|this| this.word(" night nacht ").map(|()| Part::Night)) {
            return self.calendar.unit(Unit::Day, -1)?.part(part);
        }
        self.last_of()
    }

    /// `la semaine dernière`, `el viernes pasado`, `l'été dernier`.
    fn last_after(&mut self) -> Option<Span> {
        if self.attempt(|this| this.word(" nuit ").and_then(|()| this.word(LAST_AFTER))).is_some() {
            return self.calendar.unit(Unit::Day, -1)?.part(Part::Night);
        }
        let time = self.last_of()?;
        self.word(LAST_AFTER)?;
        Some(time)
    }

    /// What the word after `last` means; a weekday after a week is one of it.
    fn last_of(&mut self) -> Option<Span> {
        if let Some(unit) = self.attempt(Self::unit) {
            let weekday = if unit == Unit::Week { self.attempt(|this| this.take(words::weekday)) } else { None };
            return match (unit, weekday) {
                (Unit::Week, Some(weekday)) => self.calendar.weekday_of(weekday, -1),
                (Unit::Week | Unit::Weekend | Unit::Month | Unit::Year, _) => self.calendar.unit(unit, -1),
                _ => None,
            };
        }
        if let Some(weekday) = self.attempt(Self::weekday_name) {
            let day = self.calendar.weekday_before(weekday, self.calendar.today())?;
            return self.with_part(day);
        }
        if let Some((month, _)) = self.attempt(|this| this.take(words::month)) {
            return self.calendar.last_month_named(month);
        }
        self.take(words::season).and_then(|season| self.calendar.last_season(season, false))
    }

    /// `this week`, `this morning`, `ce matin`, `this Friday` if it is over, `this summer` if it has begun.
    fn this(&mut self) -> Option<Span> {
        self.word(THIS)?;
        let today = self.calendar.unit(Unit::Day, 0)?;
        if let Some(unit) = self.attempt(Self::unit) {
            return match unit {
                Unit::Weekend if self.calendar.latest_weekend() != self.calendar.unit(unit, 0) => None,
                Unit::Weekend | Unit::Week | Unit::Month | Unit::Year => self.calendar.unit(unit, 0),
                _ => None,
            };
        }
        if let Some(part) = self.attempt(|this| this.take(words::part)) {
            return today.part(part);
        }
        if let Some(weekday) = self.attempt(|this| this.take(words::weekday)) {
            self.is_assumed = true;
            return self.calendar.weekday_of(weekday, 0);
        }
        let this_year = |span: &Span| span.from.year() == self.calendar.today().year();
        if let Some((month, _)) = self.attempt(|this| this.take(words::month)) {
            return self.calendar.month(month, None).filter(this_year);
        }
        self.take(words::season).and_then(|season| self.calendar.last_season(season, true)).filter(this_year)
    }

    /// `May 2023`, `in May`, `mayo de 2023`, `May of last year`, and alone the names that are nothing else.
    pub(super) fn month_name(&mut self) -> Option<Span> {
        let (month, is_strong) = self.take(words::month)?;
        let year = self.year_after();
        if year.is_none() && !(is_strong || self.is_led) {
            return None;
        }
        self.is_assumed |= year.is_none();
        self.calendar.month(month, year)
    }

    /// A year after a day, a month or a season: `, 2023`, `de 2023`, `of last year`.
    pub(super) fn year_after(&mut self) -> Option<i16> {
        self.attempt(|this| {
            let _ = this.mark(",.");
            this.skip(" of in de del du d l ");
            if let Some(year) = this.attempt(Self::year_number) {
                return Some(year);
            }
            this.skip(" the le la el ");
            let year = this.first_of(&[Self::last, Self::last_after, Self::this])?;
            let is_year = year == super::calendar::year(year.from.year().into())?;
            is_year.then(|| year.from.year())
        })
    }

    /// `summer 2023`, `verano de 2023`.
    fn season(&mut self) -> Option<Span> {
        let season = self.take(words::season)?;
        let year = self.year_after()?;
        self.calendar.season(season, year)
    }

    fn weekday_name(&mut self) -> Option<i8> {
        let is_capital = self.peek()?.is_capital;
        self.take(|word| words::weekday(word).or_else(|| words::short_weekday(word).filter(|_| is_capital)))
    }

    /// `on Monday`, `Friday night`, `vendredi`, `Friday of last week`: the latest one before today.
    fn weekday(&mut self) -> Option<Span> {
        let is_led = self.at > 0 && is_one_of(WEEKDAY_LEADS, &self.tokens[self.at - 1].text);
        let is_long = self.peek().is_some_and(|token| words::weekday(&token.text).is_some());
        let is_french = self.peek().is_some_and(|token| token.text.ends_with("di"));
        let weekday = self.weekday_name()?;
        let of_last_week = self.attempt(|this| {
            this.skip(" of de la ");
            this.first_of(&[Self::last, Self::last_after])
        });
        if of_last_week.is_some() && of_last_week == self.calendar.unit(Unit::Week, -1) {
            return self.calendar.weekday_of(weekday, -1);
        }
        let day = self.calendar.weekday_before(weekday, self.calendar.today())?;
        let time = self.with_part(day)?;
        let ends = self.peek().is_none_or(|token| token.kind == Kind::Mark && !"-'’/".contains(token.text.as_ref()));
        self.is_assumed = true;
        (is_led || is_long && (time != day || ends || is_french)).then_some(time)
    }

    /// `over the weekend`, `am Wochenende`.
    fn weekend(&mut self) -> Option<Span> {
        let is_led = self.at > 0 && is_one_of(" the am le el ", &self.tokens[self.at - 1].text);
        // `on the weekends` comes again and again.
        let is_weekend = self.unit()? == Unit::Weekend && !self.tokens[self.at - 1].text.ends_with("weekends");
        self.is_assumed = true;
        if is_led && is_weekend { self.calendar.latest_weekend() } else { None }
    }
}
