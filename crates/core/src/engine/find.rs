//! Recall, list, show, and the context that goes to a model.

use std::collections::HashSet;

use crate::context::{self, Context, Part};
use crate::model::{EntryId, Kind, Layer, Memory, RecallId, SessionId};
use crate::ports::{Listing, Page, Search};
use crate::recall::{
    AskedBy, Candidate, Filter, FoundBy, Hit, Projects, Recall, RecallRecord, RecallRequest, RecalledHit, Scope, Terms,
    Why, distinct_words, past, rank,
};
use crate::text::redact::redact;

use super::inspect::chain;
use super::{Done, Engine, EngineError, InjectAt};

/// More than this is a listing, not a recall.
const MAX_HITS: usize = 1000;

/// How many literal pieces of a query are looked for when its words find nothing.
const MAX_NEEDLES: usize = 8;

/// Longer pieces stand in no memory that anybody looks for by its letters.
const LONGEST_NEEDLE: usize = 1000;

/// So many tasks that were done and share words with a message are looked at; it may speak of so many.
const CANDIDATE_TASKS: usize = 50;
const SPOKEN_OF: usize = 2;

/// How much of a query the log keeps.
const MAX_LOGGED_CHARS: usize = 1000;

/// What to do when no word is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fallback {
    /// Look for the letters: a person asked for just that.
    Letters,
    /// Nothing: a message that no memory fits gets none.
    Nothing,
}

/// Whose context is wanted, and for which message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextRequest {
    /// The host's own system prompt.
    pub base_prompt: String,
    /// The conversation.
    pub session: Option<SessionId>,
    /// The project the conversation is about.
    pub project: Option<String>,
    /// What the person just said.
    pub message: Option<String>,
}

impl Engine {
    /// Finds memories by plain text, best first, and notes in the log what was found.
    pub fn recall(&self, request: &RecallRequest) -> Done<Recall> {
        let hits = self.find(request, Fallback::Letters)?;
        let recall_id = self.note((AskedBy::Person, None), &request.query, &hits, &[]);
        Ok(Recall { recall_id, hits })
    }

    /// Finds the same and notes nothing: for a person who is still typing.
    pub fn look(&self, request: &RecallRequest) -> Done<Vec<Hit>> {
        self.find(request, Fallback::Letters)
    }

    /// Notes in the log what was found, and what of it was put before a model.
    pub(super) fn note(
        &self,
        asked: (AskedBy, Option<&SessionId>),
        query: &str,
        hits: &[Hit],
        given: &[EntryId],
    ) -> RecallId {
        self.note_recalled(asked, query, hits.iter().map(|hit| recalled(hit, given)).collect())
    }

    /// The same, of whatever was found.
    pub(super) fn note_recalled(
        &self,
        (by, session): (AskedBy, Option<&SessionId>),
        query: &str,
        hits: Vec<RecalledHit>,
    ) -> RecallId {
        let recall_id = RecallId::new(self.ids.next());
        let query = redact(query).text.chars().take(MAX_LOGGED_CHARS).collect();
        let (at, session) = (self.clock.now(), session.cloned());
        self.store.note(RecallRecord { recall_id: recall_id.clone(), at, session, by, query, hits });
        recall_id
    }

    /// Finds without a trace.
    pub(super) fn find(&self, request: &RecallRequest, fallback: Fallback) -> Done<Vec<Hit>> {
        check_range(&request.filter)?;
        let limit = request.limit.min(MAX_HITS);
        if limit == 0 {
            return Ok(Vec::new());
        }
        if let Err(error) = self.notice_all() {
            tracing::warn!(
                error = chain(&error),
                "documents could not be looked at; recalling without their latest changes"
            );
        }
        // Factors reorder what the words found, so more is fetched than asked for.
        let fetch = (limit * 2).max(20);
        let mut candidates = self.by_words(request, fetch)?;
        if candidates.is_empty() && fallback == Fallback::Letters {
            candidates = self.store.contains(&needles(&request.query), &request.filter, fetch)?;
        }
        let mut hits = rank(candidates, self.clock.now(), self.settings.ranking);
        hits.truncate(limit);
        Ok(hits)
    }

