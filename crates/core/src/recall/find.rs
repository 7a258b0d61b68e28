//! Finding memories by plain text: candidates by words, else by letters; then ranked.

use crate::documents::DocumentService;
use crate::embedding::EmbeddingService;
use crate::error::{Done, EngineError};
use crate::kernel::Kernel;
use crate::lineage::LineageService;
use crate::model::{EntryId, Kind, Layer};
use crate::ports::{self, MemorySet, Search, Upcoming};
use crate::recall::fold::{fold, is_part_of_summary};
use crate::recall::ranking::{Ranked, measured, order, rank};
use crate::recall::{
    AskedBy, Beside, Candidate, CandidateMark, Features, Filter, FoundBy, Hit, MeaningBy, Pool, Question, Recall,
    RecallLog, RecallRecord, RecallRequest, Retrieved, Terms,
};

/// More than this is a listing, not a recall.
const MAX_HITS: usize = 1000;

/// How many candidates are found by their words: of turns, and of each other kind.
#[derive(Clone, Copy)]
struct Most {
    each: usize,
    turns: usize,
}

/// How many candidates are weighed. Most of the first ten are memories, and what a memory adds to the work is little: turns come
/// with their neighbours (docs/retrieval.md).
const POOL: Most = Most { each: 240, turns: 120 };

/// The same where a statement is compared with what is known: what says the same shares most of its words.
const ALIKE: Most = Most { each: 40, turns: 40 };

/// How surely something must fit that no word brought.
const LEAST: f64 = 0.05;

/// How many candidates are found by each time that a question names.
const OF_TIME: usize = 60;

/// How many candidates are found by meaning, for each sentence that is looked for.
const NEAREST: usize = 60;

/// So many standard deviations above the mean count as 1.
const MUCH_ABOVE: f64 = 4.0;

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

