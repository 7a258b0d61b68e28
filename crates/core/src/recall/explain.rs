//! Which memories reached a conversation, by which way, and why those.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::context::opening_blocks;
use crate::error::{Done, EngineError};
use crate::model::{EntryId, Kind, Memory, RecallId, SessionId};
use crate::recall::joined::Told;
use crate::recall::{AskedBy, RecallRecord, RecallService, RecalledHit, Why};
use crate::text::tokens;

/// What an explanation shows of a memory, in tokens.
const SHOWN_TOKENS: usize = 200;

/// What the log says where a tool gave the opening.
pub(crate) const OPENING: &str = "(what is known at the start)";

/// A memory that was found for a message.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Used {
    /// Which.
    pub id: EntryId,
    /// Its kind.
    pub kind: Kind,
    /// Its text, or the beginning of it; nothing where it was erased.
    pub content: Option<String>,
    /// The day on which it was last changed, or said.
    pub date: Option<String>,
    /// Who asked: the message itself, or the assistant with a tool.
    pub by: AskedBy,
    /// The session that the log has it under: the conversation itself, or an MCP connection of the same client.
    pub session: Option<SessionId>,
    /// How surely it fits, 0 to 1.
    pub score: f64,
    /// What made the score.
    pub why: Why,
    /// What says the same and was folded into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EntryId>,
}

/// A part of what the conversation began with.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OpeningPart {
    /// `profile`, `working`, `task` or `project`.
    pub what: &'static str,
    /// Its text, or the beginning of it.
    pub content: String,
    /// The session that began with it.
    pub session: SessionId,
}

/// What a conversation was given, and why.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Explanation {
    /// The recall that the message itself made, or the first that a tool made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_id: Option<RecallId>,
    /// When.
    pub at: Timestamp,
    /// The message, or what was asked; empty where nothing was yet.
    pub query: String,
    /// What the conversation began with.
    pub opening: Vec<OpeningPart>,
    /// What was put before the model: with the message, and by tools since.
    pub memories: Vec<Used>,
    /// What was found and left out: it fits too little, or there was no room.
    pub found_but_not_given: Vec<Used>,
}

impl RecallService<'_> {
    /// What a conversation began with, what its latest message was given and what tools gave since, under all names that
    /// the conversation has; nothing where that is nothing.
    pub fn explain(&self, session: &SessionId) -> Done<Option<Explanation>> {
        let unknown = || EngineError::NoSession { session: session.clone() };
        let state = self.session_store.session(session)?.ok_or_else(unknown)?;
        let began = state.session.created_at;
        let told = self.under_all_names(state)?;
        let opening = opening(&told);
        let mut records: Vec<RecallRecord> = told.into_iter().flat_map(|told| told.records).collect();
        records.sort_by_key(|record| record.at);
        let message = records.iter().rposition(|record| record.by == AskedBy::Message);
        records.drain(..message.unwrap_or(0));
        if records.is_empty() && opening.is_empty() {
            return Ok(None);
        }
        let explained = self.explained(&records, began)?;
        Ok(Some(Explanation { opening, ..explained }))
    }

    /// What one recall gave, and why. A conversation learns nothing of what others asked.
    pub fn explain_recall(&self, recall: &str, asker: Option<&SessionId>) -> Done<Explanation> {
        let no_recall = || EngineError::invalid("the recall", format!("`{recall}` is no recall of this conversation"));
        let record = self.recalls.recall_record(&RecallId::new(recall))?.ok_or_else(no_recall)?;
        if let Some(asker) = asker
            && record.session.as_ref() != Some(asker)
        {
            let state = self.session_store.session(asker)?.ok_or_else(no_recall)?;
            let names = self.under_all_names(state)?;
            names.iter().find(|told| record.session.as_ref() == Some(&told.state.session.id)).ok_or_else(no_recall)?;
        }
        let at = record.at;
        self.explained(&[record], at)
    }

    fn explained(&self, records: &[RecallRecord], began: Timestamp) -> Done<Explanation> {
        let all = || records.iter().flat_map(|record| record.hits.iter().map(move |hit| (record, hit)));
        // What came several times is named once, and what came at last was not left out.
        let mut named = HashSet::new();
        let given: Vec<_> = all().filter(|(_, hit)| hit.given && named.insert(&hit.id)).collect();
        let left: Vec<_> = all().filter(|(_, hit)| !hit.given && named.insert(&hit.id)).collect();
        let used = |(record, hit): (&RecallRecord, &RecalledHit)| self.used(record, hit);
        let first = records.first();
        Ok(Explanation {
            recall_id: first.map(|record| record.recall_id.clone()),
            at: first.map_or(began, |record| record.at),
            query: first.map(|record| record.query.clone()).unwrap_or_default(),
            opening: Vec::new(),
            memories: given.into_iter().map(used).collect::<Done<_>>()?,
            found_but_not_given: left.into_iter().map(used).collect::<Done<_>>()?,
        })
    }

    fn used(&self, record: &RecallRecord, hit: &RecalledHit) -> Done<Used> {
        let memory = match hit.kind {
            Kind::Turn => self.said(&hit.id)?.map(|turn| turn.memory),
            _ => self.entries.memory(&hit.id)?,
        };
        let date = |memory: &Memory| memory.entry.updated_at.to_zoned(TimeZone::UTC).date().to_string();
        Ok(Used {
            id: hit.id.clone(),
            kind: hit.kind,
            date: memory.as_ref().map(date),
            content: memory.map(|memory| tokens::cut(&memory.entry.content, SHOWN_TOKENS).to_owned()),
            by: record.by,
            session: record.session.clone(),
            score: hit.score,
            why: hit.why.clone(),
            evidence: hit.evidence.clone(),
        })
    }
}

/// What a conversation began with. An MCP connection has it only where a tool gave it.
fn opening(told: &[Told]) -> Vec<OpeningPart> {
    let asked = |told: &Told| told.records.iter().any(|record| record.query == OPENING);
    let given = told.iter().find(|told| !told.is_mcp() || asked(told));
    let Some(state) = given.map(|told| &told.state) else { return Vec::new() };
    let blocks = opening_blocks(state.opening.as_deref().unwrap_or_default());
    let part = |(what, text): (&'static str, String)| OpeningPart {
        what,
        content: tokens::cut(&text, SHOWN_TOKENS).to_owned(),
        session: state.session.id.clone(),
    };
    blocks.into_iter().map(part).collect()
}
