//! Which memories were used for a message, and why those.

use jiff::Timestamp;
use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::model::{EntryId, Kind, RecallId, SessionId};
use crate::recall::{AskedBy, RecallRecord, RecallService, RecalledHit, Why};
use crate::text::tokens;

/// How far back the latest message of a conversation is looked for in its log.
const LATEST: usize = 50;

/// What an explanation shows of a memory, in tokens.
const SHOWN_TOKENS: usize = 200;

/// A memory that was found for a message.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Used {
    /// Which.
    pub id: EntryId,
    /// Its text, or the beginning of it; nothing where it was erased.
    pub content: Option<String>,
    /// Who asked: the message itself, or the assistant with a tool.
    pub by: AskedBy,
    /// Its score.
    pub score: f64,
    /// What made the score.
    pub why: Why,
}

/// What a message was given, and why.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Explanation {
    /// The recall that the message itself made.
    pub recall_id: RecallId,
    /// When.
    pub at: Timestamp,
    /// The message, or what was asked.
    pub query: String,
    /// What was put before the model: with the message, and by tools since.
    pub memories: Vec<Used>,
    /// What was found and left out: in view already, or no room.
    pub found_but_not_given: Vec<Used>,
}

impl RecallService<'_> {
    /// What the latest message of a conversation was given, and why; nothing where nothing was recalled.
    pub fn explain(&self, session: &SessionId) -> Done<Option<Explanation>> {
        if self.session_store.session(session)?.is_none() {
            return Err(EngineError::NoSession { session: session.clone() });
        }
        let mut records = self.recalls.recalls(Some(session), LATEST)?;
        let message = records.iter().position(|record| record.by == AskedBy::Message);
        records.truncate(message.map_or(1, |at| at + 1));
        records.reverse();
        if records.is_empty() { Ok(None) } else { self.explained(&records).map(Some) }
    }

    /// What one recall gave, and why. A conversation learns nothing of what others asked.
    pub fn explain_recall(&self, recall: &str, asker: Option<&SessionId>) -> Done<Explanation> {
        let record = self.recalls.recall_record(&RecallId::new(recall))?;
        let record = record.filter(|record| asker.is_none_or(|asker| record.session.as_ref() == Some(asker)));
        let no_recall = || EngineError::invalid("the recall", format!("`{recall}` is no recall of this conversation"));
        self.explained(&[record.ok_or_else(no_recall)?])
    }

    fn explained(&self, records: &[RecallRecord]) -> Done<Explanation> {
        let used = |(by, hit): (AskedBy, &RecalledHit)| -> Done<Used> {
            let memory = match hit.kind {
                Kind::Turn => self.said(&hit.id)?.map(|turn| turn.memory),
                _ => self.entries.memory(&hit.id)?,
            };
            let content = memory.map(|memory| tokens::cut(&memory.entry.content, SHOWN_TOKENS).to_owned());
            Ok(Used { id: hit.id.clone(), content, by, score: hit.score, why: hit.why.clone() })
        };
        let all = records.iter().flat_map(|record| record.hits.iter().map(|hit| (record.by, hit)));
        let (given, left): (Vec<_>, Vec<_>) = all.partition(|(_, hit)| hit.given);
        let first = &records[0];
        Ok(Explanation {
            recall_id: first.recall_id.clone(),
            at: first.at,
            query: first.query.clone(),
            memories: given.into_iter().map(used).collect::<Done<_>>()?,
            found_but_not_given: left.into_iter().map(used).collect::<Done<_>>()?,
        })
    }
}
