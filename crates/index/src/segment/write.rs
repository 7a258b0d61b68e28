//! Writing a segment: terms in order with their postings, then the documents.

use crate::bytes::put_varint;
use crate::store::Part;

use super::pages::{PAGE, PageRow, PayloadEnd, put_page};
use super::postings::{BLOCK, BlockPlace, Bound, Posting, put_block};
use super::{FORMAT, MAGIC};

/// A dictionary block ends once it is this long: two of them fit a page of 4096 bytes, which is what stores read at once.
const DICTIONARY_BYTES: usize = 1900;

/// A part of postings ends once it is this long: with its last block it fits a page. Offsets of blocks fit in 16 bits.
const POSTINGS_BYTES: usize = 3600;

/// A part of payloads is no longer than this, unless a single one is: a row that fits a page. A search reads those of the
/// documents that it found, and little else.
const PAYLOAD_BYTES: usize = 4040;

/// Lists of so many documents stand in the dictionary itself.
pub(crate) const INLINE: usize = 6;

/// Classes in one part.
pub(crate) const CLASS_PAGE: usize = 128;

/// A document, its class as a place in the list of classes.
pub(crate) type Row = PageRow;

/// Collects the parts of a segment.
#[derive(Default)]
pub(crate) struct Writer {
    parts: Vec<(Part, Vec<u8>)>,
    dictionary: Vec<u8>,
    /// The first term of each dictionary block.
    firsts: Vec<Vec<u8>>,
    last_term: Vec<u8>,
    postings: Vec<u8>,
    postings_parts: u32,
    counted: u64,
    payloads: Vec<u8>,
    payload_parts: u32,
    /// Part and end of each payload, in the order of documents.
    payload_ends: Vec<PayloadEnd>,
    /// Set where a segment has more parts than there are numbers for.
    is_too_large: bool,
}

impl Writer {
    /// Adds a term behind all others, with its postings in the order of documents; not empty.
    pub(crate) fn add_term(&mut self, term: &[u8], postings: &[Posting]) {
        if self.dictionary.is_empty() {
            self.firsts.push(term.to_vec());
            self.last_term.clear();
        }
        let shared = self.last_term.iter().zip(term).take_while(|(a, b)| a == b).count();
        put_varint(&mut self.dictionary, shared as u64);
        put_varint(&mut self.dictionary, (term.len() - shared) as u64);
        self.dictionary.extend_from_slice(&term[shared..]);
        put_varint(&mut self.dictionary, postings.len() as u64);
        self.add_postings(postings);
        self.counted += postings.len() as u64;
        self.last_term = term.to_vec();
        if self.dictionary.len() >= DICTIONARY_BYTES {
            self.end_dictionary_block();
        }
    }

    fn add_postings(&mut self, postings: &[Posting]) {
        if postings.len() <= INLINE {
            let mut body = Vec::new();
            put_block(&mut body, 0, postings);
            put_varint(&mut self.dictionary, body.len() as u64);
            self.dictionary.extend_from_slice(&body);
            return;
        }
        let mut next = 0;
        let mut places: Vec<BlockPlace> = Vec::new();
        for block in postings.chunks(BLOCK) {
            let (part, offset) = self.postings_end();
            put_block(&mut self.postings, next, block);
            let last = block.last().map_or(0, |posting| posting.ordinal);
            let bound = Bound::of(block.iter().map(|posting| (posting.count, posting.length)));
            places.push(BlockPlace { last, part, offset: offset as u16, bound });
            next = last + 1;
        }
        if let [only] = places[..] {
            only.bound.put(&mut self.dictionary);
            put_varint(&mut self.dictionary, u64::from(only.part));
            put_varint(&mut self.dictionary, u64::from(only.offset));
            return;
        }
        let (part, offset) = self.postings_end();
        places.into_iter().for_each(|place| place.put(&mut self.postings));
        put_varint(&mut self.dictionary, u64::from(part));
        put_varint(&mut self.dictionary, offset as u64);
    }

