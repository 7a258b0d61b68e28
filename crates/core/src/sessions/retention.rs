//! Removes old turns that no memory needs.

use jiff::SignedDuration;

use crate::error::Done;

use super::SessionService;

/// At most so many turns are removed at once; the next run takes the others.
const REMOVED_AT_ONCE: usize = 500;

/// A turn that was not made into memories waits for that so long; after it, nobody looks at it any more.
const WAITS: SignedDuration = SignedDuration::from_hours(24 * 7);

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovedTurns {
    /// How many turns.
    pub turns: usize,
    /// Whether the next run may find others.
    pub may_be_more: bool,
}

impl SessionService<'_> {
    /// Removes turns that are older than their retention and that no memory needs as evidence: some hundreds at once.
    /// Whoever calls it trusts the clock.
    pub fn remove_old_turns(&self) -> Done<RemovedTurns> {
        let now = self.kernel.now;
        let ago = |age: SignedDuration| now.checked_sub(age).ok();
        let days = self.kernel.settings.policy.turns_retention_days;
        let until = ago(SignedDuration::from_hours(24 * i64::from(days))).filter(|_| days > 0);
        let (Some(until), Some(waits_until)) = (until, ago(WAITS)) else { return Ok(RemovedTurns::default()) };
        let turns = self.turns.remove_old(until, waits_until, REMOVED_AT_ONCE)?;
        Ok(RemovedTurns { turns, may_be_more: turns == REMOVED_AT_ONCE })
    }
}
