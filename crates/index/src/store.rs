//! Where segments are kept: the port that a store implements.

use std::fmt;
use std::sync::Arc;

use crate::error::IndexError;

/// The number of a segment. A store never gives one twice, so that parts can be cached by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

impl fmt::Display for SegmentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A part of a segment: a number that is opaque to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part(pub u32);

impl Part {
    /// What says where the others are.
    pub const HEADER: Self = Self(0);
    /// Documents that were replaced or removed.
    pub const TOMBSTONES: Self = Self(1);

    const fn numbered(kind: u32, nth: u32) -> Option<Self> {
        if nth < 1 << 28 { Some(Self(kind << 28 | nth)) } else { None }
    }

    pub(crate) const fn dictionary(nth: u32) -> Option<Self> {
        Self::numbered(1, nth)
    }

    pub(crate) const fn postings(nth: u32) -> Option<Self> {
        Self::numbered(2, nth)
    }

    pub(crate) const fn documents(nth: u32) -> Option<Self> {
        Self::numbered(3, nth)
    }

    pub(crate) const fn classes(nth: u32) -> Option<Self> {
        Self::numbered(4, nth)
    }

    pub(crate) const fn payloads(nth: u32) -> Option<Self> {
        Self::numbered(5, nth)
    }

    /// Whether it has payloads, which are read of what was found, and for nothing else.
    pub const fn is_of_payloads(self) -> bool {
        self.0 >> 28 == 5
    }

    /// Whether it tells about documents, which are read many at a time.
    pub const fn is_of_documents(self) -> bool {
        self.0 >> 28 == 3 || self.0 >> 28 == 4
    }

    /// It and so many parts of its kind after it.
    pub fn and_next(self, count: u32) -> impl Iterator<Item = Self> {
        let last = (self.0 | 0x0FFF_FFFF).min(self.0.saturating_add(count));
        (self.0..=last).map(Self)
    }

    /// Whether its bytes never change as long as its segment is there.
    pub const fn is_immutable(self) -> bool {
        self.0 != Self::TOMBSTONES.0
    }
}

/// Reads the bytes of segments, in the caller's snapshot.
pub trait SegmentReader {
    /// Every segment.
    fn list(&self) -> Result<Vec<SegmentId>, IndexError>;
    /// The bytes of a part, if it is there.
    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError>;
    /// Whether a part is a journey away: then it is told what is about to be read.
    fn is_far(&self) -> bool {
        false
    }
    /// Says that these parts are about to be read: where they are far, they are fetched together.
    fn expect(&self, _parts: &[(SegmentId, Part)]) -> Result<(), IndexError> {
        Ok(())
    }
}

/// Keeps the bytes of segments, in the caller's transaction.
pub trait SegmentStore: SegmentReader {
    /// A number that no segment has or had.
    fn fresh(&mut self) -> Result<SegmentId, IndexError>;
    /// Writes a part, or replaces it.
    fn put(&mut self, segment: SegmentId, part: Part, bytes: &[u8]) -> Result<(), IndexError>;
    /// Removes a segment with all of its parts.
    fn delete(&mut self, segment: SegmentId) -> Result<(), IndexError>;
}
