//! Injections: memories that a conversation was given.

use crate::model::{EntryId, SessionId};

use super::{ErasureMark, NewSession, Stored};

/// Memories that conversations were given, so that none is given twice while it is still in view.
pub trait Injections {
    /// Memories that stand in the part of a conversation that is still sent, with the text that they have now.
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>>;
    /// Notes memories that were given to a conversation.
    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()>;
    /// Notes all that a conversation was given, in one transaction; gives what it begins with as it stands, where that is
    /// noted.
    fn note_given(&self, given: &NewlyGiven<'_>) -> Stored<Option<String>>;
}

/// What a conversation was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewlyGiven<'g> {
    /// The conversation.
    pub session: &'g SessionId,
    /// Whether what it was given before is forgotten first.
    pub forgets: bool,
    /// The session to open, or to tell what it is about.
    pub opens: Option<&'g NewSession>,
    /// What it begins with, unless it has begun, and what was erased when that was computed: where something was erased
    /// since, nothing is noted ([`StoreError::Erased`](super::StoreError::Erased)).
    pub opening: Option<(&'g str, &'g ErasureMark)>,
    /// Memories.
    pub memories: &'g [EntryId],
}
