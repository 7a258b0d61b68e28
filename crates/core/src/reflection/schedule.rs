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

/// When the next pass is due; nothing where none ever is. What [`is_due`] says at that time is yes.
pub fn next(schedule: &Schedule, done: Option<Timestamp>, tried: Option<Timestamp>, now: &Zoned) -> Option<Timestamp> {
    let every = SignedDuration::from_hours(i64::from(schedule.every_hours));
    if schedule.every_hours == 0 {
        return None;
    }
    // What lies ahead of now was noted by a clock that was wrong: counted from now, it is due no later than usual.
    let after = |at: Timestamp, by: SignedDuration| {
        let is_past = now.timestamp().duration_since(at).abs() >= by;
        if is_past { now.timestamp() } else { at.min(now.timestamp()).saturating_add(by).unwrap_or(at) }
    };
    let earliest = after(done?, every);
    let earliest = tried.map_or(earliest, |at| earliest.max(after(at, AGAIN_AFTER.min(every))));
    let mut at = earliest.to_zoned(now.time_zone().clone());
    let hour = SignedDuration::from_hours(1);
    for _ in 0..24 {
        if !is_quiet(schedule, &at) {
            return Some(at.timestamp());
        }
        let begun = at.date().at(at.hour(), 0, 0, 0).to_zoned(at.time_zone().clone()).ok()?;
        at = begun.checked_add(hour).ok()?;
    }
    None
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
    fn the_next_pass_is_told_beforehand() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let next = |schedule: &Schedule, done: Option<&str>, tried: Option<&str>, now: &str| {
            let next = super::next(schedule, done.map(at), tried.map(at), &at(now).to_zoned(jiff::tz::TimeZone::UTC));
            if let Some(next) = next {
                assert!(due(schedule, done, tried, &next.to_string()), "what is told is true: {next}");
            }
            next.map(|next| next.to_string())
        };
        let daily = Schedule { every_hours: 24, quiet_from: 22, quiet_until: 7 };
        let last = Some("2026-03-01T12:00:00Z");
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(next(&daily, last, None, "2026-03-01T13:00:00Z"), told("2026-03-02T12:00:00Z"));
        assert_eq!(next(&daily, last, None, "2026-03-05T13:00:00Z"), told("2026-03-05T13:00:00Z"), "overdue: now");
        assert_eq!(next(&daily, last, None, "2026-03-05T22:30:00Z"), told("2026-03-06T07:00:00Z"), "after the night");
        let tried = Some("2026-03-02T12:30:00Z");
        assert_eq!(next(&daily, last, tried, "2026-03-02T12:45:00Z"), told("2026-03-02T13:30:00Z"), "failed");
        assert_eq!(next(&daily, None, None, "2026-03-01T13:00:00Z"), None, "nothing was ever said");
        assert_eq!(next(&Schedule { every_hours: 0, ..daily }, last, None, "2026-03-09T12:00:00Z"), None, "off");
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
