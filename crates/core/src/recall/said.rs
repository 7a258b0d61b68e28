//! One turn by its id, as a recall gives it.

use crate::error::Done;
use crate::model::{EntryId, Kind};
use crate::ports::Search;

use super::{Candidate, Filter, RecallService};

impl RecallService<'_> {
    /// A turn in the shape of a memory, with who said it; nothing if there is none.
    pub fn said(&self, id: &EntryId) -> Done<Option<Candidate>> {
        let filter = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
        let search = Search { terms: Vec::new(), also: vec![id.clone()], filter, limit: 0 };
        let found = self.candidates.search(&search)?.candidates;
        Ok(found.into_iter().find(|candidate| candidate.memory.entry.id == *id))
    }
}
