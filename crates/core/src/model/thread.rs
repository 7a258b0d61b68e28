//! Threads: what a conversation left to go on from.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, Name, SessionId, ThreadId, spelled};

/// Whether a thread still goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreadStatus {
    /// It goes on, until it expires.
    Open,
    /// It is finished, removed, or made room for newer ones.
    Closed,
}

spelled!(ThreadStatus, "status of a thread", "open, closed", { Open => "open", Closed => "closed" });

/// What a conversation left to go on from. A conversation has one at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Thread {
    /// Its identifier.
    pub id: ThreadId,
    /// Whose it is: the namespace of the working memory that shows it.
    #[schema(value_type = String)]
    pub namespace: Name,
    /// The conversation.
    pub session: SessionId,
    /// What it is about, in one line.
    pub title: String,
    /// The project of the conversation.
    #[serde(default)]
    pub project: Option<String>,
    /// The task of the conversation: done, it closes the thread.
    #[serde(default)]
    pub task: Option<String>,
    /// What is being worked on and its state, decisions, open ends: Markdown.
    pub content: String,
    /// Its section of working memory as it was last written. One that reads differently was edited by the person.
    #[serde(default)]
    pub rendered: Option<String>,
    /// Whether it still goes on.
    pub status: ThreadStatus,
    /// When the conversation began it.
    pub created_at: Timestamp,
    /// When the conversation last went on with it.
    pub updated_at: Timestamp,
    /// When it is no longer given.
    pub expires_at: Timestamp,
    /// Counts changes, from 1.
    pub version: u32,
}

impl Thread {
    /// Whether it is open and has not expired.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.status == ThreadStatus::Open && self.expires_at > now
    }
}

/// One version of a thread, with the change that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ThreadVersion {
    /// The thread as it was then.
    pub thread: Thread,
    /// What made it so.
    pub change: Change,
}
