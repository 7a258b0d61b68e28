//! Building a segment of documents.

use std::collections::HashMap;

use crate::error::IndexError;
use crate::score::{MOST, length_code};
use crate::store::{Part, SegmentId, SegmentStore};

use super::postings::Posting;
use super::{Row, Writer};

/// A document to be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What the store calls it.
    pub number: i64,
    /// Its analysed terms, separated by single spaces.
    pub terms: String,
    /// What a filter asks about, in the store's own spelling: documents with the same bytes are admitted alike.
    pub class: Vec<u8>,
    /// When it was said.
    pub time: i64,
    /// From when on it is not found any more; the greatest number means never.
    pub expires: i64,
    /// Opaque bytes that come back with the document; see [`Fetch`](crate::Fetch).
    pub payload: Vec<u8>,
}

/// The parts of a segment that is not in a store yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    parts: Vec<(Part, Vec<u8>)>,
}

impl Built {
    /// Nothing if there is no document, or too many of them.
    pub(crate) fn of(writer: Writer, rows: &[Row], classes: &[Vec<u8>]) -> Option<Self> {
        let parts = if rows.is_empty() { None } else { writer.finish(rows, classes) };
        parts.map(|parts| Self { parts })
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Its parts, for a store that writes them in several transactions before the segment is listed.
    pub fn parts(&self) -> &[(Part, Vec<u8>)] {
        &self.parts
    }
}

/// The distinct classes of documents, in the order in which they are met.
#[derive(Default)]
pub(crate) struct Classes {
    places: HashMap<Vec<u8>, u32>,
    pub(crate) list: Vec<Vec<u8>>,
}

impl Classes {
    pub(crate) fn place(&mut self, class: &[u8]) -> u32 {
        if let Some(place) = self.places.get(class) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.places.insert(class.to_vec(), place);
        self.list.push(class.to_vec());
        place
    }
}

/// Builds a segment; of several documents with one number the last counts. None if there are no documents.
pub fn build(documents: &[Document]) -> Option<Built> {
    let mut order: Vec<&Document> = documents.iter().rev().collect();
    order.sort_by_key(|document| document.number);
    order.dedup_by_key(|document| document.number);
    let mut terms: HashMap<&str, Vec<Posting>> = HashMap::new();
    let (mut rows, mut classes) = (Vec::with_capacity(order.len()), Classes::default());
    for (ordinal, document) in order.iter().enumerate() {
        let length = words(&document.terms).count() as u32;
        let posting = Posting { ordinal: u32::try_from(ordinal).ok()?, count: 1, length: length_code(length) };
        for term in words(&document.terms) {
            let postings = terms.entry(term).or_default();
            match postings.last_mut() {
                Some(last) if last.ordinal == posting.ordinal => {
                    last.count = u32::from(last.count).saturating_add(1).min(MOST) as u8;
                }
                _ => postings.push(posting),
            }
        }
        rows.push(Row {
            number: document.number,
            class: classes.place(&document.class),
            time: document.time,
            expires: document.expires,
            length,
        });
    }
    let mut terms: Vec<(&str, Vec<Posting>)> = terms.into_iter().collect();
    terms.sort_unstable_by_key(|(term, _)| *term);
    let mut writer = Writer::default();
    order.iter().for_each(|document| writer.add_payload(&document.payload));
    for (term, postings) in &terms {
        writer.add_term(term.as_bytes(), postings);
    }
    Built::of(writer, &rows, &classes.list)
}

/// The terms of analysed text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|word| !word.is_empty())
}

/// Puts a segment into a store.
pub fn add(store: &mut dyn SegmentStore, built: &Built) -> Result<SegmentId, IndexError> {
    let id = store.fresh()?;
    for (part, bytes) in &built.parts {
        store.put(id, *part, bytes)?;
    }
    Ok(id)
}
