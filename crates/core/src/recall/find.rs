//! Finding memories by plain text: candidates by words, else by letters; then ranked.

use std::collections::HashSet;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError};
use crate::kernel::Kernel;
use crate::model::{EntryId, Kind};
use crate::ports::{self, Search};
use crate::recall::{AskedBy, Candidate, Filter, Hit, Recall, RecallLog, RecallRecord, RecallRequest, Terms, rank};

/// More than this is a listing, not a recall.
const MAX_HITS: usize = 1000;

/// How many literal pieces of a query are looked for when its words find nothing.
const MAX_NEEDLES: usize = 8;

/// Longer pieces stand in no memory that anybody looks for by its letters.
const LONGEST_NEEDLE: usize = 1000;

/// What to do when no word is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// Look for the letters: a person asked for just that.
    Letters,
    /// Nothing: a message that no memory fits gets none.
    Nothing,
}

/// Recall, its log, and why something was found.
#[derive(Clone, Copy)]
pub struct RecallService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) candidates: &'e dyn ports::Candidates,
    pub(crate) recalls: &'e dyn ports::Recalls,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) log: RecallLog<'e>,
    pub(crate) documents: DocumentService<'e>,
}

impl RecallService<'_> {
    /// Finds memories by plain text, best first, and notes in the log what was found.
    pub fn recall(&self, request: &RecallRequest) -> Done<Recall> {
        let hits = self.look(request)?;
        let recall_id = self.log.note((AskedBy::Person, None), &request.query, &hits, &[]);
        Ok(Recall { recall_id, hits })
    }

    /// Finds the same and notes nothing: for a person who is still typing.
    pub fn look(&self, request: &RecallRequest) -> Done<Vec<Hit>> {
        self.documents.notice_all_or_warn();
        self.find(request, Fallback::Letters)
    }

    /// Finds without a trace. The verb that calls it has checked the documents.
    pub(crate) fn find(&self, request: &RecallRequest, fallback: Fallback) -> Done<Vec<Hit>> {
        check_range(&request.filter)?;
        let limit = request.limit.min(MAX_HITS);
        if limit == 0 {
            return Ok(Vec::new());
        }
        // Factors reorder what the words found, so more is fetched than asked for.
        let fetch = (limit * 2).max(20);
        let mut candidates = self.by_words(request, fetch)?;
        if candidates.is_empty() && fallback == Fallback::Letters {
            candidates = self.candidates.contains(&needles(&request.query), &request.filter, fetch)?;
        }
        let mut hits = rank(candidates, self.kernel.now, self.kernel.settings.ranking);
        hits.truncate(limit);
        Ok(hits)
    }

    fn by_words(&self, request: &RecallRequest, fetch: usize) -> Done<Vec<Candidate>> {
        let terms = Terms::of_query(&request.query);
        let search = |terms: Terms| -> Done<Vec<Candidate>> {
            if terms.is_empty() {
                return Ok(Vec::new());
            }
            Ok(self.candidates.search(&Search { terms, filter: request.filter.clone(), limit: fetch })?)
        };
        let found = search(terms.clone())?;
        // What was said is evidence: there, a weak trace is better than none, behind everything that fits better.
        if !request.filter.wants(Kind::Turn) || found.len() >= request.limit {
            return Ok(found);
        }
        let traces = search(terms.stopped())?;
        Ok(with_traces(found, traces))
    }

    /// The newest recalls first, from the log.
    pub fn log(&self, limit: usize) -> Done<Vec<RecallRecord>> {
        Ok(self.recalls.recalls(None, limit)?)
    }
}

pub(crate) fn check_range(filter: &Filter) -> Done<()> {
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
