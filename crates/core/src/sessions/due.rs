//! Which sessions are due, told from a few numbers about each.

use jiff::{SignedDuration, Timestamp};

use crate::model::{Position, Role, SessionId, SessionState, Turn};
use crate::text::tokens;

use super::{Policy, Trigger};

/// What there is in a session that no consolidation has captured yet, in numbers. Turns that were imported do not count,
/// and neither do summaries, which stand for what was captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// The session.
    pub session: SessionId,
    /// When it was ended, if it was.
    pub ended_at: Option<Timestamp>,
    /// The person's messages.
    pub unconsolidated: u64,
    /// When the last turn was said.
    pub last_said_at: Timestamp,
    /// Tokens of all turns.
    pub tokens: u64,
}

impl Backlog {
    /// The backlog of a session with these turns: what a store gives without reading them. Nothing where every turn is
    /// consolidated.
    pub fn of(state: &SessionState, turns: &[(Position, Turn)]) -> Option<Self> {
        let done_to = state.consolidated.max(state.imported_to);
        let waits = |(at, turn): &&(Position, Turn)| *at > done_to && turn.role != Role::Summary;
        let waiting = || turns.iter().filter(waits).map(|(_, turn)| turn);
        Some(Self {
            session: state.session.id.clone(),
            ended_at: state.session.ended_at,
            unconsolidated: waiting().filter(|turn| turn.role == Role::User).count() as u64,
            last_said_at: waiting().next_back()?.at,
            tokens: waiting().map(|turn| tokens::estimate(&turn.content) as u64).sum(),
        })
    }
}

/// What makes a session due that has a backlog. A rule that is not set makes nothing due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueRules {
    /// It was ended.
    pub ended: bool,
    /// Its backlog has more tokens than this.
    pub tokens_over: Option<u64>,
    /// Its backlog has so many of the person's messages.
    pub turns: Option<u64>,
    /// Its last turn was said then, or before.
    pub silent_since: Option<Timestamp>,
    /// Its backlog has so many of the person's messages, whatever else is switched off.
    pub flush: Option<u64>,
}

impl DueRules {
    /// The rules by which a conversation is consolidated.
    pub fn of(policy: &Policy, now: Timestamp) -> Self {
        let limit = policy.trigger_ratio * policy.context_window as f64;
        let idle = SignedDuration::from_mins(i64::from(policy.idle_minutes));
        Self {
            tokens_over: (limit > 0.0).then_some(limit as u64),
            turns: (policy.turn_threshold > 0).then_some(policy.turn_threshold as u64),
            silent_since: (policy.idle_minutes > 0).then(|| now.checked_sub(idle).unwrap_or(Timestamp::MIN)),
            ..Self::default()
        }
    }

    /// Why a session is due, if it is: the first rule that holds.
    pub fn trigger(&self, backlog: &Backlog) -> Option<Trigger> {
        if self.ended && backlog.ended_at.is_some() {
            Some(Trigger::Ended)
        } else if self.tokens_over.is_some_and(|most| backlog.tokens > most) {
            Some(Trigger::Tokens)
        } else if self.turns.is_some_and(|turns| backlog.unconsolidated >= turns) {
            Some(Trigger::Turns)
        } else if self.silent_since.is_some_and(|since| backlog.last_said_at <= since) {
            Some(Trigger::Idle)
        } else if self.flush.is_some_and(|turns| backlog.unconsolidated >= turns) {
            Some(Trigger::Flush)
        } else {
            None
        }
    }
}
