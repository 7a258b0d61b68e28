//! Averages over questions, and how they are shown.

use std::collections::BTreeMap;

use serde::Serialize;

use super::given::{Given, Shown, Wanted};
use crate::cli::bench::dataset::Doc;
use crate::cli::bench::percentile;

/// One question that was asked: a line of `--out`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Asked {
    pub(super) query_id: String,
    pub(super) given_ids: Vec<String>,
    pub(super) whole: f64,
    pub(super) part: f64,
    pub(super) tokens: usize,
    pub(super) ms: f64,
    #[serde(skip)]
    pub(super) is_silent: bool,
    #[serde(skip)]
    pub(super) category: Option<String>,
}

/// The turns of a corpus, prepared for looking for them in many answers.
pub(super) struct Turns(Vec<(String, Wanted)>);

impl Turns {
    pub(super) fn of(docs: &[&Doc]) -> Self {
        Self(docs.iter().map(|doc| (doc.id.clone(), Wanted::new(&doc.text))).collect())
    }

    /// Scores what was given: the evidence in opening and block together, everything else in the block alone.
    pub(super) fn score(&self, query_id: &str, gold: &[String], given: &Given) -> Asked {
        let block = Shown::new(&given.block);
        let both = Shown::new(&format!("{}\n{}", given.opening, given.block));
        let wanted: Vec<&Wanted> =
            self.0.iter().filter(|(id, _)| gold.contains(id)).map(|(_, wanted)| wanted).collect();
        let share = |found: usize| if gold.is_empty() { 0.0 } else { found as f64 / gold.len() as f64 };
        let given_ids = self.0.iter().filter(|(_, wanted)| block.has(wanted)).map(|(id, _)| id.clone());
        Asked {
            query_id: query_id.to_owned(),
            given_ids: given_ids.collect(),
            whole: share(wanted.iter().filter(|wanted| both.has(wanted)).count()),
            part: share(wanted.iter().filter(|wanted| both.has_part(wanted)).count()),
            tokens: given.tokens(),
            ms: given.ms,
            is_silent: given.is_silent(),
            category: None,
        }
    }
}

/// Averages over questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Scores {
    pub(super) questions: usize,
    /// The share of the evidence that stands whole in what is given.
    pub(super) whole: f64,
    /// The same, in part.
    pub(super) part: f64,
    /// Mean size of the block.
    pub(super) tokens: f64,
    /// The share of questions with nothing given.
    pub(super) silent: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

impl Scores {
    pub(super) fn of<'a>(asked: impl IntoIterator<Item = &'a Asked>) -> Self {
        let asked: Vec<&Asked> = asked.into_iter().collect();
        let mean =
            |of: &dyn Fn(&Asked) -> f64| asked.iter().map(|one| of(one)).sum::<f64>() / asked.len().max(1) as f64;
        let mut times: Vec<f64> = asked.iter().map(|one| one.ms).collect();
        times.sort_by(f64::total_cmp);
        Self {
            questions: asked.len(),
            whole: mean(&|one| one.whole),
            part: mean(&|one| one.part),
            tokens: mean(&|one| one.tokens as f64),
            silent: mean(&|one| f64::from(u8::from(one.is_silent))),
            p50_ms: percentile(&times, 0.5),
            p99_ms: percentile(&times, 0.99),
        }
    }

    /// The scores of each category, where the questions have any.
    pub(super) fn by_category(asked: &[Asked]) -> BTreeMap<String, Self> {
        let mut groups: BTreeMap<String, Vec<&Asked>> = BTreeMap::new();
        for one in asked {
            if let Some(category) = &one.category {
                groups.entry(category.clone()).or_default().push(one);
            }
        }
        groups.into_iter().map(|(category, asked)| (category, Self::of(asked))).collect()
    }

    /// A row of the table. Foreign questions have no evidence to score.
    pub(super) fn row(&self, name: &str, has_evidence: bool) -> Vec<String> {
        let share = |value: f64| if has_evidence { format!("{value:.3}") } else { "–".to_owned() };
        vec![
            name.to_owned(),
            self.questions.to_string(),
            share(self.whole),
            share(self.part),
            format!("{:.1}", self.tokens),
            format!("{:.3}", self.silent),
            format!("{:.2}", self.p50_ms),
            format!("{:.2}", self.p99_ms),
        ]
    }
}

/// The headings of the table.
pub(super) const HEADINGS: [&str; 8] = ["asked", "questions", "whole", "part", "tokens", "silent", "p50 ms", "p99 ms"];

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(id: &str, text: &str) -> Doc {
        let line = serde_json::json!({ "id": id, "corpus": "c", "text": text, "session_id": "s" });
        serde_json::from_value(line).unwrap()
    }

    #[test]
    fn evidence_is_looked_for_in_both_and_ids_in_the_block_alone() {
        let docs = [doc("a", "Ada lives in Porto"), doc("b", "Ada has a red bicycle from Lisbon"), doc("c", "No.")];
        let turns = Turns::of(&docs.iter().collect::<Vec<_>>());
        let gold = ["a".to_owned(), "b".to_owned()];
        let opening = "- Ada has a bicycle from Lisbon".to_owned();
        let given = Given { opening, block: "- [x] Ada lives in Porto".to_owned(), ms: 2.0 };
        let asked = turns.score("q", &gold, &given);
        assert_eq!((asked.given_ids, asked.whole, asked.part), (vec!["a".to_owned()], 0.5, 1.0));
        assert!(asked.tokens > 0 && !asked.is_silent);
        // Evidence that the data does not have cannot be given.
        assert_eq!(turns.score("q", &["z".to_owned()], &given).whole, 0.0);
    }

    #[test]
    fn averages_are_over_questions() {
        let one = |whole: f64, tokens: usize, category: &str| Asked {
            query_id: String::new(),
            given_ids: Vec::new(),
            whole,
            part: whole,
            tokens,
            ms: 1.0,
            is_silent: tokens == 0,
            category: Some(category.to_owned()),
        };
        let asked = [one(1.0, 10, "x"), one(0.5, 0, "y")];
        let scores = Scores::of(&asked);
        assert_eq!((scores.questions, scores.whole, scores.tokens, scores.silent), (2, 0.75, 5.0, 0.5));
        assert_eq!(Scores::by_category(&asked)["y"].whole, 0.5);
        assert_eq!(Scores::of(&[]), Scores::default());
    }
}
