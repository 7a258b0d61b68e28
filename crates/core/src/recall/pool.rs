//! What a store found for a question, before anything is ranked.

use serde::{Deserialize, Serialize};

use crate::model::Memory;

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

/// Something that may be a hit, or stands beside one.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The memory.
    pub memory: Memory,
    /// Who said it, for a turn.
    pub speaker: Option<String>,
    /// Its text as the index has it.
    pub terms: String,
    /// How it was found.
    pub found_by: FoundBy,
    /// How near its meaning is, beyond the mean, where that is known.
    pub meaning: Option<f32>,
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
