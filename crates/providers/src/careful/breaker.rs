//! The circuit breaker: closed while calls succeed, open after too many failures, then one probe at a time.

use jiff::{SignedDuration, Timestamp};
use throughline_core::ports::Breaker;

use super::Policy;

/// How a call may go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// As always.
    Freely,
    /// As the one that finds out.
    AsProbe,
}

/// A breaker at work.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Breaker,
    /// A probe is under way.
    is_probing: bool,
}

impl From<Breaker> for Gate {
    fn from(state: Breaker) -> Self {
        Self { state, is_probing: false }
    }
}

impl Gate {
    pub(super) fn breaker(&self) -> Breaker {
        self.state
    }

    /// Lets a call through, or not.
    pub(super) fn enter(&mut self, now: Timestamp, policy: &Policy) -> Option<Pass> {
        if self.state.open_until.is_none() {
            return Some(Pass::Freely);
        }
        if self.is_probing || self.is_open(now, policy) {
            return None;
        }
        self.is_probing = true;
        Some(Pass::AsProbe)
    }

    /// A time further off than any rest was written by another clock: it does not count.
    pub(super) fn is_open(&self, now: Timestamp, policy: &Policy) -> bool {
        let left = self.state.open_until.map(|until| until.duration_since(now));
        left.is_some_and(|left| left.is_positive() && left <= rest(policy))
    }

    pub(super) fn failed(&mut self, pass: Pass, now: Timestamp, policy: &Policy) {
        self.state.failures = self.state.failures.saturating_add(1);
        if pass == Pass::AsProbe || self.state.failures >= policy.failures {
            self.state.open_until = now.checked_add(rest(policy)).ok();
        }
    }

    pub(super) fn answered(&mut self) {
        self.state = Breaker::default();
    }

    pub(super) fn leave(&mut self, pass: Pass) {
        if pass == Pass::AsProbe {
            self.is_probing = false;
        }
    }
}

fn rest(policy: &Policy) -> SignedDuration {
    SignedDuration::try_from(policy.rest).unwrap_or(SignedDuration::MAX)
}
