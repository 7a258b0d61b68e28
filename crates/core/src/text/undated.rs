//! Takes out the dates that are added beside days named by their distance.

use std::borrow::Cow;

/// A text without the dates that [`dated`](super::relative_dates::dated) puts beside words: what somebody said it as.
pub(crate) fn undated(text: &str) -> Cow<'_, str> {
    let mut parts = text.split(" (");
    let mut out = String::with_capacity(text.len());
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once(')').filter(|(inside, _)| is_date(inside)) {
            Some((_, rest)) => out.push_str(rest),
            None => out.extend([" (", part]),
        }
    }
    if out.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Whether this is a year, a month, a day, or a week from one day to another.
fn is_date(text: &str) -> bool {
    let is_one = |date: &str| {
        let parts: Vec<&str> = date.split('-').collect();
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        parts.iter().all(is_number) && parts.iter().map(|part| part.len()).eq([4, 2, 2].into_iter().take(parts.len()))
    };
    text.split_once(" to ").map_or_else(|| is_one(text), |(from, to)| is_one(from) && is_one(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dates_are_taken_out_again() {
        for (text, expected) in [
            ("I moved to Odda last month (2026-10).", "I moved to Odda last month."),
            ("holiday next week (2026-05-11 to 2026-05-17) (really)", "holiday next week (really)"),
            ("room (2026-10-1) and f (x) (12)", "room (2026-10-1) and f (x) (12)"),
            ("() (", "() ("),
        ] {
            assert_eq!(undated(text), expected);
        }
    }
}
