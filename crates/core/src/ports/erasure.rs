//! Erasing: removing every trace of something.

use jiff::Timestamp;

use crate::model::{DocumentName, EntryId, SessionId, TurnId};

use super::Stored;

/// Removes things for good.
pub trait Eraser {
    /// Removes every trace of what is named; durable when it returns. Gives what could not be reached.
    fn erase(&self, erasure: &Erasure) -> Stored<Erased>;

    /// Gives up room that the store keeps on its disk for removing things when that is full; whether there was any.
    fn make_room(&self) -> bool;

    /// Says whether what this thread writes from here on removes something: where other writes are refused, that is not.
    fn removing(&self, begins: bool);
}

/// What to remove for good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erasure {
    /// Memories, with their history, index and log rows.
    pub memories: Vec<EntryId>,
    /// Turns of conversations.
    pub turns: Vec<TurnId>,
    /// Bullets, by their text, in every kept version of their document.
    pub bullets: Vec<(DocumentName, String)>,
    /// What it says in words: whatever the program made that repeats it goes too, such as summaries, and questions in the log.
    pub texts: Vec<String>,
    /// A topic: whatever the program made that has its words goes too.
    pub topic: Option<String>,
    /// Everything of a conversation, of a project, or at all.
    pub scope: Option<ErasureScope>,
    /// When: what was said before must not come back, what is said later may.
    pub at: Timestamp,
}

/// What was erased so far. Marks can only be compared; the default is a store in which nothing was erased.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasureMark(String);

impl ErasureMark {
    /// A store's own spelling of how many erasures there were.
    pub fn of_count(count: i64) -> Self {
        if count == 0 { Self::default() } else { Self(count.to_string()) }
    }
}

/// A part of memory that is erased as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErasureScope {
    /// A conversation: its turns, and the entries that were made of them.
    Session(SessionId),
    /// A project: its conversations, entries, tasks, and the history of its memory file.
    Project(String),
    /// Everything, tombstones included.
    Everything,
}

/// What erasing removed, and what it could not reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Erased {
    /// Versions of entries and of documents that held the text.
    pub versions: u64,
    /// Rows of the recall log that returned it.
    pub recalls: u64,
    /// Turns of conversations.
    pub turns: u64,
    /// Places that may still hold the text, as a person would find them.
    pub unreached: Vec<String>,
}
