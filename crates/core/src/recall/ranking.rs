//! The one ranking formula, and its breakdown.
//!
//! ```text
//! score = bm25 × recency × trust × significance × correction
//! recency      = 1 + 0.15 × ½^(age / 30 days)      1.15 new … 1.00 old
//! trust        = 1.10 user, 1.00 agent, 0.90 system
//! significance = 0.90 + 0.20 × importance          0.90 … 1.10
//! correction   = 1.15 for what was corrected, and as much as it takes to stand before others on its subject
//! ```
//!
//! Mild on purpose: the words decide, the rest settles what the words leave open. Others are on the subject of a
//! correction if they share three of ten words with it. With `ranking = "bm25"` the other factors are 1.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{Memory, Source};

use super::request::Hit;
use super::similar::{distinct_words, overlap};

const RECENCY_GAIN: f64 = 0.15;
const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
const CORRECTION_GAIN: f64 = 1.15;
/// What shares this much of its words with a correction is on its subject.
const SAME_SUBJECT: f64 = 0.3;
/// By how much a correction stands before what it outranks.
const JUST_BEFORE: f64 = 1.001;

/// The label of what was corrected.
pub const CORRECTION_TAG: &str = "correction";

/// How candidates are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ranking {
    /// The whole formula.
    #[default]
    Fused,
    /// BM25 alone.
    Bm25,
}

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// By its words.
    Words,
    /// By a literal piece of text, because no word was found.
    Substring,
    /// By its date, because that is all that was asked.
    Date,
    /// By its meaning, where no word was found.
    Meaning,
}

/// Something that the index found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The memory.
    pub memory: Memory,
    /// Who said it, for a turn.
    pub speaker: Option<String>,
    /// How well the words fit; higher is better.
    pub bm25: f64,
    /// How it was found.
    pub found_by: FoundBy,
}

/// Why a hit stands where it stands: the factors of its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Why {
    /// How it was found.
    pub found_by: FoundBy,
    /// How well the words fit.
    pub bm25: f64,
    /// Newer is a little better.
    pub recency: f64,
    /// The person before the assistant before the program.
    pub trust: f64,
    /// What matters before what does not.
    pub significance: f64,
    /// What was corrected before what was not.
    #[serde(default = "one")]
    pub correction: f64,
}

fn one() -> f64 {
    1.0
}

impl Why {
    /// The product of the factors.
    pub fn score(&self) -> f64 {
        self.bm25 * self.recency * self.trust * self.significance * self.correction
    }
}

fn why(candidate: &Candidate, now: Timestamp, ranking: Ranking) -> Why {
    let (found_by, bm25) = (candidate.found_by, candidate.bm25);
    let entry = &candidate.memory.entry;
    match ranking {
        Ranking::Bm25 => Why { found_by, bm25, recency: 1.0, trust: 1.0, significance: 1.0, correction: 1.0 },
        Ranking::Fused => Why {
            found_by,
            bm25,
            recency: recency(entry.updated_at, now),
            trust: match entry.source {
                Source::User => 1.10,
                Source::Agent => 1.00,
                Source::System => 0.90,
            },
            significance: 0.90 + 0.20 * entry.importance.value(),
            correction: if is_correction(&candidate.memory) { CORRECTION_GAIN } else { 1.0 },
        },
    }
}

/// Whether it corrects something. An assistant's bare word for it is not enough: it must have replaced something.
fn is_correction(memory: &Memory) -> bool {
    let is_believed = memory.entry.source != Source::Agent || !memory.entry.supersedes.is_empty();
    is_believed && memory.entry.tags.iter().any(|tag| tag == CORRECTION_TAG)
}

/// Lifts every correction before whatever else is on its subject.
fn lift_corrections(hits: &mut [Hit]) {
    let words: Vec<Vec<String>> = match hits.iter().any(|hit| is_correction(&hit.memory)) {
        true => hits.iter().map(|hit| distinct_words(&hit.memory.entry.content)).collect(),
        false => return,
    };
    for at in (0..hits.len()).filter(|at| is_correction(&hits[*at].memory)).collect::<Vec<_>>() {
        let rivals = (0..hits.len()).filter(|other| !is_correction(&hits[*other].memory));
        let on_subject = rivals.filter(|other| overlap(&words[at], &words[*other]) >= SAME_SUBJECT);
        let best = on_subject.map(|other| hits[other].score).fold(0.0, f64::max);
        let hit = &mut hits[at];
        if best >= hit.score && hit.score > 0.0 {
            hit.why.correction *= best / hit.score * JUST_BEFORE;
            hit.score = hit.why.score();
        }
    }
}