    fn by_words(&self, request: &RecallRequest, fetch: usize) -> Done<Vec<Candidate>> {
        let terms = Terms::of_query(&request.query);
        let search = |terms: Terms| -> Done<Vec<Candidate>> {
            if terms.is_empty() {
                return Ok(Vec::new());
            }
            Ok(self.store.search(&Search { terms, filter: request.filter.clone(), limit: fetch })?)
        };
        let found = search(terms.clone())?;
        // What was said is evidence: there, a weak trace is better than none, behind everything that fits better.
        if !request.filter.wants(Kind::Turn) || found.len() >= request.limit {
            return Ok(found);
        }
        let traces = search(terms.stopped())?;
        Ok(with_traces(found, traces))
    }

    /// Memories that pass the filter, newest first.
    pub fn list(&self, filter: &Filter, page: &Page) -> Done<Listing> {
        check_range(filter)?;
        self.notice_all()?;
        Ok(self.store.list(filter, page)?)
    }

    /// One memory.
    pub fn show(&self, reference: &str) -> Done<Memory> {
        self.notice_all()?;
        let id = self.resolve(reference)?;
        self.memory(&id)
    }

    /// The newest recalls first, from the log.
    pub fn recalls(&self, limit: usize) -> Done<Vec<RecallRecord>> {
        Ok(self.store.recalls(None, limit)?)
    }

    /// What would go to the model, and why. Records nothing.
    pub fn preview_context(&self, request: &ContextRequest) -> Done<Context> {
        let state = request.session.as_ref().map(|session| self.store.session(session)).transpose()?.flatten();
        let project = state.as_ref().and_then(|state| state.session.project.clone());
        let request = &ContextRequest { project: request.project.clone().or(project), ..request.clone() };
        let base = state.as_ref().map_or(request.base_prompt.as_str(), |state| state.base_prompt.as_str());
        let (opening, parts) = match state.as_ref().and_then(|state| state.opening.clone()) {
            Some(opening) => {
                let parts = Part::of_session(&opening).into_iter().collect();
                (opening, parts)
            }
            None => self.opening(state.as_ref().and_then(|state| self.task_of_state(state)).as_ref()),
        };
        let system_prompt = context::system_prompt(base, &opening);
        let mut context = Context { system_prompt, message: request.message.clone(), parts, recall_id: None };
        if let (true, Some(message)) = (self.settings.enabled, &request.message) {
            let hits = self.find_for(request, message, self.settings.recall_limit)?;
            let budget = self.settings.recall_max_tokens;
            match self.settings.inject_at {
                InjectAt::Off => {}
                InjectAt::SystemPrompt => {
                    let (block, parts) = context::memory_block(&hits, budget);
                    context.system_prompt = context::system_prompt(&context.system_prompt, &block);
                    context.parts.extend(parts);
                }
                InjectAt::Message => {
                    let (text, parts) = context::message(message, &hits, budget);
                    context.message = Some(text);
                    context.parts.extend(parts);
                }
            }
        }
        Ok(context)
    }

    /// Knowledge in reach of a conversation, for one message. Identity and recent context are in the prompt already.
    ///
    /// The archive is looked into only where the message asks about the past, or speaks of a task that was done.
    pub(super) fn find_for(&self, request: &ContextRequest, message: &str, limit: usize) -> Done<Vec<Hit>> {
        let recall = self.for_message(request, message, limit);
        let mut hits = Vec::new();
        if past::is_asked_about(message, self.clock.now()) {
            hits.extend(self.find_past(&recall)?);
        } else {
            for task in self.spoken_of(message)? {
                // Whoever names a task means it, whatever project this conversation is about.
                let filter = Filter {
                    layers: vec![Layer::Archive],
                    task: Some(task),
                    projects: Projects::Any,
                    ..recall.filter.clone()
                };
                hits.extend(self.find(&RecallRequest { filter, limit: 1, ..recall.clone() }, Fallback::Nothing)?);
            }
        }
        // What was named or asked about comes first: knowledge with the same words must not crowd it out.
        hits.extend(self.find(&recall, Fallback::Nothing)?);
        // Working memory stands in the prompt already.
        hits.retain(|hit| (hit.memory.entry.kind, hit.memory.entry.layer) != (Kind::Bullet, Layer::Archive));
        hits.truncate(limit);
        hits.extend(self.passages_for(message));
        Ok(hits)
    }

