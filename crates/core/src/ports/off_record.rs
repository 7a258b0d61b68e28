//! Off the record: when nothing is observed, and which turns were not kept.

use jiff::Timestamp;

use crate::model::{Pause, SessionId, TurnId};

use super::Stored;

/// Pauses, and turns that were not kept: their ids, never their words.
pub trait OffRecord {
    /// Every pause that there was, oldest first.
    fn pauses(&self) -> Stored<Vec<Pause>>;
    /// Begins a pause; one that lasts at its beginning ends there.
    fn begin_pause(&self, pause: &Pause) -> Stored<()>;
    /// Ends every pause that would last longer than to this time.
    fn end_pauses(&self, at: Timestamp) -> Stored<()>;
    /// Notes turns that are not kept, and whether the person's latest message is one of them. Idempotent. The session need
    /// not have begun.
    fn note_unkept(&self, session: &SessionId, turns: &[TurnId], is_latest: bool) -> Stored<()>;
    /// The turns of a session that were not kept.
    fn unkept(&self, session: &SessionId) -> Stored<Vec<TurnId>>;
    /// Whether the person's latest message in a session was not kept.
    fn is_latest_unkept(&self, session: &SessionId) -> Stored<bool>;
}
