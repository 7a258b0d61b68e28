//! Reading a segment: parts are fetched as they are needed, and nothing of them is trusted.

use std::ops::Range;
use std::sync::Arc;

use crate::bytes::Bytes;
use crate::error::{Corrupt, IndexError};
use crate::store::{Part, SegmentId, SegmentReader};

use super::pages::{LARGE_PAGE, PAGE, Page};
use super::postings::{BLOCK, Block, BlockPlace, Bound};
use super::write::{CLASS_PAGE, INLINE};
use super::{FORMAT, MAGIC};

const PAGES_AT: usize = 4 + 2 + 3 * 4 + 4 * 8;

/// The format before payloads: pages say their times only.
const WITHOUT_PAYLOADS: u16 = 1;

/// The last format with large pages.
const WITH_LARGE_PAGES: u16 = 2;

/// So many parts of a long list are said to be expected: the rest may never be read.
const EXPECTED_BLOCKS: usize = 16;

/// A segment that was found in a store.
pub(crate) struct Segment<'s> {
    store: &'s dyn SegmentReader,
    pub(crate) id: SegmentId,
    format: u16,
    header: Arc<[u8]>,
    pub(crate) documents: u32,
    pub(crate) classes: u32,
    dictionary_blocks: u32,
    pub(crate) terms: u64,
    pub(crate) postings: u64,
    /// The least and the greatest number of its documents.
    pub(crate) least: i64,
    pub(crate) greatest: i64,
}

/// The payload of a document: a piece of a part, which is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    bytes: Arc<[u8]>,
    range: Range<usize>,
}

impl Default for Payload {
    fn default() -> Self {
        Self { bytes: Arc::new([]), range: 0..0 }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), bytes: bytes.into() }
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// The part of the payloads that was read last, and its number.
pub(crate) type OpenPart = Option<(u32, Arc<[u8]>)>;

/// Where the postings of a term stand.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// In the dictionary.
    Inline(Arc<[u8]>, usize),
    /// One block.
    Block(BlockPlace),
    /// A directory of blocks.
    Directory { part: u32, offset: usize },
}

/// A term of the dictionary.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// How many documents have it.
    pub(crate) frequency: u32,
    pub(crate) place: Place,
}

impl<'s> Segment<'s> {
    pub(crate) fn open(store: &'s dyn SegmentReader, id: SegmentId) -> Result<Self, IndexError> {
        let header = store.get(id, Part::HEADER)?.ok_or(Corrupt("its header is missing").of(id))?;
        let mut bytes = Bytes::new(&header);
        let format = Self::format(&mut bytes).map_err(|corrupt| corrupt.of(id))?;
        if !(WITHOUT_PAYLOADS..=FORMAT).contains(&format) {
            return Err(IndexError::Format { segment: id, found: format, known: FORMAT });
        }
        let counts = Self::counts(&mut bytes).map_err(|corrupt| corrupt.of(id))?;
        let ([documents, classes, dictionary_blocks], [terms, postings], [least, greatest]) = counts;
        Ok(Self { store, id, format, header, documents, classes, dictionary_blocks, terms, postings, least, greatest })
    }

    fn format(bytes: &mut Bytes<'_>) -> Result<u16, Corrupt> {
        if bytes.fixed()? != MAGIC {
            return Err(Corrupt("it has no mark"));
        }
        bytes.u16()
    }

    #[allow(clippy::type_complexity, reason = "read once, in order")]
    fn counts(bytes: &mut Bytes<'_>) -> Result<([u32; 3], [u64; 2], [i64; 2]), Corrupt> {
        let small = [bytes.u32()?, bytes.u32()?, bytes.u32()?];
        Ok((small, [bytes.u64()?, bytes.u64()?], [bytes.i64()?, bytes.i64()?]))
    }

    pub(crate) fn corrupt(&self) -> impl Fn(Corrupt) -> IndexError + use<> {
        let id = self.id;
        move |corrupt| corrupt.of(id)
    }

    pub(crate) fn pages(&self) -> u32 {
        self.documents.div_ceil(self.page_size())
    }

    /// Documents in a full page.
    fn page_size(&self) -> u32 {
        if self.format <= WITH_LARGE_PAGES { LARGE_PAGE } else { PAGE }
    }

    /// The page of a document, and its place there.
    pub(crate) fn place(&self, ordinal: u32) -> (u32, u32) {
        (ordinal / self.page_size(), ordinal % self.page_size())
    }

    /// The document at a place of a page.
    pub(crate) fn ordinal(&self, page: u32, at: u32) -> u32 {
        page * self.page_size() + at
    }

    /// Where the header tells about a page.
    fn page_at(&self, page: u32) -> usize {
        let width = if self.format == WITHOUT_PAYLOADS { 16 } else { 24 };
        PAGES_AT + page as usize * width
    }

