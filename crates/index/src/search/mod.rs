//! Search: the best documents for some terms, over all segments and the tail, with one threshold.
//!
//! A segment is gone through in windows of 1,024 documents. The bounds of the blocks that reach into a window say
//! what its best document can score; a window that cannot reach the threshold is passed over. In the others, terms that
//! cannot lift a document over the threshold together are looked up only for documents that another term found. The
//! filter is asked last, about documents that score enough. What comes out is exact.

mod cursor;
mod gate;
mod top;
mod window;

use std::collections::HashMap;

use crate::error::IndexError;
use crate::score::{SCORE_UNIT, Statistics, TermScore};
use crate::segment::{Document, Entry, Segment};
use crate::store::SegmentReader;
use crate::tail::{Found, Tail};

use gate::Gate;
use top::Top;

/// Terms said more often than this count as said this often.
const MOST_TIMES: u32 = 16;

/// Which classes of documents may be found.
pub trait Admit {
    /// Asked once for each class of a segment at most.
    fn admits(&self, class: &[u8]) -> bool;
}

/// No document is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Everything;

impl Admit for Everything {
    fn admits(&self, _: &[u8]) -> bool {
        true
    }
}

/// What to look for.
#[derive(Clone, Copy)]
pub struct Query<'q> {
    /// Terms, any of which may be found; one that is said twice counts twice.
    pub terms: &'q [&'q str],
    /// How many hits at most.
    pub limit: usize,
    /// From this time on.
    pub since: Option<i64>,
    /// Before this time.
    pub until: Option<i64>,
    /// Expiring after this time.
    pub live_at: Option<i64>,
    /// Which classes.
    pub admit: &'q dyn Admit,
}

impl<'q> Query<'q> {
    /// A query without a filter.
    pub fn new(terms: &'q [&'q str], limit: usize) -> Self {
        Self { terms, limit, since: None, until: None, live_at: None, admit: &Everything }
    }

    /// Whether its filter lets a document through.
    pub fn admits(&self, document: &Document) -> bool {
        self.admits_times(document.time, document.expires) && self.admit.admits(&document.class)
    }

    /// Whether it lets a document of this time and expiry through, as far as those go.
    pub fn admits_times(&self, time: i64, expires: i64) -> bool {
        self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time < until)
            && self.live_at.is_none_or(|now| expires > now)
    }
}

/// A document that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// What the store calls it.
    pub number: i64,
    /// Its score in units of 1 / [`SCORE_UNIT`].
    pub units: u32,
}

impl Hit {
    /// Its score as BM25 has it.
    pub fn score(&self) -> f64 {
        f64::from(self.units) / SCORE_UNIT
    }
}

/// The best documents, best first; of equal ones the lower number.
pub fn search(store: &dyn SegmentReader, tail: &Tail<'_>, query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
    if query.limit == 0 || query.terms.is_empty() {
        return Ok(Vec::new());
    }
    let (terms, times) = distinct(query.terms);
    let looked_up = LookedUp::new(store, tail, &terms)?;
    let scores: Vec<TermScore> = looked_up
        .statistics
        .frequencies
        .iter()
        .zip(times)
        .map(|(frequency, times)| TermScore::new(&looked_up.statistics, *frequency, times))
        .collect();
    let mut top = Top::new(query.limit);
    for (nth, (segment, entries)) in looked_up.segments.iter().enumerate() {
        let mut gate = Gate::new(segment, tail, query)?;
        window::search(segment, entries, &scores, &mut gate, &mut top.of_segment(nth, segment.least))?;
    }
    for found in looked_up.tail.iter().filter(|found| found.is_admitted && !found.terms.is_empty()) {
        let score = |(term, count): &(usize, u32)| scores[*term].score(*count, found.length_code);
        top.offer(found.terms.iter().map(score).fold(0, u32::saturating_add), found.number);
    }
    Ok(top.into_hits())
}

