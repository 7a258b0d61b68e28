//! Turns: what was said in a session. Append-only.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{SessionId, TurnId, spelled};

/// Who is speaking in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The assistant.
    Assistant,
    /// The result of a tool.
    Tool,
    /// The host.
    System,
    /// A summary that stands for earlier turns.
    Summary,
}

spelled!(Role, "role", "user, assistant, tool, system, summary", {
    User => "user", Assistant => "assistant", Tool => "tool", System => "system", Summary => "summary",
});

/// One thing that was said. Canonical: never changed, never removed but by erasing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Turn {
    /// Its identifier.
    pub id: TurnId,
    /// The conversation.
    pub session: SessionId,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name, where several people share a role.
    pub speaker: Option<String>,
    /// The words, as they were said.
    pub content: String,
    /// When.
    pub at: Timestamp,
}
