//! Reflection: what a model is shown, and the log of what came of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{ChangeId, DocumentName, EntryId, MemorySection, Significance, Turn, spelled};

use super::{Stored, TurnMark};

/// What a reflection is about: one document, and what was said since the last pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectBrief {
    /// The document.
    pub document: DocumentName,
    /// Its facts, in the order of the file.
    pub facts: Vec<ReflectFact>,
    /// What was said since the last pass.
    pub turns: Vec<Turn>,
    /// Today.
    pub now: Timestamp,
}

/// A line of a document, as a model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectFact {
    /// A short name, good for this brief alone: `f1`, `f2` …
    pub id: String,
    /// The words, without secrets.
    pub text: String,
    /// How much it matters.
    pub significance: Significance,
    /// The section it stands in, where that is one of the three.
    pub section: Option<MemorySection>,
    /// The day it carries, or when it was first seen.
    pub at: Option<Timestamp>,
}

/// How a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassOutcome {
    /// Something was changed.
    Changed,
    /// Everything is well as it is.
    Unchanged,
    /// A model gave no usable answer; nothing was changed.
    Failed,
}

spelled!(PassOutcome, "outcome of a pass", "changed, unchanged, failed", {
    Changed => "changed", Unchanged => "unchanged", Failed => "failed",
});

/// One thing that a pass did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Applied {
    /// `add`, `reweigh`, `merge`, `move`, `prune`, `promote` or `close`.
    pub op: String,
    /// The document, or nothing where entries were merged.
    #[serde(default)]
    pub document: Option<DocumentName>,
    /// The memories that it touched: lines by their derived ids. Erasing one of them empties this log line.
    pub ids: Vec<EntryId>,
    /// What it did, in words.
    pub what: String,
}

/// One thing that was proposed and not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Dropped {
    /// The operation, as far as it could be read.
    pub op: String,
    /// The names it used. No text: what a model made up is not worth keeping.
    pub ids: Vec<String>,
    /// Why it was not done.
    pub reason: String,
}

/// One pass, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Pass {
    /// Its identifier.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// `user`, or `projects/<name>`.
    pub target: String,
    /// The change that it made, where it made one; `undo` takes it back.
    pub change: Option<ChangeId>,
    /// How it ended.
    pub outcome: PassOutcome,
    /// Why it failed, or what it left out.
    #[serde(default)]
    pub reason: Option<String>,
    /// What it did.
    pub applied: Vec<Applied>,
    /// What was proposed and not done.
    pub dropped: Vec<Dropped>,
    /// Up to where turns were read.
    #[serde(skip)]
    pub ingested: TurnMark,
    /// Tokens that were sent.
    pub tokens_in: u64,
    /// Tokens that came back.
    pub tokens_out: u64,
}

/// What reflection keeps about its own work.
pub trait Reflections {
    /// Keeps a pass that changed nothing. One that did is part of its change: [`Op::Reflected`](super::Op::Reflected).
    fn note_pass(&self, pass: &Pass) -> Stored<()>;
    /// The newest passes first; of one target, where one is given.
    fn passes(&self, target: Option<&str>, limit: usize) -> Stored<Vec<Pass>>;
}
