//! How a conversation stands: when it is due for consolidation, where it is cut, and what still fits the window.
//!
//! Goes in: turns and a policy. Comes out: decisions. Never happens: a cut anywhere but in front of something that the
//! person said, so that a tool call never loses its result.

use serde::Serialize;

use crate::model::{Position, Role, Turn};
use crate::text::tokens;

/// When to consolidate, and what to keep. A zero turns a trigger off.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The share of the window that may be used.
    pub trigger_ratio: f64,
    /// What the model can see at once, in tokens.
    pub context_window: usize,
    /// The person's messages since the last consolidation.
    pub turn_threshold: usize,
    /// Minutes of silence.
    pub idle_minutes: u32,
    /// How many of the person's latest messages, with all that followed them, stay as they are.
    pub keep_recent_turns: usize,
    /// How long a summary may be.
    pub summary_max_tokens: usize,
    /// Whether facts are extracted.
    pub auto_extract: bool,
    /// Failures in a row after which the raw turns are archived instead.
    pub max_failures: u32,
    /// Days after which automatic chunks of the timeline are retired; 0 keeps them for ever.
    pub retention_days: u32,
    /// Days after which turns are removed that no memory needs as evidence; 0 keeps them for ever.
    pub turns_retention_days: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            trigger_ratio: 0.5,
            context_window: 128_000,
            turn_threshold: 3,
            idle_minutes: 10,
            keep_recent_turns: 6,
            summary_max_tokens: 1000,
            auto_extract: true,
            max_failures: 3,
            retention_days: 90,
            turns_retention_days: 0,
        }
    }
}

/// Why a consolidation is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// What was said since the last consolidation fills too much of a window.
    Tokens,
    /// The person said enough.
    Turns,
    /// Nothing was said for a while.
    Idle,
    /// The person said enough, and the other triggers are off.
    Flush,
    /// The conversation was ended, and not all of it is consolidated.
    Ended,
}

/// From where on the turns that are sent stay as they are, when the others are trimmed: in front of the person's latest
/// few messages.
pub fn kept_from(sent: &[(Position, Turn)], current: Position, keep: usize) -> Position {
    if keep == 0 {
        return sent.last().map_or(current, |(at, _)| *at);
    }
    let said: Vec<usize> = (0..sent.len()).filter(|at| sent[*at].1.role == Role::User).collect();
    match said.len().checked_sub(keep).and_then(|at| said.get(at)) {
        Some(0) | None => current,
        Some(first) => sent[first - 1].0.max(current),
    }
}

/// What is sent: the summary of what was trimmed, where something was, and the turns since; oldest exchanges left out
/// until the rest fits.
///
/// Gives the turns and how many were left out. An exchange is something the person said with all that followed.
pub fn fit(summary: Option<&Turn>, said: &[Turn], budget: usize) -> (Vec<Turn>, usize) {
    let said: Vec<&Turn> = said.iter().collect();
    let size = |turn: &Turn| tokens::estimate(&turn.content) + 4;
    let mut left = budget.saturating_sub(summary.map_or(0, &size));
    let mut first = said.len();
    for start in (0..said.len()).rev().filter(|at| said[*at].role == Role::User) {
        let exchange: usize = said[start..first].iter().map(|turn| size(turn)).sum();
        if exchange > left && first < said.len() {
            break;
        }
        left = left.saturating_sub(exchange);
        first = start;
    }
    if first == said.len() {
        // Nobody asked anything: there is no exchange to keep whole, and the latest words must do.
        first = said.len().saturating_sub(1);
    }
    let kept = summary.into_iter().chain(said[first..].iter().copied()).cloned().collect();
    (kept, first)
}

#[cfg(test)]
mod tests {
    use crate::sessions::{Backlog, DueRules};
    use jiff::Timestamp;

    use super::*;
    use crate::model::{SessionState, TurnId};

    fn turn(n: i64, role: Role, minute: i64) -> (Position, Turn) {
        let turn = Turn {
            id: TurnId::new(n.to_string()),
            session: "cli:main".parse().unwrap(),
            role,
            speaker: None,
            content: format!("turn {n}"),
            at: Timestamp::from_second(minute * 60).unwrap(),
        };
        (Position::new(n), turn)
    }

    fn window(roles: &str) -> Vec<(Position, Turn)> {
        let role = |c| match c {
            'u' => Role::User,
            'a' => Role::Assistant,
            't' => Role::Tool,
            _ => Role::Summary,
        };
        roles.chars().enumerate().map(|(n, c)| turn(n as i64 + 1, role(c), n as i64)).collect()
    }

    fn state(consolidated: i64, imported_to: i64) -> SessionState {
        let at = Timestamp::from_second(60 * 60).unwrap();
        let session = crate::model::Session {
            id: "cli:main".parse().unwrap(),
            title: None,
            project: None,
            task: None,
            person: None,
            created_at: at,
            updated_at: at,
            ended_at: None,
        };
        SessionState {
            session,
            base_prompt: String::new(),
            opening: None,
            consolidated: Position::new(consolidated),
            kept_from: Position::default(),
            failures: 0,
            imported_to: Position::new(imported_to),
        }
    }

