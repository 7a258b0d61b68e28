//! The weights of the ranking formula. Written by `scripts/fit-weights`; the priors of memories are set by hand.

use super::features::{Feature, Features};

/// A weight for each feature that counts, and what every candidate has.
pub(super) struct Weights {
    pub(super) base: f32,
    pub(super) of: &'static [(Feature, f32)],
}

impl Weights {
    /// The points of a candidate.
    pub(super) fn points(&self, features: &Features) -> f32 {
        self.base + self.of.iter().map(|(feature, weight)| weight * features.get(*feature)).sum::<f32>()
    }
}

/// `ranking = "bm25"`.
pub(super) const BM25: Weights = Weights { base: -3.0, of: &[(Feature::Own, 4.0)] };

/// Conversations between people, and memories.
pub(super) const PEOPLE: Weights = Weights {
    base: -5.0,
    of: &[
        (Feature::Own, 3.8),
        (Feature::Previous, 0.3),
        (Feature::Next, 0.2),
        (Feature::Near, 0.7),
        (Feature::Session, 1.9),
        (Feature::SessionBest, 0.7),
        (Feature::Cover, 0.6),
        (Feature::CoverContext, 2.4),
        (Feature::Phrase, 1.0),
        (Feature::Speaker, 1.1),
        (Feature::Time, 6.0),
        (Feature::Answers, 2.6),
        (Feature::Question, -0.8),
        (Feature::Short, -3.9),
        (Feature::Recency, 0.15),
        (Feature::Trust, 0.2),
        (Feature::Significance, 0.2),
        (Feature::Correction, 0.15),
    ],
};
pub(super) const PEOPLE_WITH_MEANING: Weights = PEOPLE;
pub(super) const ASSISTANT: Weights = PEOPLE;
pub(super) const ASSISTANT_WITH_MEANING: Weights = PEOPLE;
