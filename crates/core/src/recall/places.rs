//! The words of a question by the hashes of their terms: most terms of a text are none of them, which one look tells.

use super::question::Question;
use super::sketch;

/// Slots of the table; a question has fewer forms of words by far.
const SLOTS: usize = 2048;

/// No hash has this value: hashes have 24 bits.
const EMPTY: u32 = u32::MAX;

/// A table with open addressing.
pub(super) struct Places {
    slots: Box<[(u32, u8); SLOTS]>,
}

impl Places {
    /// Every form of every word of a question.
    pub(super) fn of(question: &Question) -> Self {
        let mut places = Self { slots: Box::new([(EMPTY, 0); SLOTS]) };
        // More forms than half of the table would make looks slow.
        for (term, place) in question.places().into_iter().take(SLOTS / 2) {
            places.insert(sketch::hash(term), place as u8);
        }
        places
    }

    fn insert(&mut self, hash: u32, place: u8) {
        let mut at = hash as usize % SLOTS;
        while self.slots[at].0 != EMPTY && self.slots[at].0 != hash {
            at = (at + 1) % SLOTS;
        }
        self.slots[at] = (hash, place);
    }

    /// The place of the word that has a hash.
    #[inline]
    pub(super) fn get(&self, hash: u32) -> Option<usize> {
        let mut at = hash as usize % SLOTS;
        loop {
            match self.slots[at] {
                (EMPTY, _) => return None,
                (found, place) if found == hash => return Some(usize::from(place)),
                _ => at = (at + 1) % SLOTS,
            }
        }
    }
}
