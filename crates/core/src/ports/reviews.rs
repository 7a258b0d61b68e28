//! Reviews: what the program learnt by itself, until somebody has seen it.

use jiff::Timestamp;

use crate::model::{ChangeId, EntryId, Memory};

use super::{Page, Stored, Undoable};

/// What nobody has seen yet.
pub trait Reviews {
    /// Active entries and lines of documents, of identity and knowledge, that a consolidation or a reflection wrote or made
    /// replace others, and that no person has changed or seen since; the newest first.
    fn unseen(&self, page: &Page) -> Stored<UnseenPage>;
    /// Notes that a memory was seen as it is now. A line of a document counts as the person's word from then on.
    fn note_seen(&self, memory: &EntryId, at: Timestamp) -> Stored<()>;
    /// Takes that back: it is new again.
    fn note_unseen(&self, memory: &EntryId) -> Stored<()>;
    /// What a change touched; none if there is no such change, or it was undone.
    fn touched(&self, change: &ChangeId) -> Stored<Option<Undoable>>;
}

/// What nobody has seen yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Unseen {
    /// As it is now.
    pub memory: Memory,
    /// The change that wrote it; nothing for a line of a document.
    pub change: Option<ChangeId>,
}

/// A page of it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnseenPage {
    /// The newest first.
    pub unseen: Vec<Unseen>,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}
