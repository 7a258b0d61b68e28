//! Pages of documents: what a hit is called, and what filters ask about.

use std::sync::Arc;

use crate::bytes::{Column, put_column};
use crate::error::Corrupt;

/// Documents in a full page.
pub(crate) const PAGE: u32 = 1024;

/// A document of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageRow {
    pub(crate) number: i64,
    pub(crate) class: u32,
    pub(crate) time: i64,
    pub(crate) expires: i64,
    pub(crate) length: u32,
}

pub(crate) fn put_page(rows: &[PageRow]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut column = |of: fn(&PageRow) -> i64| put_column(&mut out, &rows.iter().map(of).collect::<Vec<_>>());
    column(|row| row.number);
    column(|row| i64::from(row.class));
    column(|row| row.time);
    column(|row| row.expires);
    column(|row| i64::from(row.length));
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
}

impl Page {
    pub(crate) fn read(bytes: Arc<[u8]>, len: u32) -> Result<Self, Corrupt> {
        let count = len as usize;
        let (numbers, next) = Column::read(&bytes, 0, count)?;
        let (classes, next) = Column::read(&bytes, next, count)?;
        let (times, next) = Column::read(&bytes, next, count)?;
        let (expiries, next) = Column::read(&bytes, next, count)?;
        let (lengths, _) = Column::read(&bytes, next, count)?;
        Ok(Self { bytes, len, numbers, classes, times, expiries, lengths })
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