    /// Where the next block or directory begins.
    fn postings_end(&mut self) -> (u32, usize) {
        if self.postings.len() >= POSTINGS_BYTES {
            self.end_postings_part();
        }
        (self.postings_parts, self.postings.len())
    }

    fn end_postings_part(&mut self) {
        let bytes = std::mem::take(&mut self.postings);
        self.put(Part::postings(self.postings_parts), bytes);
        self.postings_parts += 1;
    }

    /// Adds the payload of the next document. A page begins with a part of its own.
    pub(crate) fn add_payload(&mut self, payload: &[u8]) {
        let begins_page = self.payload_ends.len().is_multiple_of(PAGE as usize);
        if !self.payloads.is_empty() && (begins_page || self.payloads.len() + payload.len() > PAYLOAD_BYTES) {
            self.end_payload_part();
        }
        self.payloads.extend_from_slice(payload);
        self.payload_ends.push(PayloadEnd { part: self.payload_parts, end: self.payloads.len() as u32 });
    }

    fn end_payload_part(&mut self) {
        let bytes = std::mem::take(&mut self.payloads);
        self.put(Part::payloads(self.payload_parts), bytes);
        self.payload_parts += 1;
    }

    fn end_dictionary_block(&mut self) {
        let bytes = std::mem::take(&mut self.dictionary);
        self.put(Part::dictionary(self.firsts.len() as u32 - 1), bytes);
    }

    fn put(&mut self, part: Option<Part>, bytes: Vec<u8>) {
        match part {
            Some(part) => self.parts.push((part, bytes)),
            None => self.is_too_large = true,
        }
    }

    /// Adds the documents, in the order of their numbers, and gives all parts; nothing if they are too many.
    pub(crate) fn finish(mut self, rows: &[Row], classes: &[Vec<u8>]) -> Option<Vec<(Part, Vec<u8>)>> {
        if !self.dictionary.is_empty() {
            self.end_dictionary_block();
        }
        if !self.postings.is_empty() {
            self.end_postings_part();
        }
        if !self.payloads.is_empty() {
            self.end_payload_part();
        }
        let payloads = std::mem::take(&mut self.payload_ends);
        let pages = rows.chunks(PAGE as usize).zip(payloads.chunks(PAGE as usize));
        for (nth, (page, payloads)) in pages.enumerate() {
            self.put(Part::documents(nth as u32), put_page(page, payloads));
        }
        for (nth, page) in classes.chunks(CLASS_PAGE).enumerate() {
            let mut bytes = Vec::new();
            put_strings(&mut bytes, page);
            self.put(Part::classes(nth as u32), bytes);
        }
        let header = self.header(rows, classes)?;
        self.parts.push((Part::HEADER, header));
        (!self.is_too_large).then_some(self.parts)
    }

    fn header(&self, rows: &[Row], classes: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&FORMAT.to_le_bytes());
        for count in [rows.len(), classes.len(), self.firsts.len()] {
            out.extend_from_slice(&u32::try_from(count).ok()?.to_le_bytes());
        }
        let terms: u64 = rows.iter().map(|row| u64::from(row.length)).sum();
        out.extend_from_slice(&terms.to_le_bytes());
        out.extend_from_slice(&self.counted.to_le_bytes());
        out.extend_from_slice(&rows.first()?.number.to_le_bytes());
        out.extend_from_slice(&rows.last()?.number.to_le_bytes());
        for page in rows.chunks(PAGE as usize) {
            let times = || page.iter().map(|row| row.time);
            out.extend_from_slice(&times().min()?.to_le_bytes());
            out.extend_from_slice(&times().max()?.to_le_bytes());
            out.extend_from_slice(&page.first()?.number.to_le_bytes());
        }
        put_strings(&mut out, &self.firsts);
        Some(out)
    }
}

/// Strings behind a table of where each begins and the last ends.
fn put_strings(out: &mut Vec<u8>, strings: &[Vec<u8>]) {
    let mut end = 0u32;
    out.extend_from_slice(&end.to_le_bytes());
    for string in strings {
        end += string.len() as u32;
        out.extend_from_slice(&end.to_le_bytes());
    }
    strings.iter().for_each(|string| out.extend_from_slice(string));
}
