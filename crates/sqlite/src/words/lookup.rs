//! Rows as candidates, from what the index keeps of them; a row itself is read where the index has nothing.

use std::collections::HashMap;
use std::sync::Arc;

use throughline_core::recall::{Candidate, CandidateMark, FoundBy, Traits};
use throughline_index::{ClassName, Document, Fetch, Payload};

use super::documents::{self, Place, read_payload};
use super::tail::Said;
use super::{Collection, Searched, as_sqlite};
use crate::marks;
use crate::rows;

/// What a class says: its traits, and whether the filter admits them.
type Judged = (Arc<Traits>, bool);

/// Looks rows of one search up.
pub(crate) struct Lookup<'s> {
    searched: &'s Searched<'s>,
    fetch: Option<Fetch<'s>>,
    of_segments: HashMap<ClassName, Option<Judged>>,
    of_rows: HashMap<Vec<u8>, Option<Judged>>,
}

/// A row, as far as the index knows it.
struct Known {
    time: i64,
    expires: i64,
    class: Option<Judged>,
    payload: Payload,
}

impl<'s> Lookup<'s> {
    pub(super) fn new(searched: &'s Searched<'s>) -> rusqlite::Result<Self> {
        let fetch = searched.index.as_ref().map(|(served, _)| Fetch::new(served)).transpose().map_err(as_sqlite)?;
        Ok(Self { searched, fetch, of_segments: HashMap::new(), of_rows: HashMap::new() })
    }

    /// A row as a candidate, and where it stands if it is a turn. None if there is no such row.
    pub(crate) fn candidate(
        &mut self,
        number: i64,
        found_by: FoundBy,
    ) -> rusqlite::Result<Option<(Candidate, Option<Place>)>> {
        let Some(Known { time, expires, class, payload }) = self.known(number)? else { return Ok(None) };
        let collection = self.searched.collection;
        let Some(((traits, is_class_admitted), (place, sketch))) = class.zip(read_payload(collection, payload)) else {
            return Ok(None);
        };
        let query = self.searched.query(&[], 0);
        let is_admitted = is_class_admitted && query.admits_times(time, expires);
        let (mark, created_at) = (mark(collection, number), rows::time(time)?);
        let candidate = Candidate { mark, traits, created_at, sketch, is_admitted, found_by, meaning: None };
        Ok(Some((candidate, place)))
    }

    fn known(&mut self, number: i64) -> rusqlite::Result<Option<Known>> {
        if let Some((_, changed)) = &self.searched.index {
            match changed.of(number) {
                Said::Removed => return Ok(None),
                Said::Now(document) => return Ok(Some(self.of_document(document))),
                Said::Nothing => {}
            }
        }
        let fetched = match &mut self.fetch {
            Some(fetch) => fetch.get(number).map_err(as_sqlite)?,
            None => None,
        };
        if let Some(fetched) = fetched {
            let class = self.of_class(fetched.class)?;
            return Ok(Some(Known { time: fetched.time, expires: fetched.expires, class, payload: fetched.payload }));
        }
        let document = documents::read(self.searched.connection, self.searched.collection, number)?;
        Ok(document.map(|document| self.of_document(&document)))
    }

    fn of_document(&mut self, document: &Document) -> Known {
        let class = match self.of_rows.get(&document.class) {
            Some(known) => known.clone(),
            None => {
                let judged = self.judged(&document.class);
                self.of_rows.insert(document.class.clone(), judged.clone());
                judged
            }
        };
        let payload = Payload::from(document.payload.clone());
        Known { time: document.time, expires: document.expires, class, payload }
    }

    fn of_class(&mut self, name: ClassName) -> rusqlite::Result<Option<Judged>> {
        if let Some(known) = self.of_segments.get(&name) {
            return Ok(known.clone());
        }
        let Some(fetch) = &self.fetch else { return Ok(None) };
        let judged = self.judged(&fetch.class(name).map_err(as_sqlite)?);
        self.of_segments.insert(name, judged.clone());
        Ok(judged)
    }

    fn judged(&self, class: &[u8]) -> Option<Judged> {
        let (entry, speaker) = self.searched.collection.entry(class)?;
        let is_admitted = self.searched.admitted.admits_entry(&entry);
        let traits = Traits {
            kind: entry.kind,
            layer: entry.layer,
            source: entry.source,
            importance: entry.importance,
            session: entry.session,
            speaker,
        };
        Some((Arc::new(traits), is_admitted))
    }
}

fn mark(collection: Collection, number: i64) -> CandidateMark {
    match collection {
        Collection::Entries => marks::of_entry(number),
        Collection::Turns => marks::of_turn(number),
        Collection::Chunks => marks::of_chunk(number),
    }
}
