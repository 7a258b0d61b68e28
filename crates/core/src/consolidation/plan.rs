//! What a consolidation will write. Decides; touches nothing.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::model::{SessionId, Turn};
use crate::ports::SummaryOf;
use crate::text::{redact::redact, tokens};

/// Longest raw dump, in bytes: a later prompt must be able to hold it.
const MAX_RAW_BYTES: usize = 16 * 1024;

/// A summary as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What is new in it: for the timeline. Empty where nothing is.
    pub new: String,
    /// The whole conversation so far: for its summary in the archive, and for what is sent once turns are trimmed.
    pub running: String,
}

/// What is kept of a summary of new turns, or of the whole conversation.
pub fn summary(earlier: Option<&str>, text: &str, of: SummaryOf, max_tokens: usize) -> Summary {
    let text = text.trim();
    match of {
        SummaryOf::NewTurns => Summary { new: text.to_owned(), running: running(earlier, text, max_tokens) },
        SummaryOf::Conversation if text.is_empty() => {
            Summary { new: String::new(), running: earlier.unwrap_or_default().to_owned() }
        }
        SummaryOf::Conversation => {
            Summary { new: without_known(text, earlier.unwrap_or_default()), running: text.to_owned() }
        }
    }
}

/// The lines that the earlier summary does not have, each below its heading.
fn without_known(text: &str, earlier: &str) -> String {
    let known: Vec<&str> = earlier.lines().map(str::trim).collect();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let is_heading = line.starts_with('#');
        if is_heading && lines.last().is_some_and(|last| last.starts_with('#')) {
            lines.pop();
        }
        if is_heading || !known.contains(&line.trim()) {
            lines.push(line);
        }
    }
    if lines.last().is_some_and(|last| last.starts_with('#')) {
        lines.pop();
    }
    lines.join("\n")
}

/// The summary so far and the new one. The oldest lines make room.
fn running(earlier: Option<&str>, own: &str, max_tokens: usize) -> String {
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

/// Begins what a conversation left in a task's state.
const FROM: &str = "## From ";

/// A task's state with what a conversation says about it now, in place of what it said before. The oldest of what
/// conversations left makes room; what somebody wrote stays.
pub fn task_state(state: &str, session: &SessionId, at: Timestamp, summary: &str, max_tokens: usize) -> String {
    let (own, mut blocks) = blocks(state);
    let title = format!("{FROM}{session}, ");
    blocks.retain(|block| !block.starts_with(&title));
    let day = at.to_zoned(TimeZone::UTC).date();
    let said =
        summary.trim().lines().map(|line| if line.starts_with('#') { format!("#{line}") } else { line.to_owned() });
    blocks.push(format!("{title}{day}\n\n{}", said.collect::<Vec<_>>().join("\n")));
    let size = |blocks: &[String]| blocks.iter().map(|block| tokens::estimate(block) + 1).sum::<usize>();
    while blocks.len() > 1 && size(&blocks) > max_tokens {
        blocks.remove(0);
    }
    let parts = (!own.is_empty()).then_some(own).into_iter().chain(blocks);
    parts.collect::<Vec<_>>().join("\n\n")
}

/// What somebody wrote, and what each conversation left.
fn blocks(state: &str) -> (String, Vec<String>) {
    let mut parts = vec![String::new()];
    for line in state.lines() {
        if line.starts_with(FROM) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    let mut parts = parts.into_iter().map(|part| part.trim().to_owned());
    (parts.next().unwrap_or_default(), parts.collect())
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
    fn of_a_whole_conversation_only_what_is_new_goes_to_the_timeline() {
        let earlier = "## Working on\n- a\n\n## Open threads\n- b";
        let text = "## Working on\n- a\n- c\n\n## Open threads\n- b";
        let whole = |text| summary(Some(earlier), text, SummaryOf::Conversation, 1000);
        assert_eq!(whole(text), Summary { new: "## Working on\n- c".to_owned(), running: text.to_owned() });
        assert_eq!(whole(earlier).new, "");
        assert_eq!(whole(""), Summary { new: String::new(), running: earlier.to_owned() });
        let new = summary(Some("- a"), "- b", SummaryOf::NewTurns, 1000);
        assert_eq!(new, Summary { new: "- b".to_owned(), running: "- a\n\n- b".to_owned() });
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
    fn a_task_keeps_what_each_conversation_left_and_what_somebody_wrote() {
        let at = "2026-05-07T14:30:59Z".parse().unwrap();
        let (web, cli) = ("web:1".parse().unwrap(), "cli:2".parse().unwrap());
        let one = task_state("Mine.", &web, at, "## Done\n- a", 100);
        assert_eq!(one, "Mine.\n\n## From web:1, 2026-05-07\n\n### Done\n- a");
        assert_eq!(task_state(&one, &web, at, "## Done\n- a", 100), one, "said again, it stands once");
        let two = task_state(&one, &cli, at, "- b", 100);
        assert_eq!(two, format!("{one}\n\n## From cli:2, 2026-05-07\n\n- b"));
        let short = task_state(&two, &cli, at, "- c", 12);
        assert_eq!(short, "Mine.\n\n## From cli:2, 2026-05-07\n\n- c");
        assert_eq!(task_state("", &cli, at, "- c", 12), "## From cli:2, 2026-05-07\n\n- c");
    }

    #[test]
    fn the_timeline_is_greppable() {
        let at = "2026-05-07T14:30:59Z".parse().unwrap();
        assert_eq!(timeline_text(at, "Talked"), "[2026-05-07 14:30] Talked");
        assert_eq!(timeline_key(&"web:1".parse().unwrap(), "abc"), "ctx_web:1_abc");
    }
}
