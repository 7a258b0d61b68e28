//! Sessions: conversations, and how far each was processed.

use jiff::Timestamp;

use crate::model::{SessionId, SessionState};
use crate::sessions::{Backlog, DueRules};

use super::{ErasureMark, Page, Stored};

/// Sessions. What is said in them: [`Turns`](super::Turns).
pub trait Sessions {
    /// All sessions, the latest first.
    fn sessions(&self) -> Stored<Vec<SessionState>>;
    /// One session.
    fn session(&self, id: &SessionId) -> Stored<Option<SessionState>>;
    /// A page of the sessions, the latest first; of one channel, where one is given. A session that goes on in the
    /// meantime moves in front of all pages; none is listed twice.
    fn session_page(&self, channel: Option<&str>, page: &Page) -> Stored<SessionPage>;
    /// Opens a session, or changes what it is about; what is not given stays.
    fn open_session(&self, new: &NewSession) -> Stored<SessionState>;
    /// Opens a session that is not there yet; none if it is. Of several concurrent callers, one gets it.
    fn open_new_session(&self, new: &NewSession) -> Stored<Option<SessionState>>;
    /// Sets the memory that a session begins with, unless somebody else did; gives what it now is. Nothing may have been
    /// erased since the mark, as with [`Op::Unerased`](super::Op::Unerased).
    fn set_opening(&self, id: &SessionId, opening: &str, since: &ErasureMark) -> Stored<String>;
    /// Forgets the memory that a session began with and what was injected, so that both are computed again.
    fn reset_session(&self, id: &SessionId) -> Stored<()>;
    /// Marks a session as ended.
    fn end_session(&self, id: &SessionId, at: Timestamp) -> Stored<()>;
    /// The sessions for which [`DueRules::trigger`] gives a reason, and no others, the latest first, each with its
    /// [`Backlog`]. Conversations are not read for it.
    fn due_sessions(&self, rules: &DueRules, among: &Among) -> Stored<Vec<Backlog>>;
    /// Counts a consolidation that failed; gives how many failed in a row.
    fn note_failure(&self, session: &SessionId) -> Stored<u32>;
}

/// Which sessions are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Among {
    /// One.
    One(SessionId),
    /// Those that had a turn since.
    UpdatedSince(Timestamp),
}

/// A session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its identifier.
    pub id: SessionId,
    /// What its host calls it.
    pub title: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The task it is about.
    pub task: Option<String>,
    /// The name of the person among the speakers.
    pub person: Option<String>,
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
