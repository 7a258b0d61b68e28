//! Counts and integrity checks.

use super::Stored;

/// Counts and integrity checks.
pub trait Health {
    /// What the store holds.
    fn stats(&self) -> Stored<StoreStats>;
    /// Everything that is wrong, in words; nothing when all is well.
    fn check(&self) -> Stored<Vec<String>>;
    /// What stands in the way of the store without damaging it, in words: that it can only be read, who holds its lock.
    fn hindrances(&self) -> Vec<String>;
    /// Tidies what can be tidied at any time, and says what was done.
    fn tidy(&self) -> Stored<Vec<String>>;
    /// Somebody waits for the end of this process: closing does no more than it must.
    fn ending(&self);
    /// Gives memory back that was not used since the last call: what can be read again is not kept for ever.
    fn trim(&self);
}

/// What the store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct StoreStats {
    /// Active entries of layer 1.
    pub knowledge: u64,
    /// Active entries of layer 2.
    pub archive: u64,
    /// Bullets of documents.
    pub bullets: u64,
    /// Entries that are kept for audit.
    pub inactive: u64,
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Changes.
    pub changes: u64,
    /// Recalls in the log.
    pub recalls: u64,
    /// Size of the database in bytes.
    pub bytes: u64,
}
