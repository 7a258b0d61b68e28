//! Turns: what was said. Append-only.

use jiff::Timestamp;

use crate::model::{Position, SessionId, Turn, TurnId};

use super::{NewSession, Stored};

/// Turns of sessions.
pub trait Turns {
    /// Appends turns, opening sessions that are new; a turn that is there already, or was erased, is left alone. Durable when
    /// it returns. Gives how many are new.
    fn append(&self, turns: &[Turn]) -> Stored<usize>;
    /// As [`append`](Self::append), in a session that is opened, or told what it is about, in the same transaction. One
    /// that has ended goes on if a turn is new.
    fn append_to(&self, session: &NewSession, turns: &[Turn]) -> Stored<usize>;
    /// As [`append`](Self::append), for turns that were said elsewhere, in sessions of which some are opened with a title
    /// or a project. As long as nothing else was said in their session,
    /// [`SessionState::imported_to`](crate::model::SessionState::imported_to) follows them, in the same transaction.
    fn append_imported(&self, sessions: &[NewSession], turns: &[Turn]) -> Stored<usize>;
    /// The turns of a session after a position, oldest first, each with the position behind it.
    fn turns_after(&self, id: &SessionId, after: Position) -> Stored<Vec<(Position, Turn)>>;
    /// The first `limit` turns of a session, oldest first, after one of them where one is named; none if that was
    /// not said in it.
    fn turn_page(&self, id: &SessionId, after: Option<&TurnId>, limit: usize) -> Stored<Option<Vec<Turn>>>;
    /// The turns that have this id, or one that begins so: at most `limit`, in the order of their ids.
    fn turns_named(&self, reference: &str, limit: usize) -> Stored<Vec<Turn>>;
    /// The first message of a person in each of these sessions, in their order; none if there is none.
    fn first_messages(&self, sessions: &[SessionId]) -> Stored<Vec<Option<String>>>;
    /// What persons and assistants said after a mark and not before a time, in the order in which it was stored: the
    /// latest `limit` turns, and the mark behind them.
    ///
    /// A turn that was not visible when a mark was given is after that mark, in whatever order transactions commit: a
    /// store may give a turn twice, but never leaves one out.
    fn said_after(
        &self,
        of: &TurnsOf,
        after: &TurnMark,
        since: Timestamp,
        limit: usize,
    ) -> Stored<(Vec<Turn>, TurnMark)>;
    /// Removes at most `limit` turns that were said before a time; gives how many. Three kinds stay: what an active memory of
    /// identity or knowledge came from, what is still sent in a session that went on since, and what is not consolidated
    /// and was said at `unread_until` or later. Recalls that such a turn asked for go with it.
    fn remove_old(&self, until: Timestamp, unread_until: Timestamp, limit: usize) -> Stored<usize>;
}

/// Whose conversations are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnsOf {
    /// Those that belong to no project.
    NoProject,
    /// Those of one project.
    Project(String),
    /// Those on one channel that belong to no project.
    Channel(String),
}

/// A place among the turns of all sessions. Only the store that gave it knows what it says; the default is the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnMark(String);

impl TurnMark {
    /// A store's own spelling; empty is the beginning.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The store's own spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
