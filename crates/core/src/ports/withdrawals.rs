//! Statements that were taken back, kept so that they do not come back.

use std::collections::HashSet;

use crate::model::{SessionId, TurnId, Withdrawn};

use super::Stored;

/// Statements that were superseded, forgotten or erased.
///
/// A store writes them by itself, in the transaction that takes a statement away: an entry of knowledge that becomes inactive
/// or says something else, a line that leaves a document (working memory aside). Undoing that change ends the withdrawal, and
/// so does whatever says the same again. Merging, reflection, imports and undo withdraw nothing: what they remove still
/// holds. An erased statement leaves its digest and the ids of its turns, and no text.
pub trait Withdrawals {
    /// What was taken back of these turns and conversations, and of no conversation; the newest first, a bounded number.
    /// `None` where nothing was ever taken back.
    fn withdrawn(&self, turns: &[TurnId], sessions: &[SessionId]) -> Stored<Option<Vec<Withdrawn>>>;
    /// For each text of a statement ([`digested`](crate::lineage::digested)), its latest withdrawal that still holds.
    fn withdrawals_of(&self, texts: &[String]) -> Stored<Vec<Option<Withdrawn>>>;
    /// Which of these turns were erased.
    fn erased_turns(&self, turns: &[TurnId]) -> Stored<HashSet<TurnId>>;
}
