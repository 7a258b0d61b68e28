//! A place in the postings of one term. It only moves forward.

use crate::error::IndexError;
use crate::score::TermScore;
use crate::segment::postings::{Block, BlockPlace};
use crate::segment::{Entry, Place, Segment};

/// The postings of a term in a segment.
pub(super) struct Cursor<'c> {
    segment: &'c Segment<'c>,
    entry: &'c Entry,
    term: &'c TermScore,
    places: Vec<BlockPlace>,
    /// What the best posting of each block can score.
    bounds: Vec<u32>,
    /// The current block, and whether it is decoded.
    nth: usize,
    is_read: bool,
    block: Box<Block>,
    at: usize,
}

impl<'c> Cursor<'c> {
    pub(super) fn new(segment: &'c Segment<'c>, entry: &'c Entry, term: &'c TermScore) -> Result<Self, IndexError> {
        let places = segment.places(entry)?;
        let bounds = places.iter().map(|place| place.bound.score(term)).collect();
        let mut cursor =
            Self { segment, entry, term, places, bounds, nth: 0, is_read: false, block: Box::new(Block::EMPTY), at: 0 };
        if !matches!(entry.place, Place::Directory { .. }) {
            cursor.read()?;
            // One block says all there is: exactly what it can score, and where it ends.
            let bound = cursor.block.bound();
            cursor.bounds = vec![bound.score(term)];
            let last = cursor.block.ordinals().last().copied().unwrap_or(0);
            cursor.places = vec![BlockPlace { last, part: 0, offset: 0, bound }];
        }
        Ok(cursor)
    }

    fn read(&mut self) -> Result<(), IndexError> {
        if !self.is_read {
            self.segment.read_block(self.entry, &self.places, self.nth, &mut self.block)?;
            (self.is_read, self.at) = (true, 0);
        }
        Ok(())
    }

    /// Goes to the block that may have this document; says whether there is one.
    fn go_to_block(&mut self, ordinal: u32) -> bool {
        let nth = self.nth + self.places[self.nth..].iter().take_while(|place| place.last < ordinal).count();
        if nth != self.nth {
            (self.nth, self.is_read, self.at) = (nth, false, 0);
        }
        nth < self.places.len()
    }

    /// Goes to this document or the next one in a block that is decoded.
    fn go_to(&mut self, ordinal: u32) {
        let ordinals = self.block.ordinals();
        while self.at < ordinals.len() && ordinals[self.at] < ordinal {
            self.at += 1;
        }
    }

    /// What a document in this window can score by the term; 0 if there is none.
    pub(super) fn bound(&mut self, from: u32, to: u32) -> u32 {
        if !self.go_to_block(from) {
            return 0;
        }
        if self.is_read {
            self.go_to(from);
            if self.block.ordinals().get(self.at).is_some_and(|ordinal| *ordinal >= to) {
                return 0;
            }
        }
        let mut best = self.bounds[self.nth];
        let mut nth = self.nth;
        while self.places[nth].last + 1 < to && nth + 1 < self.places.len() {
            nth += 1;
            best = best.max(self.bounds[nth]);
        }
        best
    }

    /// Calls `each` for every posting in a window.
    pub(super) fn each(&mut self, from: u32, to: u32, mut each: impl FnMut(u32, u32)) -> Result<(), IndexError> {
        while self.go_to_block(from) {
            if self.nth > 0 && self.places[self.nth - 1].last + 1 >= to {
                return Ok(());
            }
            self.read()?;
            self.go_to(from);
            let ordinals = self.block.ordinals();
            while self.at < ordinals.len() && ordinals[self.at] < to {
                each(ordinals[self.at], self.block.score(self.at, self.term));
                self.at += 1;
            }
            if self.at < ordinals.len() || self.nth + 1 == self.places.len() {
                return Ok(());
            }
            (self.nth, self.is_read, self.at) = (self.nth + 1, false, 0);
        }
        Ok(())
    }

    /// What the term adds to the score of this document; 0 if the document does not have it.
    pub(super) fn score(&mut self, ordinal: u32) -> Result<u32, IndexError> {
        if !self.go_to_block(ordinal) {
            return Ok(0);
        }
        self.read()?;
        self.go_to(ordinal);
        let is_here = self.block.ordinals().get(self.at) == Some(&ordinal);
        Ok(if is_here { self.block.score(self.at, self.term) } else { 0 })
    }
}
