//! Blocks of postings: which documents have a term, how often, and how long they are.
//!
//! A block is at most 128 postings: the gaps between documents as varints, a byte of length each, then those few that
//! have the term more than once. A bound says what the best of them can score, whatever the statistics are.

use crate::bytes::{Bytes, put_varint};
use crate::error::Corrupt;
use crate::score::TermScore;

/// Postings in a full block.
pub(crate) const BLOCK: usize = 128;

/// A document that has a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) ordinal: u32,
    pub(crate) count: u8,
    pub(crate) length: u8,
}

/// What the best posting of a block can be: the shortest document that has the term once; of those that have it more
/// often, the greatest count and the shortest length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    once: u8,
    most: u8,
    shortest: u8,
}

impl Bound {
    pub(crate) const WIDTH: usize = 3;

    pub(crate) fn of(postings: impl Iterator<Item = (u8, u8)>) -> Self {
        let mut bound = Self { once: u8::MAX, most: 0, shortest: u8::MAX };
        for (count, length) in postings {
            if count == 1 {
                bound.once = bound.once.min(length);
            } else {
                bound.most = bound.most.max(count);
                bound.shortest = bound.shortest.min(length);
            }
        }
        bound
    }

    pub(crate) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.once, self.most, self.shortest]);
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, Corrupt> {
        let [once, most, shortest] = bytes.fixed::<{ Self::WIDTH }>()?;
        Ok(Self { once, most, shortest })
    }

    #[inline]
    pub(crate) fn score(self, term: &TermScore) -> u32 {
        let once = term.score(1, self.once);
        if self.most == 0 { once } else { once.max(term.score(u32::from(self.most), self.shortest)) }
    }
}

/// Appends a block whose first document is `next` or later.
pub(crate) fn put_block(out: &mut Vec<u8>, mut next: u32, postings: &[Posting]) {
    for posting in postings {
        put_varint(out, u64::from(posting.ordinal - next));
        next = posting.ordinal + 1;
    }
    out.extend(postings.iter().map(|posting| posting.length));
    let often = || postings.iter().enumerate().filter(|(_, posting)| posting.count > 1);
    out.push(often().count() as u8);
    for (at, posting) in often() {
        out.extend_from_slice(&[at as u8, posting.count]);
    }
}

/// A decoded block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    ordinals: [u32; BLOCK],
    counts: [u8; BLOCK],
    lengths: [u8; BLOCK],
    len: usize,
}

impl Block {
    pub(crate) const EMPTY: Self = Self { ordinals: [0; BLOCK], counts: [1; BLOCK], lengths: [0; BLOCK], len: 0 };

    /// Reads `len` postings from the front; all of them are below `limit`.
    pub(crate) fn read(&mut self, bytes: &mut Bytes<'_>, len: usize, next: u32, limit: u32) -> Result<(), Corrupt> {
        self.len = 0;
        let ordinals = self.ordinals.get_mut(..len).ok_or(Corrupt("a block is too long"))?;
        bytes.ascending(ordinals, next, limit)?;
        self.lengths[..len].copy_from_slice(bytes.take(len)?);
        self.counts[..len].fill(1);
        for _ in 0..bytes.byte()? {
            let [at, count] = bytes.fixed()?;
            *self.counts[..len].get_mut(usize::from(at)).ok_or(Corrupt("no such posting"))? = count.max(1);
        }
        self.len = len;
        Ok(())
    }

    pub(crate) fn ordinals(&self) -> &[u32] {
        &self.ordinals[..self.len]
    }

    #[inline]
    pub(crate) fn score(&self, at: usize, term: &TermScore) -> u32 {
        term.score(u32::from(self.counts[at]), self.lengths[at])
    }

    pub(crate) fn postings(&self) -> impl Iterator<Item = Posting> {
        (0..self.len).map(|at| Posting { ordinal: self.ordinals[at], count: self.counts[at], length: self.lengths[at] })
    }

    pub(crate) fn bound(&self) -> Bound {
        Bound::of((0..self.len).map(|at| (self.counts[at], self.lengths[at])))
    }
}

/// One block of a longer list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    /// Its last document.
    pub(crate) last: u32,
    pub(crate) part: u32,
    pub(crate) offset: u16,
    pub(crate) bound: Bound,
}

impl BlockPlace {
    pub(crate) const WIDTH: usize = 4 + 4 + 2 + Bound::WIDTH;

    pub(crate) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.last.to_le_bytes());
        out.extend_from_slice(&self.part.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        self.bound.put(out);
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, Corrupt> {
        let (last, part, offset) = (bytes.u32()?, bytes.u32()?, bytes.u16()?);
        Ok(Self { last, part, offset, bound: Bound::read(bytes)? })
    }
}
