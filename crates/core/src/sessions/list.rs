//! Sessions as lists and pages.

use std::collections::HashSet;

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{Done, EngineError};
use crate::model::{Role, SessionId, SessionState, Turn, TurnId};
use crate::ports::Page;

use super::SessionService;

/// Conversations whose titles are looked at in one go.
const SEARCHED_AT_ONCE: usize = 500;

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
        let (states, turns): (Vec<SessionState>, Vec<u64>) = page.sessions.into_iter().unzip();
        let states = self.titled(states)?.into_iter();
        let sessions = states.zip(turns).map(|(state, turns)| ListedSession { state, turns });
        Ok(SessionListing { sessions: sessions.collect(), cursor: page.cursor })
    }

    /// Conversations that have all of these words in their titles, the latest first; of one channel, where one is given.
    /// Many have no title of their own, so all are looked through.
    pub fn titled_with(&self, words: &str, channel: Option<&str>, limit: usize) -> Done<SessionListing> {
        let words = words.to_lowercase();
        let is_called_so = |session: &ListedSession| {
            let title = session.state.session.title.as_deref().unwrap_or_default().to_lowercase();
            words.split_whitespace().all(|word| title.contains(word))
        };
        let (mut sessions, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.page(channel, SEARCHED_AT_ONCE, cursor.as_deref())?;
            sessions.extend(page.sessions.into_iter().filter(is_called_so));
            cursor = page.cursor;
            if sessions.len() >= limit || cursor.is_none() {
                sessions.truncate(limit);
                return Ok(SessionListing { sessions, cursor: None });
            }
        }
    }

    /// A conversation and what was said in it, after one of its turns where one is named.
    pub fn show(&self, id: &SessionId, after: Option<&str>, limit: usize) -> Done<ShownSession> {
        let mut session = self.get(id)?;
        session.session.title = Some(self.title(id)?);
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

    /// What was said right behind a turn, at most so much; none if the turn was not said in this session.
    pub fn behind(&self, session: &SessionId, turn: &TurnId, limit: usize) -> Done<Option<Vec<Turn>>> {
        if self.find(session)?.is_none() {
            return Ok(None);
        }
        Ok(self.turns.turn_page(session, Some(turn), limit)?)
    }

    /// A name on a channel for a conversation that has none.
    pub fn new_name(&self, channel: &str) -> Done<SessionId> {
        Ok(format!("{channel}:{}", self.kernel.new_id()).parse()?)
    }

    /// One session, where it is known.
    pub fn find(&self, session: &SessionId) -> Done<Option<SessionState>> {
        Ok(self.session_store.session(session)?)
    }

    /// The latest turn of a session, summaries aside; none if none is kept.
    pub fn last_turn(&self, session: &SessionId) -> Done<Option<TurnId>> {
        let Some(state) = self.session_store.session(session)? else { return Ok(None) };
        let turns = self.turns.turns_after(session, state.kept_from)?;
        Ok(turns.into_iter().map(|(_, turn)| turn).rfind(|turn| turn.role != Role::Summary).map(|turn| turn.id))
    }

    /// The latest turns of a session that are known: those that are still sent, and those that were not kept.
    pub fn latest_turns(&self, session: &SessionId) -> Done<HashSet<TurnId>> {
        let mut known: HashSet<TurnId> = self.off_record.unrecorded.unkept(session)?.into_iter().collect();
        let Some(state) = self.session_store.session(session)? else { return Ok(known) };
        known.extend(self.turns.turns_after(session, state.kept_from)?.into_iter().map(|(_, turn)| turn.id));
        Ok(known)
    }
}
