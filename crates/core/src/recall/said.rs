//! One turn by its id, as a recall gives it.

use crate::error::Done;
use crate::model::{EntryId, Kind};

use super::{CandidateMark, RecallService, Retrieved};

impl RecallService<'_> {
    /// A turn in the shape of a memory, with who said it; nothing if there is none.
    pub fn said(&self, id: &EntryId) -> Done<Option<Retrieved>> {
        let marks: Vec<CandidateMark> =
            self.candidates.marks(std::slice::from_ref(id))?.into_iter().flatten().collect();
        let found = self.candidates.fetch(&marks)?.into_iter().flatten();
        Ok(found.into_iter().find(|found| found.memory.entry.kind == Kind::Turn))
    }
}