    /// The first number on a page.
    fn first_number(&self, page: u32) -> Result<i64, IndexError> {
        if self.format == WITHOUT_PAYLOADS {
            return self.page(page)?.number(0).map_err(self.corrupt());
        }
        let read = Bytes::at(&self.header, self.page_at(page) + 16).and_then(|mut bytes| bytes.i64());
        read.map_err(self.corrupt())
    }

    /// The page that has a number, if any has.
    pub(crate) fn page_of(&self, number: i64) -> Result<Option<u32>, IndexError> {
        if !(self.least..=self.greatest).contains(&number) {
            return Ok(None);
        }
        let (mut low, mut high) = (0, self.pages());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first_number(middle)? <= number { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1))
    }

    /// The payload of a document; none in a segment without payloads. The part that it stands in is kept in `open`.
    pub(crate) fn payload(&self, page: &Page, at: u32, open: &mut OpenPart) -> Result<Option<Payload>, IndexError> {
        let Some((part, range)) = page.payload(at).map_err(self.corrupt())? else { return Ok(None) };
        if range.is_empty() {
            return Ok(Some(Payload::default()));
        }
        let bytes = match open {
            Some((known, bytes)) if *known == part => Arc::clone(bytes),
            _ => {
                let bytes = self.part(Part::payloads(part))?;
                *open = Some((part, Arc::clone(&bytes)));
                bytes
            }
        };
        if range.end > bytes.len() {
            return Err(Corrupt("no such payload").of(self.id));
        }
        Ok(Some(Payload { bytes, range }))
    }

    /// The earliest and the latest time on a page.
    pub(crate) fn times(&self, page: u32) -> Result<(i64, i64), IndexError> {
        let mut bytes = Bytes::at(&self.header, self.page_at(page)).map_err(self.corrupt())?;
        let read = |bytes: &mut Bytes<'_>| Ok((bytes.i64()?, bytes.i64()?));
        read(&mut bytes).map_err(self.corrupt())
    }

    fn part(&self, part: Option<Part>) -> Result<Arc<[u8]>, IndexError> {
        let part = part.ok_or(Corrupt("no such part").of(self.id))?;
        self.store.get(self.id, part)?.ok_or(Corrupt("a part is missing").of(self.id))
    }

    pub(crate) fn page(&self, nth: u32) -> Result<Page, IndexError> {
        let size = self.page_size();
        let left = self.documents.checked_sub(nth.saturating_mul(size)).ok_or(Corrupt("no such page").of(self.id))?;
        let has_payloads = self.format != WITHOUT_PAYLOADS;
        Page::read(self.part(Part::documents(nth))?, left.min(size), has_payloads).map_err(self.corrupt())
    }

    /// Calls `with` for the bytes of a class.
    pub(crate) fn class<T>(&self, nth: u32, with: impl FnOnce(&[u8]) -> T) -> Result<T, IndexError> {
        let page = nth / CLASS_PAGE as u32;
        let count = (self.classes.saturating_sub(page * CLASS_PAGE as u32)).min(CLASS_PAGE as u32);
        let bytes = self.part(Part::classes(page))?;
        let range = string(&bytes, 0, count, nth % CLASS_PAGE as u32).map_err(self.corrupt())?;
        Ok(with(&bytes[range]))
    }

    /// The documents that were replaced or removed, ascending.
    pub(crate) fn tombstones(&self) -> Result<Vec<u32>, IndexError> {
        let Some(bytes) = self.store.get(self.id, Part::TOMBSTONES)? else { return Ok(Vec::new()) };
        read_tombstones(&bytes, self.documents).map_err(self.corrupt())
    }

    /// Says that a term is about to be looked up.
    pub(crate) fn expected_of(&self, term: &[u8], parts: &mut Vec<(SegmentId, Part)>) -> Result<(), IndexError> {
        let block = self.dictionary_block(term).map_err(self.corrupt())?;
        parts.extend(block.and_then(Part::dictionary).map(|part| (self.id, part)));
        Ok(())
    }

    /// Which part of postings a list begins with, or its directory.
    pub(crate) fn begins_with(&self, entry: &Entry) -> Option<(SegmentId, Part)> {
        let part = match &entry.place {
            Place::Inline(..) => None,
            Place::Block(place) => Part::postings(place.part),
            Place::Directory { part, .. } => Part::postings(*part),
        };
        part.map(|part| (self.id, part))
    }

    /// The parts that the blocks of a list stand in, the first of them.
    pub(crate) fn blocks_of(&self, entry: &Entry) -> Result<Vec<(SegmentId, Part)>, IndexError> {
        if !matches!(entry.place, Place::Directory { .. }) {
            return Ok(Vec::new());
        }
        let mut parts: Vec<u32> = self.places(entry)?.into_iter().map(|place| place.part).collect();
        parts.dedup();
        let parts = parts.into_iter().take(EXPECTED_BLOCKS).filter_map(Part::postings);
        Ok(parts.map(|part| (self.id, part)).collect())
    }

    /// The page of a number, if it may be here.
    pub(crate) fn page_part(&self, number: i64) -> Result<Option<(SegmentId, Part)>, IndexError> {
        let page = self.page_of(number)?.and_then(Part::documents);
        Ok(page.map(|part| (self.id, part)))
    }

    /// The payload part of a document.
    pub(crate) fn payload_part(&self, page: &Page, at: u32) -> Result<Option<(SegmentId, Part)>, IndexError> {
        let place = page.payload(at).map_err(self.corrupt())?;
        Ok(place.and_then(|(part, _)| Part::payloads(part)).map(|part| (self.id, part)))
    }

    /// The postings of a term.
    pub(crate) fn find(&self, term: &[u8]) -> Result<Option<Entry>, IndexError> {
        let Some(block) = self.dictionary_block(term).map_err(self.corrupt())? else { return Ok(None) };
        self.terms_of(block)?.find(term).map_err(self.corrupt())
    }

    /// The last dictionary block that begins with this term or one before it.
    fn dictionary_block(&self, term: &[u8]) -> Result<Option<u32>, Corrupt> {
        let table = self.page_at(self.pages());
        let (mut low, mut high) = (0, self.dictionary_blocks);
        while low < high {
            let middle = low + (high - low) / 2;
            let first = &self.header[string(&self.header, table, self.dictionary_blocks, middle)?];
            if first <= term { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1))
    }

    fn terms_of(&self, block: u32) -> Result<Terms, IndexError> {
        Ok(Terms::new(self.part(Part::dictionary(block))?))
    }

    /// Every dictionary block, in order.
    pub(crate) fn dictionary(&self) -> impl Iterator<Item = Result<Terms, IndexError>> {
        (0..self.dictionary_blocks).map(|block| self.terms_of(block))
    }

    /// The blocks of a list, one after the other; a list in the dictionary has none.
    pub(crate) fn places(&self, entry: &Entry) -> Result<Vec<BlockPlace>, IndexError> {
        match &entry.place {
            Place::Inline(..) => Ok(Vec::new()),
            Place::Block(place) => Ok(vec![*place]),
            Place::Directory { part, offset } => {
                let bytes = self.part(Part::postings(*part))?;
                let mut bytes = Bytes::at(&bytes, *offset).map_err(self.corrupt())?;
                let count = (entry.frequency as usize).div_ceil(BLOCK);
                let mut bytes = Bytes::new(bytes.take(count * BlockPlace::WIDTH).map_err(self.corrupt())?);
                let mut next = 0;
                let mut place = || {
                    let place = BlockPlace::read(&mut bytes)?;
                    let fits = (next..self.documents).contains(&place.last);
                    next = place.last.saturating_add(1);
                    if fits { Ok(place) } else { Err(Corrupt("a directory is not in order")) }
                };
                (0..count).map(|_| place().map_err(self.corrupt())).collect()
            }
        }
    }

    /// Decodes the `nth` block of a list.
    pub(crate) fn read_block(
        &self,
        entry: &Entry,
        places: &[BlockPlace],
        nth: usize,
        block: &mut Block,
    ) -> Result<(), IndexError> {
        let next = match nth.checked_sub(1) {
            None => 0,
            Some(before) => places[before].last.checked_add(1).ok_or(Corrupt("no such document").of(self.id))?,
        };
        let len = (entry.frequency as usize).saturating_sub(nth * BLOCK).min(BLOCK);
        let mut read =
            |bytes: &[u8], offset: usize| block.read(&mut Bytes::at(bytes, offset)?, len, next, self.documents);
        let outcome = match &entry.place {
            Place::Inline(bytes, offset) => read(bytes, *offset),
            _ => {
                let place = places[nth];
                let read = read(&self.part(Part::postings(place.part))?, usize::from(place.offset));
                let is_last = |block: &Block| block.ordinals().last() == Some(&place.last);
                read.and_then(|()| {
                    let whole = matches!(entry.place, Place::Block(_)) || is_last(block);
                    if whole { Ok(()) } else { Err(Corrupt("a block does not end where its directory says")) }
                })
            }
        };
        outcome.map_err(self.corrupt())
    }
}

