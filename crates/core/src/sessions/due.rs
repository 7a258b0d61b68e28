//! Which sessions are due, told from a few numbers about each.

use jiff::{SignedDuration, Timestamp};

use crate::model::{Position, Role, SessionId, SessionState, Turn};
use crate::text::tokens;

use super::{Policy, Trigger, flushed_to};

/// What there is in a session that was not processed yet, in numbers. Turns that were imported do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// The session.
    pub session: SessionId,
    /// When it was ended, if it was.
    pub ended_at: Option<Timestamp>,
    /// The person's messages that no consolidation has captured.
    pub unconsolidated: u64,
    /// When the last turn was said that no consolidation has captured; nothing where there is none. Summaries stand for
    /// what was captured.
    pub last_said_at: Option<Timestamp>,
    /// Tokens that are sent to the model: the turns that are still sent, and of the summaries among them the latest.
    pub tokens: u64,
    /// The person's messages that were not searched yet for what should have been stored.
    pub unfilled: u64,
    /// Whether there is any turn that was not searched yet.
    pub is_unread: bool,
}

impl Backlog {
    /// The backlog of a session with these turns: what a store gives without reading them.
    pub fn of(state: &SessionState, turns: &[(Position, Turn)]) -> Self {
        let after = |position: Position| turns.iter().filter(move |(at, _)| *at > position).map(|(_, turn)| turn);
        let by_person = |turn: &&Turn| turn.role == Role::User;
        let sent_after = state.kept_from.max(state.imported_to);
        let unconsolidated = || after(sent_after.max(state.consolidated)).filter(|turn| turn.role != Role::Summary);
        let sent = || after(sent_after);
        let summary = sent().rfind(|turn| turn.role == Role::Summary);
        let sent = sent().filter(|turn| turn.role != Role::Summary).chain(summary);
        Self {
            session: state.session.id.clone(),
            ended_at: state.session.ended_at,
            unconsolidated: unconsolidated().filter(by_person).count() as u64,
            last_said_at: unconsolidated().next_back().map(|turn| turn.at),
            tokens: sent.map(|turn| tokens::estimate(&turn.content) as u64).sum(),
            unfilled: after(flushed_to(state)).filter(by_person).count() as u64,
            is_unread: after(flushed_to(state)).next().is_some(),
        }
    }
}

/// What makes a session due. A rule that is not set makes nothing due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueRules {
    /// It was ended, and not all of it was searched.
    pub ended: bool,
    /// More tokens than this are sent, and something is not consolidated.
    pub tokens_over: Option<u64>,
    /// So many of the person's messages are not consolidated.
    pub turns: Option<u64>,
    /// The last turn that is not consolidated was said then, or before.
    pub silent_since: Option<Timestamp>,
    /// So many of the person's messages were not searched.
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
        if self.ended && backlog.ended_at.is_some() && backlog.is_unread {
            return Some(Trigger::Ended);
        }
        let waiting = backlog.last_said_at;
        if waiting.is_some() && self.tokens_over.is_some_and(|most| backlog.tokens > most) {
            Some(Trigger::Tokens)
        } else if waiting.is_some() && self.turns.is_some_and(|turns| backlog.unconsolidated >= turns) {
            Some(Trigger::Turns)
        } else if waiting.zip(self.silent_since).is_some_and(|(last, since)| last <= since) {
            Some(Trigger::Idle)
        } else if self.flush.is_some_and(|turns| backlog.unfilled >= turns) {
            Some(Trigger::Flush)
        } else {
            None
        }
    }
}
