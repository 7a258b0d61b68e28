//! Consolidation: fetches, asks the model, and has written what came of it.

pub mod corrections;
pub mod facts;
mod fill;
pub(super) mod new_facts;
pub mod plan;
pub mod reply;
mod working;
mod write;

use jiff::Timestamp;
use serde::Serialize;

use crate::consolidation::facts::Fact;
use crate::consolidation::reply::NotASummary;
use crate::documents::DocumentService;
use crate::error::Done;
use crate::kernel::{Kernel, Worker};
use crate::memories::MemoryService;
use crate::model::{DocumentName, EntryId, Layer, Person, Position, Role, SessionId, SessionState, Turn};
use crate::models::ModelService;
use crate::ports::{self, Brief, ExtractBrief, Model, ModelError, Reply, SummaryBrief};
use crate::recall::find::Fallback;
use crate::recall::{Filter, RecallRequest, RecallService, Scope};
use crate::sessions::{SessionService, Speakers, Standing, without_others};

pub(crate) use fill::SESSION_TAG;
pub use fill::{Ended, Filled};
pub use write::Retired;
pub(super) use write::with_facts;

/// What came of a consolidation.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Consolidation {
    /// Nothing was said since the last one.
    Nothing,
    /// Somebody else is at it.
    Busy,
    /// The conversation is summarised.
    Done(Compaction),
    /// No model would summarise, again and again: the raw turns are in the timeline.
    Archived(Compaction),
    /// No summary this time; everything is as it was.
    Failed {
        /// Why.
        reason: String,
        /// How many times in a row.
        failures: u32,
    },
}

/// What a compaction did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Compaction {
    /// The summary, or the raw text.
    pub summary: String,
    /// Turns that were captured.
    pub compacted: usize,
    /// Tokens that were sent before.
    pub tokens_before: usize,
    /// Tokens that are sent now.
    pub tokens_after: usize,
    /// The entry in the timeline.
    pub timeline: Option<EntryId>,
    /// Facts that are new.
    pub facts: Vec<EntryId>,
    /// Documents that changed.
    pub documents: Vec<DocumentName>,
}

/// What is to be consolidated.
struct Batch {
    state: SessionState,
    window: Vec<(Position, Turn)>,
    turns: Vec<Turn>,
    person: Person,
    to: Position,
}

impl Batch {
    /// When the last of it was said.
    fn said_last(&self) -> Timestamp {
        self.turns.last().map_or(self.state.session.updated_at, |turn| turn.at)
    }

    /// What was said, without the words of other people: what may be known of the person.
    fn own(&self) -> Vec<Turn> {
        without_others(&self.turns, &self.person)
    }

    /// What stands for the part of the conversation that is no longer sent.
    fn earlier(&self) -> Option<&str> {
        self.earlier_turn().map(|turn| turn.content.as_str())
    }

    fn earlier_turn(&self) -> Option<&Turn> {
        self.window.iter().map(|(_, turn)| turn).rfind(|turn| turn.role == Role::Summary)
    }
}

/// Consolidates sessions, and ends them.
#[derive(Clone, Copy)]
pub struct ConsolidationService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) activity: &'e dyn ports::Activity,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) task_store: &'e dyn ports::Tasks,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) memories: MemoryService<'e>,
    pub(crate) models: ModelService<'e>,
    pub(crate) recall: RecallService<'e>,
    pub(crate) sessions: SessionService<'e>,
}

