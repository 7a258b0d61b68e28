//! The one ranking formula, and its breakdown.
//!
//! ```text
//! score  = 1 / (1 + e^-points)                  0 … 1: how surely this fits
//! points = base + Σ weight × feature            see `features` for their meaning, `weights` for the numbers
//! order  = points + Σ weight × feature          of those that compare candidates with each other
//! ```
//!
//! A message of several sentences is several questions: a memory has the score of the one that it fits best; a sentence
//! counts less than the whole, and earlier ones less than later ones. A correction stands before whatever else is on its subject: what shares three
//! of ten words with it. With `ranking = "bm25"` the words of the text itself decide alone.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::Kind;

use super::features::{Feature, Features, Read, Setting, updated_at};
use super::pool::{Candidate, FoundBy, MeaningBy, Pool};
use super::question::Question;
use super::request::Hit;
use super::similar::{distinct_words, overlap};
use super::sketch::is_correction;
use super::weights::{self, Weights};

/// What shares this much of its words with a correction is on its subject.
const SAME_SUBJECT: f64 = 0.3;
/// The share of the question's words that is all of them, but for rounding.
const ALL_WORDS: f32 = 0.999;
/// By how many points a correction stands before what it outranks.
const JUST_BEFORE: f64 = 0.001;

/// The label of what was corrected.
pub const CORRECTION_TAG: &str = "correction";

/// How candidates are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ranking {
    /// The whole formula.
    #[default]
    Fused,
    /// The words of the text alone.
    Bm25,
}

/// What one feature adds to a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Contribution {
    /// The feature's name; `base` is what every candidate has.
    pub name: String,
    /// Its value, mostly between 0 and 1.
    pub value: f64,
    /// Its value times its weight.
    pub points: f64,
}

/// Why a hit stands where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Why {
    /// How it was found.
    pub found_by: FoundBy,
    /// What made its score, the weightiest first.
    #[serde(default)]
    pub features: Vec<Contribution>,
    /// What places it among the other hits beyond its score: words that few of them have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Contribution>,
}

impl Why {
    /// Found without being weighed.
    pub fn only(found_by: FoundBy) -> Self {
        Self { found_by, features: Vec::new(), order: Vec::new() }
    }

    /// The points of the score.
    pub fn points(&self) -> f64 {
        self.features.iter().map(|feature| feature.points).sum()
    }

    /// The points by which hits are ordered.
    pub fn order_points(&self) -> f64 {
        self.points() + self.order.iter().map(|feature| feature.points).sum::<f64>()
    }

    /// What the points make: how surely it fits.
    pub fn score(&self) -> f64 {
        1.0 / (1.0 + (-self.points()).exp())
    }

    fn of(found_by: FoundBy, features: &Features, weights: &Weights, discount: f32) -> Self {
        let weighed = |(feature, weight): &(Feature, f32)| {
            let value = features.get(*feature);
            Some(contribution(feature.name(), value, value * weight)).filter(|feature| feature.points != 0.0)
        };
        let order = weights.order.iter().filter_map(weighed).collect();
        let mut features: Vec<Contribution> = weights.of.iter().filter_map(weighed).collect();
        features.sort_by(|a, b| b.points.abs().total_cmp(&a.points.abs()));
        features.push(contribution("base", 1.0, weights.base));
        if discount > 0.0 {
            features.push(contribution("one_sentence", 1.0, -discount));
        }
        Self { found_by, features, order }
    }
}

/// `own +2.10, cover +0.80, base -4.20`: what adds to the score and what takes from it.
impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = self.features.iter().map(|feature| format!("{} {:+.2}", feature.name, feature.points));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

fn contribution(name: &str, value: f32, points: f32) -> Contribution {
    // Rounded: nobody reads more, and the log keeps it.
    let rounded = |number: f32| (f64::from(number) * 1000.0).round() / 1000.0;
    Contribution { name: name.to_owned(), value: rounded(value), points: rounded(points) }
}

/// A candidate that was weighed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    /// Its place in the pool.
    pub(super) at: usize,
    pub(super) why: Why,
    /// What makes a short turn understandable: its place in the pool, and whether it comes before.
    pub(super) beside: Option<(usize, bool)>,
}

/// Scores candidates and chooses the best, and every correction, which may stand before others. What the filter does not admit
/// counts as a neighbour only, and so does what `is_wanted` refuses.
pub(super) fn rank(
    question: &Question,
    pool: &Pool,
    (now, ranking): (Timestamp, Ranking),
    is_wanted: impl Fn(&Candidate) -> bool,
    limit: usize,
) -> Vec<Ranked> {
    let read = Read::new(question, pool, now);
    let mut best: Vec<Option<(f32, Features, f32)>> = vec![None; pool.candidates.len()];
    for part in &question.parts {
        for (at, features) in read.features(part).into_iter().enumerate() {
            let points = weights_for(&read, at, ranking, &features).points(&features) - part.discount;
            if best[at].is_none_or(|(known, ..)| points > known) {
                best[at] = Some((points, features, part.discount));
            }
        }
    }
    let is_hit = |candidate: &Candidate| candidate.is_admitted && is_wanted(candidate);
    let hits = best.iter().enumerate().filter(|(at, _)| is_hit(&pool.candidates[*at]));
    let points = hits.filter_map(|(at, best)| best.as_ref().map(|(points, ..)| (at, *points)));
    let chosen = chosen(pool, points.collect(), limit);
    let ranked = |at: usize| {
        let (_, features, discount) = best[at]?;
        let weights = weights_for(&read, at, ranking, &features);
        let why = Why::of(pool.candidates[at].found_by, &features, weights, discount);
        Some(Ranked { at, why, beside: read.beside(at) })
    };
    chosen.into_iter().filter_map(ranked).collect()
}

