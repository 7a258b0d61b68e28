//! Sessions: conversations on a channel, and how far each was processed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::SessionId;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Session {
    /// Its identifier, channel included.
    pub id: SessionId,
    /// What it is called: by its host, else after the person's first message. A store keeps the host's alone.
    #[serde(default)]
    pub title: Option<String>,
    /// The project it belongs to.
    #[serde(default)]
    pub project: Option<String>,
    /// The task it is about.
    #[serde(default)]
    pub task: Option<String>,
    /// The name of the person among the speakers: what others say is theirs. Nothing where it is not known yet.
    #[serde(default)]
    pub person: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last turn was said.
    pub updated_at: Timestamp,
    /// When it was ended, if it was.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
}

/// A place in a session: 0 is before its first turn, 1 after the first, and so on.
///
/// A store gives each turn the next position of its session in the transaction that appends it: no position is left out,
/// and none is given twice, not even when its turn was erased. Appends to one session are therefore seen in the order of
/// their positions, and a pointer can never pass a turn that becomes visible later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct Position(i64);

impl Position {
    /// Whether it stands in front of every turn.
    fn is_start(&self) -> bool {
        *self == Self::default()
    }

    /// The place after this many turns.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// How many turns it stands after, erased ones included.
    pub const fn number(self) -> i64 {
        self.0
    }
}

/// A conversation and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SessionState {
    /// The conversation, its fields at the same level.
    #[serde(flatten)]
    pub session: Session,
    /// The host's own system prompt.
    #[serde(skip)]
    pub base_prompt: String,
    /// The memory that it began with; nothing means not computed yet.
    #[serde(skip)]
    pub opening: Option<String>,
    /// Up to where it is consolidated.
    pub consolidated: Position,
    /// From where on its turns are still sent to the model.
    pub kept_from: Position,
    /// Consolidations that failed since the last that did not.
    pub failures: u32,
    /// Up to where its turns were imported: they wait for the person's word, and make nothing due by themselves.
    #[serde(skip_serializing_if = "Position::is_start")]
    pub imported_to: Position,
}

impl SessionState {
    /// Whether something was imported that is not summarised yet.
    pub fn waits_since_import(&self) -> bool {
        self.imported_to > self.consolidated
    }
}
