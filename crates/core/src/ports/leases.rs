//! Leases: the right to do something alone, for a while.

use jiff::Timestamp;

use super::Stored;

/// Leases.
pub trait Leases {
    /// Takes a lease until `until`, if nobody else holds it at `now`, or only `gone` holders do. A holder renews its own.
    fn acquire(&self, lease: &Lease, now: Timestamp, gone: &dyn Fn(&str) -> bool) -> Stored<bool>;
    /// The lease of this name as it stands, expired or not.
    fn lease(&self, name: &str) -> Stored<Option<Lease>>;
    /// Gives a lease back, if this holder still has it.
    fn release(&self, lease: &Lease) -> Stored<()>;
}

/// The right to do something alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is done.
    pub name: String,
    /// Who does it.
    pub holder: String,
    /// Until when, if nobody gives it back.
    pub until: Timestamp,
}
