//! Merging: several segments become one, without what is buried in them.
//!
//! [`merge`] reads a snapshot and needs no lock; [`replace`] puts the result in place, in a short transaction. What was
//! buried in between is buried in the new segment; if one of the old ones is gone in between, nothing is changed.

use crate::bury::bury_in;
use crate::error::{Corrupt, IndexError};
use crate::segment::postings::{Block, Posting};
use crate::segment::{Built, Classes, Entry, OpenPart, Page, Payload, Row, Segment, Terms, Writer};
use crate::store::{SegmentId, SegmentReader, SegmentStore};

/// Not in the merged segment.
const BURIED: u32 = u32::MAX;

/// A merge that is not in place yet.
#[derive(Debug)]
pub struct Merge {
    /// The segments, and what was buried in them.
    inputs: Vec<(SegmentId, Vec<u32>)>,
    /// Nothing if everything is buried.
    built: Option<Built>,
}

impl Merge {
    /// The segment that takes the place of the others; nothing if no document is left.
    pub fn built(&self) -> Option<&Built> {
        self.built.as_ref()
    }
}

/// Merges segments of a snapshot.
pub fn merge(store: &dyn SegmentReader, ids: &[SegmentId]) -> Result<Merge, IndexError> {
    let segments = ids.iter().map(|id| Segment::open(store, *id)).collect::<Result<Vec<_>, _>>()?;
    let buried = segments.iter().map(Segment::tombstones).collect::<Result<Vec<_>, _>>()?;
    let mut writer = Writer::default();
    let Documents { rows, classes, places } = documents(&segments, &buried, &mut writer)?;
    let mut streams = segments.iter().map(Stream::new).collect::<Result<Vec<_>, _>>()?;
    let mut postings = Vec::new();
    while let Some(term) = streams.iter().filter_map(Stream::term).min().map(<[u8]>::to_vec) {
        postings.clear();
        for (stream, places) in streams.iter_mut().zip(&places) {
            if stream.term() == Some(&term) {
                stream.take(places, &mut postings)?;
            }
        }
        if !postings.is_empty() {
            postings.sort_unstable_by_key(|posting| posting.ordinal);
            postings.dedup_by_key(|posting| posting.ordinal);
            writer.add_term(&term, &postings);
        }
    }
    let inputs = ids.iter().copied().zip(buried).collect();
    Ok(Merge { inputs, built: Built::of(writer, &rows, &classes.list) })
}

/// Puts a merge in the place of its segments. Says whether it did: not if one of them is gone.
pub fn replace(store: &mut dyn SegmentStore, merge: &Merge) -> Result<bool, IndexError> {
    let present = store.list()?;
    if !merge.inputs.iter().all(|(id, _)| present.contains(id)) {
        return Ok(false);
    }
    let mut buried_since = Vec::new();
    for (id, before) in &merge.inputs {
        let segment = Segment::open(store, *id)?;
        for ordinal in segment.tombstones()? {
            if before.binary_search(&ordinal).is_err() {
                let (page, at) = segment.place(ordinal);
                buried_since.push(segment.page(page)?.number(at).map_err(segment.corrupt())?);
            }
        }
    }
    for (id, _) in &merge.inputs {
        store.delete(*id)?;
    }
    if let Some(built) = &merge.built {
        let id = crate::segment::add(store, built)?;
        bury_in(store, id, &buried_since)?;
    }
    Ok(true)
}

/// The documents of a merged segment.
struct Documents {
    /// In the order of their numbers.
    rows: Vec<Row>,
    classes: Classes,
    /// Where each document of each segment went.
    places: Vec<Vec<u32>>,
}

