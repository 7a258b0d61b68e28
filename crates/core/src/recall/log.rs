//! The recall log: what was asked, what was found, and what of it reached a model.

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{Done, EngineError};
use crate::kernel::Kernel;
use crate::model::{EntryId, Kind, RecallId, SessionId};
use crate::ports;
use crate::recall::{AskedBy, Explanation, Hit, RecallRecord, RecalledHit};
use crate::text::redact::redact;

/// How much of a query the log keeps.
const MAX_LOGGED_CHARS: usize = 1000;

/// Writes the recall log.
#[derive(Clone, Copy)]
pub(crate) struct RecallLog<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) recalls: &'e dyn ports::Recalls,
}

impl RecallLog<'_> {
    /// Notes in the log what was found, and what of it was put before a model.
    pub(crate) fn note(
        &self,
        asked: (AskedBy, Option<&SessionId>),
        query: &str,
        hits: &[Hit],
        given: &[EntryId],
    ) -> RecallId {
        self.note_recalled(asked, query, hits.iter().map(|hit| recalled(hit, given)).collect())
    }

    /// The same, of whatever was found.
    pub(crate) fn note_recalled(
        &self,
        (by, session): (AskedBy, Option<&SessionId>),
        query: &str,
        hits: Vec<RecalledHit>,
    ) -> RecallId {
        let recall_id = RecallId::new(self.kernel.new_id());
        let query = redact(query).text.chars().take(MAX_LOGGED_CHARS).collect();
        let (at, session) = (self.kernel.now, session.cloned());
        self.recalls.note(RecallRecord { recall_id: recall_id.clone(), at, session, by, query, hits });
        recall_id
    }
}

fn recalled(hit: &Hit, given: &[EntryId]) -> RecalledHit {
    let (id, kind): (EntryId, Kind) = (hit.memory.entry.id.clone(), hit.memory.entry.kind);
    let evidence = hit.evidence.clone();
    RecalledHit { given: given.contains(&id), id, kind, score: hit.score, why: hit.why.clone(), evidence }
}

/// The latest recalls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Recalls {
    /// Newest first.
    pub recalls: Vec<RecallRecord>,
}

/// Which memories the latest message was given, and why; no fields but `memories` where nothing was recalled yet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Explained {
    /// It was given something.
    Something(Explanation),
    /// Nothing was recalled in this conversation.
    Nothing {
        /// Empty.
        memories: Vec<String>,
    },
}

impl From<Option<Explanation>> for Explained {
    fn from(explanation: Option<Explanation>) -> Self {
        explanation.map_or(Self::Nothing { memories: Vec::new() }, Self::Something)
    }
}

impl super::RecallService<'_> {
    /// The newest recalls first; of one conversation, where one is given.
    pub fn log_of(&self, session: Option<&SessionId>, limit: usize) -> Done<Recalls> {
        Ok(Recalls { recalls: self.recalls.recalls(session, limit)? })
    }

    /// One recall, while the log keeps it.
    pub fn record(&self, id: &str) -> Done<RecallRecord> {
        let record = self.recalls.recall_record(&RecallId::new(id))?;
        record.ok_or_else(|| EngineError::NoRecall { reference: id.to_owned() })
    }
}
