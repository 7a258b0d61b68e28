//! How a conversation stands: when it is due for consolidation, where it is cut, and what still fits the window.
//!
//! Goes in: turns and a policy. Comes out: decisions. Never happens: a cut anywhere but in front of something that the
//! person said, so that a tool call never loses its result.

use serde::Serialize;

use crate::model::{Position, Role, SessionState, Turn};
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
        }
    }
}

/// Why a consolidation is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// What is sent fills too much of the window.
    Tokens,
    /// The person said enough.
    Turns,
    /// Nothing was said for a while.
    Idle,
    /// Enough was said to look for what the assistant should have stored.
    Flush,
    /// The conversation was ended, and not yet looked back on.
    Ended,
}

/// A conversation as a consolidation sees it.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// What is sent to the model.
    pub window: &'a [(Position, Turn)],
    /// Up to where it is consolidated.
    pub consolidated: Position,
}

impl Standing<'_> {
    /// The turns that no consolidation has captured; summaries stand for what was captured.
    pub fn unconsolidated(&self) -> impl Iterator<Item = &(Position, Turn)> {
        self.window.iter().filter(|(at, turn)| *at > self.consolidated && turn.role != Role::Summary)
    }

    /// From where on turns stay as they are: in front of the person's latest few messages.
    pub fn kept_from(&self, current: Position, keep: usize) -> Position {
        let said: Vec<usize> =
            self.window.iter().enumerate().filter(|(_, (_, turn))| turn.role == Role::User).map(|(at, _)| at).collect();
        if keep == 0 {
            return self.window.last().map_or(current, |(at, _)| *at);
        }
        match said.len().checked_sub(keep).and_then(|at| said.get(at)) {
            Some(0) | None => current,
            Some(first) => self.window[first - 1].0.max(current),
        }
    }
}

/// From where on turns count for looking back on a conversation by itself: what was imported does not.
pub fn flushed_to(state: &SessionState) -> Position {
    state.filled.max(state.imported_to)
}

/// What is sent: the latest summary and the turns after it; oldest exchanges left out until the rest fits.
///
/// Gives the turns and how many were left out. An exchange is something the person said with all that followed.
pub fn fit(window: &[Turn], budget: usize) -> (Vec<Turn>, usize) {
    let summary = window.iter().rfind(|turn| turn.role == Role::Summary);
    let said: Vec<&Turn> = window.iter().filter(|turn| turn.role != Role::Summary).collect();
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
    use crate::model::TurnId;

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
            filled: Position::new(3),
            imported_to: Position::new(imported_to),
        }
    }

    fn trigger(window: &[(Position, Turn)], state: &SessionState, policy: &Policy, now: Timestamp) -> Option<Trigger> {
        DueRules::of(policy, now).trigger(&Backlog::of(state, window))
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
        assert_eq!((flushed_to(&state(0, 0)), flushed_to(&state(0, 8))), (Position::new(3), Position::new(8)));
    }

    #[test]
    fn what_was_ended_or_said_and_not_searched_is_due() {
        let window = window("uaua");
        let ended = |filled| {
            let mut state = SessionState { filled: Position::new(filled), ..state(4, 0) };
            state.session.ended_at = Some(Timestamp::UNIX_EPOCH);
            Backlog::of(&state, &window)
        };
        let ends = DueRules { ended: true, ..DueRules::default() };
        assert_eq!((ends.trigger(&ended(3)), ends.trigger(&ended(4))), (Some(Trigger::Ended), None));
        let flush = |turns| DueRules { flush: Some(turns), ..DueRules::default() };
        assert_eq!(flush(2).trigger(&ended(0)), Some(Trigger::Flush), "what is consolidated may be unsearched");
        assert_eq!((flush(2).trigger(&ended(1)), DueRules::default().trigger(&ended(0))), (None, None));
    }

    #[test]
    fn cuts_only_in_front_of_the_person() {
        let window = window("uatauatau");
        let standing = Standing { window: &window, consolidated: Position::default() };
        let start = Position::default();
        assert_eq!(standing.kept_from(start, 1), Position::new(8));
        assert_eq!(standing.kept_from(start, 2), Position::new(4));
        assert_eq!(standing.kept_from(start, 3), start);
        assert_eq!(standing.kept_from(start, 9), start);
        assert_eq!(standing.kept_from(start, 0), Position::new(9));
    }

    #[test]
    fn leaves_out_whole_exchanges_from_the_oldest() {
        let turns: Vec<Turn> = window("suatauau").into_iter().map(|(_, turn)| turn).collect();
        let roles = |budget| {
            let (kept, left_out) = fit(&turns, budget);
            (kept.iter().map(|turn| turn.id.to_string()).collect::<String>(), left_out)
        };
        assert_eq!(roles(1000), ("12345678".to_owned(), 0));
        assert_eq!(roles(6 * 4), ("1678".to_owned(), 4));
        assert_eq!(roles(0), ("18".to_owned(), 6), "the latest message is always sent");
        let unasked: Vec<Turn> = window("aa").into_iter().map(|(_, turn)| turn).collect();
        assert_eq!(fit(&unasked, 1000).0.len(), 1, "words that nobody asked for are sent too");
    }

    #[test]
    fn only_the_latest_summary_counts_for_what_is_sent() {
        let policy =
            |context_window| Policy { context_window, turn_threshold: 0, idle_minutes: 0, ..Policy::default() };
        let due =
            |context_window| trigger(&window("ssssssu"), &state(6, 0), &policy(context_window), Timestamp::UNIX_EPOCH);
        assert_eq!(due(8), None, "two turns of two tokens are half of it");
        assert_eq!(due(7), Some(Trigger::Tokens));
    }
}
