//! The recall log.

use crate::model::{RecallId, SessionId};
use crate::recall::RecallRecord;

use super::Stored;

/// The recall log and the counts it adds to. Written asynchronously: a recall never waits for it.
pub trait Recalls {
    /// Notes a recall; written soon, at the latest when the store is closed.
    fn note(&self, recall: RecallRecord);
    /// The newest recalls first; of one conversation, where one is given.
    fn recalls(&self, session: Option<&SessionId>, limit: usize) -> Stored<Vec<RecallRecord>>;
    /// One recall, while the log keeps it.
    fn recall_record(&self, id: &RecallId) -> Stored<Option<RecallRecord>>;
}
