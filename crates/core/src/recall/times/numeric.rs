//! Times with digits: `2023-05-05`, `5 May 2023`, `May 5–7`, `on the 5th`, `in 2022`.

use super::calendar::{Span, year};
use super::phrases::Parser;
use super::words::{self, Kind, is_one_of};

/// What people count by the thousand: `in 2000 lines` is no year.
const COUNTED: &str = " lines line files rows bytes kb mb gb ms px words tokens times items people users euro euros dollars usd \
    characters seconds minutes hours days steps zeilen dateien lignes mots lineas km m kg kcal calories points percent ";

/// Marks that glue digits into something else: a version, an amount, a path.
const GLUE: &str = "./-_:#$€£%+=@~";

impl Parser<'_> {
    /// A run of at most so many digits.
    pub(super) fn number(&mut self, digits: usize) -> Option<u16> {
        let token = self.peek().filter(|token| token.kind == Kind::Number)?;
        let number = if token.text.len() <= digits { token.text.parse().ok()? } else { return None };
        self.at += 1;
        Some(number)
    }

    /// A year with four digits that is part of nothing longer.
    pub(super) fn year_number(&mut self) -> Option<i16> {
        if self.peek()?.text.len() != 4 || !self.is_loose_before() {
            return None;
        }
        let year = self.number(4).filter(|year| (1900..=2100).contains(year))?;
        let is_counted = self.peek().is_some_and(|token| is_one_of(COUNTED, &token.text));
        (!is_counted && self.is_loose_after()).then_some(year as i16)
    }

    /// Whether the number here is glued to nothing before it.
    fn is_loose_before(&self) -> bool {
        let Some(token) = self.peek() else { return false };
        token.is_spaced
            || self.at == 0
            || match &self.tokens[self.at - 1] {
                mark if mark.kind == Kind::Mark => !GLUE.contains(mark.text.as_ref()),
                before => before.kind == Kind::Character,
            }
    }

    /// Whether the number before is glued to nothing after it; a mark may end a sentence.
    fn is_loose_after(&self) -> bool {
        let Some(next) = self.tokens.get(self.at).filter(|token| !token.is_spaced) else { return true };
        match next.kind {
            Kind::Mark if GLUE.contains(next.text.as_ref()) => {
                self.tokens.get(self.at + 1).is_none_or(|after| after.is_spaced || after.kind == Kind::Mark)
                    && !"%€$".contains(next.text.as_ref())
            }
            Kind::Mark | Kind::Character => true,
            _ => false,
        }
    }

    /// `2022` where a year is expected.
    pub(super) fn year_alone(&mut self) -> Option<Span> {
        if !self.is_led {
            return None;
        }
        year(self.year_number()?.into())
    }

    /// `2023-05-05`, `2023/5/5`, `2023-05`, `05.05.2023`, `25/5/2023`.
    pub(super) fn numeric_date(&mut self) -> Option<Span> {
        let first_digits = self.peek().filter(|_| self.is_loose_before())?.text.len();
        let first = self.number(4)?;
        let mark = self.tokens[self.at.min(self.tokens.len() - 1)].text.as_ref();
        let second_digits = self.glued_number_length(mark)?;
        let second = self.number(2)?;
        let third_digits = self.glued_number_length(mark);
        let Some(third_digits) = third_digits else {
            let is_month = first_digits == 4 && mark == "-" && second_digits == 2 && self.is_loose_after();
            return is_month.then(|| self.calendar.month(second as i8, Some(first as i16)))?;
        };
        let third = self.number(4)?;
        let (year, month, day) = match (first_digits, third_digits) {
            (4, 1..=2) => (first, second, third),
            (1..=2, 4) if mark == "." || first > 12 || first == second => (third, second, first),
            (1..=2, 4) if second > 12 => (third, first, second),
            _ => return None,
        };
        // The time of RFC 3339 follows a letter.
        let is_whole = self.is_loose_after() || self.peek().is_some_and(|token| token.text == "t");
        let small = |n: u16| i8::try_from(n).ok();
        if is_whole { self.calendar.day(Some(year as i16), small(month)?, small(day)?) } else { None }
    }

    /// Passes the mark before a number that is glued to it, and tells that number's length.
    fn glued_number_length(&mut self, mark: &str) -> Option<usize> {
        let (glue, number) = (self.tokens.get(self.at)?, self.tokens.get(self.at + 1)?);
        let is_glued = !glue.is_spaced && !number.is_spaced && number.kind == Kind::Number;
        if !is_glued || glue.text != mark || !matches!(mark, "-" | "/" | ".") {
            return None;
        }
        self.at += 1;
        Some(number.text.len())
    }

    /// `May 5th, 2023`, `5. Mai`, `el 5 de mayo de 2023`, `Friday, 5 May`, `5–7 May`, `on the 5th`.
    pub(super) fn worded_date(&mut self) -> Option<Span> {
        self.attempt(|this| {
            this.take(words::weekday)?;
            let _ = this.mark(",");
            this.skip(" the den dem le el ");
            Some(())
        });
        self.first_of(&[Self::day_first, Self::month_first, Self::day_only])
    }

    fn day_first(&mut self) -> Option<Span> {
        let first = self.day_number()?.0;
        let last = self.day_range(" to bis and und al au et y ");
        self.skip(" of de del d du ");
        let token = self.peek()?;
        let month = self.take(words::month)?.0;
        // `the other 5 may fail`.
        let is_verb = matches!(token.text.as_ref(), "may" | "march") && !token.is_capital;
        let year = self.year_after();
        let goes_on = self.peek().is_some_and(|token| token.kind == Kind::Word);
        if is_verb && year.is_none() && goes_on { None } else { self.days(year, month, first, last) }
    }

    fn month_first(&mut self) -> Option<Span> {
        let month = self.take(words::month)?.0;
        let _ = self.mark(".");
        self.skip(" the ");
        let first = self.day_number()?.0;
        let last = self.day_range(" to and ");
        if !self.is_loose_after() {
            return None;
        }
        let year = self.year_after();
        self.days(year, month, first, last)
    }

    /// `on the 5th`: of this month or the last.
    fn day_only(&mut self) -> Option<Span> {
        let before = |back: usize| self.at.checked_sub(back).map(|at| self.tokens[at].text.as_ref());
        let is_led = before(1) == Some("the") && before(2) == Some("on");
        let (day, has_suffix) = self.day_number()?;
        let ends = self.peek().is_none_or(|token| token.kind == Kind::Mark);
        if !(is_led && has_suffix && ends) {
            return None;
        }
        let today = self.calendar.today();
        let month = if day <= today.day() { today } else { today.first_of_month().yesterday().ok()? };
        self.is_assumed = true;
        self.calendar.day(Some(month.year()), month.month(), day)
    }

    /// A day of a month, and whether it is an ordinal: `5`, `5th`, `5.`, `1er`.
    fn day_number(&mut self) -> Option<(i8, bool)> {
        if !self.is_loose_before() {
            return None;
        }
        let day = self.number(2).filter(|day| (1..=31).contains(day))? as i8;
        let is_glued = self.peek().is_some_and(|token| !token.is_spaced);
        let has_suffix = is_glued && (self.word(" st nd rd th er re e ").is_some() || self.mark(".").is_some());
        Some((day, has_suffix))
    }

    /// The last day, where a range of days is named.
    fn day_range(&mut self, joins: &str) -> Option<i8> {
        self.attempt(|this| {
            if this.mark("-–—").is_none() {
                this.word(joins)?;
            }
            this.skip(" the le el ");
            Some(this.number(2).filter(|day| (1..=31).contains(day))? as i8).inspect(|_| {
                let _ = this.first_of(&[|this: &mut Self| this.word(" st nd rd th er re e "), |this| this.mark(".")]);
            })
        })
    }

    fn days(&mut self, year: Option<i16>, month: i8, first: i8, last: Option<i8>) -> Option<Span> {
        self.is_assumed |= year.is_none();
        let first = self.calendar.day(year, month, first)?;
        match last {
            Some(last) => first.through(self.calendar.day(year.or(Some(first.from.year())), month, last)?),
            None => Some(first),
        }
    }
}