/// The statistics that a search for these terms scores by.
pub fn statistics(store: &dyn SegmentReader, tail: &Tail<'_>, terms: &[&str]) -> Result<Statistics, IndexError> {
    let (distinct, _) = distinct(terms);
    let found = LookedUp::new(store, tail, &distinct)?.statistics;
    let of = |term: &&str| distinct.iter().position(|other| other == term).map_or(0, |nth| found.frequencies[nth]);
    Ok(Statistics { frequencies: terms.iter().map(of).collect(), ..found })
}

/// Each term once, and how often it is said.
fn distinct<'q>(terms: &[&'q str]) -> (Vec<&'q str>, Vec<u32>) {
    let (mut places, mut each, mut times) = (HashMap::new(), Vec::new(), Vec::<u32>::new());
    for term in terms {
        let place = *places.entry(*term).or_insert(each.len());
        if place == each.len() {
            each.push(*term);
            times.push(0);
        }
        times[place] = (times[place] + 1).min(MOST_TIMES);
    }
    (each, times)
}

/// Where the terms stand, everywhere.
struct LookedUp<'s> {
    segments: Vec<(Segment<'s>, Vec<Option<Entry>>)>,
    tail: Vec<Found>,
    statistics: Statistics,
}

impl<'s> LookedUp<'s> {
    fn new(store: &'s dyn SegmentReader, tail: &Tail<'_>, terms: &[&str]) -> Result<Self, IndexError> {
        let mut segments = Vec::new();
        let mut statistics = Statistics { frequencies: vec![0; terms.len()], ..Statistics::default() };
        let opened = store.list()?.into_iter().map(|id| Segment::open(store, id)).collect::<Result<Vec<_>, _>>()?;
        if store.is_far() {
            expect_terms(store, &opened, terms)?;
        }
        for segment in opened {
            let entries = terms.iter().map(|term| segment.find(term.as_bytes())).collect::<Result<Vec<_>, _>>()?;
            statistics.documents += u64::from(segment.documents);
            statistics.terms = statistics.terms.saturating_add(segment.terms);
            for (sum, entry) in statistics.frequencies.iter_mut().zip(&entries) {
                *sum += entry.as_ref().map_or(0, |entry| u64::from(entry.frequency));
            }
            segments.push((segment, entries));
        }
        if store.is_far() {
            expect_postings(store, &segments)?;
        }
        // Older documents first: of equal ones they win, so that later ones need not be looked at.
        segments.sort_by_key(|(segment, _)| segment.least);
        let tail = tail.find(terms);
        for found in &tail {
            statistics.documents += 1;
            statistics.terms = statistics.terms.saturating_add(u64::from(found.length));
            found.terms.iter().for_each(|(term, _)| statistics.frequencies[*term] += 1);
        }
        Ok(Self { segments, tail, statistics })
    }
}

/// Says that these terms are about to be looked up.
fn expect_terms(store: &dyn SegmentReader, segments: &[Segment<'_>], terms: &[&str]) -> Result<(), IndexError> {
    let mut expected = Vec::new();
    for (segment, term) in segments.iter().flat_map(|segment| terms.iter().map(move |term| (segment, term))) {
        segment.expected_of(term.as_bytes(), &mut expected)?;
    }
    store.expect(&expected)
}

/// Says that these lists are about to be read.
fn expect_postings(
    store: &dyn SegmentReader,
    segments: &[(Segment<'_>, Vec<Option<Entry>>)],
) -> Result<(), IndexError> {
    let each = || segments.iter().flat_map(|(segment, entries)| entries.iter().flatten().map(move |e| (segment, e)));
    let first: Vec<_> = each().filter_map(|(segment, entry)| segment.begins_with(entry)).collect();
    store.expect(&first)?;
    let mut blocks = Vec::new();
    for (segment, entry) in each() {
        blocks.extend(segment.blocks_of(entry)?);
    }
    store.expect(&blocks)
}
