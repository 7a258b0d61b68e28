//! Sessions as lists and pages.

use std::collections::HashSet;

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{Done, EngineError};
use crate::model::{SessionId, SessionState, Turn, TurnId};
use crate::ports::Page;

use super::SessionService;

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ListedSession {
    /// The conversation, its fields at the same level.
    #[serde(flatten)]
    pub state: SessionState,
    /// How much was said in it.
    pub turns: u64,
}

/// Conversations.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionListing {
    /// The latest first.
    pub sessions: Vec<ListedSession>,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}

/// A conversation, and what was said in it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ShownSession {
    /// The conversation.
    pub session: SessionState,
    /// What was said, oldest first.
    pub turns: Vec<Turn>,
    /// Whether more was said after that.
    pub more: bool,
}

/// The receipt for a conversation that begins anew.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionReset {
    /// Which.
    pub session: SessionId,
}

impl SessionService<'_> {
    /// Conversations, the latest first, each with how much was said; of one channel, where one is given.
    pub fn page(&self, channel: Option<&str>, limit: usize, cursor: Option<&str>) -> Done<SessionListing> {
        let page = self.session_store.session_page(channel, &Page { limit, cursor: cursor.map(str::to_owned) })?;
        let sessions = page.sessions.into_iter().map(|(state, turns)| ListedSession { state, turns });
        Ok(SessionListing { sessions: sessions.collect(), cursor: page.cursor })
    }

    /// A conversation and what was said in it, after one of its turns where one is named.
    pub fn show(&self, id: &SessionId, after: Option<&str>, limit: usize) -> Done<ShownSession> {
        let session = self.get(id)?;
        let after = after.map(TurnId::new);
        // One more than is shown says whether there are more.
        let found = self.turns.turn_page(id, after.as_ref(), limit.saturating_add(1))?;
        let unsaid = || {
            let after = after.as_ref().map(TurnId::as_str).unwrap_or_default();
            EngineError::invalid("the turn", format!("`{after}` was not said in {id}"))
        };
        let mut turns = found.ok_or_else(unsaid)?;
        let more = turns.len() > limit;
        turns.truncate(limit);
        Ok(ShownSession { session, turns, more })
    }

    /// A name on a channel for a conversation that has none.
    pub fn new_name(&self, channel: &str) -> Done<SessionId> {
        Ok(format!("{channel}:{}", self.kernel.new_id()).parse()?)
    }

    /// One session, where it is known.
    pub fn find(&self, session: &SessionId) -> Done<Option<SessionState>> {
        Ok(self.session_store.session(session)?)
    }

    /// The turns of a session that are still sent: the latest that are known.
    pub fn latest_turns(&self, session: &SessionId) -> Done<HashSet<TurnId>> {
        let Some(state) = self.session_store.session(session)? else { return Ok(HashSet::new()) };
        let turns = self.turns.turns_after(session, state.kept_from)?;
        Ok(turns.into_iter().map(|(_, turn)| turn.id).collect())
    }
}
