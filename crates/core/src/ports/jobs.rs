//! The log of background jobs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::spelled;

use super::Stored;

/// What a daemon does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Job {
    /// Makes memories of conversations that are due.
    Consolidation,
    /// Retires what the timeline no longer needs.
    Retention,
    /// Looks back on memory.
    Reflection,
    /// Copies the database, and restores the copy to prove it.
    Backup,
    /// Gives passages of the vault their vectors.
    Embedding,
}

spelled!(Job, "job", "consolidation, retention, reflection, backup, embedding", {
    Consolidation => "consolidation", Retention => "retention", Reflection => "reflection", Backup => "backup",
    Embedding => "embedding",
});

impl Job {
    /// Every one there is.
    pub const ALL: [Self; 5] = [Self::Consolidation, Self::Retention, Self::Reflection, Self::Backup, Self::Embedding];
}

/// How a run of a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// What was to be done is done.
    Done,
    /// The clock is not to be trusted yet: nothing was removed.
    Waiting,
    /// It could not be done; it is tried again.
    Failed,
}

spelled!(RunOutcome, "outcome of a run", "done, waiting, failed", {
    Done => "done", Waiting => "waiting", Failed => "failed",
});

/// One run of a job, as its log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Run {
    /// Which job.
    pub job: Job,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How.
    pub outcome: RunOutcome,
    /// What it did, or why it did not; never what memories say.
    pub what: String,
}

/// Runs that are kept of each job.
pub const KEPT_RUNS: usize = 50;

/// The log of jobs: it outlives the daemon.
pub trait Jobs {
    /// Keeps a run; of each job, the last [`KEPT_RUNS`] are kept.
    fn note_run(&self, run: &Run) -> Stored<()>;
    /// The newest runs of a job first.
    fn runs(&self, job: Job, limit: usize) -> Stored<Vec<Run>>;
}
