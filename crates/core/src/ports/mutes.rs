//! Mutes: memories that are never given.

use crate::model::{EntryId, Mute};

use super::Stored;

/// Memories that are never given, and can still be searched for.
///
/// A store carries a mute over by itself, in the transaction that replaces a muted memory: to what says the same in other
/// words, and to what a line was edited to. What gives another value is not muted.
pub trait Mutes {
    /// Every mute, oldest first.
    fn mutes(&self) -> Stored<Vec<Mute>>;
    /// Mutes a memory; idempotent.
    fn mute(&self, mute: &Mute) -> Stored<()>;
    /// Takes a mute back: the one of this project, or the one without a project. Says whether there was one.
    fn unmute(&self, memory: &EntryId, project: Option<&str>) -> Stored<bool>;
}
