//! When a pass is due: every so many hours, caught up after a sleep, never in quiet hours.

use jiff::{SignedDuration, Timestamp, Zoned};

/// A pass that failed is tried again after this long.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// How often, and when not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Hours between passes; 0 turns them off.
    pub every_hours: u32,
    /// The hour at which quiet begins.
    pub quiet_from: u32,
    /// The hour at which quiet ends; the same hour means that it is never quiet.
    pub quiet_until: u32,
}

/// Whether a pass is due now. `done` is the last that succeeded (or the first thing that was ever said), `tried` the
/// last of any kind.
pub fn is_due(schedule: &Schedule, done: Option<Timestamp>, tried: Option<Timestamp>, now: &Zoned) -> bool {
    let every = SignedDuration::from_hours(i64::from(schedule.every_hours));
    // A clock that was once set wrong must not put passes off for years: the distance counts, not the direction.
    let is_past = |at: Timestamp, by: SignedDuration| now.timestamp().duration_since(at).abs() >= by;
    schedule.every_hours > 0
        && !is_quiet(schedule, now)
        && done.is_some_and(|at| is_past(at, every))
        && tried.is_none_or(|at| is_past(at, AGAIN_AFTER.min(every)))
}

fn is_quiet(schedule: &Schedule, now: &Zoned) -> bool {
    let (hour, from, until) = (now.hour() as u32, schedule.quiet_from, schedule.quiet_until);
    if from <= until { (from..until).contains(&hour) } else { hour >= from || hour < until }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(schedule: &Schedule, done: Option<&str>, tried: Option<&str>, now: &str) -> bool {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        is_due(schedule, done.map(at), tried.map(at), &at(now).to_zoned(jiff::tz::TimeZone::UTC))
    }

    #[test]
    fn once_a_day_and_never_at_night() {
        let daily = Schedule { every_hours: 24, quiet_from: 22, quiet_until: 7 };
        let last = Some("2026-03-01T12:00:00Z");
        assert!(!due(&daily, last, None, "2026-03-02T11:59:00Z"));
        assert!(due(&daily, last, None, "2026-03-02T12:00:00Z"));
        assert!(due(&daily, last, None, "2026-03-09T12:00:00Z"), "caught up after a sleep");
        assert!(!due(&daily, last, None, "2026-03-02T23:00:00Z"), "quiet");
        assert!(!due(&daily, last, None, "2026-03-03T06:59:00Z"), "still quiet");
        assert!(due(&daily, last, None, "2026-03-03T07:00:00Z"));
        assert!(!due(&daily, None, None, "2026-03-03T07:00:00Z"), "nothing was ever said");
        assert!(due(&daily, Some("2036-01-01T00:00:00Z"), None, "2026-03-03T07:00:00Z"), "a clock that was wrong");
        assert!(!due(&daily, last, Some("2026-03-02T11:30:00Z"), "2026-03-02T12:00:00Z"), "failed a moment ago");
        assert!(!due(&Schedule { every_hours: 0, ..daily }, last, None, "2026-03-09T12:00:00Z"), "off");
        let day = Schedule { every_hours: 24, quiet_from: 9, quiet_until: 17 };
        assert!(!due(&day, last, None, "2026-03-03T09:00:00Z") && due(&day, last, None, "2026-03-03T17:00:00Z"));
    }
}
