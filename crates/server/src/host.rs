//! What the daemon asks of the program that runs it: the memory, and what only the wiring knows.

use jiff::tz::TimeZone;
use serde::Serialize;
use throughline_core::engine::{Consolidation, Ended, Engine, ErasedMemory, Health, Reflection};
use throughline_core::model::SessionId;

use crate::Problem;
use crate::http::chat::Talks;
use crate::scheduler::Chores;

/// What the daemon asks of the program that runs it. Every method may block: it is called on a thread for that.
pub trait Host: Chores + Talks {
    /// The memory, in the hands of the person.
    fn engine(&self) -> &Engine;

    /// Where the person's days begin and end.
    fn zone(&self) -> TimeZone;

    /// 256 bits that nobody can guess.
    fn secret(&self) -> Result<[u8; 32], Problem>;

    /// Every setting in force.
    fn settings(&self) -> Vec<Setting>;

    /// What is wrong, if anything.
    fn health(&self) -> Health;

    /// Erases a memory for good: here, in backups and in exports.
    fn erase(&self, reference: &str, with_sources: bool) -> Result<ErasedMemory, Problem>;

    /// Consolidates a conversation, waiting for its turn.
    fn consolidate(&self, session: &SessionId, summary: Option<&str>) -> Result<Consolidation, Problem>;

    /// Ends a conversation.
    fn end(&self, session: &SessionId) -> Result<Ended, Problem>;

    /// Looks back on memory; nothing if somebody else is at it.
    fn reflect(&self, project: Option<&str>, dry_run: bool) -> Result<Option<Reflection>, Problem>;
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its dotted key.
    pub key: String,
    /// Its value as TOML; secrets as `***`.
    pub value: String,
    /// `file` or `default`.
    pub from: &'static str,
}
