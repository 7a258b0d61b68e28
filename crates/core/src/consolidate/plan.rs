//! What a consolidation will write. Decides; touches nothing.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::model::{SessionId, Turn};
use crate::prompts::CARRIED_OVER;
use crate::text::{redact::redact, tokens};

/// Longest raw dump, in bytes: a later prompt must be able to hold it.
const MAX_RAW_BYTES: usize = 16 * 1024;

/// A summary, told apart: what this conversation was about, and what is carried over from before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// This conversation's own: for its window and the timeline.
    pub own: String,
    /// For working memory: its own, and the threads that are still open from before.
    pub working: String,
}

/// Tells a summary from what it carries over; working memory stays within its budget.
pub fn split(text: &str, working_max_tokens: usize) -> Summary {
    let at = text.lines().scan(0, |offset, line| {
        let start = *offset;
        *offset += line.len() + 1;
        Some((start, line))
    });
    let carried_at = at.filter(|(_, line)| line.trim() == CARRIED_OVER).map(|(start, _)| start).next();
    let (own, carried) = carried_at.map_or((text, ""), |at| text.split_at(at));
    let own = own.trim().to_owned();
    // What is new comes first and whole; what is old gets the room that is left.
    let own_for_working = tokens::cut(&own, working_max_tokens);
    let room = working_max_tokens.saturating_sub(tokens::estimate(own_for_working) + 1);
    let carried = tokens::cut(carried.trim(), room);
    let working = match carried.lines().count() {
        0 | 1 => own_for_working.to_owned(),
        _ => format!("{own_for_working}\n\n{carried}"),
    };
    Summary { own, working: working.trim().to_owned() }
}

/// What stands for all that is no longer sent: the summary so far and the new one. The oldest lines make room.
pub fn running(earlier: Option<&str>, own: &str, max_tokens: usize) -> String {
    let mut room = max_tokens.saturating_sub(tokens::estimate(own) + 1);
    let kept = earlier.unwrap_or_default().lines().rev().take_while(|line| {
        let size = tokens::estimate(line) + 1;
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    let mut lines: Vec<&str> = kept.collect();
    lines.reverse();
    format!("{}\n\n{own}", lines.join("\n").trim()).trim().to_owned()
}

/// The key of a timeline entry.
pub fn timeline_key(session: &SessionId, id: &str) -> String {
    format!("ctx_{session}_{id}")
}

/// The text of a timeline entry: greppable by its date.
pub fn timeline_text(at: Timestamp, text: &str) -> String {
    format!("[{}] {text}", at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M"))
}

/// The raw turns, for when no model would summarise them: bounded, the latest kept.
pub fn raw(turns: &[Turn]) -> String {
    let line = |turn: &Turn| {
        let who = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
        format!("{who}: {}", turn.content.trim())
    };
    let all = turns.iter().map(line).collect::<Vec<_>>().join("\n");
    let safe = redact(&all).text.into_owned();
    let mut start = safe.len().saturating_sub(MAX_RAW_BYTES);
    while !safe.is_char_boundary(start) {
        start += 1;
    }
    let cut = if start > 0 { "… " } else { "" };
    format!("[RAW] {cut}{}", &safe[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_over_reaches_working_memory_alone() {
        let summary = split("## Working on\n- parser\n\n## Carried over\n- call Ann\n", 1000);
        assert_eq!(summary.own, "## Working on\n- parser");
        assert_eq!(summary.working, "## Working on\n- parser\n\n## Carried over\n- call Ann");
        assert_eq!(split("- a\n\n## Carried over\n", 1000).working, "- a");
    }

    #[test]
    fn what_is_new_has_the_first_claim_on_the_budget() {
        let own = "- new ".repeat(100);
        let summary = split(&format!("{own}\n\n## Carried over\n- old"), 100);
        assert!(tokens::estimate(&summary.working) <= 100);
        assert!(!summary.working.contains("old"));
        assert_eq!(summary.own, own.trim());
    }

    #[test]
    fn the_summary_runs_on_and_its_oldest_lines_make_room() {
        assert_eq!(running(None, "- b", 1000), "- b");
        assert_eq!(running(Some("## One\n- a"), "## Two\n- b", 1000), "## One\n- a\n\n## Two\n- b");
        assert_eq!(running(Some("- a"), "", 1000), "- a");
        let long = (0..100).map(|n| format!("- line {n}\n")).collect::<String>();
        let text = running(Some(&long), "- new", 50);
        assert!(text.ends_with("- line 99\n\n- new") && !text.contains("- line 1\n"), "{text}");
        assert!(tokens::estimate(&text) <= 50);
        let own = "- new ".repeat(100);
        assert_eq!(running(Some("- old"), own.trim(), 50), own.trim(), "what is new is never cut");
    }

    #[test]
    fn the_timeline_is_greppable() {
        let at = "2026-05-07T14:30:59Z".parse().unwrap();
        assert_eq!(timeline_text(at, "Talked"), "[2026-05-07 14:30] Talked");
        assert_eq!(timeline_key(&"web:1".parse().unwrap(), "abc"), "ctx_web:1_abc");
    }
}
