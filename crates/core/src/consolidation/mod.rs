//! Consolidation: makes memories of what was said. Fetches, asks the model, and has written what came of it.
//!
//! Goes in: the turns since the last time, or a summary that the host made. Comes out: the conversation's thread, facts,
//! its one summary in the archive, its task brought up to date, and the pointer, as one change. Never happens: a shorter
//! history. That is [compaction](ConsolidationService::compact), for hosts whose history we send.

mod archive;
mod compact;
pub mod facts;
pub(super) mod new_facts;
pub mod plan;
pub mod reply;
mod support;
mod told;
mod write;

use jiff::Timestamp;
use serde::Serialize;

use crate::consolidation::facts::{Fact, Said};
use crate::consolidation::reply::NotASummary;
use crate::documents::DocumentService;
use crate::error::Done;
use crate::input;
use crate::kernel::{Kernel, Worker};
use crate::memories::MemoryService;
use crate::model::{
    DocumentName, EntryId, Layer, Person, Position, Role, SessionId, SessionState, TaskId, ThreadId, Turn,
};
use crate::models::ModelService;
use crate::ports::{self, Brief, ErasureMark, ExtractBrief, Model, ModelError, Reply, SummaryBrief, SummaryOf};
use crate::recall::find::Fallback;
use crate::recall::{Filter, RecallRequest, RecallService, Scope};
use crate::sessions::{SessionService, Speakers, without_others};
use crate::text::tokens;
use crate::threads::ThreadService;

pub(crate) use archive::SESSION_TAG;
pub use compact::SentMessage;
pub use write::Retired;

/// What a model that summarises whole conversations is given at most, in tokens: the latest turns.
const WHOLE_TOKENS: usize = 64_000;

/// So many turns before the new ones are read with them: a pronoun or a correction may mean what was said there.
const TURNS_BEFORE: usize = 8;

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

/// What a consolidation or a compaction did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Compaction {
    /// The summary of what was new, or the raw text; empty where nothing was worth keeping.
    pub summary: String,
    /// Turns that were captured.
    pub compacted: usize,
    /// Tokens that were sent before.
    pub tokens_before: usize,
    /// Tokens that are sent now.
    pub tokens_after: usize,
    /// The entry in the timeline.
    pub timeline: Option<EntryId>,
    /// The conversation's summary in the archive, where it is new or changed.
    pub archived: Option<EntryId>,
    /// The conversation's thread, where it is new or changed.
    pub thread: Option<ThreadId>,
    /// The task that was brought up to date.
    pub task: Option<TaskId>,
    /// Facts that are new.
    pub facts: Vec<EntryId>,
    /// Knowledge that was corrected.
    pub superseded: Vec<EntryId>,
    /// Documents that changed.
    pub documents: Vec<DocumentName>,
    /// What is sent to the model from now on, where the history was compacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<SentMessage>>,
}

/// What came of ending a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Ended {
    /// Which conversation.
    pub session: SessionId,
    /// What became of the turns that were left.
    pub consolidation: Consolidation,
}

/// What is to be consolidated.
struct Batch {
    state: SessionState,
    /// Everything that was said, without summaries.
    said: Vec<(Position, Turn)>,
    /// The summary of the conversation so far.
    earlier: Option<Turn>,
    person: Person,
    /// What was erased when it was read.
    since: ErasureMark,
}

/// A summary as it is kept.
struct Summed {
    /// For the archive.
    text: String,
    /// What of it may go on into other conversations.
    carried: String,
}

/// A summary that the host has already.
#[derive(Clone, Copy)]
struct HostSummary<'a> {
    text: &'a str,
    /// What it sums up.
    of: SummaryOf,
    /// When it was made; nothing that was said later is captured with it.
    until: Option<Timestamp>,
}

impl<'a> HostSummary<'a> {
    fn of_new_turns(text: &'a str) -> Self {
        Self { text, of: SummaryOf::NewTurns, until: None }
    }
}

impl Batch {
    /// Whether something that was said after a time is captured already: a summary from then would take its place.
    fn is_captured_beyond(&self, until: Timestamp) -> bool {
        self.said[..self.first_new()].iter().any(|(_, turn)| turn.at > until)
    }

    /// Leaves out what was said after a time. What was captured already stays.
    fn end_at(&mut self, until: Timestamp) {
        let done = self.first_new();
        let said_by_then = self.said[done..].iter().take_while(|(_, turn)| turn.at <= until).count();
        self.said.truncate(done + said_by_then);
    }

    /// Whether the conversation has this very summary already.
    fn is_summed_up_as(&self, text: &str) -> bool {
        self.earlier.as_ref().is_some_and(|turn| turn.content.trim() == text.trim())
    }

    /// What no consolidation has captured.
    fn new_turns(&self) -> Vec<Turn> {
        self.said[self.first_new()..].iter().map(|(_, turn)| turn.clone()).collect()
    }

    fn first_new(&self) -> usize {
        self.said.partition_point(|(at, _)| *at <= self.state.consolidated)
    }

