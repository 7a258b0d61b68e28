//! The times that a message names: text and the present moment go in, ranges of time come out.
//!
//! English, Chinese, German, French, Spanish, Japanese and some Korean. A day, month or weekday without a year is the
//! latest that is not in the future; what can only be in the future (`tomorrow`, `next week`) gives nothing, nor does a
//! word that merely looks like a date. One pass with a bounded look ahead: the work is linear in the text.

mod calendar;
mod numeric;
mod phrases;
mod points;
mod unspaced;
mod words;

use std::ops::Range;

use jiff::{Timestamp, Zoned};

use crate::text::steps;

use calendar::{Calendar, Span};
use phrases::Parser;
use words::{Kind, Token, is_one_of, may_begin, tokens};

/// A range of time and where a message names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeRange {
    /// The first moment. Of `before May` it is the year 1.
    pub from: Timestamp,
    /// The first moment after it. Of `since May` it is in the year 9999.
    pub until: Timestamp,
    /// The bytes of the message that name it, without a preposition such as `in` or `on`.
    pub text_range: Range<usize>,
    /// Whether the words fit the future as well (`on Friday`, `December 24`), so that the past is a guess.
    pub is_assumed: bool,
}

/// Times read of one message. A page of dates names none in particular.
pub const MAX_TIMES: usize = 16;

/// Places of one message at which a time is looked for. It bounds the work on a long page.
const MAX_PLACES: usize = 2_000;

/// Words after which a time is in the future or comes again and again.
const NOT_THEN: &str = " next every each upcoming coming nachste nachsten nachster nachstes kommende kommenden jeden jede \
    jedes chaque cada proximo proxima prochain prochaine ";

/// Words after which a time that could be in the future is.
const AHEAD: &str = " by until till bis hasta this diesen ce cet cette este esta ";

/// The same, after the time.
const NOT_THEN_AFTER: &str = " prochain prochaine proximo proxima que s ";

/// Every time that a message names, in order.
pub fn named(message: &str, now: &Zoned) -> Vec<TimeRange> {
    let calendar = Calendar::new(now);
    let tokens = tokens(message);
    let (mut found, mut next) = (Vec::new(), 0);
    for at in places(&tokens) {
        if found.len() == MAX_TIMES {
            break;
        }
        // What a time has read already names no other.
        let Some(time) = (at >= next).then(|| time_at(message, &tokens, at, &calendar)).flatten() else { continue };
        if !is_not_then(&tokens, at, &time) {
            found.extend(in_zone(&time, &tokens[at..time.next], now));
        }
        next = time.next;
    }
    found
}

/// Where a time may begin.
fn places(tokens: &[Token<'_>]) -> impl Iterator<Item = usize> {
    tokens.iter().enumerate().filter(|(_, token)| may_begin(token)).map(|(at, _)| at).take(MAX_PLACES)
}

/// A time, and the token after it.
struct Found {
    span: Span,
    next: usize,
    is_assumed: bool,
}

fn time_at(message: &str, tokens: &[Token<'_>], at: usize, calendar: &Calendar) -> Option<Found> {
    if tokens[at].kind != Kind::Word
        && let Some((span, end, is_assumed)) = unspaced::time(&message[tokens[at].range.start..], calendar)
    {
        let end = tokens[at].range.start + end;
        let next = at + tokens[at..].iter().take_while(|token| token.range.start < end).count();
        steps::count(next - at);
        return Some(Found { span, next, is_assumed });
    }
    let mut parser = Parser::new(tokens, at, calendar);
    let span = parser.time()?;
    Some(Found { span, next: parser.at(), is_assumed: parser.is_assumed() })
}

/// `every Friday`, `next May`, `lundi prochain`, and `by Friday`, which looks ahead where it says no year.
fn is_not_then(tokens: &[Token<'_>], at: usize, time: &Found) -> bool {
    // An article may stand between.
    let before = tokens[..at].iter().rev().take(2).map(|token| token.text.as_ref());
    let mut led = before.scan(true, |near, word| {
        let is_near = std::mem::replace(near, is_one_of(" the a of in on le la el den ", word));
        is_near.then_some(word)
    });
    let followed = tokens.get(time.next).is_some_and(|token| is_one_of(NOT_THEN_AFTER, &token.text));
    time.is_assumed && followed
        || led.any(|word| is_one_of(NOT_THEN, word) || time.is_assumed && is_one_of(AHEAD, word))
}

fn in_zone(time: &Found, tokens: &[Token<'_>], now: &Zoned) -> Option<TimeRange> {
    let zone = now.time_zone();
    let at = |time: jiff::civil::DateTime| Some(time.to_zoned(zone.clone()).ok()?.timestamp());
    let (from, until) = (at(time.span.from)?, at(time.span.until)?);
    let text_range = tokens.first()?.range.start..tokens.last()?.range.end;
    (from < until && time.span.from.year() > 0).then_some(TimeRange {
        from,
        until,
        text_range,
        is_assumed: time.is_assumed,
    })
}

#[cfg(test)]
mod tests;
