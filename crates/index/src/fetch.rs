//! Documents by their numbers: what segments keep of them besides their postings.

use crate::error::IndexError;
use crate::segment::{OpenPart, Page, Payload, Segment};
use crate::store::SegmentReader;

/// What a segment keeps of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// When it was said.
    pub time: i64,
    /// From when on it is not found any more.
    pub expires: i64,
    /// A name of its class, the same for all documents that one [`Fetch`] finds in this class of one segment.
    pub class: ClassName,
    /// What the store gave with it.
    pub payload: Payload,
}

/// A class of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassName {
    segment: usize,
    class: u32,
}

/// Finds documents of a snapshot by their numbers. It keeps the page and the payloads that it looked at last of each segment:
/// numbers that are asked for in order are found fastest.
pub struct Fetch<'s> {
    store: &'s dyn SegmentReader,
    segments: Vec<Opened<'s>>,
}

struct Opened<'s> {
    segment: Segment<'s>,
    buried: Vec<u32>,
    page: Option<(u32, Page)>,
    payloads: OpenPart,
}

impl<'s> Fetch<'s> {
    /// Opens the segments of a snapshot.
    pub fn new(store: &'s dyn SegmentReader) -> Result<Self, IndexError> {
        let open = |id| {
            let segment = Segment::open(store, id)?;
            Ok(Opened { buried: segment.tombstones()?, segment, page: None, payloads: None })
        };
        Ok(Self { store, segments: store.list()?.into_iter().map(open).collect::<Result<_, IndexError>>()? })
    }

    /// Says that these documents are about to be asked for.
    pub fn expect(&mut self, numbers: &[i64]) -> Result<(), IndexError> {
        if !self.store.is_far() {
            return Ok(());
        }
        let mut pages = Vec::new();
        for (opened, number) in each(&self.segments, numbers) {
            pages.extend(opened.segment.page_part(number)?);
        }
        pages.dedup();
        self.store.expect(&pages)?;
        let mut payloads = Vec::new();
        for number in numbers {
            for opened in &mut self.segments {
                let Some(at) = opened.find(*number)? else { continue };
                if let Some((_, page)) = &opened.page {
                    payloads.extend(opened.segment.payload_part(page, at)?);
                }
            }
        }
        payloads.dedup();
        self.store.expect(&payloads)
    }

    /// A document that is not buried. None if there is no such document, or if it was indexed without a payload.
    pub fn get(&mut self, number: i64) -> Result<Option<Fetched>, IndexError> {
        for (nth, opened) in self.segments.iter_mut().enumerate() {
            if let Some(at) = opened.find(number)? {
                return opened.fetched(nth, at);
            }
        }
        Ok(None)
    }

    /// Calls `with` for the bytes of a class.
    pub fn class<T>(&self, name: ClassName, with: impl FnOnce(&[u8]) -> T) -> Result<T, IndexError> {
        self.segments[name.segment].segment.class(name.class, with)
    }
}

/// Every segment with every number.
fn each<'o, 's>(segments: &'o [Opened<'s>], numbers: &'o [i64]) -> impl Iterator<Item = (&'o Opened<'s>, i64)> {
    segments.iter().flat_map(|opened| numbers.iter().map(move |number| (opened, *number)))
}

impl Opened<'_> {
    /// Opens the page of a document that is not buried; its place there.
    fn find(&mut self, number: i64) -> Result<Option<u32>, IndexError> {
        let Some(nth) = self.segment.page_of(number)? else { return Ok(None) };
        if self.page.as_ref().is_none_or(|(open, _)| *open != nth) {
            self.page = Some((nth, self.segment.page(nth)?));
        }
        let Some((_, page)) = &self.page else { return Ok(None) };
        let at = page.find(number).map_err(self.segment.corrupt())?;
        Ok(at.filter(|at| self.buried.binary_search(&self.segment.ordinal(nth, *at)).is_err()))
    }

    /// What there is at a place of the open page.
    fn fetched(&mut self, segment: usize, at: u32) -> Result<Option<Fetched>, IndexError> {
        let Some((_, page)) = &self.page else { return Ok(None) };
        let row = page.row(at).map_err(self.segment.corrupt())?;
        let payload = self.segment.payload(page, at, &mut self.payloads)?.filter(|payload| !payload.is_empty());
        let class = ClassName { segment, class: row.class };
        Ok(payload.map(|payload| Fetched { time: row.time, expires: row.expires, class, payload }))
    }
}