/// The places of the best, and of corrections.
fn chosen(pool: &Pool, mut points: Vec<(usize, f32)>, limit: usize) -> Vec<usize> {
    let place = |at: usize| {
        let candidate = &pool.candidates[at];
        let updated_at = updated_at(candidate);
        let by_time = if candidate.traits.kind == Kind::Turn { (1, updated_at) } else { (0, -updated_at) };
        (by_time, candidate.mark)
    };
    let order = |(a, of_a): &(usize, f32), (b, of_b): &(usize, f32)| {
        of_b.total_cmp(of_a).then_with(|| place(*a).cmp(&place(*b)))
    };
    if limit > 0 && limit < points.len() {
        points.select_nth_unstable_by(limit - 1, order);
    }
    let is_chosen = |(n, (at, _)): &(usize, &(usize, f32))| *n < limit || pool.candidates[*at].sketch.is_correction();
    points.iter().enumerate().filter(is_chosen).map(|(_, (at, _))| *at).collect()
}

/// Puts hits in order, best first, corrections before what they correct; the order never depends on chance.
pub(super) fn order(hits: &mut Vec<Hit>, ranking: Ranking, limit: usize) {
    if ranking == Ranking::Fused {
        lift_corrections(hits);
    }
    sort(hits);
    hits.truncate(limit);
}

/// The features of every candidate for the whole question, in the order of the pool: what weights are fitted to.
pub(super) fn measured(question: &Question, pool: &Pool, now: Timestamp) -> Vec<(Features, bool)> {
    let read = Read::new(question, pool, now);
    let Some(whole) = question.parts.first() else { return Vec::new() };
    read.features(whole).into_iter().enumerate().map(|(at, features)| (features, read.is_with_assistant(at))).collect()
}

/// Best first. Of equals, memories come first, the newest before others; then what was said, in the order of the conversation.
pub(crate) fn sort(hits: &mut [Hit]) {
    let place = |hit: &Hit| {
        let entry = &hit.memory.entry;
        let millis = entry.updated_at.as_millisecond();
        if entry.kind == Kind::Turn { (1, millis) } else { (0, -millis) }
    };
    hits.sort_by(|a, b| {
        let by_points = b.why.order_points().total_cmp(&a.why.order_points());
        by_points.then_with(|| place(a).cmp(&place(b))).then_with(|| a.memory.entry.id.cmp(&b.memory.entry.id))
    });
}

/// Vectors only add: a text that has every word of the question is worth at least what it is worth by its words alone.
fn weights_for(read: &Read<'_>, at: usize, ranking: Ranking, features: &Features) -> &'static Weights {
    if ranking == Ranking::Bm25 {
        return &weights::BM25;
    }
    let setting = read.setting(at);
    let by_words = || weights_of(setting, None);
    let Some(meaning) = read.meaning_by(at) else { return by_words() };
    let with_meaning = weights_of(setting, Some(meaning));
    let has_every_word = features.get(Feature::Cover) >= ALL_WORDS;
    if has_every_word && by_words().points(features) > with_meaning.points(features) {
        return by_words();
    }
    with_meaning
}

fn weights_of(setting: Setting, meaning: Option<MeaningBy>) -> &'static Weights {
    match (setting, meaning) {
        (Setting::Alone, None) => &weights::ALONE,
        (Setting::Alone, Some(MeaningBy::Builtin)) => &weights::ALONE_WITH_MEANING,
        (Setting::Alone, Some(MeaningBy::Chosen)) => &weights::ALONE_WITH_CHOSEN_MODEL,
        (Setting::People, None) => &weights::PEOPLE,
        (Setting::People, Some(MeaningBy::Builtin)) => &weights::PEOPLE_WITH_MEANING,
        (Setting::People, Some(MeaningBy::Chosen)) => &weights::PEOPLE_WITH_CHOSEN_MODEL,
        (Setting::Assistant, None) => &weights::ASSISTANT,
        (Setting::Assistant, Some(MeaningBy::Builtin)) => &weights::ASSISTANT_WITH_MEANING,
        (Setting::Assistant, Some(MeaningBy::Chosen)) => &weights::ASSISTANT_WITH_CHOSEN_MODEL,
    }
}

/// Lifts every correction before whatever else is on its subject.
fn lift_corrections(hits: &mut [Hit]) {
    let words: Vec<Vec<String>> = match hits.iter().any(|hit| is_correction(&hit.memory.entry)) {
        true => hits.iter().map(|hit| distinct_words(&hit.memory.entry.content)).collect(),
        false => return,
    };
    for at in (0..hits.len()).filter(|at| is_correction(&hits[*at].memory.entry)).collect::<Vec<_>>() {
        let rivals = (0..hits.len()).filter(|other| !is_correction(&hits[*other].memory.entry));
        let on_subject = rivals.filter(|other| overlap(&words[at], &words[*other]) >= SAME_SUBJECT);
        let best = on_subject.map(|other| hits[other].why.order_points()).fold(f64::NEG_INFINITY, f64::max);
        let hit = &mut hits[at];
        let missing = best + JUST_BEFORE - hit.why.order_points();
        if missing > 0.0 {
            let name = "before_what_it_corrects".to_owned();
            hit.why.features.push(Contribution { name, value: 1.0, points: missing });
            hit.score = hit.why.score();
        }
    }
}

#[cfg(test)]
mod tests;
