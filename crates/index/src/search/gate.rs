//! Which documents of a segment may be found: not buried, not out of date, and as the filter wants them.

use crate::error::IndexError;
use crate::segment::{Page, Segment};
use crate::tail::Tail;

use super::Query;

/// What the filter said about a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    NotAsked,
    Admitted,
    Refused,
}

/// Lets documents of one segment through.
pub(super) struct Gate<'g> {
    segment: &'g Segment<'g>,
    tail: &'g Tail<'g>,
    query: &'g Query<'g>,
    buried: Vec<u32>,
    page: Option<(u32, Page)>,
    verdicts: Vec<Verdict>,
}

impl<'g> Gate<'g> {
    pub(super) fn new(segment: &'g Segment<'g>, tail: &'g Tail<'g>, query: &'g Query<'g>) -> Result<Self, IndexError> {
        Ok(Self { segment, tail, query, buried: segment.tombstones()?, page: None, verdicts: Vec::new() })
    }

    /// Whether one of these documents may be of the times that are wanted; `from` is less than `to`.
    pub(super) fn opens(&self, from: u32, to: u32) -> Result<bool, IndexError> {
        let Query { since, until, .. } = *self.query;
        if since.is_none() && until.is_none() {
            return Ok(true);
        }
        for page in self.segment.place(from).0..=self.segment.place(to - 1).0 {
            let (earliest, latest) = self.segment.times(page)?;
            if since.is_none_or(|since| latest >= since) && until.is_none_or(|until| earliest < until) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The number of a document that may be found.
    pub(super) fn pass(&mut self, ordinal: u32) -> Result<Option<i64>, IndexError> {
        if !self.buried.is_empty() && self.buried.binary_search(&ordinal).is_ok() {
            return Ok(None);
        }
        let (nth, place) = self.segment.place(ordinal);
        let page = match self.page.take() {
            Some((at, page)) if at == nth => page,
            _ => self.segment.page(nth)?,
        };
        let outcome = self.judge(&page, place);
        self.page = Some((nth, page));
        outcome
    }

    fn judge(&mut self, page: &Page, at: u32) -> Result<Option<i64>, IndexError> {
        let corrupt = self.segment.corrupt();
        let Query { since, until, live_at, .. } = *self.query;
        if since.is_some() || until.is_some() {
            let time = page.time(at).map_err(&corrupt)?;
            if since.is_some_and(|since| time < since) || until.is_some_and(|until| time >= until) {
                return Ok(None);
            }
        }
        if let Some(now) = live_at
            && page.expires(at).map_err(&corrupt)? <= now
        {
            return Ok(None);
        }
        if !self.admits(page.class(at).map_err(&corrupt)?)? {
            return Ok(None);
        }
        let number = page.number(at).map_err(&corrupt)?;
        Ok((!self.tail.masks(number)).then_some(number))
    }

    fn admits(&mut self, class: u32) -> Result<bool, IndexError> {
        let place = class as usize;
        if place >= self.verdicts.len() {
            // As many classes as are met: a damaged count must not make a large list.
            self.segment.class(class, |_| ())?;
            self.verdicts.resize(place + 1, Verdict::NotAsked);
        }
        if self.verdicts[place] == Verdict::NotAsked {
            let admitted = self.segment.class(class, |bytes| self.query.admit.admits(bytes))?;
            self.verdicts[place] = if admitted { Verdict::Admitted } else { Verdict::Refused };
        }
        Ok(self.verdicts[place] == Verdict::Admitted)
    }
}
