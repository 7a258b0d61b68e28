//! Expressions made of other times: `between May and July`, `since March`, `two weeks ago`, `the week before 9 June`.

use super::calendar::{Calendar, Count, Span, Unit, beside, next_to};
use super::words::{self, Kind, Token, is_one_of};

/// Words before a month or a year that make it one.
const LEADS: &str = " in on during since until till before after last this of im seit bis vor nach en depuis avant apres desde \
    hasta antes despues pour for year jahr annee ano mois mes monat month early late mid ";

/// Tokens that one expression may take. It bounds the work at each place of a text.
const LOOKAHEAD: usize = 18;

/// Reads one expression at a place.
pub(super) struct Parser<'a> {
    pub(super) tokens: &'a [Token<'a>],
    pub(super) at: usize,
    end: usize,
    pub(super) calendar: &'a Calendar,
    /// Whether a month or a year is expected, so that a weak word is one.
    pub(super) is_led: bool,
    pub(super) is_assumed: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token<'a>], at: usize, calendar: &'a Calendar) -> Self {
        let end = tokens.len().min(at + LOOKAHEAD);
        let is_led = at > 0 && is_one_of(LEADS, &tokens[at - 1].text);
        Self { tokens, at, end, calendar, is_led, is_assumed: false }
    }

    /// The token after what was read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether the time fits the future as well.
    pub(super) fn is_assumed(&self) -> bool {
        self.is_assumed
    }

    /// How many tokens it may look at.
    #[cfg(test)]
    pub(super) fn reach(&self) -> usize {
        self.end - self.at
    }

    /// The time that begins here.
    pub(super) fn time(&mut self) -> Option<Span> {
        self.first_of(&[
            Self::beside,
            Self::counted,
            Self::rolling,
            Self::between,
            Self::open,
            Self::range,
            Self::point,
        ])
    }

    /// The first rule that applies; what the others read is put back.
    pub(super) fn first_of<T>(&mut self, rules: &[fn(&mut Self) -> Option<T>]) -> Option<T> {
        rules.iter().find_map(|rule| self.attempt(rule))
    }

    pub(super) fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = (self.at, self.is_led, self.is_assumed);
        let result = rule(self);
        if result.is_none() {
            (self.at, self.is_led, self.is_assumed) = before;
        }
        result
    }

    pub(super) fn peek(&self) -> Option<&'a Token<'a>> {
        crate::text::steps::count(1);
        self.tokens[..self.end].get(self.at)
    }

    /// Reads one token that means something to `of`.
    pub(super) fn take<T>(&mut self, of: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let token = self.peek().filter(|token| token.kind == Kind::Word)?;
        let meaning = of(&token.text)?;
        self.at += 1;
        Some(meaning)
    }

    /// Reads one word of a list.
    pub(super) fn word(&mut self, list: &str) -> Option<()> {
        self.take(|word| is_one_of(list, word).then_some(()))
    }

    /// Reads one of these marks.
    pub(super) fn mark(&mut self, marks: &str) -> Option<()> {
        let token = self.peek().filter(|token| token.kind == Kind::Mark && !token.text.is_empty())?;
        marks.contains(token.text.as_ref()).then(|| self.at += 1)
    }

    /// Passes over up to three words of a list, and apostrophes.
    pub(super) fn skip(&mut self, list: &str) {
        for _ in 0..4 {
            if self.word(list).is_none() && self.mark("'’").is_none() {
                break;
            }
        }
    }

    /// A count in digits or words: `3`, `two`, `a couple of`.
    pub(super) fn count(&mut self) -> Option<Count> {
        if let Some(n) = self.number(4) {
            return Some(Count { n: n.into(), spread: 1 });
        }
        let count = self.take(words::count)?;
        // `a few`, `ein paar`, `un par de`.
        let more = if count.n == 1 {
            self.attempt(|this| this.take(words::count).filter(|more| more.spread > 1))
        } else {
            None
        };
        let count = more.unwrap_or(count);
        if count.spread > 1 {
            self.skip(" of de ");
        }
        Some(count)
    }

    pub(super) fn unit(&mut self) -> Option<Unit> {
        let weekend = self.attempt(|this| {
            let parts = [" week fin ", " end de ", " semana "];
            let is_french = this.peek()?.text == "week";
            this.word(parts[0])?;
            if is_french {
                this.mark("-")?;
                return this.word(parts[1]);
            }
            this.word(parts[1])?;
            this.word(parts[2])
        });
        if weekend.is_some() { Some(Unit::Weekend) } else { self.take(words::unit) }
    }

    /// `the week before 9 June 2023`, `two days after 2 June`: a unit next to a time.
    fn beside(&mut self) -> Option<Span> {
        let count = self.attempt(Self::count);
        let weekday = if count.is_none() { self.attempt(|this| this.take(words::weekday)) } else { None };
        let unit = if weekday.is_none() { Some(self.unit()?) } else { None };
        let before = self.side()?;
        self.skip(" the le la el de del dem den der of that l ");
        if unit == Some(Unit::Week) && before && self.word(" last ").is_some() {
            return self.calendar.unit(Unit::Week, -2);
        }
        self.is_led = true;
        let time = self.point()?;
        let (first, last) = (time.from.date(), time.until.date().yesterday().ok()?);
        match (unit, weekday, count) {
            (None, Some(weekday), _) if before => self.calendar.weekday_before(weekday, first),
            (None, Some(weekday), _) => {
                self.calendar.weekday_before(weekday, last.checked_add(jiff::Span::new().days(8)).ok()?)
            }
            (Some(Unit::Weekend), _, Some(count)) if before => {
                let nearest = next_to(time, Unit::Weekend, true)?;
                let away = jiff::Span::new().days(7 * (count.n - 1));
                let saturday = nearest.from.date().checked_sub(away).ok()?;
                Some(Span::days(saturday, saturday.checked_add(jiff::Span::new().days(2)).ok()?))
            }
            (Some(unit), _, None | Some(Count { n: 1, spread: 1 })) => next_to(time, unit, before),
            (Some(unit), _, Some(count)) if before => beside(first, unit, Count { n: -count.n, ..count }),
            (Some(unit), _, Some(count)) => beside(last, unit, count),
            (None, None, _) => None,
        }
    }

    /// Whether `before` or `after` is next.
    fn side(&mut self) -> Option<bool> {
        self.take(|word| match word {
            "before" | "vor" | "avant" | "antes" => Some(true),
            "after" | "nach" | "apres" | "despues" => Some(false),
            _ => None,
        })
    }

    /// `3 days ago`, `vor drei Tagen`, `il y a deux semaines`, `hace tres días`.
    fn counted(&mut self) -> Option<Span> {
        let led = self.attempt(|this| {
            if this.word(" il ").is_some() {
                this.word(" y ")?;
                return this.word(" a ");
            }
            this.word(" vor hace ")
        });
        if led.is_some() {
            self.skip(" about around etwa ungefahr environ unos casi como circa ");
        }
        let (count, unit) = (self.count()?, self.unit()?);
        if led.is_none() {
            self.word(" ago back ")?;
        }
        self.calendar.ago(unit, count)
    }

    /// `the last two weeks`, `the past month`, `les trois derniers jours`, `los últimos tres días`: up to now.
    fn rolling(&mut self) -> Option<Span> {
        const LAST: &str = " last past previous letzten vergangenen dernier derniers derniere dernieres ultimo ultimos \
            ultima ultimas ";
        let (count, unit) = self.first_of(&[
            |this| {
                this.word(LAST)?;
                Some((this.several()?, this.unit()?))
            },
            |this| {
                let count = this.several()?;
                this.word(LAST)?;
                Some((count, this.unit()?))
            },
            |this| {
                this.word(" past ")?;
                Some((Count { n: 1, spread: 1 }, this.unit().filter(|unit| *unit != Unit::Weekend)?))
            },
        ])?;
        self.calendar.past(unit, count)
    }

    /// A count of more than one: `it will last an hour` is no time.
    fn several(&mut self) -> Option<Count> {
        self.count().filter(|count| count.n > 1)
    }

    /// `between May and July`.
    fn between(&mut self) -> Option<Span> {
        self.word(" between zwischen entre ")?;
        self.is_led = true;
        let first = self.limit()?;
        self.word(" and und et y ")?;
        first.through(self.limit()?)
    }

    /// `from May to July`, `5 May – 6 June`, `von Mai bis Juli`.
    fn range(&mut self) -> Option<Span> {
        self.is_led |= self.word(" from von vom de du del desde ").is_some();
        let first = self.limit()?;
        let ends = if self.is_led {
            " to until till through bis zum a al au hasta "
        } else {
            " to until till through bis hasta "
        };
        if self.mark("-–—").is_none() {
            self.word(ends)?;
        }
        self.is_led = true;
        first.through(self.limit()?)
    }

    fn limit(&mut self) -> Option<Span> {
        self.skip(" the le la el den dem der l ");
        self.point()
    }

    /// `since March`, `after May 5`, `before 2022`, `bis Mai`: to a far bound.
    fn open(&mut self) -> Option<Span> {
        let side: fn(Span) -> Span = self.take(|word| {
            Some(match word {
                "since" | "seit" | "depuis" | "desde" => Span::since as fn(Span) -> Span,
                "after" | "nach" | "apres" | "despues" => Span::after,
                "before" | "vor" | "avant" | "antes" => Span::before,
                "until" | "till" | "bis" | "hasta" => Span::until,
                _ => return None,
            })
        })?;
        self.is_led = true;
        self.skip(" the le la el de del dem den der l early ");
        let is_weekday = self.peek().is_some_and(|token| words::weekday(&token.text).is_some());
        let time = self.point()?;
        // `until Friday` looks ahead.
        let looks_ahead = self.is_assumed && is_weekday && side(time).from < time.from;
        (!looks_ahead).then(|| side(time))
    }
}