/// The documents that are left; their payloads go to the writer.
fn documents(segments: &[Segment<'_>], buried: &[Vec<u32>], writer: &mut Writer) -> Result<Documents, IndexError> {
    let mut all: Vec<(i64, usize, u32, Row)> = Vec::new();
    let mut classes = Classes::default();
    for (nth, (segment, buried)) in segments.iter().zip(buried).enumerate() {
        for at in 0..segment.pages() {
            let page = segment.page(at)?;
            for (ordinal, row) in rows(segment, &page, segment.ordinal(at, 0), buried)? {
                let class = segment.class(row.class, |bytes| classes.place(bytes))?;
                all.push((row.number, nth, ordinal, Row { class, ..row }));
            }
        }
    }
    all.sort_unstable_by_key(|(number, nth, ..)| (*number, *nth));
    let mut places: Vec<Vec<u32>> = segments.iter().map(|segment| vec![BURIED; segment.documents as usize]).collect();
    let mut rows = Vec::with_capacity(all.len());
    let mut payloads: Vec<Payloads<'_>> = segments.iter().map(Payloads::new).collect();
    for (number, nth, ordinal, row) in all {
        if rows.last().is_some_and(|last: &Row| last.number == number) {
            return Err(Corrupt("a document is in two segments").of(segments[nth].id));
        }
        places[nth][ordinal as usize] = rows.len() as u32;
        rows.push(row);
        writer.add_payload(&payloads[nth].read(ordinal)?);
    }
    Ok(Documents { rows, classes, places })
}

/// The documents of a page that are not buried.
fn rows(segment: &Segment<'_>, page: &Page, first: u32, buried: &[u32]) -> Result<Vec<(u32, Row)>, IndexError> {
    (0..page.len())
        .filter(|at| buried.binary_search(&(first + at)).is_err())
        .map(|at| page.row(at).map(|row| (first + at, row)).map_err(segment.corrupt()))
        .collect()
}

/// The payloads of a segment; its documents are asked for in order.
struct Payloads<'s> {
    segment: &'s Segment<'s>,
    page: Option<(u32, Page)>,
    open: OpenPart,
}

impl<'s> Payloads<'s> {
    fn new(segment: &'s Segment<'s>) -> Self {
        Self { segment, page: None, open: None }
    }

    /// Empty where the segment has none.
    fn read(&mut self, ordinal: u32) -> Result<Payload, IndexError> {
        let (nth, place) = self.segment.place(ordinal);
        let page = match self.page.take() {
            Some((at, page)) if at == nth => page,
            _ => self.segment.page(nth)?,
        };
        let payload = self.segment.payload(&page, place, &mut self.open)?.unwrap_or_default();
        self.page = Some((nth, page));
        Ok(payload)
    }
}

/// The terms of a segment, one after the other.
struct Stream<'s> {
    segment: &'s Segment<'s>,
    blocks: Box<dyn Iterator<Item = Result<Terms, IndexError>> + 's>,
    terms: Option<Terms>,
    entry: Option<Entry>,
    block: Block,
}

impl<'s> Stream<'s> {
    fn new(segment: &'s Segment<'s>) -> Result<Self, IndexError> {
        let blocks = Box::new(segment.dictionary());
        let mut stream = Self { segment, blocks, terms: None, entry: None, block: Block::EMPTY };
        stream.advance()?;
        Ok(stream)
    }

    fn term(&self) -> Option<&[u8]> {
        self.entry.as_ref().and(self.terms.as_ref()).map(Terms::term)
    }

    fn advance(&mut self) -> Result<(), IndexError> {
        self.entry = None;
        loop {
            let Some(terms) = &mut self.terms else {
                let Some(next) = self.blocks.next().transpose()? else { return Ok(()) };
                self.terms = Some(next);
                continue;
            };
            if terms.advance().map_err(self.segment.corrupt())? {
                self.entry = Some(terms.entry().map_err(self.segment.corrupt())?);
                return Ok(());
            }
            self.terms = None;
        }
    }

    /// Adds the postings of the current term that are not buried, and goes to the next term.
    fn take(&mut self, places: &[u32], out: &mut Vec<Posting>) -> Result<(), IndexError> {
        if let Some(entry) = self.entry.take() {
            let blocks = self.segment.places(&entry)?;
            for nth in 0..blocks.len().max(1) {
                self.segment.read_block(&entry, &blocks, nth, &mut self.block)?;
                for posting in self.block.postings() {
                    match places[posting.ordinal as usize] {
                        BURIED => {}
                        ordinal => out.push(Posting { ordinal, ..posting }),
                    }
                }
            }
        }
        self.advance()
    }
}
