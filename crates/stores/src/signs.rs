//! The signs of vectors, many items to a block: a bit for each slot that is used, and the signs of each.

use std::collections::{BTreeMap, BinaryHeap};

use throughline_core::vault::hamming;

/// What becomes of the slots of a block: these signs, or nothing.
pub type SlotChanges<'a> = Vec<(usize, Option<&'a [u8]>)>;

/// Some items next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// A bit for each slot that is used.
    pub present: Vec<u8>,
    /// The signs of each slot; zero where it is not used.
    pub bits: Vec<u8>,
}

impl Block {
    /// One without items. Of each item, `width` bytes are kept.
    pub fn empty(slots: usize, width: usize) -> Self {
        Self { present: vec![0; slots / 8], bits: vec![0; slots * width] }
    }

    /// Writes the signs of slots, or takes them out.
    pub fn change(&mut self, width: usize, slots: &[(usize, Option<&[u8]>)]) {
        for (slot, signs) in slots {
            let place = &mut self.bits[slot * width..(slot + 1) * width];
            match signs {
                Some(signs) => {
                    place.copy_from_slice(signs);
                    self.present[slot / 8] |= 1 << (slot % 8);
                }
                None => {
                    place.fill(0);
                    self.present[slot / 8] &= !(1 << (slot % 8));
                }
            }
        }
    }

    /// Whether no slot is used.
    pub fn is_empty(&self) -> bool {
        self.present.iter().all(|byte| *byte == 0)
    }
}

/// How many slots are used.
pub fn count(present: &[u8]) -> u64 {
    present.iter().map(|byte| u64::from(byte.count_ones())).sum()
}

/// Tells for each item of a block, whose first is `first`, how many of its signs differ from the query's.
pub fn compare(first: i64, present: &[u8], bits: &[u8], query: &[u8], visit: &mut dyn FnMut(i64, u32)) {
    for (slot, signs) in bits.chunks_exact(query.len().max(1)).enumerate() {
        if present.get(slot / 8).is_some_and(|byte| byte & (1 << (slot % 8)) != 0) {
            visit(first + slot as i64, hamming(query, signs));
        }
    }
}

/// What changes in each block.
pub fn by_block<'a>(slots: i64, signs: &[(i64, Option<&'a [u8]>)]) -> BTreeMap<i64, SlotChanges<'a>> {
    let mut changes = BTreeMap::<i64, SlotChanges<'a>>::new();
    for (item, bits) in signs {
        let slot = usize::try_from(item.rem_euclid(slots)).unwrap_or_default();
        changes.entry(item.div_euclid(slots)).or_default().push((slot, *bits));
    }
    changes
}

/// The items whose signs differ least.
pub struct Nearest {
    limit: usize,
    best: BinaryHeap<(u32, i64)>,
}

impl Nearest {
    /// So many at most.
    pub fn new(limit: usize) -> Self {
        Self { limit, best: BinaryHeap::with_capacity(limit + 1) }
    }

    /// An item, and how many of its signs differ.
    pub fn visit(&mut self, item: i64, distance: u32) {
        if self.best.len() < self.limit {
            self.best.push((distance, item));
        } else if self.best.peek().is_some_and(|(worst, _)| distance < *worst) {
            self.best.pop();
            self.best.push((distance, item));
        }
    }

    /// The items.
    pub fn into_items(self) -> Vec<i64> {
        self.best.into_iter().map(|(_, item)| item).collect()
    }
}
