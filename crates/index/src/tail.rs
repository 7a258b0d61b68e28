//! The live tail: documents that are in no segment yet, given with each search.

use std::collections::HashMap;

use crate::score::{MOST, length_code};
use crate::segment::words;

/// A document of the tail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TailDocument<'t> {
    /// What the store calls it.
    pub number: i64,
    /// Its analysed terms, separated by single spaces.
    pub terms: &'t str,
    /// Whether the filter of this search lets it through; it counts in the statistics either way.
    pub is_admitted: bool,
}

/// What segments do not know yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail<'t> {
    documents: Vec<TailDocument<'t>>,
    masked: Vec<i64>,
}

impl<'t> Tail<'t> {
    /// Documents, and the numbers of those that were removed. Whatever segments have under either is out of date. Of
    /// several documents with one number the last counts.
    pub fn new(mut documents: Vec<TailDocument<'t>>, removed: &[i64]) -> Self {
        documents.reverse();
        documents.sort_by_key(|document| document.number);
        documents.dedup_by_key(|document| document.number);
        let mut masked: Vec<i64> =
            documents.iter().map(|document| document.number).chain(removed.iter().copied()).collect();
        masked.sort_unstable();
        masked.dedup();
        Self { documents, masked }
    }

    /// Whether a number of a segment is out of date.
    pub(crate) fn masks(&self, number: i64) -> bool {
        !self.masked.is_empty() && self.masked.binary_search(&number).is_ok()
    }

    /// Looks for terms in every document.
    pub(crate) fn find(&self, terms: &[&str]) -> Vec<Found> {
        let wanted = Wanted::new(terms);
        self.documents.iter().map(|document| wanted.find(document)).collect()
    }
}

/// What was found in a document of the tail.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) number: i64,
    pub(crate) is_admitted: bool,
    pub(crate) length: u32,
    pub(crate) length_code: u8,
    /// Which terms, and how often.
    pub(crate) terms: Vec<(usize, u32)>,
}

/// Terms to look for. Most words are none of them, which their first byte and length tell.
struct Wanted<'t> {
    places: HashMap<&'t str, usize>,
    lengths: Box<[u64; 256]>,
}

impl<'t> Wanted<'t> {
    fn new(terms: &[&'t str]) -> Self {
        let mut lengths = Box::new([0; 256]);
        for term in terms {
            if let Some(first) = term.bytes().next() {
                lengths[usize::from(first)] |= length_bit(term);
            }
        }
        Self { places: terms.iter().enumerate().map(|(nth, term)| (*term, nth)).collect(), lengths }
    }

    fn find(&self, document: &TailDocument<'_>) -> Found {
        let (mut length, mut terms) = (0u32, Vec::<(usize, u32)>::new());
        for word in words(document.terms) {
            length += 1;
            if self.lengths[usize::from(word.as_bytes()[0])] & length_bit(word) == 0 {
                continue;
            }
            let Some(place) = self.places.get(word) else { continue };
            match terms.iter_mut().find(|(term, _)| term == place) {
                Some((_, count)) => *count = (*count + 1).min(MOST),
                None => terms.push((*place, 1)),
            }
        }
        let TailDocument { number, is_admitted, .. } = *document;
        Found { number, is_admitted, length, length_code: length_code(length), terms }
    }
}

fn length_bit(term: &str) -> u64 {
    1 << term.len().min(63)
}
