//! Leases: the right to do something alone, for a while.

use jiff::Timestamp;

use super::Stored;

/// Leases.
pub trait Leases {
    /// Takes a lease until `until`, if it is free at `now`: nobody holds it, it expired, or its holder is on the same host
    /// and `gone` says so. `gone` is never asked about another host, where only time frees a lease. A holder renews its
    /// own. Of several concurrent callers, one gets it.
    fn acquire(&self, lease: &Lease, now: Timestamp, gone: &dyn Fn(&Holder) -> bool) -> Stored<bool>;
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
    pub holder: Holder,
    /// Until when, if nobody gives it back.
    pub until: Timestamp,
}

/// Who holds a lease: one worker of a process on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The host: a name that its processes share. Two processes of one host see each other's numbers.
    pub host: String,
    /// The process, as the host numbers it.
    pub process: u32,
    /// When the process started, in the host's own spelling: tells it from a later process with the same number. Only
    /// compared; empty where the host does not tell.
    pub started: String,
    /// Which worker of the process: two workers of one process do not hold the same lease.
    pub worker: u32,
}
