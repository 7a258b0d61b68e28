//! What happens in the background: the log of jobs, the pulse of the store, and what was done day by day.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{ChangeId, spelled};

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

/// How far everything is that others may change: cheap to take, and different after any change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The newest change.
    pub change: Option<ChangeId>,
    /// Versions of entries.
    pub memories: i64,
    /// Versions of documents.
    pub documents: i64,
    /// Turns; sessions that began; the last that ended.
    pub sessions: (i64, i64, i64),
    /// Versions of tasks.
    pub tasks: i64,
    /// Versions of projects.
    pub projects: i64,
    /// Recalls in the log.
    pub recalls: i64,
    /// Passes of reflection.
    pub reflections: i64,
    /// Grows with every change of the vault.
    pub vault: i64,
    /// Runs of jobs.
    pub jobs: i64,
}

impl Pulse {
    /// Everything that can differ, in the words of the API.
    pub const KINDS: [&'static str; 9] =
        ["memories", "documents", "sessions", "tasks", "projects", "recalls", "reflections", "vault", "jobs"];

    /// What differs from an earlier pulse.
    pub fn since(&self, earlier: &Self) -> Vec<&'static str> {
        let differs = [
            self.memories != earlier.memories,
            self.documents != earlier.documents,
            self.sessions != earlier.sessions,
            self.tasks != earlier.tasks,
            self.projects != earlier.projects,
            self.recalls != earlier.recalls,
            self.reflections != earlier.reflections,
            self.vault != earlier.vault,
            self.jobs != earlier.jobs,
        ];
        let named = Self::KINDS.into_iter().zip(differs);
        let mut kinds: Vec<&str> = named.filter(|(_, differs)| *differs).map(|(kind, _)| kind).collect();
        // An erasure leaves a change and takes versions away.
        if kinds.is_empty() && self.change != earlier.change {
            kinds.push("memories");
        }
        kinds
    }
}

/// What was done on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Doings {
    /// Memories that were stored.
    pub remembered: u64,
    /// Turns that were said.
    pub turns: u64,
    /// Recalls.
    pub recalls: u64,
    /// Changes.
    pub changes: u64,
}
