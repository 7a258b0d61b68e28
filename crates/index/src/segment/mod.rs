//! Segments: documents and their postings as immutable parts.
//!
//! | part | what it holds |
//! |---|---|
//! | header | format, counts, the least and greatest number; of each page its times and first number; the first term of each dictionary block |
//! | dictionary | about 2 KB of sorted terms each; a term with few documents has its postings here |
//! | postings | blocks of 128 and, for longer lists, a directory of them with their bounds |
//! | documents | pages of 256: number, class, time, expiry, length, where its payload ends |
//! | payloads | about 4 KB each |
//! | classes | what documents have in common, each once |
//! | tombstones | documents that were replaced or removed; the only part that changes |

mod build;
mod pages;
pub(crate) mod postings;
mod read;
mod write;

pub use build::{Built, Document, add, build};
pub(crate) use build::{Classes, words};
pub(crate) use pages::Page;
pub use read::Payload;
pub(crate) use read::{Entry, OpenPart, Place, Segment, Terms, put_tombstones};
pub(crate) use write::{Row, Writer};

use crate::error::IndexError;
use crate::store::{SegmentId, SegmentReader};

/// The format of segments that this program writes. It reads two older ones: format 1 has no payloads, and both have pages of 1,024
/// documents.
pub const FORMAT: u16 = 3;

pub(crate) const MAGIC: [u8; 4] = *b"TLWI";

/// What a segment holds, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Which one.
    pub id: SegmentId,
    /// Documents, with those that are buried.
    pub documents: u32,
    /// Those that are buried.
    pub buried: u32,
    /// Terms of all documents.
    pub terms: u64,
    /// Postings of all terms.
    pub postings: u64,
}

/// What a segment holds, in numbers.
pub fn info(store: &dyn SegmentReader, id: SegmentId) -> Result<SegmentInfo, IndexError> {
    let segment = Segment::open(store, id)?;
    let buried = segment.tombstones()?.len() as u32;
    Ok(SegmentInfo { id, documents: segment.documents, buried, terms: segment.terms, postings: segment.postings })
}

/// The terms of a segment in ascending order, those of buried documents included. Used to check that an erased word is gone.
pub fn terms(store: &dyn SegmentReader, id: SegmentId) -> Result<Vec<Vec<u8>>, IndexError> {
    let segment = Segment::open(store, id)?;
    let mut found = Vec::new();
    for block in segment.dictionary() {
        let mut block = block?;
        while block.advance().map_err(|corrupt| corrupt.of(id))? {
            found.push(block.term().to_vec());
            block.skip().map_err(|corrupt| corrupt.of(id))?;
        }
    }
    Ok(found)
}

/// The numbers of the documents of a segment that are not buried, ascending.
pub fn numbers(store: &dyn SegmentReader, id: SegmentId) -> Result<Vec<i64>, IndexError> {
    let segment = Segment::open(store, id)?;
    let buried = segment.tombstones()?;
    let mut found = Vec::new();
    for nth in 0..segment.pages() {
        let page = segment.page(nth)?;
        for at in 0..page.len() {
            if buried.binary_search(&segment.ordinal(nth, at)).is_err() {
                found.push(page.number(at).map_err(|corrupt| corrupt.of(id))?);
            }
        }
    }
    Ok(found)
}
