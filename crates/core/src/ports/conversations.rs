//! Conversations, and what consolidating them keeps about its own work.

use jiff::Timestamp;

use crate::model::{EntryId, Position, SessionId, SessionState, Turn, TurnId};

use super::{Breaker, Page, Purpose, Stored};

/// Conversations: sessions and their turns.
pub trait Conversations {
    /// Appends turns, opening sessions that are new; one that is there already is left alone. Durable when it returns.
    /// Gives how many are new.
    fn append(&self, turns: &[Turn]) -> Stored<usize>;
    /// As [`append`](Self::append), for turns that were said elsewhere. As long as nothing else was said in their session,
    /// [`SessionState::imported_to`] follows them, in the same transaction.
    fn append_imported(&self, turns: &[Turn]) -> Stored<usize>;
    /// All sessions, the latest first.
    fn sessions(&self) -> Stored<Vec<SessionState>>;
    /// One session.
    fn session(&self, id: &SessionId) -> Stored<Option<SessionState>>;
    /// The turns of a session after a position, oldest first, each with the position behind it.
    fn turns_after(&self, id: &SessionId, after: Position) -> Stored<Vec<(Position, Turn)>>;
    /// A page of the sessions, the latest first; of one channel, where one is given. One that goes on in the meantime comes
    /// in front of all pages, and none comes twice.
    fn session_page(&self, channel: Option<&str>, page: &Page) -> Stored<SessionPage>;
    /// The first `limit` turns of a session, oldest first, after one of them where one is named; nothing where that was not
    /// said in it.
    fn turn_page(&self, id: &SessionId, after: Option<&TurnId>, limit: usize) -> Stored<Option<Vec<Turn>>>;

    /// Opens a session, or changes what it is about; what is not given stays.
    fn open_session(&self, new: &NewSession) -> Stored<SessionState>;
    /// Opens a session that is not there yet; nothing where it is. Of several who ask at once, one gets it.
    fn open_new_session(&self, new: &NewSession) -> Stored<Option<SessionState>>;
    /// Sets the memory that a session begins with, unless somebody else did; gives what it now is.
    fn set_opening(&self, id: &SessionId, opening: &str) -> Stored<String>;
    /// Forgets the memory that a session began with and what was injected, so that it is computed anew.
    fn reset_session(&self, id: &SessionId) -> Stored<()>;
    /// Marks a session as ended.
    fn end_session(&self, id: &SessionId, at: Timestamp) -> Stored<()>;
}

/// A session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its identifier.
    pub id: SessionId,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The task it is about.
    pub task: Option<String>,
    /// The host's own system prompt.
    pub base_prompt: Option<String>,
    /// When it begins.
    pub at: Timestamp,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage {
    /// The latest first, each with how many turns it has, summaries included.
    pub sessions: Vec<(SessionState, u64)>,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}

/// What consolidation keeps about its own work.
pub trait Progress {
    /// Memories that stand in the part of a conversation that is still sent.
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>>;
    /// Notes memories that were given to a conversation.
    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()>;
    /// Counts a consolidation that failed; gives how many did in a row.
    fn note_failure(&self, session: &SessionId) -> Stored<u32>;
    /// Takes a lease until `until`, if nobody else holds it at `now`, or only `gone` holders do. Whoever holds it already
    /// holds it on.
    fn acquire(&self, lease: &Lease, now: Timestamp, gone: &dyn Fn(&str) -> bool) -> Stored<bool>;
    /// The lease of this name as it stands, run out or not.
    fn lease(&self, name: &str) -> Stored<Option<Lease>>;
    /// Gives a lease back, if this holder still has it.
    fn release(&self, lease: &Lease) -> Stored<()>;
    /// Adds to the ledger.
    fn spend(&self, spent: &Spent) -> Stored<()>;
    /// What was spent since a day, newest first.
    fn spending(&self, since: &str) -> Stored<Vec<Spent>>;
    /// How a provider fared lately; nothing where that was never kept.
    fn breaker(&self, provider: &str) -> Stored<Option<Breaker>>;
    /// Keeps how a provider fares.
    fn keep_breaker(&self, provider: &str, breaker: &Breaker) -> Stored<()>;
}

/// The right to do something alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is done.
    pub name: String,
    /// Who does it.
    pub holder: String,
    /// Until when, if nobody gives it back.
    pub until: Timestamp,
}

/// What a model cost on a day, for a purpose.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Spent {
    /// `YYYY-MM-DD`, in UTC.
    pub day: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What for.
    pub purpose: Purpose,
    /// Calls that gave a reply.
    pub calls: u64,
    /// Calls that did not.
    pub failures: u64,
    /// Tokens that were sent.
    pub tokens_in: u64,
    /// Tokens that came back.
    pub tokens_out: u64,
}
