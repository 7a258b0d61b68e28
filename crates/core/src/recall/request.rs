//! What is asked, what is answered, and what the log keeps of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{EntryId, Kind, Memory, RecallId, SessionId, Source, Withdrawal, spelled};

use super::filter::Filter;
use super::pool::{FoundBy, Retrieved};
use super::ranking::{Contribution, Why};

/// A question to the memory, in plain text.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// Anything: no character has a meaning of its own.
    pub query: String,
    /// How many hits at most; 0 gives none.
    pub limit: usize,
    /// What may be found.
    pub filter: Filter,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Hit {
    /// The memory, its fields at the same level.
    #[serde(flatten)]
    pub memory: Memory,
    /// Who said it, for a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// How surely it fits, 0 to 1.
    pub score: f64,
    /// What made the score.
    pub why: Why,
    /// What says the same and was folded into it: turns it came from, summaries that repeat it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EntryId>,
    /// For a short turn, what was said before it; for a question, the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// For a turn or a summary that says something which was taken back: why. Only a search for turns or the archive shows
    /// such a hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Withdrawal>,
}

/// A turn that stands beside a hit, so that a short one can be understood.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Beside {
    /// The turn.
    pub id: EntryId,
    /// Who spoke.
    pub speaker: Option<String>,
    /// Whose word it is.
    pub source: Source,
    /// What was said.
    pub content: String,
    /// Whether it comes before the hit, else after it.
    pub is_before: bool,
}

impl Beside {
    /// A turn that comes before a hit, or after it.
    pub(crate) fn of(Retrieved { memory, speaker }: Retrieved, is_before: bool) -> Self {
        let entry = memory.entry;
        Self { id: entry.id, speaker, source: entry.source, content: entry.content, is_before }
    }
}

impl Hit {
    /// Something that contains pieces of a query letter by letter: the more of them, the surer.
    pub(crate) fn by_letters(found: Retrieved, needles: &[String]) -> Self {
        let text = found.memory.entry.content.to_lowercase();
        let count = needles.iter().filter(|needle| text.contains(&needle.to_lowercase())).count();
        let share = count as f64 / needles.len().max(1) as f64;
        let letters = Contribution { name: "letters".to_owned(), value: share, points: 2.0 * share - 1.0 };
        let why = Why { features: vec![letters], ..Why::only(FoundBy::Substring) };
        Self::of(found.memory, why)
    }

    /// A memory with the reason why it was found.
    pub fn of(memory: Memory, why: Why) -> Self {
        Self { memory, speaker: None, score: why.score(), why, evidence: Vec::new(), beside: None, withdrawn: None }
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Recall {
    /// Names this recall in the log.
    pub recall_id: RecallId,
    /// Best first.
    pub hits: Vec<Hit>,
}

/// Who asked for a recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AskedBy {
    /// A person, or a program of theirs.
    #[default]
    Person,
    /// A message of a conversation: what fits it is put before the model.
    Message,
    /// An assistant, with a tool.
    Tool,
}

spelled!(AskedBy, "asker", "person, message, tool", { Person => "person", Message => "message", Tool => "tool" });

/// A recall as the log keeps it: no memory's text, only which and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecallRecord {
    /// The recall.
    pub recall_id: RecallId,
    /// When.
    pub at: Timestamp,
    /// The conversation whose message asked, where one did.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// Who asked.
    #[serde(default)]
    pub by: AskedBy,
    /// The question, secrets redacted.
    pub query: String,
    /// Best first.
    pub hits: Vec<RecalledHit>,
}

/// A hit as the log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecalledHit {
    /// The memory.
    pub id: EntryId,
    /// Its kind.
    pub kind: Kind,
    /// Its score.
    pub score: f64,
    /// What made the score.
    pub why: Why,
    /// Whether it was put before the model; the others were found and left out.
    #[serde(default)]
    pub given: bool,
    /// What says the same and was folded into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EntryId>,
}