/// A question as vectors, and what is near to it.
struct Meaning {
    set: MemorySet,
    queries: Vec<Vec<f32>>,
    nearest: Vec<EntryId>,
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
    pub(crate) embedding: EmbeddingService<'e>,
    pub(crate) vectors: &'e dyn ports::MemoryVectors,
    pub(crate) lineage: LineageService<'e>,
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
        let _reading = self.kernel.reading(Upcoming { searches: true, ..Upcoming::default() });
        self.documents.notice_all_or_warn();
        self.search(request)
    }

    /// What a search answers: one hit for each statement. What only its meaning or its place brought must fit a little.
    pub(crate) fn search(&self, request: &RecallRequest) -> Done<Vec<Hit>> {
        let all = RecallRequest { limit: request.limit.saturating_mul(2).min(MAX_HITS), ..request.clone() };
        let mut hits = self.find(&all, Fallback::Letters)?;
        let by_word = |hit: &Hit| !matches!(hit.why.found_by, FoundBy::Meaning | FoundBy::Beside);
        if request.filter.kinds != [Kind::Turn] {
            hits.retain(|hit| by_word(hit) || hit.score >= LEAST);
        }
        // Whoever asks for what was said is shown all of it.
        let asks_for_said = request.filter.kinds == [Kind::Turn] || request.filter.layers == [Layer::Archive];
        let hits = if asks_for_said { self.lineage.marked(hits)? } else { self.lineage.current(hits, request)? };
        let mut hits = fold(hits);
        hits.truncate(request.limit);
        Ok(hits)
    }

    /// Finds without a trace. The verb that calls it has checked the documents.
    pub(crate) fn find(&self, request: &RecallRequest, fallback: Fallback) -> Done<Vec<Hit>> {
        check_range(&request.filter)?;
        let limit = request.limit.min(MAX_HITS);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let question = Question::of(&request.query, &self.kernel.local_now());
        let meaning = self.meaning(&question, &request.filter);
        let pool = self.pool(&question, request, meaning, POOL)?;
        if pool.candidates.iter().all(|candidate| !candidate.is_admitted) && fallback == Fallback::Letters {
            return self.by_letters(request, limit);
        }
        self.ranked(&question, &pool, request)
    }

    /// What may say the same as a statement.
    pub(crate) fn find_alike(&self, request: &RecallRequest) -> Done<Vec<Hit>> {
        let question = Question::of(&request.query, &self.kernel.local_now());
        let meaning = self.meaning(&question, &request.filter);
        let pool = self.pool(&question, request, meaning, ALIKE)?;
        self.ranked(&question, &pool, request)
    }

    /// What has any of these words, which have no meaning together: nothing is embedded.
    pub(crate) fn find_words(&self, request: &RecallRequest) -> Done<Vec<Hit>> {
        let question = Question::of(&request.query, &self.kernel.local_now());
        let pool = self.pool(&question, request, None, ALIKE)?;
        self.ranked(&question, &pool, request)
    }

    /// The best of a pool, in order.
    fn ranked(&self, question: &Question, pool: &Pool, request: &RecallRequest) -> Done<Vec<Hit>> {
        let (now, ranking) = (self.kernel.now, self.kernel.settings.ranking);
        // Parts of a summary are found by those who ask for the archive.
        let takes_parts = !request.filter.layers.is_empty();
        let is_wanted = |candidate: &Candidate| takes_parts || !candidate.sketch.is_part_of_summary();
        let limit = request.limit.min(MAX_HITS);
        let mut hits = self.hits(pool, rank(question, pool, (now, ranking), is_wanted, limit))?;
        order(&mut hits, ranking, limit);
        Ok(hits)
    }

    /// Reads what was chosen, with what stands beside it. What is gone meanwhile is left out.
    fn hits(&self, pool: &Pool, ranked: Vec<Ranked>) -> Done<Vec<Hit>> {
        let mark = |at: usize| pool.candidates[at].mark;
        let beside = |ranked: &Ranked| ranked.beside.map(|(at, _)| mark(at));
        let marks: Vec<CandidateMark> =
            ranked.iter().flat_map(|ranked| std::iter::once(mark(ranked.at)).chain(beside(ranked))).collect();
        let mut fetched = self.candidates.fetch(&marks)?.into_iter();
        let mut hits = Vec::with_capacity(ranked.len());
        for ranked in ranked {
            let own = fetched.next().flatten();
            let beside = ranked.beside.and_then(|(_, is_before)| Some((fetched.next().flatten()?, is_before)));
            if let Some(Retrieved { memory, speaker }) = own {
                let beside = beside.map(|(beside, is_before)| Beside::of(beside, is_before));
                hits.push(Hit { speaker, beside, ..Hit::of(memory, ranked.why) });
            }
        }
        Ok(hits)
    }

    /// What may be hits, unranked: by words, `most` of them, and by meaning where there are vectors.
    fn pool(&self, question: &Question, request: &RecallRequest, meaning: Option<Meaning>, most: Most) -> Done<Pool> {
        let mut also = self.of_named_times(question, request)?;
        also.extend(meaning.iter().flat_map(|meaning| meaning.nearest.iter().cloned()));
        let search = |terms: Vec<String>| -> Done<Pool> {
            let (limit, turns) = (most.each.max(request.limit), most.turns.max(request.limit));
            Ok(self.candidates.search(&Search {
                terms,
                also: also.clone(),
                filter: request.filter.clone(),
                limit,
                turns,
            })?)
        };
        let mut pool = search(question.terms())?;
        // What was said is evidence: there, a weak trace is better than none, behind everything that fits better.
        let stopped = Terms::of_query(&request.query).stopped();
        let is_short = request.filter.kinds == [Kind::Turn] && pool.candidates.len() < request.limit;
        if is_short && !stopped.is_empty() {
            pool = search([question.terms(), stopped.as_slice().to_vec()].concat())?;
        }
        if let Some(meaning) = meaning {
            self.compare(&meaning, &mut pool);
        }
        Ok(pool)
    }

    /// What was said at the times that a question names, with or without its words.
    fn of_named_times(&self, question: &Question, request: &RecallRequest) -> Done<Vec<EntryId>> {
        let mut ids = Vec::new();
        let words = Terms::of_query(&request.query);
        let terms = [question.terms(), words.as_slice().to_vec(), words.clone().stopped().as_slice().to_vec()].concat();
        for time in &question.times {
            let filter = Filter {
                since: request.filter.since.max(Some(time.from)),
                until: request.filter.until.into_iter().chain([time.until]).min(),
                ..request.filter.clone()
            };
            if check_range(&filter).is_err() {
                continue;
            }
            let (terms, filter) = (terms.clone(), filter.clone());
            let search = Search { terms, also: Vec::new(), filter, limit: OF_TIME, turns: OF_TIME };
            let found = self.candidates.search(&search)?.candidates.into_iter().filter(|found| found.is_admitted);
            ids.extend(self.ids(&found.map(|found| found.mark).collect::<Vec<_>>())?);
        }
        Ok(ids)
    }

    /// What memories and turns say, as far as they are there.
    pub(crate) fn texts(&self, ids: &[EntryId]) -> Done<Vec<String>> {
        Ok(if ids.is_empty() { Vec::new() } else { self.candidates.texts(ids)? })
    }

    fn ids(&self, marks: &[CandidateMark]) -> Done<Vec<EntryId>> {
        let fetched = self.candidates.fetch(marks)?;
        Ok(fetched.into_iter().flatten().map(|found| found.memory.entry.id).collect())
    }

    /// The vectors of a question and what is nearest to them; nothing without vectors, or where they fail.
    fn meaning(&self, question: &Question, filter: &Filter) -> Option<Meaning> {
        let texts: Vec<&str> = question.texts.iter().map(String::as_str).collect();
        let (set, queries) = self.embedding.query_vectors(&texts)?;
        let mut nearest: Vec<EntryId> = Vec::new();
        for query in &queries {
            match self.vectors.nearest_memories(&set.id, query, filter, NEAREST) {
                Ok(found) => nearest.extend(found.into_iter().map(|(id, ..)| id)),
                Err(error) => tracing::warn!(%error, "vectors cannot be searched; going on by words"),
            }
        }
        nearest.sort_unstable();
        nearest.dedup();
        Some(Meaning { set, queries, nearest })
    }

    /// Notes how near each candidate is in meaning.
    fn compare(&self, meaning: &Meaning, pool: &mut Pool) {
        pool.meaning_by = if meaning.set.by.is_builtin() { MeaningBy::Builtin } else { MeaningBy::Chosen };
        let marks: Vec<CandidateMark> = pool.candidates.iter().map(|candidate| candidate.mark).collect();
        for query in &meaning.queries {
            let cosines = match self.vectors.cosines(&meaning.set.id, query, &marks) {
                Ok(cosines) => cosines,
                Err(error) => {
                    tracing::warn!(%error, "vectors cannot be compared; going on by words");
                    return;
                }
            };
            let baseline = &meaning.set.baseline;
            for (candidate, cosine) in pool.candidates.iter_mut().zip(cosines) {
                let above = cosine.map(|cosine| (baseline.above_mean(query, cosine) / MUCH_ABOVE).max(0.0) as f32);
                candidate.meaning = candidate.meaning.into_iter().chain(above).reduce(f32::max);
            }
        }
    }

    /// What the formula sees of every candidate for a question: what its weights are fitted to.
    pub fn measure(&self, request: &RecallRequest) -> Done<Vec<Measured>> {
        let question = Question::of(&request.query, &self.kernel.local_now());
        let pool = self.pool(&question, request, self.meaning(&question, &request.filter), POOL)?;
        let measured = measured(&question, &pool, self.kernel.now);
        let marks: Vec<CandidateMark> = pool.candidates.iter().map(|candidate| candidate.mark).collect();
        let named = self.candidates.fetch(&marks)?.into_iter().zip(measured);
        let measured = |(found, (features, with_assistant)): (Option<Retrieved>, _)| {
            found.map(|found| Measured { id: found.memory.entry.id, features, with_assistant })
        };
        Ok(named.filter_map(measured).collect())
    }

    /// What contains the query, or pieces of it, letter by letter.
    fn by_letters(&self, request: &RecallRequest, limit: usize) -> Done<Vec<Hit>> {
        let needles = needles(&request.query);
        let mut found = self.candidates.contains(&needles, &request.filter, limit)?;
        if request.filter.layers.is_empty() {
            found.retain(|found| !is_part_of_summary(&found.memory.entry));
        }
        Ok(found.into_iter().map(|found| Hit::by_letters(found, &needles)).collect())
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
