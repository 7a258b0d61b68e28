//! What the core asks of the world. Every port is small, synchronous and complete: no method has a default that does
//! nothing, and a missing capability is another trait.
//!
//! A port assumes nothing about who is below it: no row number, sequence, file path or process id crosses it. Positions
//! count within a session, marks, tokens and names of sets are opaque, holders of leases name their host, and what must be
//! unique is unique by a key. `crates/testkit/suites/stores` holds every store to it.

mod activity;
mod ahead;
mod backups;
mod breakers;
mod candidates;
mod change_tokens;
mod changes;
mod clock;
mod documents;
mod embedder;
mod entries;
mod erasure;
mod error;
mod health;
mod history;
mod ids;
mod index;
mod injections;
mod jobs;
mod leases;
mod ledger;
mod memory_vectors;
mod model;
mod mutes;
mod off_record;
mod page;
mod projects;
mod recalls;
mod reflections;
mod replying;
mod reviews;
mod sampling;
mod sessions;
mod tasks;
mod threads;
mod transfer;
mod turns;
mod vault;
mod vectors;
mod withdrawals;

pub use activity::{Activity, Doings};
pub use ahead::{ReadingAhead, ReadsAhead, Upcoming};
pub use backups::{Backups, CopyCheck};
pub use breakers::{Breaker, Breakers};
pub use candidates::{Candidates, Search};
pub use change_tokens::{ChangeToken, ChangeTokens, ChangeWatch, Watched};
pub use changes::{Changes, Op, Undoable};
pub use clock::Clock;
pub use documents::{Checkout, DocumentError, Documents, Stamped};
pub use embedder::{EmbedFor, Embedder, Embedders, NoEmbedders};
pub use entries::{Entries, Listing};
pub use erasure::{Erased, Eraser, Erasure, ErasureMark, ErasureScope};
pub use error::{Loss, ReadOnly, StoreError};
pub use health::{Health, StoreStats};
pub use history::{History, KnownDocument};
pub use ids::Ids;
pub use index::Index;
pub use injections::{Injections, NewlyGiven};
pub use jobs::{Job, Jobs, KEPT_RUNS, Run, RunOutcome};
pub use leases::{Holder, Lease, Leases};
pub use ledger::{Ledger, Spent};
pub use memory_vectors::{MemorySet, MemoryVector, MemoryVectors, UnembeddedMemory};
pub use model::{
    Brief, Cost, ExtractBrief, Finish, KnownFact, Message, Model, ModelError, Purpose, Reply, SummaryBrief, SummaryOf,
    ToolCall, ToolSpec,
};
pub use mutes::Mutes;
pub use off_record::OffRecord;
pub use page::Page;
pub use projects::{ProjectRoot, Projects};
pub use recalls::Recalls;
pub use reflections::{Applied, Dropped, Pass, PassOutcome, ReflectBrief, ReflectFact, Reflections};
pub use replying::Replying;
pub use reviews::{Reviews, Unseen, UnseenPage};
pub use sampling::{SAMPLING, SamplingClient, SamplingReply, SamplingRequest};
pub use sessions::{Among, NewSession, SessionPage, Sessions};
pub use tasks::Tasks;
pub use threads::Threads;
pub use transfer::{Adopted, Bundle, Transfer};
pub use turns::{TurnMark, Turns, TurnsOf};
pub use vault::Vault;
pub use vectors::{BUILTIN, ChunkMark, Made, MadeBy, VectorSet, VectorSetId, Vectors};
pub use withdrawals::Withdrawals;

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
    + Threads
    + Projects
    + Vault
    + Vectors
    + MemoryVectors
    + Transfer
    + Health
    + Activity
    + ChangeWatch
    + Jobs
    + Replying
    + ReadsAhead
    + Withdrawals
    + Mutes
    + OffRecord
    + Reviews
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
        + Threads
        + Projects
        + Vault
        + Vectors
        + MemoryVectors
        + Transfer
        + Health
        + Activity
        + ChangeWatch
        + Jobs
        + Replying
        + ReadsAhead
        + Withdrawals
        + Mutes
        + OffRecord
        + Reviews
        + Send
        + Sync
{
}