impl ConsolidationService<'_> {
    /// Consolidates a conversation: by the model, or from a summary that the host already has.
    pub fn run(
        &self,
        session: &SessionId,
        model: &dyn Model,
        host_summary: Option<&str>,
        worker: &Worker<'_>,
    ) -> Done<Consolidation> {
        let work = |hold: &dyn Fn() -> Done<bool>| self.consolidate_alone(session, model, host_summary, hold);
        let outcome = self.alone(session, worker, work);
        // Whoever waits for somebody else comes back, and need not look each time.
        let is_busy = matches!(outcome, Ok(None));
        if !is_busy && let Err(error) = self.retire_if_confirmed() {
            tracing::warn!(%error, "old chunks of the timeline were not retired");
        }
        Ok(outcome?.unwrap_or(Consolidation::Busy))
    }

    /// Does work on a conversation that nobody else may do at the same time; nothing where somebody else is at it.
    ///
    /// The work is given a way to ask whether it is still alone, which it does after anything that may take long: a
    /// lease that ran out meanwhile may be somebody else's now.
    pub(crate) fn alone<T>(
        &self,
        session: &SessionId,
        worker: &Worker<'_>,
        work: impl FnOnce(&dyn Fn() -> Done<bool>) -> Done<T>,
    ) -> Done<Option<T>> {
        // With a namespace, sessions share working memory and take turns; without, each is on its own.
        let name = match &self.kernel.settings.namespace {
            Some(namespace) => format!("consolidate {namespace}"),
            None => format!("consolidate {session}"),
        };
        self.kernel.with_lease(&name, worker, work)
    }

    fn consolidate_alone(
        &self,
        session: &SessionId,
        model: &dyn Model,
        host_summary: Option<&str>,
        is_still_alone: &dyn Fn() -> Done<bool>,
    ) -> Done<Consolidation> {
        let Some(batch) = self.batch(session)? else { return Ok(Consolidation::Nothing) };
        let summary = match host_summary {
            Some(text) => Ok(reply::summary(&Reply::said(text))),
            None => self.ask_summary(&batch, model),
        };
        let reason = match summary {
            Ok(Ok(text)) => {
                let facts = self.ask_facts(&batch, model);
                if !is_still_alone()? {
                    return Ok(Consolidation::Busy);
                }
                return self
                    .write_consolidation(&batch, &text, &facts)
                    .map(|done| done.map_or(Consolidation::Nothing, Consolidation::Done));
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        if !is_still_alone()? {
            return Ok(Consolidation::Busy);
        }
        let failures = self.session_store.note_failure(session)?;
        tracing::warn!(%session, reason, failures, "a conversation was not summarised");
        if failures < self.kernel.settings.policy.max_failures {
            return Ok(Consolidation::Failed { reason, failures });
        }
        let done = self.write_raw(&batch)?;
        Ok(done.map_or(Consolidation::Nothing, Consolidation::Archived))
    }

    /// What was said since the last consolidation; nothing if nothing was.
    fn batch(&self, session: &SessionId) -> Done<Option<Batch>> {
        let state = self.sessions.get(session)?;
        let window = self.turns.turns_after(session, state.kept_from)?;
        let standing = Standing { window: &window, consolidated: state.consolidated };
        let turns: Vec<Turn> = standing.unconsolidated().map(|(_, turn)| turn.clone()).collect();
        let Some(to) = standing.unconsolidated().last().map(|(at, _)| *at) else { return Ok(None) };
        let person = self.speakers().person_in(&state)?;
        Ok(Some(Batch { turns, person, to, window, state }))
    }

    fn ask_summary(&self, batch: &Batch, model: &dyn Model) -> Result<Result<String, NotASummary>, ModelError> {
        let previous = if self.keeps_working() { self.documents.working().ok().flatten() } else { None };
        let brief = Brief::Summarise(SummaryBrief {
            personal: self.kernel.settings.namespace.is_some(),
            turns: batch.turns.clone(),
            person: batch.person.clone(),
            previous: previous.map(|working| working.content),
            knowledge: self.related(&batch.own()),
            max_tokens: self.kernel.settings.policy.summary_max_tokens,
        });
        let summary = reply::summary(&self.models.ask(model, &brief, &mut |_| true)?);
        Ok(if model.empty_is_an_answer() && summary == Err(NotASummary::Empty) { Ok(String::new()) } else { summary })
    }

    /// Facts that the model proposes; its failure costs the facts and nothing else.
    fn ask_facts(&self, batch: &Batch, model: &dyn Model) -> Vec<Fact> {
        if !self.kernel.settings.enabled || !self.kernel.settings.policy.auto_extract {
            return Vec::new();
        }
        let own = batch.own();
        let brief = Brief::Extract(ExtractBrief { turns: own.clone(), known: self.related(&own) });
        let reply = match self.models.ask(model, &brief, &mut |_| true) {
            Ok(reply) => reply,
            Err(error) => {
                tracing::warn!(%error, "no facts were extracted");
                return Vec::new();
            }
        };
        facts::parse(&reply, &own).unwrap_or_else(|error| {
            tracing::warn!(%error, "no facts were extracted");
            Vec::new()
        })
    }

    pub(crate) fn speakers(&self) -> Speakers<'_> {
        Speakers { session_store: self.session_store, turns: self.turns, documents: self.documents }
    }

    /// Knowledge about what the person said, for the model to understand it.
    pub(crate) fn related(&self, turns: &[Turn]) -> Vec<String> {
        if !self.kernel.settings.enabled {
            return Vec::new();
        }
        let said = turns.iter().filter(|turn| turn.role == Role::User).map(|turn| turn.content.as_str());
        let filter = Filter {
            scope: Scope::Only(self.kernel.facts()),
            layers: vec![Layer::Knowledge],
            ..Filter::recallable(self.kernel.now)
        };
        let query = said.collect::<Vec<_>>().join("\n");
        let request = RecallRequest { query, limit: self.kernel.settings.recall_limit, filter };
        match self.recall.find(&request, Fallback::Nothing) {
            Ok(hits) => hits.into_iter().map(|hit| hit.memory.entry.content).collect(),
            Err(error) => {
                tracing::warn!(%error, "nothing can be recalled; going on without");
                Vec::new()
            }
        }
    }

    fn keeps_working(&self) -> bool {
        self.kernel.settings.enabled && self.kernel.settings.working_memory && self.kernel.settings.namespace.is_some()
    }
}
