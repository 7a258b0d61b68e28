//! What would be given, for a person to look at: the same computation as for an assistant, and nothing is recorded.

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Done;
use crate::model::{EntryId, Kind};
use crate::off_record::Unrecorded;
use crate::recall::{Hit, Why};

use super::{Context, ContextRequest, ContextService, GivenLine, OpeningLine, lines};

/// What would be given, line by line, and what was found and would not be.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Preview {
    /// What would go to the model, its fields at the same level.
    #[serde(flatten)]
    pub context: Context,
    /// The lines that the session begins with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub lines: Vec<OpeningLine>,
    /// The lines that come with the message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub given: Vec<GivenLine>,
    /// What was found and fits too little.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub found_but_not_given: Vec<LeftOut>,
    /// Why nothing is given at all: `excluded` or `paused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_record: Option<&'static str>,
    /// Why no memories could be looked for, where that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A memory that fits too little.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeftOut {
    /// Its identifier.
    pub id: EntryId,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub content: String,
    /// How well it fits, 0 to 1.
    pub score: f64,
    /// What made the score.
    pub why: Why,
}

impl From<Hit> for LeftOut {
    fn from(hit: Hit) -> Self {
        let entry = hit.memory.entry;
        Self { id: entry.id, kind: entry.kind, content: entry.content, score: hit.score, why: hit.why }
    }
}

impl ContextService<'_> {
    /// What would be given for a request.
    pub fn preview(&self, request: &ContextRequest) -> Done<Preview> {
        let prepared = self.prepare(request)?;
        let lines = self.opening_lines(&prepared);
        let given = lines::given(prepared.block.as_deref().unwrap_or_default(), &prepared.context.parts);
        let off_record = if prepared.is_off_record { Some(self.why_off_record(&prepared.request)?) } else { None };
        Ok(Preview {
            context: prepared.context,
            lines,
            given,
            found_but_not_given: prepared.fits_too_little.into_iter().map(LeftOut::from).collect(),
            off_record,
            failure: prepared.failure,
        })
    }

    fn why_off_record(&self, request: &ContextRequest) -> Done<&'static str> {
        let reason = self.off_record.reason(request.session.as_ref(), request.project.as_deref())?;
        Ok(if matches!(reason, Some(Unrecorded::Paused(_))) { "paused" } else { "excluded" })
    }
}
