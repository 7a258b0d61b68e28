//! Reading ahead, for stores that are far away.

use std::any::Any;

use crate::model::{Name, SessionId};

/// What a verb is about to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Upcoming<'a> {
    /// The person whose documents are looked at.
    pub person: Option<&'a Name>,
    /// The conversation that it is about.
    pub session: Option<&'a SessionId>,
    /// The words of the message that it is about.
    pub words: &'a [String],
    /// Whether memories are looked for.
    pub searches: bool,
    /// Whether it may need what a conversation begins with.
    pub begins: bool,
}

/// Reads what is coming.
pub trait ReadsAhead {
    /// As long as what this gives is kept, this thread may read the store as it is now, until it writes: what others write
    /// meanwhile need not be seen. A store for which every question is a journey asks for what is coming together, and nothing
    /// twice; any other one need not do anything.
    fn read_ahead(&self, upcoming: &Upcoming<'_>) -> ReadingAhead;
}

/// Ends with its last owner; belongs to the thread that began it.
#[derive(Default)]
pub struct ReadingAhead(#[allow(dead_code, reason = "it is dropped")] Option<Box<dyn Any>>);

impl ReadingAhead {
    /// Ends when this is dropped.
    pub fn until(end: impl Any) -> Self {
        Self(Some(Box::new(end)))
    }
}
