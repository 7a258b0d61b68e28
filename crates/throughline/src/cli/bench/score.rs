//! Scores: what share of the evidence stands among the first few.

use std::collections::HashSet;

use serde::Serialize;

/// Averages over all questions that have an answer.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Scores {
    pub(super) questions: usize,
    #[serde(rename = "recall@5")]
    pub(super) recall_5: f64,
    #[serde(rename = "recall@10")]
    pub(super) recall_10: f64,
    #[serde(rename = "recall@20")]
    pub(super) recall_20: f64,
    #[serde(rename = "hit@10")]
    pub(super) hit_10: f64,
    #[serde(rename = "mrr@10")]
    pub(super) mrr_10: f64,
}

impl Scores {
    /// Scores ranked ids against the gold of each question; a question without gold is skipped.
    pub(super) fn of<'a>(answers: impl Iterator<Item = (&'a [String], &'a [String])>) -> Self {
        let mut sum = Self::default();
        for (ranked, gold) in answers.filter(|(_, gold)| !gold.is_empty()) {
            let gold: HashSet<&String> = gold.iter().collect();
            let found = |k: usize| ranked.iter().take(k).filter(|id| gold.contains(id)).count() as f64;
            let share = |k: usize| found(k) / gold.len() as f64;
            sum.questions += 1;
            sum.recall_5 += share(5);
            sum.recall_10 += share(10);
            sum.recall_20 += share(20);
            sum.hit_10 += f64::from(found(10) > 0.0);
            let first = ranked.iter().take(10).position(|id| gold.contains(id));
            sum.mrr_10 += first.map_or(0.0, |at| 1.0 / (at + 1) as f64);
        }
        let n = sum.questions.max(1) as f64;
        Self {
            recall_5: sum.recall_5 / n,
            recall_10: sum.recall_10 / n,
            recall_20: sum.recall_20 / n,
            hit_10: sum.hit_10 / n,
            mrr_10: sum.mrr_10 / n,
            ..sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_evidence_among_the_first_few() {
        let ids = |text: &str| text.split(' ').filter(|id| !id.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let answers = [(ids("x a y b"), ids("a b")), (ids("z"), ids("a")), (ids("a"), ids(""))];
        let scores = Scores::of(answers.iter().map(|(ranked, gold)| (ranked.as_slice(), gold.as_slice())));
        assert_eq!((scores.questions, scores.recall_10, scores.hit_10, scores.mrr_10), (2, 0.5, 0.5, 0.25));
    }
}
