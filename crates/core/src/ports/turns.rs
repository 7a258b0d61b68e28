//! Turns: what was said. Append-only.

use crate::model::{Position, SessionId, Turn, TurnId};

use super::Stored;

/// Turns of sessions.
pub trait Turns {
    /// Appends turns, opening sessions that are new; a turn that is there already is left alone. Durable when it
    /// returns. Gives how many are new.
    fn append(&self, turns: &[Turn]) -> Stored<usize>;
    /// As [`append`](Self::append), for turns that were said elsewhere. As long as nothing else was said in their
    /// session, [`SessionState::imported_to`](crate::model::SessionState::imported_to) follows them, in the same
    /// transaction.
    fn append_imported(&self, turns: &[Turn]) -> Stored<usize>;
    /// The turns of a session after a position, oldest first, each with the position behind it.
    fn turns_after(&self, id: &SessionId, after: Position) -> Stored<Vec<(Position, Turn)>>;
    /// The first `limit` turns of a session, oldest first, after one of them where one is named; nothing where that was
    /// not said in it.
    fn turn_page(&self, id: &SessionId, after: Option<&TurnId>, limit: usize) -> Stored<Option<Vec<Turn>>>;
}