    /// The last turn that is captured.
    fn to(&self) -> Position {
        self.said.last().map_or(self.state.consolidated, |(at, _)| (*at).max(self.state.consolidated))
    }

    /// When the last of it was said.
    fn said_last(&self) -> Timestamp {
        self.said.last().map_or(self.state.session.updated_at, |(_, turn)| turn.at)
    }

    /// The latest turns that fit, as a model that summarises whole conversations is given them.
    fn whole(&self) -> Vec<Turn> {
        let mut room = WHOLE_TOKENS;
        let fits = self.said.iter().rev().take_while(|(_, turn)| {
            let size = tokens::estimate(&turn.content);
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        let first = self.said.len() - fits.count().max(1).min(self.said.len());
        self.said[first..].iter().map(|(_, turn)| turn.clone()).collect()
    }

    /// What facts are looked for in: what is new, without the words of other people.
    fn own(&self) -> Vec<Turn> {
        without_others(&self.new_turns(), &self.person)
    }

    /// The turns right before those, whatever was consolidated when: the same for every batching.
    fn before(&self) -> Vec<Turn> {
        let first = self.first_new();
        let turns: Vec<Turn> =
            self.said[first.saturating_sub(TURNS_BEFORE)..first].iter().map(|(_, turn)| turn.clone()).collect();
        without_others(&turns, &self.person)
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
    pub(crate) threads: ThreadService<'e>,
}

impl ConsolidationService<'_> {
    /// Ends a conversation: consolidates what is left. Saying more opens it again.
    pub fn end(&self, session: &SessionId, model: &dyn Model, worker: &Worker<'_>) -> Done<Ended> {
        self.sessions.get(session)?;
        let consolidation = self.run(session, model, None, worker)?;
        self.session_store.end_session(session, self.kernel.now)?;
        Ok(Ended { session: session.clone(), consolidation })
    }

    /// Consolidates a conversation: by the model, or from a summary that the host already has.
    pub fn run(
        &self,
        session: &SessionId,
        model: &dyn Model,
        host_summary: Option<&str>,
        worker: &Worker<'_>,
    ) -> Done<Consolidation> {
        input::no_nul("the summary", host_summary.unwrap_or_default())?;
        self.run_with(session, model, host_summary.map(HostSummary::of_new_turns), worker)
    }

    /// Consolidates what was said until a time from a summary that the host made then, of the whole conversation. What was
    /// said later stays to be done.
    pub fn run_until(
        &self,
        session: &SessionId,
        model: &dyn Model,
        summary: &str,
        until: Timestamp,
        worker: &Worker<'_>,
    ) -> Done<Consolidation> {
        let host = HostSummary { text: summary, of: SummaryOf::Conversation, until: Some(until) };
        self.run_with(session, model, Some(host), worker)
    }

    fn run_with(
        &self,
        session: &SessionId,
        model: &dyn Model,
        host: Option<HostSummary<'_>>,
        worker: &Worker<'_>,
    ) -> Done<Consolidation> {
        // A host sums up what it heard: that is observing.
        if host.is_some() && self.sessions.is_off_record(session)? {
            return Ok(Consolidation::Nothing);
        }
        let work = |hold: &dyn Fn() -> Done<bool>| {
            self.kernel.unless_erased(|since| self.consolidate_alone(self.batch(session, since)?, model, host, hold))
        };
        let outcome = self.alone(session, worker, work);
        // Whoever waits for somebody else comes back, and need not look each time.
        let is_busy = matches!(outcome, Ok(None));
        if !is_busy && let Err(error) = self.retire_if_confirmed() {
            tracing::warn!(%error, "old chunks of the timeline were not retired");
        }
        Ok(outcome?.unwrap_or(Consolidation::Busy))
    }

    /// Does work on a conversation that nobody else may do at the same time; none if somebody else is at it.
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
        mut batch: Batch,
        model: &dyn Model,
        host: Option<HostSummary<'_>>,
        is_still_alone: &dyn Fn() -> Done<bool>,
    ) -> Done<Consolidation> {
        if let Some(until) = host.and_then(|host| host.until) {
            if batch.is_captured_beyond(until) {
                return Ok(Consolidation::Nothing);
            }
            batch.end_at(until);
        }
        let is_new = batch.first_new() < batch.said.len();
        if !is_new && host.is_none_or(|host| batch.is_summed_up_as(host.text)) {
            return Ok(Consolidation::Nothing);
        }
        let scope = host.map_or_else(|| model.summarises(), |host| host.of);
        let summary = match host {
            Some(host) => Ok(reply::summary(&Reply::said(host.text)).map(|text| self.host_summary(&batch, text))),
            None => self.ask_summary(&batch, model),
        };
        let reason = match summary {
            Ok(Ok(summary)) => {
                let facts = self.ask_facts(&batch, model);
                if !is_still_alone()? {
                    return Ok(Consolidation::Busy);
                }
                return self
                    .write_consolidation(&batch, (&summary, scope), &facts)
                    .map(|done| done.map_or(Consolidation::Nothing, Consolidation::Done));
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        if !is_still_alone()? {
            return Ok(Consolidation::Busy);
        }
        let session = &batch.state.session.id;
        let failures = self.session_store.note_failure(session)?;
        tracing::warn!(%session, reason, failures, "a conversation was not summarised");
        if failures < self.kernel.settings.policy.max_failures {
            return Ok(Consolidation::Failed { reason, failures });
        }
        let done = self.write_raw(&batch)?;
        Ok(done.map_or(Consolidation::Nothing, Consolidation::Archived))
    }

    fn batch(&self, session: &SessionId, since: &ErasureMark) -> Done<Batch> {
        let state = self.sessions.get(session)?;
        let all = self.turns.turns_after(session, Position::default())?;
        let (summaries, said): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, turn)| turn.role == Role::Summary);
        let earlier = summaries.into_iter().next_back().map(|(_, turn)| turn);
        let person = self.speakers().person_in(&state)?;
        Ok(Batch { state, said, earlier, person, since: since.clone() })
    }

    /// What the host sums up is kept as it is; what goes on into other conversations is what was said.
    fn host_summary(&self, batch: &Batch, text: String) -> Summed {
        let carried = self.told(batch, &text, &[]);
        Summed { text, carried }
    }

    /// What of a summary the conversation bears out: all of it where nobody observed the conversation.
    fn told(&self, batch: &Batch, summary: &str, knowledge: &[String]) -> String {
        if batch.said.is_empty() {
            return summary.to_owned();
        }
        let turns: Vec<Turn> = batch.said.iter().map(|(_, turn)| turn.clone()).collect();
        let own = without_others(&turns, &batch.person);
        let names = [batch.person.name.clone(), batch.state.session.project.clone()];
        let beside = knowledge.iter().cloned().chain(names.into_iter().flatten());
        let earlier: Vec<&str> = batch.earlier.iter().map(|turn| turn.content.as_str()).collect();
        let day = |turn: &Turn| turn.at.to_zoned(self.kernel.settings.zone.clone()).date();
        told::Told::of((&turns, &own), beside, &earlier, day).of_summary(summary)
    }

    /// A summary without what was forgotten, corrected or erased since it was said.
    fn without_withdrawn(&self, batch: &Batch, summary: String) -> String {
        let is_withdrawn = |said: &str| {
            let turn = batch.said.iter().map(|(_, turn)| turn).rfind(|turn| turn.content.contains(said));
            let said_at = turn.or(batch.said.last().map(|(_, turn)| turn)).map(|turn| turn.at);
            self.recall.lineage.is_withdrawn(said, said_at)
        };
        told::without_lines(&summary, is_withdrawn).unwrap_or_else(|error| {
            tracing::warn!(%error, "what was taken back cannot be read; the summary stays as it is");
            summary
        })
    }

    fn ask_summary(&self, batch: &Batch, model: &dyn Model) -> Result<Result<Summed, NotASummary>, ModelError> {
        let thread = self.threads.of(&batch.state.session.id).unwrap_or_else(|error| {
            tracing::warn!(%error, "the thread so far cannot be read; going on without");
            None
        });
        let (turns, previous) = match model.summarises() {
            SummaryOf::NewTurns => (batch.new_turns(), thread.map(|thread| thread.content)),
            SummaryOf::Conversation => (batch.whole(), None),
        };
        let knowledge = self.related(&batch.own());
        let brief = Brief::Summarise(SummaryBrief {
            personal: self.kernel.settings.namespace.is_some(),
            turns,
            person: batch.person.clone(),
            previous,
            knowledge: knowledge.clone(),
            max_tokens: self.kernel.settings.policy.summary_max_tokens,
        });
        let said = reply::summary(&self.models.ask(model, &brief, &mut |_| true)?);
        Ok(said.map(|text| {
            let carried = self.without_withdrawn(batch, self.told(batch, &text, &knowledge));
            if carried.is_empty() && !text.is_empty() {
                tracing::debug!(session = %batch.state.session.id, "a summary said only what nobody said; it is not kept");
            }
            Summed { text: carried.clone(), carried }
        }))
    }

    /// Facts that the model proposes; its failure costs the facts and nothing else.
    fn ask_facts(&self, batch: &Batch, model: &dyn Model) -> Vec<Fact> {
        let own = batch.own();
        let is_wanted = self.kernel.settings.enabled && self.kernel.settings.policy.auto_extract;
        if !is_wanted || !own.iter().any(|turn| turn.role == Role::User) {
            return Vec::new();
        }
        let known = self.known_facts(&batch.state, &own);
        let before = batch.before();
        let brief = Brief::Extract(ExtractBrief { before: before.clone(), turns: own.clone(), known: known.clone() });
        let reply = match self.models.ask(model, &brief, &mut |_| true) {
            Ok(reply) => reply,
            Err(error) => {
                tracing::warn!(%error, "no facts were extracted");
                return Vec::new();
            }
        };
        facts::parse(&reply, &Said { before: &before, turns: &own }, &known).unwrap_or_else(|error| {
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
}
