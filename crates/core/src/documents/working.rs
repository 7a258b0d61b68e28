//! Working memory: what has been going on lately, in a file that says when it stops being true.
//!
//! ```text
//! # Working Memory
//! Updated: 2026-02-25T11:30:00Z
//! Expires: 2026-03-11T11:30:00Z
//!
//! the content, which may have blank lines and lines that look like headers
//! ```
//!
//! Expiry is looked at when it is read; nothing cleans up. Whatever cannot be read as this gives nothing.

use jiff::{SignedDuration, Timestamp};

use crate::text::tokens;

const TITLE: &str = "# Working Memory";

/// Working memory that is still fresh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Working {
    /// When it was written.
    pub updated_at: Timestamp,
    /// When it stops being injected.
    pub expires_at: Timestamp,
    /// The content, without its header.
    pub content: String,
}

/// How long working memory lasts and how long it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkingLimits {
    /// Days from writing to expiry, 1..=365.
    pub ttl_days: u32,
    /// Its budget, 100..=4000.
    pub max_tokens: usize,
}

/// What follows the header of a file, whether or not that can be read; none if the file has expired.
pub(crate) fn body(text: &str, now: Timestamp) -> &str {
    if parse(text).is_some_and(|working| working.expires_at <= now) {
        return "";
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        let is_title = nth == 0 && line.trim_end() == TITLE;
        let is_time = nth > 0 && (line.starts_with("Updated:") || line.starts_with("Expires:"));
        if !is_title && !is_time {
            break;
        }
        rest = &rest[line.len()..];
    }
    rest.trim()
}

/// The file for a content that was rendered, updated and expiring then; without these times, as the file before it says.
pub(crate) fn file(before: &str, times: Option<(Timestamp, Timestamp)>, content: &str) -> String {
    let known = || parse(before).map(|working| (working.updated_at, working.expires_at));
    let whole = |at: Timestamp| Timestamp::from_second(at.as_second()).unwrap_or(at);
    match times.or_else(known) {
        Some((updated_at, expires_at)) => {
            let (updated_at, expires_at) = (whole(updated_at), whole(expires_at));
            format!("{TITLE}\nUpdated: {updated_at}\nExpires: {expires_at}\n\n{content}\n")
        }
        None => before.to_owned(),
    }
}

/// The file for `content`, cut to its budget.
pub fn render(content: &str, now: Timestamp, limits: WorkingLimits) -> String {
    let updated_at = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let expires_at =
        updated_at.checked_add(SignedDuration::from_hours(24 * i64::from(limits.ttl_days))).unwrap_or(Timestamp::MAX);
    let content = tokens::cut(content.trim(), limits.max_tokens);
    format!("{TITLE}\nUpdated: {updated_at}\nExpires: {expires_at}\n\n{content}\n")
}

/// Reads the file: nothing when it is not working memory, or empty, or no longer fresh.
pub fn read(text: &str, now: Timestamp) -> Option<Working> {
    let working = parse(text)?;
    if working.expires_at <= now {
        tracing::debug!(expires_at = %working.expires_at, "working memory has expired");
        return None;
    }
    Some(working)
}

/// Reads the file whether or not it is fresh.
pub fn parse(text: &str) -> Option<Working> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    let mut next_line = || {
        let (line, tail) = rest.split_once('\n')?;
        rest = tail;
        Some(line.trim_end())
    };
    if next_line()? != TITLE {
        return None;
    }
    let (mut updated_at, mut expires_at) = (None, None);
    loop {
        let line = next_line()?;
        if line.is_empty() {
            break;
        } else if let Some(value) = line.strip_prefix("Updated:") {
            updated_at = Some(value.trim().parse().ok()?);
        } else if let Some(value) = line.strip_prefix("Expires:") {
            expires_at = Some(value.trim().parse().ok()?);
        } else {
            return None;
        }
    }
    let content = rest.trim();
    if content.is_empty() {
        return None;
    }
    Some(Working { updated_at: updated_at?, expires_at: expires_at?, content: content.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: WorkingLimits = WorkingLimits { ttl_days: 14, max_tokens: 1000 };

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn writes_the_exact_format_with_a_computed_expiry() {
        let text = render("- shipping the parser", at("2026-02-25T11:30:00.123Z"), LIMITS);
        assert_eq!(
            text,
            "# Working Memory\nUpdated: 2026-02-25T11:30:00Z\nExpires: 2026-03-11T11:30:00Z\n\n- shipping the parser\n"
        );
    }

    #[test]
    fn content_may_look_like_a_header() {
        let content = "Updated: never\n\nExpires: soon\n\n# Working Memory";
        let now = at("2026-01-01T00:00:00Z");
        assert_eq!(read(&render(content, now, LIMITS), now).unwrap().content, content);
    }

    #[test]
    fn expires_to_the_second() {
        let now = at("2026-01-01T00:00:00Z");
        let text = render("x", now, WorkingLimits { ttl_days: 1, ..LIMITS });
        assert!(read(&text, at("2026-01-01T23:59:59Z")).is_some());
        assert!(read(&text, at("2026-01-02T00:00:00Z")).is_none());
    }

    #[test]
    fn gives_nothing_for_what_it_cannot_read() {
        let now = at("2026-01-01T00:00:00Z");
        let header = "# Working Memory\nUpdated: 2026-01-01T00:00:00Z\nExpires: 2027-01-01T00:00:00Z\n";
        assert!(read(&format!("{header}\nx"), now).is_some());
        assert!(read(&format!("\u{feff}{header}\nx").replace('\n', "\r\n"), now).is_some());
        for text in [
            "",
            "x",
            "# Working Memory",
            "# Working Memory\n\nno header",
            &format!("{header}\n"),
            &format!("{header}\n \n\t\n"),
            &format!("{header}no blank line"),
            "# Working Memory\nExpires: 2027-01-01T00:00:00Z\n\nx",
            "# Working Memory\nUpdated: 2026-01-01T00:00:00Z\n\nx",
            "# Working Memory\nUpdated: 2026-01-01T00:00:00Z\nExpires: whenever\n\nx",
            "# Working Memory\nUpdated: long ago\nExpires: 2027-01-01T00:00:00Z\n\nx",
            "# Other\nUpdated: 2026-01-01T00:00:00Z\nExpires: 2027-01-01T00:00:00Z\n\nx",
        ] {
            assert_eq!(read(text, now), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn never_exceeds_its_budget_and_reads_back(content in any::<String>(), max_tokens in 100usize..400) {
            let now = at("2026-01-01T00:00:00Z");
            let text = render(&content, now, WorkingLimits { ttl_days: 1, max_tokens });
            if let Some(working) = read(&text, now) {
                prop_assert!(tokens::estimate(&working.content) <= max_tokens);
                prop_assert!(content.contains(&working.content));
            } else {
                prop_assert!(tokens::cut(content.trim(), max_tokens).trim().is_empty());
            }
        }

        #[test]
        fn reading_never_panics(text in any::<String>()) {
            read(&text, Timestamp::UNIX_EPOCH);
            read(&format!("# Working Memory\n{text}"), Timestamp::UNIX_EPOCH);
        }
    }
}
