//! What a store found for a question, before anything is ranked.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{Importance, Kind, Layer, Memory, SessionId, Source};

use super::sketch::Sketch;

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// By its words.
    Words,
    /// By a literal piece of text, because no word was found.
    Substring,
    /// By its date, because that is all that was asked.
    Date,
    /// By its meaning, where no word was found.
    Meaning,
    /// It stands beside a turn that was found.
    Beside,
}

impl FoundBy {
    /// For a person: found by its …
    pub const fn word(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Substring => "letters",
            Self::Date => "date",
            Self::Meaning => "meaning",
            Self::Beside => "place beside what was found",
        }
    }
}

/// Names a candidate to the store that found it; it means nothing to anybody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateMark(i64);

impl CandidateMark {
    /// A mark that a store gives.
    pub const fn new(mark: i64) -> Self {
        Self(mark)
    }

    /// As the store gave it.
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// What many candidates have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Traits {
    /// Its kind.
    pub kind: Kind,
    /// Its layer.
    pub layer: Layer,
    /// Whose word it is.
    pub source: Source,
    /// How important it is.
    pub importance: Importance,
    /// The conversation that it is a turn of, or came from.
    pub session: Option<SessionId>,
    /// Who said it, for a turn.
    pub speaker: Option<String>,
}

/// Something that may be a hit, or stands beside one: as much of it as ranking reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What the store calls it.
    pub mark: CandidateMark,
    /// What it has in common with others.
    pub traits: Arc<Traits>,
    /// When it was made or said.
    pub created_at: Timestamp,
    /// Its text as the index has it, and a few facts.
    pub sketch: Sketch,
    /// Whether the filter lets it through; if not, it only stands beside another.
    pub is_admitted: bool,
    /// How it was found.
    pub found_by: FoundBy,
    /// How near its meaning is, beyond the mean, where that is known.
    pub meaning: Option<f32>,
}

/// A memory, or a turn in the shape of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieved {
    /// The memory.
    pub memory: Memory,
    /// Who said it, for a turn.
    pub speaker: Option<String>,
}

/// Which model says how near a meaning is: the larger it is, the more that tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MeaningBy {
    /// The small one that is a part of the program.
    #[default]
    Builtin,
    /// One that the person chose.
    Chosen,
}

/// Candidates, and which turns stand side by side in a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pool {
    /// Each once; a turn with what stands up to two turns before and after it.
    pub candidates: Vec<Candidate>,
    /// Places of neighbours, the earlier first.
    pub beside: Vec<(usize, usize)>,
    /// What the candidates' `meaning` comes from, where there is one.
    pub meaning_by: MeaningBy,
}
