//! What the core asks of the world. Every port is small, synchronous and complete: no method has a default that does
//! nothing, and a missing capability is another trait.
//!
//! A port assumes nothing about who is below it: no row number, sequence, file path or process id crosses it. Positions
//! count within a session, marks, tokens and names of sets are opaque, holders of leases name their host, and what must be
//! unique is unique by a key. `crates/testkit/suites/stores` holds every store to it.

mod activity;
mod breakers;
mod candidates;
mod change_tokens;
mod changes;
mod clock;
mod documents;
mod embedder;
mod entries;
mod erasure;
mod health;
mod history;
mod ids;
mod index;
mod injections;
mod jobs;
mod leases;
mod ledger;
mod model;
mod page;
mod projects;
mod recalls;
mod reflections;
mod sessions;
mod tasks;
mod transfer;
mod turns;
mod vault;
mod vectors;

pub use activity::{Activity, Doings};
pub use breakers::{Breaker, Breakers};
pub use candidates::{Candidates, Search};
pub use change_tokens::{ChangeToken, ChangeTokens, ChangeWatch, Watched};
pub use changes::{Changes, Op, Undoable};
pub use clock::Clock;
pub use documents::{DocumentError, Documents};
pub use embedder::{EmbedFor, Embedder};
pub use entries::{Entries, Listing};
pub use erasure::{Erased, Eraser, Erasure};
pub use health::{Health, StoreStats};
pub use history::{History, KnownDocument};
pub use ids::Ids;
pub use index::Index;
pub use injections::Injections;
pub use jobs::{Job, Jobs, KEPT_RUNS, Run, RunOutcome};
pub use leases::{Holder, Lease, Leases};
pub use ledger::{Ledger, Spent};
pub use model::{
    Brief, Cost, ExtractBrief, Finish, Message, Model, ModelError, Purpose, Reply, SummaryBrief, ToolCall, ToolSpec,
};
pub use page::Page;
pub use projects::Projects;
pub use recalls::Recalls;
pub use reflections::{Applied, Dropped, Pass, PassOutcome, ReflectBrief, ReflectFact, Reflections};
pub use sessions::{Among, NewSession, SessionPage, Sessions};
pub use tasks::Tasks;
pub use transfer::{Adopted, Bundle, Transfer};
pub use turns::{TurnMark, Turns, TurnsOf};
pub use vault::Vault;
pub use vectors::{ChunkMark, Made, MadeBy, VectorSet, VectorSetId, Vectors};

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else changed it in between: read again and decide anew.
    #[error("`{what}` was changed by somebody else in the meantime")]
    Conflict {
        /// The id or key.
        what: String,
    },
    /// Another active entry has the key.
    #[error("the key `{key}` is taken by another memory")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// The file is not a memory, or is damaged.
    #[error("{path} is damaged or not a memory database")]
    Damaged {
        /// The database file.
        path: String,
        /// What the engine below said.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Written by a newer version of this program.
    #[error("{path} was written by a newer version (schema {found}, this program knows {known})")]
    TooNew {
        /// The database file.
        path: String,
        /// The schema that the file has.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// Not where a listing ended.
    #[error("`{cursor}` did not come from a listing")]
    BadCursor {
        /// What was given.
        cursor: String,
    },
    /// The caller took the change back before it was committed.
    #[error("the change was taken back")]
    TakenBack,
    /// Somebody else has been writing for too long.
    #[error("another process has been writing for too long")]
    Busy,
    /// No room left.
    #[error("the disk is full")]
    Full,
    /// Anything else that the engine below reports.
    #[error("cannot {doing}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What the engine below said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// What to try next.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Conflict { .. } => "look at it again and repeat the command",
            Self::KeyTaken { .. } => "forget the other one, or choose another key",
            Self::Damaged { .. } => {
                "nothing was changed; `throughline doctor` says more, and `backups/` holds earlier copies"
            }
            Self::TooNew { .. } => "nothing was changed; install the newer version of throughline",
            Self::Full => "nothing that was confirmed is lost; free some space and repeat the command",
            Self::BadCursor { .. } => "take the cursor that a listing gave, or leave `--cursor` out to begin anew",
            Self::Busy => "nothing was changed; try again when it is done",
            Self::TakenBack => return None,
            Self::Failed { .. } => "`throughline doctor` looks for the cause",
        })
    }
}

type Stored<T> = Result<T, StoreError>;

/// All that a store is. Several machines may share one: what is true on one machine only (the stamps of its files, where its
/// projects are) is kept by machine, and a store gives what is true on the machine that it was opened on.
pub trait Store:
    Changes
    + Entries
    + History
    + Eraser
    + Candidates
    + Index
    + Recalls
    + Sessions
    + Turns
    + Injections
    + Leases
    + Ledger
    + Breakers
    + Reflections
    + Tasks
    + Projects
    + Vault
    + Vectors
    + Transfer
    + Health
    + Activity
    + ChangeWatch
    + Jobs
    + Send
    + Sync
{
}
impl<T> Store for T where
    T: Changes
        + Entries
        + History
        + Eraser
        + Candidates
        + Index
        + Recalls
        + Sessions
        + Turns
        + Injections
        + Leases
        + Ledger
        + Breakers
        + Reflections
        + Tasks
        + Projects
        + Vault
        + Vectors
        + Transfer
        + Health
        + Activity
        + ChangeWatch
        + Jobs
        + Send
        + Sync
{
}
