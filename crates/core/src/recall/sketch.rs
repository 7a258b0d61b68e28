//! What ranking reads of a text: its terms in order, as hashes, and a few facts. It is small enough to be kept in the word
//! index, so that a search reads no row that it does not return.
//!
//! A hash has 24 bits. Two of a question's words and a text's collide once in a million pairs: a text may then count as having
//! a word that it has not, which is the price of a third of the bytes.

use std::ops::Range;
use std::sync::Arc;

use crate::model::{Entry, Source};

use super::fold::is_part_of_summary;
use super::ranking::CORRECTION_TAG;

/// Bytes of a hash.
const WIDTH: usize = 3;

const IS_QUESTION: u8 = 1;
const IS_CORRECTION: u8 = 2;
const IS_PART_OF_SUMMARY: u8 = 4;

/// The terms of a text and a few facts about it, as bytes.
#[derive(Debug, Clone)]
pub struct Sketch {
    bytes: Arc<[u8]>,
    range: Range<usize>,
    flags: u8,
    updated_after: i64,
}

impl PartialEq for Sketch {
    /// By what they say, wherever their bytes stand.
    fn eq(&self, other: &Self) -> bool {
        (self.flags, self.updated_after) == (other.flags, other.updated_after) && self.hashes().eq(other.hashes())
    }
}

impl Sketch {
    /// The sketch of an entry, or of what has the shape of one; `terms` is its text as the index has it.
    pub fn encode(entry: &Entry, terms: &str) -> Vec<u8> {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(entry.content.trim_end().ends_with(['?', '？']), IS_QUESTION)
            | flag(is_correction(entry), IS_CORRECTION)
            | flag(is_part_of_summary(entry), IS_PART_OF_SUMMARY);
        let mut out = Vec::with_capacity(3 + terms.len() / 2);
        out.push(flags);
        let after = entry.updated_at.as_millisecond() - entry.created_at.as_millisecond();
        put_varint(&mut out, ((after << 1) ^ (after >> 63)) as u64);
        for term in terms.split(' ').filter(|term| !term.is_empty()) {
            out.extend_from_slice(&hash(term).to_le_bytes()[..WIDTH]);
        }
        out
    }

    /// Reads a sketch where it stands; nothing if the bytes are none.
    pub fn decode(bytes: Arc<[u8]>, range: Range<usize>) -> Option<Self> {
        let mut rest = bytes.get(range.clone())?;
        let (&flags, after) = rest.split_first()?;
        rest = after;
        let after = take_varint(&mut rest)?;
        let updated_after = (after >> 1) as i64 ^ -((after & 1) as i64);
        let start = range.end - rest.len();
        rest.len().is_multiple_of(WIDTH).then_some(Self { bytes, range: start..range.end, flags, updated_after })
    }

    /// How many terms the text has.
    pub fn len(&self) -> usize {
        self.range.len() / WIDTH
    }

    /// Whether the text has no term.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The hashes of its terms, in order.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u32> {
        let hash = |bytes: &[u8]| u32::from(bytes[0]) | u32::from(bytes[1]) << 8 | u32::from(bytes[2]) << 16;
        self.bytes[self.range.clone()].chunks_exact(WIDTH).map(hash)
    }

    /// Whether the text has a term.
    pub fn has(&self, term: &str) -> bool {
        let wanted = hash(term);
        self.hashes().any(|hash| hash == wanted)
    }

    /// Whether the text ends as a question does.
    pub(super) fn is_question(&self) -> bool {
        self.flags & IS_QUESTION != 0
    }

    /// Whether it corrects something.
    pub(super) fn is_correction(&self) -> bool {
        self.flags & IS_CORRECTION != 0
    }

    /// Whether it is a part of a session's summary.
    pub(super) fn is_part_of_summary(&self) -> bool {
        self.flags & IS_PART_OF_SUMMARY != 0
    }

    /// How many milliseconds after it was made it was changed last.
    pub(super) fn updated_after(&self) -> i64 {
        self.updated_after
    }
}

/// Whether it corrects something. An assistant's bare word for it is not enough: it must have replaced something.
pub(super) fn is_correction(entry: &Entry) -> bool {
    let is_believed = entry.source != Source::Agent || !entry.supersedes.is_empty();
    is_believed && entry.tags.iter().any(|tag| tag == CORRECTION_TAG)
}

/// FNV-1a, folded to 24 bits. It is stored: another function needs another format of what stores keep.
pub(super) fn hash(term: &str) -> u32 {
    const START: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let hash = term.bytes().fold(START, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME));
    (hash >> 24 ^ hash) & 0x00ff_ffff
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Layer, sample_entry};

    fn sketch(entry: &Entry, terms: &str) -> Sketch {
        let bytes = [b"before".to_vec(), Sketch::encode(entry, terms), b"after".to_vec()].concat();
        let end = bytes.len() - b"after".len();
        Sketch::decode(bytes.into(), b"before".len()..end).unwrap()
    }

    #[test]
    fn says_what_ranking_asks() {
        let entry = Entry {
            created_at: Timestamp::from_millisecond(5000).unwrap(),
            updated_at: Timestamp::from_millisecond(7001).unwrap(),
            tags: vec![CORRECTION_TAG.to_owned()],
            ..sample_entry("a", "which parser? ")
        };
        let found = sketch(&entry, "which parser");
        assert!(found.is_question() && found.is_correction() && !found.is_part_of_summary());
        assert_eq!((found.updated_after(), found.len()), (2001, 2));
        assert!(found.has("parser") && found.has("which") && !found.has("parse"));
        let claimed = Entry { source: Source::Agent, ..entry };
        assert!(!sketch(&claimed, "").is_correction());
        let part =
            Entry { layer: Layer::Archive, key: Some("ctx_cli:a_1".to_owned()), ..sample_entry("b", "A summary.") };
        assert!(sketch(&part, "").is_part_of_summary() && sketch(&part, "").is_empty());
    }

    proptest! {
        #[test]
        fn comes_back(terms in prop::collection::vec("[a-z0-9]{1,9}|[一-龥]{1,2}", 0..40), after in -90_000_000_000i64..90_000_000_000) {
            let at = Timestamp::from_millisecond(1_700_000_000_000).unwrap();
            let updated_at = Timestamp::from_millisecond(1_700_000_000_000 + after).unwrap();
            let entry = Entry { created_at: at, updated_at, ..sample_entry("a", "text") };
            let found = sketch(&entry, &terms.join(" "));
            prop_assert_eq!(found.updated_after(), after);
            prop_assert_eq!(found.hashes().collect::<Vec<_>>(), terms.iter().map(|term| hash(term)).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let end = bytes.len();
            if let Some(sketch) = Sketch::decode(bytes.into(), 0..end) {
                prop_assert_eq!(sketch.hashes().count(), sketch.len());
            }
        }
    }
}