/// Where a string stands whose table begins at `table`.
fn string(bytes: &[u8], table: usize, count: u32, nth: u32) -> Result<Range<usize>, Corrupt> {
    if nth >= count {
        return Err(Corrupt("no such string"));
    }
    let mut ends = Bytes::at(bytes, table + nth as usize * 4)?;
    let (start, end) = (ends.u32()? as usize, ends.u32()? as usize);
    let base = table + (count as usize + 1) * 4;
    let range = base + start..base + end;
    if range.start <= range.end && range.end <= bytes.len() { Ok(range) } else { Err(Corrupt("no such string")) }
}

pub(crate) fn put_tombstones(ordinals: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut next = 0;
    for ordinal in ordinals {
        crate::bytes::put_varint(&mut out, u64::from(ordinal - next));
        next = ordinal + 1;
    }
    out
}

fn read_tombstones(bytes: &[u8], limit: u32) -> Result<Vec<u32>, Corrupt> {
    let (mut bytes, mut ordinals, mut next) = (Bytes::new(bytes), Vec::new(), 0u32);
    while !bytes.is_empty() {
        let ordinal = next.checked_add(bytes.varint_u32()?).filter(|ordinal| *ordinal < limit);
        let ordinal = ordinal.ok_or(Corrupt("no such document"))?;
        ordinals.push(ordinal);
        next = ordinal + 1;
    }
    Ok(ordinals)
}

