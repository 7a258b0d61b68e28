//! Rows as candidates, from what the index keeps of them; a row itself is read where the index has nothing.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use throughline_core::recall::{Candidate, CandidateMark, FoundBy};
use throughline_index::{ClassName, Document, Fetch, IndexError, Payload};

use super::classes::{Class, Place, read_payload};
use super::tail::Said;
use super::{Collection, Searched};
use crate::marks;

/// A class, and whether the filter admits it.
type Judged = (Arc<Class>, bool);

/// Looks rows of one search up.
pub struct Lookup<'s> {
    searched: &'s Searched<'s>,
    fetch: Option<Fetch<'s>>,
    judged: HashMap<ClassName, Option<Judged>, RandomState>,
}

/// A row, as far as the index knows it.
struct Known {
    time: i64,
    expires: i64,
    class: Option<Judged>,
    payload: Payload,
}

impl<'s> Lookup<'s> {
    pub(super) fn new(searched: &'s Searched<'s>) -> Result<Self, IndexError> {
        let fetch = searched.index.as_ref().map(|(served, _)| Fetch::new(&**served)).transpose()?;
        Ok(Self { searched, fetch, judged: HashMap::default() })
    }

    /// Says that these rows are about to be looked up.
    pub fn expect(&mut self, numbers: &[i64]) -> Result<(), IndexError> {
        self.fetch.as_mut().map_or(Ok(()), |fetch| fetch.expect(numbers))
    }

    /// A row as a candidate, and where it stands if it is a turn. None if there is no such row.
    pub fn candidate(
        &mut self,
        number: i64,
        found_by: FoundBy,
    ) -> Result<Option<(Candidate, Option<Place>)>, IndexError> {
        let Some(Known { time, expires, class, payload }) = self.known(number)? else { return Ok(None) };
        let collection = self.searched.collection;
        let Some(((class, is_class_admitted), (place, sketch))) = class.zip(read_payload(collection, &payload)) else {
            return Ok(None);
        };
        let query = self.searched.query(&[], 0);
        let is_admitted = is_class_admitted && query.admits_times(time, expires);
        let (mark, created_at) = (mark(collection, number), crate::time(time));
        let traits = Arc::clone(&class.traits);
        let candidate = Candidate { mark, traits, created_at, sketch, is_admitted, found_by, meaning: None };
        Ok(Some((candidate, place)))
    }

    fn known(&mut self, number: i64) -> Result<Option<Known>, IndexError> {
        if let Some((_, changed)) = &self.searched.index {
            match changed.of(number, self.searched.rows)? {
                Said::Removed => return Ok(None),
                Said::Now(document) => return Ok(Some(self.of_document(document))),
                Said::Nothing => {}
            }
        }
        let fetched = match &mut self.fetch {
            Some(fetch) => fetch.get(number)?,
            None => None,
        };
        if let Some(fetched) = fetched {
            let class = self.of_class(fetched.class)?;
            return Ok(Some(Known { time: fetched.time, expires: fetched.expires, class, payload: fetched.payload }));
        }
        let document = self.searched.rows.document(number)?;
        Ok(document.map(|document| self.of_document(&document)))
    }

    fn of_document(&self, document: &Document) -> Known {
        let class = self.searched.admitted.judge(&document.class);
        let payload = Payload::from(document.payload.clone());
        Known { time: document.time, expires: document.expires, class, payload }
    }

    fn of_class(&mut self, name: ClassName) -> Result<Option<Judged>, IndexError> {
        if let Some(known) = self.judged.get(&name) {
            return Ok(known.clone());
        }
        let Some(fetch) = &self.fetch else { return Ok(None) };
        let judged = fetch.class(name, |class| self.searched.admitted.judge(class))?;
        self.judged.insert(name, judged.clone());
        Ok(judged)
    }
}

fn mark(collection: Collection, number: i64) -> CandidateMark {
    match collection {
        Collection::Entries => marks::of_entry(number),
        Collection::Turns => marks::of_turn(number),
        Collection::Chunks => marks::of_chunk(number),
    }
}
