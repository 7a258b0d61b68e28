//! Pages of documents: what a hit is called, and what filters ask about.

use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{Column, put_column};
use crate::error::Corrupt;

/// Documents in a full page: about 3.5 KB of columns, a row that fits a page of a store. A search reads the pages of the documents
/// that it found, which stand far apart in a large index.
pub(crate) const PAGE: u32 = 256;

/// The same in formats 1 and 2.
pub(super) const LARGE_PAGE: u32 = 1024;

const NO_PAYLOAD: Corrupt = Corrupt("no such payload");

/// A document of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageRow {
    pub(crate) number: i64,
    pub(crate) class: u32,
    pub(crate) time: i64,
    pub(crate) expires: i64,
    pub(crate) length: u32,
}

/// Where the payload of a document ends: which part it is in, and the place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PayloadEnd {
    pub(crate) part: u32,
    pub(crate) end: u32,
}

pub(crate) fn put_page(rows: &[PageRow], payloads: &[PayloadEnd]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut column = |of: fn(&PageRow) -> i64| put_column(&mut out, &rows.iter().map(of).collect::<Vec<_>>());
    column(|row| row.number);
    column(|row| i64::from(row.class));
    column(|row| row.time);
    column(|row| row.expires);
    column(|row| i64::from(row.length));
    put_column(&mut out, &payloads.iter().map(|payload| i64::from(payload.part)).collect::<Vec<_>>());
    put_column(&mut out, &payloads.iter().map(|payload| i64::from(payload.end)).collect::<Vec<_>>());
    out
}

/// A page of documents, each addressed by its place.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    bytes: Arc<[u8]>,
    len: u32,
    numbers: Column,
    classes: Column,
    times: Column,
    expiries: Column,
    lengths: Column,
    /// Part and end of each payload; none in a segment without payloads.
    payloads: Option<(Column, Column)>,
}

impl Page {
    pub(crate) fn read(bytes: Arc<[u8]>, len: u32, has_payloads: bool) -> Result<Self, Corrupt> {
        let count = len as usize;
        let (numbers, next) = Column::read(&bytes, 0, count)?;
        let (classes, next) = Column::read(&bytes, next, count)?;
        let (times, next) = Column::read(&bytes, next, count)?;
        let (expiries, next) = Column::read(&bytes, next, count)?;
        let (lengths, next) = Column::read(&bytes, next, count)?;
        let payloads = if has_payloads {
            let (parts, next) = Column::read(&bytes, next, count)?;
            Some((parts, Column::read(&bytes, next, count)?.0))
        } else {
            None
        };
        Ok(Self { bytes, len, numbers, classes, times, expiries, lengths, payloads })
    }

    /// Where the payload of a document stands; none in a segment without payloads.
    pub(crate) fn payload(&self, at: u32) -> Result<Option<(u32, Range<usize>)>, Corrupt> {
        let Some((parts, ends)) = &self.payloads else { return Ok(None) };
        let place = |at: u32| -> Result<(u32, usize), Corrupt> {
            let number = |column: &Column| u32::try_from(column.get(&self.bytes, at as usize)?).map_err(|_| NO_PAYLOAD);
            Ok((number(parts)?, number(ends)? as usize))
        };
        let (part, end) = place(at)?;
        let before = at.checked_sub(1).map(place).transpose()?;
        let start = before.filter(|(other, _)| *other == part).map_or(0, |(_, end)| end);
        if start <= end { Ok(Some((part, start..end))) } else { Err(NO_PAYLOAD) }
    }

    /// The place of a number on this page.
    pub(crate) fn find(&self, number: i64) -> Result<Option<u32>, Corrupt> {
        // Mostly there are no gaps.
        let guess = u32::try_from(number.saturating_sub(self.number(0)?)).ok().filter(|at| *at < self.len);
        if let Some(at) = guess
            && self.number(at)? == number
        {
            return Ok(Some(at));
        }
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.number(middle)? < number { low = middle + 1 } else { high = middle }
        }
        Ok(if low < self.len && self.number(low)? == number { Some(low) } else { None })
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn number(&self, at: u32) -> Result<i64, Corrupt> {
        self.numbers.get(&self.bytes, at as usize)
    }

    pub(crate) fn class(&self, at: u32) -> Result<u32, Corrupt> {
        u32::try_from(self.classes.get(&self.bytes, at as usize)?).map_err(|_| Corrupt("no such class"))
    }

    pub(crate) fn time(&self, at: u32) -> Result<i64, Corrupt> {
        self.times.get(&self.bytes, at as usize)
    }

    pub(crate) fn expires(&self, at: u32) -> Result<i64, Corrupt> {
        self.expiries.get(&self.bytes, at as usize)
    }

    pub(crate) fn row(&self, at: u32) -> Result<PageRow, Corrupt> {
        let length =
            u32::try_from(self.lengths.get(&self.bytes, at as usize)?).map_err(|_| Corrupt("no such length"))?;
        let (number, class) = (self.number(at)?, self.class(at)?);
        Ok(PageRow { number, class, time: self.time(at)?, expires: self.expires(at)?, length })
    }
}