    fn trigger(window: &[(Position, Turn)], state: &SessionState, policy: &Policy, now: Timestamp) -> Option<Trigger> {
        DueRules::of(policy, now).trigger(&Backlog::of(state, window)?)
    }

    fn due(roles: &str, consolidated: i64, minute: i64) -> Option<Trigger> {
        let now = Timestamp::from_second(minute * 60).unwrap();
        trigger(&window(roles), &state(consolidated, 0), &Policy::default(), now)
    }

    #[test]
    fn the_third_message_is_due_and_the_second_is_not() {
        assert_eq!(due("uaua", 0, 3), None);
        assert_eq!(due("uauau", 0, 4), Some(Trigger::Turns));
        assert_eq!(due("uauaua", 4, 5), None);
        assert_eq!(due("", 0, 99), None);
    }

    #[test]
    fn ten_silent_minutes_are_due_and_nine_are_not() {
        assert_eq!(due("ua", 0, 1 + 9), None);
        assert_eq!(due("ua", 0, 1 + 10), Some(Trigger::Idle));
        assert_eq!(due("uas", 2, 99), None, "nothing new was said");
    }

    #[test]
    fn a_full_window_is_due_and_zero_turns_a_trigger_off() {
        let due = |policy: &Policy, now| trigger(&window("ua"), &state(0, 0), policy, now);
        let small = Policy { context_window: 4, ..Policy::default() };
        assert_eq!(due(&small, Timestamp::UNIX_EPOCH), Some(Trigger::Tokens));
        let off = Policy { trigger_ratio: 0.0, turn_threshold: 0, idle_minutes: 0, ..small };
        assert_eq!(due(&off, Timestamp::from_second(1 << 30).unwrap()), None);
    }

    #[test]
    fn what_was_imported_makes_nothing_due() {
        let at = Timestamp::from_second(60 * 60).unwrap();
        let due_by = |policy: &Policy, imported_to| trigger(&window("uauauaua"), &state(0, imported_to), policy, at);
        let due = |imported_to| due_by(&Policy::default(), imported_to);
        assert_eq!((due(0), due(6), due(8)), (Some(Trigger::Turns), Some(Trigger::Idle), None));
        let full = Policy { context_window: 4, idle_minutes: 0, ..Policy::default() };
        assert_eq!(due_by(&full, 8), None);
    }

    #[test]
    fn what_was_ended_or_said_and_not_consolidated_is_due() {
        let window = window("uauas");
        let ended = |consolidated| {
            let mut state = state(consolidated, 0);
            state.session.ended_at = Some(Timestamp::UNIX_EPOCH);
            Backlog::of(&state, &window)
        };
        let ends = DueRules { ended: true, ..DueRules::default() };
        assert_eq!(ended(3).and_then(|backlog| ends.trigger(&backlog)), Some(Trigger::Ended));
        assert_eq!(ended(4), None, "a summary waits for nothing");
        let flush = |turns| DueRules { flush: Some(turns), ..DueRules::default() };
        let due = |rules: DueRules, consolidated| ended(consolidated).and_then(|backlog| rules.trigger(&backlog));
        assert_eq!(due(flush(2), 0), Some(Trigger::Flush));
        assert_eq!((due(flush(2), 1), due(DueRules::default(), 0)), (None, None));
    }

    #[test]
    fn cuts_only_in_front_of_the_person() {
        let sent = window("uatauatau");
        let start = Position::default();
        assert_eq!(kept_from(&sent, start, 1), Position::new(8));
        assert_eq!(kept_from(&sent, start, 2), Position::new(4));
        assert_eq!(kept_from(&sent, start, 3), start);
        assert_eq!(kept_from(&sent, start, 9), start);
        assert_eq!(kept_from(&sent, start, 0), Position::new(9));
    }

    #[test]
    fn leaves_out_whole_exchanges_from_the_oldest() {
        let turns: Vec<Turn> = window("suatauau").into_iter().map(|(_, turn)| turn).collect();
        let roles = |budget| {
            let (kept, left_out) = fit(turns.first(), &turns[1..], budget);
            (kept.iter().map(|turn| turn.id.to_string()).collect::<String>(), left_out)
        };
        assert_eq!(roles(1000), ("12345678".to_owned(), 0));
        assert_eq!(roles(6 * 4), ("1678".to_owned(), 4));
        assert_eq!(roles(0), ("18".to_owned(), 6), "the latest message is always sent");
        let unasked: Vec<Turn> = window("aa").into_iter().map(|(_, turn)| turn).collect();
        assert_eq!(fit(None, &unasked, 1000).0.len(), 1, "words that nobody asked for are sent too");
    }
}
