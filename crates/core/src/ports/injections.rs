//! Injections: memories that a conversation was given.

use crate::model::{EntryId, SessionId};

use super::Stored;

/// Memories that conversations were given, so that none is given twice while it is still in view.
pub trait Injections {
    /// Memories that stand in the part of a conversation that is still sent, with the text that they have now.
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>>;
    /// Notes memories that were given to a conversation.
    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()>;
}
