//! Consolidation: fetches, asks the model, and has written what came of it.

pub(super) mod new_facts;
mod write;

pub use write::Retired;
pub(super) use write::with_facts;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::consolidate::facts::{self, Fact};
use crate::consolidate::reply::{self, NotASummary};
use crate::model::{Actor, DocumentName, EntryId, Layer, Position, Role, SessionId, SessionState, Source, Turn};
use crate::ports::{Brief, ExtractBrief, Holder, Lease, Model, ModelError, Purpose, Reply, Spent, SummaryBrief};
use crate::recall::{Filter, RecallRequest, Scope};
use crate::session::Standing;

use super::find::Fallback;
use super::{Done, Engine};

/// How long a lease lasts if its holder neither finishes nor dies.
const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// The provider that costs nothing and never fails.
const OFFLINE: &str = "offline";

/// Who is at work, and how to tell that another worker is gone.
pub struct Worker<'a> {
    /// This worker.
    pub holder: Holder,
    /// Whether another worker of this host is known to be gone.
    pub is_gone: &'a dyn Fn(&Holder) -> bool,
}

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
    to: Position,
}

impl Batch {
    /// When the last of it was said.
    fn said_last(&self) -> Timestamp {
        self.turns.last().map_or(self.state.session.updated_at, |turn| turn.at)
    }

    /// What stands for the part of the conversation that is no longer sent.
    fn earlier(&self) -> Option<&str> {
        self.earlier_turn().map(|turn| turn.content.as_str())
    }

    fn earlier_turn(&self) -> Option<&Turn> {
        self.window.iter().map(|(_, turn)| turn).rfind(|turn| turn.role == Role::Summary)
    }
}

impl Engine {
    /// Consolidates a conversation: by the model, or from a summary that the host already has.
    pub fn consolidate(
        &self,
        session: &SessionId,
        model: &dyn Model,
        host_summary: Option<&str>,
        worker: &Worker<'_>,
    ) -> Done<Consolidation> {
        let engine = self.acting(Actor::new(Source::System, "consolidation"));
        let work = |hold: &dyn Fn() -> Done<bool>| engine.consolidate_alone(session, model, host_summary, hold);
        let outcome = self.alone(session, worker, work);
        // Whoever waits for somebody else comes back, and need not look each time.
        let is_busy = matches!(outcome, Ok(None));
        if !is_busy && let Err(error) = engine.retire_if_confirmed() {
            tracing::warn!(%error, "old chunks of the timeline were not retired");
        }
        Ok(outcome?.unwrap_or(Consolidation::Busy))
    }

    /// Does work on a conversation that nobody else may do at the same time; nothing where somebody else is at it.
    ///
    /// The work is given a way to ask whether it is still alone, which it does after anything that may take long: a
    /// lease that ran out meanwhile may be somebody else's now.
    pub(super) fn alone<T>(
        &self,
        session: &SessionId,
        worker: &Worker<'_>,
        work: impl FnOnce(&dyn Fn() -> Done<bool>) -> Done<T>,
    ) -> Done<Option<T>> {
        // With a namespace, sessions share working memory and take turns; without, each is on its own.
        let name = match &self.settings.namespace {
            Some(namespace) => format!("consolidate {namespace}"),
            None => format!("consolidate {session}"),
        };
        self.alone_at(&name, worker, work)
    }

    /// Does work that nobody else may do under this name at the same time.
    pub(super) fn alone_at<T>(
        &self,
        name: &str,
        worker: &Worker<'_>,
        work: impl FnOnce(&dyn Fn() -> Done<bool>) -> Done<T>,
    ) -> Done<Option<T>> {
        let lease = |now: Timestamp| Lease {
            name: name.to_owned(),
            holder: worker.holder.clone(),
            until: now.checked_add(LEASE).unwrap_or(Timestamp::MAX),
        };
        let hold = || {
            let now = self.clock.now();
            Ok(self.store.acquire(&lease(now), now, worker.is_gone)?)
        };
        if !hold()? {
            return Ok(None);
        }
        let outcome = work(&hold);
        // What is done is done; a lease that stays behind runs out.
        if let Err(error) = self.store.release(&lease(self.clock.now())) {
            tracing::warn!(%error, name, "a lease was not given back");
        }
        outcome.map(Some)
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
        let failures = self.store.note_failure(session)?;
        tracing::warn!(%session, reason, failures, "a conversation was not summarised");
        if failures < self.settings.policy.max_failures {
            return Ok(Consolidation::Failed { reason, failures });
        }
        let done = self.write_raw(&batch)?;
        Ok(done.map_or(Consolidation::Nothing, Consolidation::Archived))
    }

    /// What was said since the last consolidation; nothing if nothing was.
    fn batch(&self, session: &SessionId) -> Done<Option<Batch>> {
        let state = self.state(session)?;
        let window = self.store.turns_after(session, state.kept_from)?;
        let standing = Standing { window: &window, consolidated: state.consolidated };
        let turns: Vec<Turn> = standing.unconsolidated().map(|(_, turn)| turn.clone()).collect();
        let Some(to) = standing.unconsolidated().last().map(|(at, _)| *at) else { return Ok(None) };
        Ok(Some(Batch { turns, to, window, state }))
    }

