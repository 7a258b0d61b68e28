//! A memory as every surface shows it: the entry, its other spellings, and how often it was of use.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Entry, Mute, Significance};

/// An entry with what is derived from it and counted about it.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Memory {
    /// The entry itself, its fields at the same level.
    #[serde(flatten)]
    pub entry: Entry,
    /// The other word for the layer: `knowledge` or `timeline`.
    pub category: Option<&'static str>,
    /// The importance in five steps.
    pub significance: Significance,
    /// How many recalls returned it.
    pub recall_count: u64,
    /// When one last did.
    pub last_recalled_at: Option<Timestamp>,
    /// Whether it is given nowhere; it can still be searched for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// The projects in which it is not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub muted_in: Vec<String>,
}

impl Memory {
    /// Completes an entry with its use.
    pub fn new(entry: Entry, recall_count: u64, last_recalled_at: Option<Timestamp>) -> Self {
        let (category, significance) = (entry.layer.category(), entry.importance.significance());
        Self { entry, category, significance, recall_count, last_recalled_at, muted: false, muted_in: Vec::new() }
    }

    /// The same, with where it is not given.
    pub fn with_mutes(mut self, mutes: &[Mute]) -> Self {
        for mute in mutes.iter().filter(|mute| mute.memory == self.entry.id) {
            match &mute.project {
                Some(project) => self.muted_in.push(project.clone()),
                None => self.muted = true,
            }
        }
        self
    }
}

/// What is read back of a memory: the derived spellings are derived anew.
#[derive(Deserialize)]
struct Stored {
    #[serde(flatten)]
    entry: Entry,
    #[serde(default)]
    recall_count: u64,
    #[serde(default)]
    last_recalled_at: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        Ok(Self::new(stored.entry, stored.recall_count, stored.last_recalled_at))
    }
}