    /// What the archive has for a message about the past: by its words, else by the time that it names. Outside of any
    /// project, the past of all of them is meant.
    fn find_past(&self, recall: &RecallRequest) -> Done<Vec<Hit>> {
        let projects = match &recall.filter.projects {
            Projects::NoneOr(None) => Projects::Any,
            own => own.clone(),
        };
        let filter =
            Filter { layers: vec![Layer::Archive], kinds: vec![Kind::Entry], projects, ..recall.filter.clone() };
        let limit = recall.limit.div_ceil(2);
        let mut hits =
            self.find(&RecallRequest { filter: filter.clone(), limit, ..recall.clone() }, Fallback::Nothing)?;
        let named = past::since(&recall.query, self.clock.now());
        if let (true, Some(since)) = (hits.is_empty(), named) {
            let listing = self.store.list(&Filter { since: Some(since), ..filter }, &Page { limit, cursor: None })?;
            hits.extend(listing.memories.into_iter().map(by_date));
        }
        Ok(hits)
    }

    /// Tasks that were done and that a message speaks of, the latest first.
    fn spoken_of(&self, message: &str) -> Done<Vec<String>> {
        let words = distinct_words(message);
        let mut about = self.store.done_tasks_sharing(&words, CANDIDATE_TASKS)?;
        about.retain(|task| past::is_about(&words, task));
        about.sort_by_key(|task| std::cmp::Reverse(task.done_at));
        Ok(about.into_iter().take(SPOKEN_OF).map(|task| task.id.to_string()).collect())
    }

    fn for_message(&self, request: &ContextRequest, message: &str, limit: usize) -> RecallRequest {
        let scope = match &request.session {
            Some(session) => Scope::Session { session: session.clone(), user: self.settings.namespace.clone() },
            None => Scope::Everything,
        };
        let filter = Filter {
            scope,
            layers: vec![Layer::Knowledge],
            projects: Projects::NoneOr(request.project.clone()),
            ..Filter::recallable(self.clock.now())
        };
        RecallRequest { query: message.to_owned(), limit, filter }
    }
}

fn check_range(filter: &Filter) -> Done<()> {
    match (filter.since, filter.until) {
        (Some(since), Some(until)) if since >= until => Err(EngineError::EmptyRange { since, until }),
        _ => Ok(()),
    }
}

/// Adds traces that were not found otherwise, all of them scored below whatever was.
fn with_traces(mut found: Vec<Candidate>, traces: Vec<Candidate>) -> Vec<Candidate> {
    let known: HashSet<EntryId> = found.iter().map(|candidate| candidate.memory.entry.id.clone()).collect();
    let lowest = found.iter().map(|candidate| candidate.bm25).fold(f64::INFINITY, f64::min).min(1.0);
    let highest = traces.iter().map(|trace| trace.bm25).fold(f64::MIN_POSITIVE, f64::max);
    let new = traces.into_iter().filter(|trace| !known.contains(&trace.memory.entry.id));
    found.extend(new.map(|trace| Candidate { bm25: trace.bm25 / highest * lowest / 2.0, ..trace }));
    found
}

/// The literal pieces to look for: the query as it is, then its longer words.
fn needles(query: &str) -> Vec<String> {
    let query = query.trim();
    let mut needles = vec![query.to_owned()];
    needles.extend(query.split_whitespace().filter(|word| word.chars().count() > 2).map(str::to_owned));
    needles.retain(|needle| !needle.is_empty() && needle.len() <= LONGEST_NEEDLE);
    needles.truncate(MAX_NEEDLES);
    needles
}

/// A memory that was found by its date alone.
fn by_date(memory: Memory) -> Hit {
    let why = Why { found_by: FoundBy::Date, bm25: 1.0, recency: 1.0, trust: 1.0, significance: 1.0, correction: 1.0 };
    Hit { memory, speaker: None, score: why.score(), why }
}

fn recalled(hit: &Hit, given: &[EntryId]) -> RecalledHit {
    let (id, kind): (EntryId, Kind) = (hit.memory.entry.id.clone(), hit.memory.entry.kind);
    RecalledHit { given: given.contains(&id), id, kind, score: hit.score, why: hit.why.clone() }
}