    fn ask_summary(&self, batch: &Batch, model: &dyn Model) -> Result<Result<String, NotASummary>, ModelError> {
        let previous = if self.keeps_working() { self.working().ok().flatten() } else { None };
        let brief = Brief::Summarise(SummaryBrief {
            personal: self.settings.namespace.is_some(),
            turns: batch.turns.clone(),
            previous: previous.map(|working| working.content),
            knowledge: self.related(&batch.turns),
            max_tokens: self.settings.policy.summary_max_tokens,
        });
        let summary = reply::summary(&self.ask(model, &brief, &mut |_| true)?);
        // Rules that find nothing worth a line have read it all; a language model that says nothing has failed.
        let is_offline = model.provider() == OFFLINE;
        Ok(if is_offline && summary == Err(NotASummary::Empty) { Ok(String::new()) } else { summary })
    }

    /// Facts that the model proposes; its failure costs the facts and nothing else.
    fn ask_facts(&self, batch: &Batch, model: &dyn Model) -> Vec<Fact> {
        if !self.settings.enabled || !self.settings.policy.auto_extract {
            return Vec::new();
        }
        let brief = Brief::Extract(ExtractBrief { turns: batch.turns.clone(), known: self.related(&batch.turns) });
        let reply = match self.ask(model, &brief, &mut |_| true) {
            Ok(reply) => reply,
            Err(error) => {
                tracing::warn!(%error, "no facts were extracted");
                return Vec::new();
            }
        };
        facts::parse(&reply, &batch.turns).unwrap_or_else(|error| {
            tracing::warn!(%error, "no facts were extracted");
            Vec::new()
        })
    }

    /// Knowledge about what the person said, for the model to understand it.
    pub(super) fn related(&self, turns: &[Turn]) -> Vec<String> {
        if !self.settings.enabled {
            return Vec::new();
        }
        let said = turns.iter().filter(|turn| turn.role == Role::User).map(|turn| turn.content.as_str());
        let filter = Filter {
            scope: Scope::Only(self.facts()),
            layers: vec![Layer::Knowledge],
            ..Filter::recallable(self.clock.now())
        };
        let query = said.collect::<Vec<_>>().join("\n");
        let request = RecallRequest { query, limit: self.settings.recall_limit, filter };
        match self.find(&request, Fallback::Nothing) {
            Ok(hits) => hits.into_iter().map(|hit| hit.memory.entry.content).collect(),
            Err(error) => {
                tracing::warn!(%error, "nothing can be recalled; going on without");
                Vec::new()
            }
        }
    }

    /// Asks a model, within the day's budget, and writes the ledger.
    pub fn ask(
        &self,
        model: &dyn Model,
        brief: &Brief,
        sink: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Reply, ModelError> {
        let asked = (model.provider(), model.name(), brief.purpose());
        self.within_budget(asked, || {
            let reply = model.complete(brief, sink)?;
            let (tokens_in, tokens_out) = (reply.tokens_in, reply.tokens_out);
            Ok((reply, tokens_in, tokens_out))
        })
    }

    /// Calls a model, by its provider, name and purpose, as long as the day's budget lasts; what it gives comes with the
    /// tokens that were sent and that came back, for the ledger.
    pub(super) fn within_budget<T>(
        &self,
        (provider, name, purpose): (&str, &str, Purpose),
        call: impl FnOnce() -> Result<(T, u64, u64), ModelError>,
    ) -> Result<T, ModelError> {
        let day = self.clock.now().strftime("%Y-%m-%d").to_string();
        let budget = self.settings.daily_tokens;
        if budget > 0 && provider != OFFLINE && self.spent_on(&day) >= budget {
            return Err(ModelError::BudgetSpent { budget });
        }
        let outcome = call();
        let (tokens_in, tokens_out) = outcome.as_ref().map_or((0, 0), |(_, tokens_in, out)| (*tokens_in, *out));
        let spent = Spent {
            day,
            provider: provider.to_owned(),
            model: name.to_owned(),
            purpose,
            calls: u64::from(outcome.is_ok()),
            failures: u64::from(outcome.is_err()),
            tokens_in,
            tokens_out,
        };
        if let Err(error) = self.store.spend(&spent) {
            tracing::warn!(%error, "the ledger could not be written");
        }
        outcome.map(|(value, ..)| value)
    }

    fn spent_on(&self, day: &str) -> u64 {
        let rows = self.store.spending(day).unwrap_or_default();
        rows.iter().filter(|row| row.provider != OFFLINE).map(|row| row.tokens_in + row.tokens_out).sum()
    }

    /// What models cost since a day.
    pub fn spending(&self, since: &str) -> Done<Vec<Spent>> {
        Ok(self.store.spending(since)?)
    }

    fn keeps_working(&self) -> bool {
        self.settings.enabled && self.settings.working_memory && self.settings.namespace.is_some()
    }
}
