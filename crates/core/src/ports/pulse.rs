//! The pulse: whether anything changed.

use crate::model::ChangeId;

use super::Stored;

/// Tells whether anything changed, whichever process changed it.
pub trait Pulses {
    /// How far everything is.
    fn pulse(&self) -> Stored<Pulse>;
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
