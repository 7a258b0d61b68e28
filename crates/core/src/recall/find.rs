//! Finding memories by plain text: candidates by words, else by letters; then ranked.

use crate::documents::DocumentService;
use crate::error::{Done, EngineError};
use crate::kernel::Kernel;
use crate::model::{EntryId, Kind};
use crate::ports::{self, Search};
use crate::recall::{
    AskedBy, Features, Filter, Hit, Pool, Question, Recall, RecallLog, RecallRecord, RecallRequest, Terms, measured, rank,
};

/// More than this is a listing, not a recall.
const MAX_HITS: usize = 1000;

/// How many candidates of each kind are weighed.
const POOL: usize = 200;

/// How many literal pieces of a query are looked for when its words find nothing.
const MAX_NEEDLES: usize = 8;

/// Longer pieces stand in no memory that anybody looks for by its letters.
const LONGEST_NEEDLE: usize = 1000;

/// The features of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Which.
    pub id: EntryId,
    /// Its features for the whole question.
    pub features: Features,
    /// Whether an assistant takes part in its conversation.
    pub with_assistant: bool,
}

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
        let question = Question::of(&request.query, &self.kernel.local_now());
        let pool = self.pool(&question, request)?;
        let mut hits = rank(&question, &pool, &request.filter, self.kernel.now, self.kernel.settings.ranking);
        if hits.is_empty() && fallback == Fallback::Letters {
            hits = self.by_letters(request, limit)?;
        }
        hits.truncate(limit);
        Ok(hits)
    }

    /// What may be hits, unranked.
    pub(crate) fn pool(&self, question: &Question, request: &RecallRequest) -> Done<Pool> {
        let search = |terms: Vec<String>| -> Done<Pool> {
            let (filter, limit) = (request.filter.clone(), POOL.max(request.limit));
            Ok(self.candidates.search(&Search { terms, also: Vec::new(), filter, limit })?)
        };
        let pool = if question.is_empty() { Pool::default() } else { search(question.terms())? };
        // What was said is evidence: there, a weak trace is better than none, behind everything that fits better.
        if !request.filter.wants(Kind::Turn) || pool.candidates.len() >= request.limit {
            return Ok(pool);
        }
        let stopped = Terms::of_query(&request.query).stopped();
        if stopped.is_empty() {
            return Ok(pool);
        }
        let mut terms = question.terms();
        terms.extend(stopped.as_slice().iter().cloned());
        search(terms)
    }

    /// What the formula sees of every candidate for a question: what its weights are fitted to.
    pub fn measure(&self, request: &RecallRequest) -> Done<Vec<Measured>> {
        let question = Question::of(&request.query, &self.kernel.local_now());
        let pool = self.pool(&question, request)?;
        let measured = measured(&question, &pool, self.kernel.now);
        let named = pool.candidates.into_iter().zip(measured);
        Ok(named
            .map(|(candidate, (features, with_assistant))| Measured {
                id: candidate.memory.entry.id,
                features,
                with_assistant,
            })
            .collect())
    }

    /// What contains the query, or pieces of it, letter by letter.
    fn by_letters(&self, request: &RecallRequest, limit: usize) -> Done<Vec<Hit>> {
        let needles = needles(&request.query);
        let found = self.candidates.contains(&needles, &request.filter, limit)?;
        Ok(found.into_iter().map(|candidate| Hit::by_letters(candidate, &needles)).collect())
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

/// The literal pieces to look for: the query as it is, then its longer words.
fn needles(query: &str) -> Vec<String> {
    let query = query.trim();
    let mut needles = vec![query.to_owned()];
    needles.extend(query.split_whitespace().filter(|word| word.chars().count() > 2).map(str::to_owned));
    needles.retain(|needle| !needle.is_empty() && needle.len() <= LONGEST_NEEDLE);
    needles.truncate(MAX_NEEDLES);
    needles
}
