//! Whether the clock can be trusted by work that removes things.
//!
//! In: readings of the wall clock, each with a monotonic time, and whether the store was in use lately. Out: trust, or why
//! and how long to wait. Never happens: a clock that was set wrong (by a person, a dead battery, a virtual machine that
//! woke up) makes everything old at once.
//!
//! The rule has two halves, for every process alike:
//! - **At its start**, and in a command that ends at once, a process trusts the clock if the store was in use between
//!   [`LONG_UNSEEN`] and [`CONFIRMED_AFTER`] ago: see [`confirming_use`].
//! - **While it runs**, a [`Watch`] compares the wall clock with the monotonic time. The clock **jumped** if it went back
//!   by more than [`TOLERANCE`], or forward by more than [`LONG_UNSEEN`] (as it also does over a long sleep).
//!
//! Without trust, nothing is removed until the process has run for [`CONFIRMED_AFTER`] without another jump.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A clock that goes forward by more than this between two looks has jumped.
pub const LONG_UNSEEN: SignedDuration = SignedDuration::from_hours(36);

/// The time is confirmed after this long without a jump.
pub const CONFIRMED_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// Clocks are corrected by this much all the time.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

/// When the store must have been in use for the time to be confirmed: from the first moment to the second, as the clock
/// tells it now. Right after the clock jumped forward it was not; an hour later, it may have been.
pub fn confirming_use(now: Timestamp) -> (Timestamp, Timestamp) {
    let ago = |duration: SignedDuration| now.checked_sub(duration).unwrap_or(now);
    (ago(LONG_UNSEEN), ago(CONFIRMED_AFTER))
}

/// The wall clock, and a monotonic time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// What the clock on the wall says.
    pub wall: Timestamp,
    /// A time that only moves on and that nobody can set.
    pub uptime: Duration,
}

/// Why the clock is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Nobody saw the machine run in the last day and a half.
    Unseen,
    /// It went forward by so much.
    Forward(SignedDuration),
    /// It went back by so much.
    Back(SignedDuration),
}

/// Whether work that removes things may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It may.
    Trusted,
    /// It waits.
    Waiting {
        /// Why.
        doubt: Doubt,
        /// For how long, if nothing else happens.
        left: Duration,
    },
}

impl Trust {
    /// How long work that removes things waits, and why, in words; nothing if the clock is trusted.
    pub fn wait(self) -> Option<String> {
        match self {
            Self::Trusted => None,
            Self::Waiting { doubt, left } => Some(format!("for {} min: {doubt}", left.as_secs().div_ceil(60))),
        }
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hours = |by: &SignedDuration| match by.as_hours() {
            0..=48 => format!("{} min", by.as_mins()),
            hours => format!("{} days", hours / 24),
        };
        match self {
            Self::Unseen => write!(f, "this machine was not seen running in the last 36 hours"),
            Self::Forward(by) => write!(f, "the clock went forward by {}", hours(by)),
            Self::Back(by) => write!(f, "the clock went back by {}", hours(by)),
        }
    }
}

/// Watches the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    last: Reading,
    /// Since when, in uptime, the clock has been steady; and why that matters.
    doubt: Option<(Doubt, Duration)>,
}

impl Watch {
    /// Begins to watch; `is_confirmed` says that the store was in use when [`confirming_use`] asks for it.
    pub fn begin(first: Reading, is_confirmed: bool) -> Self {
        Self { last: first, doubt: (!is_confirmed).then_some((Doubt::Unseen, first.uptime)) }
    }

    /// Looks at the clock again.
    pub fn look(&mut self, now: Reading) {
        let went_by = SignedDuration::try_from(now.uptime.saturating_sub(self.last.uptime));
        let ahead = now.wall.duration_since(self.last.wall).saturating_sub(went_by.unwrap_or(SignedDuration::MAX));
        let jump = if ahead > LONG_UNSEEN {
            Some(Doubt::Forward(ahead))
        } else if ahead < -TOLERANCE {
            Some(Doubt::Back(-ahead))
        } else {
            None
        };
        if let Some(jump) = jump {
            self.doubt = Some((jump, now.uptime));
        }
        self.last = now;
        if self.left().is_some_and(|left| left.is_zero()) {
            self.doubt = None;
        }
    }

