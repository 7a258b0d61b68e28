//! Conversations that could not be consolidated lately. Each rests by itself, so that none keeps the others waiting: a
//! minute, then twice as long each time, up to an hour. Times are uptimes, which nobody can set.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use throughline_core::model::SessionId;

const FIRST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Which conversations rest, and until when.
#[derive(Default)]
pub(crate) struct Resting {
    failed: HashMap<SessionId, Rest>,
}

struct Rest {
    failures: u32,
    until: Duration,
}

impl Resting {
    /// How long a conversation still rests; zero for one that does not.
    pub(crate) fn left(&self, session: &SessionId, now: Duration) -> Duration {
        self.failed.get(session).map_or(Duration::ZERO, |rest| rest.until.saturating_sub(now))
    }

    /// It failed once more.
    pub(crate) fn failed(&mut self, session: &SessionId, now: Duration) {
        let rest = self.failed.entry(session.clone()).or_insert(Rest { failures: 0, until: now });
        rest.until = now + FIRST.saturating_mul(2_u32.saturating_pow(rest.failures)).min(LONGEST);
        rest.failures = rest.failures.saturating_add(1);
    }

    /// Forgets all but these: the others are due no longer.
    pub(crate) fn keep_only(&mut self, due: &HashSet<&SessionId>) {
        self.failed.retain(|session, _| due.contains(session));
    }

    /// It is well again.
    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.failed.remove(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rests_twice_as_long_each_time_and_the_others_not_at_all() {
        let (bad, good): (SessionId, SessionId) = ("cli:bad".parse().unwrap(), "cli:good".parse().unwrap());
        let (mut resting, now) = (Resting::default(), Duration::from_secs(1000));
        let minutes = |left: Duration| left.as_secs() / 60;
        let mut waits = Vec::new();
        for _ in 0..9 {
            resting.failed(&bad, now);
            waits.push(minutes(resting.left(&bad, now)));
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(resting.left(&good, now), Duration::ZERO);
        assert_eq!(resting.left(&bad, now + LONGEST), Duration::ZERO, "it was long enough");
        resting.keep_only(&HashSet::from([&good]));
        assert_eq!(resting.left(&bad, now), Duration::ZERO, "it is due no longer");
        resting.failed(&good, now);
        resting.forget(&good);
        assert_eq!(resting.left(&good, now), Duration::ZERO);
    }
}
