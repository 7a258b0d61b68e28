//! The best hits so far, and what a document must score to become one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Hit;

/// The segment of hits that are of the tail.
const TAIL: usize = usize::MAX;

/// Better ones are greater: a higher score, then a lower number.
type Rank = (u32, Reverse<i64>);

/// The best hits so far.
pub(super) struct Top {
    limit: usize,
    /// The worst is on top.
    heap: BinaryHeap<Reverse<(Rank, usize)>>,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    pub(super) fn of_segment(&mut self, nth: usize, least: i64) -> OfSegment<'_> {
        let mut of = OfSegment { top: self, nth, least, needed: 0 };
        of.renew();
        of
    }

    /// Takes a document of the tail, if it is good enough.
    pub(super) fn offer(&mut self, units: u32, number: i64) {
        self.take(units, number, TAIL);
    }

    fn take(&mut self, units: u32, number: i64, segment: usize) -> bool {
        let rank = (units, Reverse(number));
        if self.heap.len() < self.limit {
            self.heap.push(Reverse((rank, segment)));
            return true;
        }
        let is_better = self.heap.peek().is_some_and(|Reverse((worst, _))| rank > *worst);
        if is_better {
            self.heap.pop();
            self.heap.push(Reverse((rank, segment)));
        }
        is_better
    }

    pub(super) fn into_hits(self) -> Vec<Hit> {
        let hit = |Reverse(((units, Reverse(number)), _))| Hit { number, units };
        self.heap.into_sorted_vec().into_iter().map(hit).collect()
    }
}

/// The same while a segment is gone through in the order of its documents.
pub(super) struct OfSegment<'t> {
    top: &'t mut Top,
    nth: usize,
    least: i64,
    needed: u32,
}

impl OfSegment<'_> {
    /// The least score that a document which is still to come must have.
    pub(super) fn needed(&self) -> u32 {
        self.needed
    }

    pub(super) fn offer(&mut self, units: u32, number: i64) {
        if self.top.take(units, number, self.nth) {
            self.renew();
        }
    }

    fn renew(&mut self) {
        self.needed = match self.top.heap.peek() {
            Some(Reverse(((units, Reverse(number)), segment))) if self.top.heap.len() == self.top.limit => {
                // An equal score is enough only for a lower number than the worst hit has.
                let comes_before = *segment == self.nth || *number < self.least;
                units.saturating_add(u32::from(comes_before))
            }
            _ => 1,
        };
    }
}
