//! Which questions are asked, and over which corpus each.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::cli::bench::dataset::{Dataset, Query};
use crate::synthetic::Dice;

/// A question to ask over a corpus.
pub(super) struct Question<'a> {
    pub(super) query: &'a Query,
    /// "Now" for it; nothing means the end of the data.
    pub(super) at: Option<Timestamp>,
    /// Whether nothing in the corpus can answer it.
    pub(super) is_foreign: bool,
}

/// The questions over one corpus.
pub(super) struct Corpus<'a> {
    pub(super) name: &'a str,
    pub(super) questions: Vec<Question<'a>>,
}

/// How many questions are asked, and which choice of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) size: Option<usize>,
    pub(super) seed: u64,
}

/// The questions to ask, by corpus, in the order of the data. A question without evidence is left out, since nothing can be
/// scored. Foreign ones are dealt out to the corpora in turn.
pub(super) fn plan<'a>(data: &'a Dataset, foreign: &'a [Query], sample: Sample) -> Vec<Corpus<'a>> {
    let answerable: Vec<&Query> = data.queries.iter().filter(|query| !query.gold_ids.is_empty()).collect();
    let mut corpora: Vec<Corpus<'a>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for query in chosen(&answerable, sample) {
        let at = *known.entry(&query.corpus).or_insert_with(|| {
            corpora.push(Corpus { name: &query.corpus, questions: Vec::new() });
            corpora.len() - 1
        });
        corpora[at].questions.push(Question { query, at: query.at(), is_foreign: false });
    }
    if corpora.is_empty() {
        return corpora;
    }
    let foreign: Vec<&Query> = foreign.iter().collect();
    for (nth, query) in chosen(&foreign, sample).into_iter().enumerate() {
        let at = nth % corpora.len();
        corpora[at].questions.push(Question { query, at: None, is_foreign: true });
    }
    corpora
}

/// As many as the sample asks for, one from each corpus in turn; the same for the same seed, in the order of the data.
fn chosen<'a>(queries: &[&'a Query], sample: Sample) -> Vec<&'a Query> {
    let Some(size) = sample.size.filter(|size| *size < queries.len()) else { return queries.to_vec() };
    let mut by_corpus: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, query) in queries.iter().enumerate() {
        by_corpus.entry(&query.corpus).or_default().push(at);
    }
    let mut dice = Dice::new(sample.seed);
    let mut piles: Vec<Vec<usize>> = by_corpus.into_values().collect();
    piles.iter_mut().for_each(|pile| shuffle(pile, &mut dice));
    shuffle(&mut piles, &mut dice);
    let mut taken = Vec::with_capacity(size);
    while taken.len() < size {
        let round: Vec<usize> = piles.iter_mut().filter_map(Vec::pop).collect();
        taken.extend(round.into_iter().take(size - taken.len()));
    }
    taken.sort_unstable();
    taken.into_iter().map(|at| queries[at]).collect()
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], dice: &mut Dice) {
    for at in (1..items.len()).rev() {
        items.swap(at, dice.below(at as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries() -> Vec<Query> {
        let query = |nth: usize| {
            let corpus = ["a", "b", "c"][nth % 3];
            let line = format!(r#"{{"id":"{nth}","corpus":"{corpus}","query":"?","gold_ids":["x"]}}"#);
            serde_json::from_str(&line).unwrap()
        };
        (0..30).map(query).collect()
    }

    fn ids(size: usize, seed: u64) -> Vec<(String, String)> {
        let queries = queries();
        let all: Vec<&Query> = queries.iter().collect();
        let chosen = chosen(&all, Sample { size: Some(size), seed });
        chosen.into_iter().map(|query| (query.corpus.clone(), query.id.clone())).collect()
    }

    #[test]
    fn a_sample_is_spread_over_the_corpora_and_repeats() {
        let sample = ids(6, 1);
        assert_eq!(sample.len(), 6);
        for corpus in ["a", "b", "c"] {
            assert_eq!(sample.iter().filter(|(of, _)| of == corpus).count(), 2, "{corpus}");
        }
        assert_eq!(sample, ids(6, 1));
        assert_ne!(sample, ids(6, 2));
        assert_eq!(ids(2, 1).len(), 2);
        assert_eq!(ids(99, 1).len(), 30);
    }
}
