//! An entry: one memory among many, found by searching.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EntryId, Importance, Namespace, SessionId, TurnId, spelled};

/// What sort of thing can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A row of its own.
    Entry,
    /// A line of a document; derived from the file, which stays the truth.
    Bullet,
    /// Something that was said.
    Turn,
    /// A passage of the vault.
    Chunk,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Entry, Self::Bullet, Self::Turn, Self::Chunk];
}

spelled!(Kind, "kind", "entry, bullet, turn, chunk", {
    Entry => "entry", Bullet => "bullet", Turn => "turn", Chunk => "chunk",
});

/// How close a memory is to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// L0: who the person is; always present.
    Identity,
    /// L1: what was learned; recalled when it fits.
    Knowledge,
    /// L2: what happened; recalled when asked for.
    Archive,
}

spelled!(Layer, "layer", "identity, knowledge, archive", {
    Identity => "identity" | "L0" | "l0",
    Knowledge => "knowledge" | "L1" | "l1",
    Archive => "archive" | "L2" | "l2" | "timeline",
});

impl Layer {
    /// The other word for a layer, where there is one.
    pub const fn category(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Knowledge => Some("knowledge"),
            Self::Archive => Some("timeline"),
        }
    }
}

/// Whose word it is; the order is the order of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Derived by the program.
    System,
    /// Written by an assistant.
    Agent,
    /// Said or typed by the person.
    User,
}

spelled!(Source, "source", "user, agent, system", { System => "system", Agent => "agent", User => "user" });

/// Whether a memory can be recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It can.
    Active,
    /// Forgotten, superseded or undone: kept for audit, never recalled.
    Inactive,
}

spelled!(Status, "status", "active, inactive", { Active => "active", Inactive => "inactive" });

/// One memory as it is at one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Entry {
    /// Its identifier.
    pub id: EntryId,
    /// An entry of its own, or a bullet derived from a document.
    pub kind: Kind,
    /// Where it lives.
    pub namespace: Namespace,
    /// How close to the person.
    pub layer: Layer,
    /// A semantic key, unique among the active entries of a namespace and project.
    #[serde(default)]
    pub key: Option<String>,
    /// The memory itself.
    pub content: String,
    /// Whose word it is.
    pub source: Source,
    /// Whether it can be recalled.
    pub status: Status,
    /// How much it matters.
    #[serde(default)]
    pub importance: Importance,
    /// Labels; `project:x` and `task:y` are the fields below and never stand here.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The conversation it came from.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// The task it is about.
    #[serde(default)]
    pub task: Option<String>,
    /// The project it is about.
    #[serde(default)]
    pub project: Option<String>,
    /// When it was first stored.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it stops being recalled.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The memories that this one replaced: what was wrong, or what was merged into it.
    #[serde(default, deserialize_with = "one_or_many")]
    pub supersedes: Vec<EntryId>,
    /// The turns it came from.
    #[serde(default)]
    pub provenance: Vec<TurnId>,
    /// Counts changes, from 1.
    pub version: u32,
}

/// Reads a list, and what was one id or nothing before there were lists.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<EntryId>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        Many(Vec<EntryId>),
        One(Option<EntryId>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::Many(ids) => ids,
        OneOrMany::One(id) => id.into_iter().collect(),
    })
}

/// The label of what an assistant found and the person accepted.
pub(crate) const ACCEPTED_TAG: &str = "accepted";

/// The label of what a model put into words that the person did not say so.
pub(crate) const UNCONFIRMED_TAG: &str = "unconfirmed";

impl Entry {
    /// The label that says why it is not simply the word of its source; none if it is.
    pub fn reservation(&self) -> Option<&str> {
        let mut tags = self.tags.iter().map(String::as_str).filter(|_| self.source == Source::System);
        tags.find(|tag| [UNCONFIRMED_TAG, ACCEPTED_TAG].contains(tag))
    }

    /// Labels without the one that says so.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &String> {
        self.tags.iter().filter(|tag| ![UNCONFIRMED_TAG, ACCEPTED_TAG].contains(&tag.as_str()))
    }
}