    /// Whether work that removes things may be done.
    pub fn trust(&self) -> Trust {
        match (self.doubt, self.left()) {
            (Some((doubt, _)), Some(left)) => Trust::Waiting { doubt, left },
            _ => Trust::Trusted,
        }
    }

    fn left(&self) -> Option<Duration> {
        let (_, since) = self.doubt?;
        Some(CONFIRMED_AFTER.unsigned_abs().saturating_sub(self.last.uptime.saturating_sub(since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watch, and the hours that went by on the wall and in truth.
    struct Story {
        watch: Watch,
        now: Reading,
    }

    impl Story {
        fn begin(is_confirmed: bool) -> Self {
            let now = Reading { wall: "2026-03-01T12:00:00Z".parse().unwrap(), uptime: Duration::ZERO };
            Self { watch: Watch::begin(now, is_confirmed), now }
        }

        fn after(&mut self, wall_minutes: i64, true_minutes: u64) -> bool {
            self.now.wall += SignedDuration::from_mins(wall_minutes);
            self.now.uptime += Duration::from_secs(60 * true_minutes);
            self.watch.look(self.now);
            self.watch.trust() == Trust::Trusted
        }
    }

    #[test]
    fn a_clock_that_goes_on_is_trusted() {
        let mut story = Story::begin(true);
        assert!((0..100).all(|_| story.after(30, 30)));
        assert!(story.after(8 * 60, 0), "a night's sleep is no jump");
        assert!(story.after(27, 30), "nor is a correction");
    }

    #[test]
    fn use_confirms_the_time_between_an_hour_and_a_day_and_a_half_ago() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(
            confirming_use(at("2026-03-03T12:00:00Z")),
            (at("2026-03-02T00:00:00Z"), at("2026-03-03T11:00:00Z"))
        );
        assert_eq!(confirming_use(Timestamp::MIN), (Timestamp::MIN, Timestamp::MIN));
    }

    #[test]
    fn the_wait_is_told_in_words() {
        let waiting = Trust::Waiting { doubt: Doubt::Unseen, left: Duration::from_secs(3541) };
        let told = "for 60 min: this machine was not seen running in the last 36 hours";
        assert_eq!((waiting.wait().as_deref(), Trust::Trusted.wait()), (Some(told), None));
    }

    #[test]
    fn a_start_that_nothing_confirms_waits_for_an_hour() {
        let mut story = Story::begin(false);
        assert_eq!(story.watch.trust(), Trust::Waiting { doubt: Doubt::Unseen, left: Duration::from_secs(3600) });
        assert!(!story.after(59, 59));
        assert!(story.after(1, 1));
    }

    #[test]
    fn a_jump_waits_until_an_hour_has_truly_passed() {
        for (jump, what) in [(365 * 24 * 60, "forward by 365 days"), (-10, "back by 10 min"), (37 * 60, "2220 min")] {
            let mut story = Story::begin(true);
            assert!(!story.after(jump, 0), "{jump}");
            let Trust::Waiting { doubt, .. } = story.watch.trust() else { panic!("{jump}") };
            assert!(doubt.to_string().contains(what), "{doubt}");
            assert!(!story.after(30, 30) && !story.after(29, 29), "{jump}");
            assert!(story.after(1, 1), "{jump}");
        }
    }

    #[test]
    fn the_wall_alone_does_not_make_the_hour_pass_and_a_second_jump_begins_it_anew() {
        let mut story = Story::begin(true);
        assert!(!story.after(40 * 24 * 60, 0));
        assert!(!story.after(24 * 60, 5), "only the wall says that a day went by");
        assert!(!story.after(-41 * 24 * 60, 50), "set right again");
        assert!(!story.after(59, 59));
        assert!(story.after(1, 1));
    }
}