/// The terms of one dictionary block, in order.
pub(crate) struct Terms {
    bytes: Arc<[u8]>,
    at: usize,
    term: Vec<u8>,
    frequency: u32,
}

impl Terms {
    fn new(bytes: Arc<[u8]>) -> Self {
        Self { bytes, at: 0, term: Vec::new(), frequency: 0 }
    }

    fn rest(&self) -> Result<Bytes<'_>, Corrupt> {
        Bytes::at(&self.bytes, self.at)
    }

    /// Goes to the next term; says whether there is one. [`Self::entry`] or [`Self::skip`] follows.
    pub(crate) fn advance(&mut self) -> Result<bool, Corrupt> {
        let mut bytes = Bytes::at(&self.bytes, self.at)?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let (shared, own) = (bytes.varint_usize()?, bytes.varint_usize()?);
        if shared > self.term.len() {
            return Err(Corrupt("a term begins like none before it"));
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(bytes.take(own)?);
        self.frequency = bytes.varint_u32()?;
        self.at = self.bytes.len() - bytes.len();
        if self.frequency == 0 { Err(Corrupt("a term has no documents")) } else { Ok(true) }
    }

    /// Looks a term up from the beginning, without putting the terms before it together: one that shares more with its
    /// predecessor than that shares with the wanted term stands on the same side of it, one that shares less comes after it.
    fn find(mut self, wanted: &[u8]) -> Result<Option<Entry>, Corrupt> {
        let part = Arc::clone(&self.bytes);
        let (mut common, mut length) = (0, 0);
        loop {
            let mut bytes = Bytes::at(&part, self.at)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let (shared, own) = (bytes.varint_usize()?, bytes.varint_usize()?);
            let own = bytes.take(own)?;
            if shared > length {
                return Err(Corrupt("a term begins like none before it"));
            }
            length = shared + own.len();
            self.frequency = bytes.varint_u32()?;
            if self.frequency == 0 {
                return Err(Corrupt("a term has no documents"));
            }
            self.at = part.len() - bytes.len();
            if shared < common {
                return Ok(None);
            }
            if shared == common {
                let rest = &wanted[common..];
                let more = own.iter().zip(rest).take_while(|(a, b)| a == b).count();
                match (own.get(more), rest.get(more)) {
                    (None, None) => return self.entry().map(Some),
                    (Some(_), None) => return Ok(None),
                    (Some(a), Some(b)) if a > b => return Ok(None),
                    _ => common += more,
                }
            }
            self.skip()?;
        }
    }

    pub(crate) fn term(&self) -> &[u8] {
        &self.term
    }

    pub(crate) fn skip(&mut self) -> Result<(), Corrupt> {
        self.entry_at(false).map(drop)
    }

    pub(crate) fn entry(&mut self) -> Result<Entry, Corrupt> {
        let place = self.entry_at(true)?;
        place.map(|place| Entry { frequency: self.frequency, place }).ok_or(Corrupt("a term has no place"))
    }

    fn entry_at(&mut self, wanted: bool) -> Result<Option<Place>, Corrupt> {
        let mut bytes = self.rest()?;
        let place = if self.frequency as usize <= INLINE {
            let len = bytes.varint_usize()?;
            let start = self.bytes.len() - bytes.len();
            bytes.take(len)?;
            wanted.then(|| Place::Inline(Arc::clone(&self.bytes), start))
        } else if self.frequency as usize <= BLOCK {
            let (bound, part) = (Bound::read(&mut bytes)?, bytes.varint_u32()?);
            let offset = u16::try_from(bytes.varint()?).map_err(|_| Corrupt("no such block"))?;
            Some(Place::Block(BlockPlace { last: u32::MAX, part, offset, bound }))
        } else {
            Some(Place::Directory { part: bytes.varint_u32()?, offset: bytes.varint_usize()? })
        };
        self.at = self.bytes.len() - bytes.len();
        Ok(place)
    }
}