fn recency(at: Timestamp, now: Timestamp) -> f64 {
    let age_days = (now.as_millisecond() - at.as_millisecond()).max(0) as f64 / 86_400_000.0;
    1.0 + RECENCY_GAIN * 0.5f64.powf(age_days / RECENCY_HALF_LIFE_DAYS)
}

/// Orders candidates by score; equal scores by date, then by id, so that the order never depends on chance.
pub fn rank(candidates: Vec<Candidate>, now: Timestamp, ranking: Ranking) -> Vec<Hit> {
    let mut hits: Vec<Hit> = candidates
        .into_iter()
        .map(|candidate| {
            let why = why(&candidate, now, ranking);
            Hit { score: why.score(), why, memory: candidate.memory, speaker: candidate.speaker }
        })
        .collect();
    if ranking == Ranking::Fused {
        lift_corrections(&mut hits);
    }
    hits.sort_by(|a, b| {
        let (x, y) = (&a.memory.entry, &b.memory.entry);
        b.score.total_cmp(&a.score).then(y.updated_at.cmp(&x.updated_at)).then_with(|| x.id.cmp(&y.id))
    });
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entry, Importance};

    fn candidate(source: Source, importance: f64, day: i64) -> Candidate {
        let at = Timestamp::from_second(day * 86_400).unwrap();
        let entry = Entry {
            source,
            importance: Importance::new(importance).unwrap(),
            created_at: at,
            updated_at: at,
            ..crate::model::sample_entry("x", "text")
        };
        Candidate { memory: Memory::new(entry, 0, None), speaker: None, bm25: 2.0, found_by: FoundBy::Words }
    }

    fn order(a: Candidate, b: Candidate, ranking: Ranking) -> f64 {
        let now = Timestamp::from_second(1000 * 86_400).unwrap();
        why(&a, now, ranking).score() - why(&b, now, ranking).score()
    }

    #[test]
    fn the_person_before_the_assistant_before_the_program() {
        let of = |source| candidate(source, 0.5, 900);
        assert!(order(of(Source::User), of(Source::Agent), Ranking::Fused) > 0.0);
        assert!(order(of(Source::Agent), of(Source::System), Ranking::Fused) > 0.0);
    }

    #[test]
    fn newer_and_weightier_come_first_but_only_mildly() {
        let old = || candidate(Source::User, 0.5, 1);
        assert!(order(candidate(Source::User, 0.5, 999), old(), Ranking::Fused) > 0.0);
        assert!(order(candidate(Source::User, 0.9, 1), old(), Ranking::Fused) > 0.0);
        let mut better_words = old();
        better_words.bm25 *= 1.5;
        assert!(order(better_words, candidate(Source::User, 1.0, 1000), Ranking::Fused) > 0.0);
    }

    #[test]
    fn a_correction_stands_before_all_on_its_subject_and_nothing_else() {
        let said = |id: &str, content: &str, bm25: f64, tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let entry = Entry { tags, ..crate::model::sample_entry(id, content) };
            Candidate { memory: Memory::new(entry, 0, None), speaker: None, bm25, found_by: FoundBy::Words }
        };
        let candidates = vec![
            said("old", "the deploy runs on friday at noon", 3.0, &[]),
            said("new", "the deploy runs on thursday", 1.0, &[CORRECTION_TAG]),
            said("other", "friday is the day of the release party", 2.5, &[]),
        ];
        let hits = rank(candidates.clone(), Timestamp::UNIX_EPOCH, Ranking::Fused);
        let order: Vec<&str> = hits.iter().map(|hit| hit.memory.entry.id.as_str()).collect();
        assert_eq!(order, ["new", "old", "other"]);
        assert!((hits[0].score - hits[0].why.score()).abs() < 1e-9, "the breakdown explains the score");
        let weak = vec![candidates[1].clone(), candidates[2].clone()];
        let hits = rank(weak, Timestamp::UNIX_EPOCH, Ranking::Fused);
        assert_eq!(hits[0].memory.entry.id.as_str(), "other", "on another subject the words decide");
    }

    #[test]
    fn plain_bm25_looks_at_nothing_else() {
        let difference = order(candidate(Source::User, 1.0, 1000), candidate(Source::System, 0.0, 1), Ranking::Bm25);
        assert_eq!(difference, 0.0);
    }
}
