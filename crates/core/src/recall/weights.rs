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
    base: -10.189,
    of: &[
        (Feature::Own, 0.347),
        (Feature::Previous, -0.205),
        (Feature::Next, -0.289),
        (Feature::Near, 0.265),
        (Feature::Session, 0.333),
        (Feature::SessionBest, 0.654),
        (Feature::Cover, 0.935),
        (Feature::CoverContext, 3.702),
        (Feature::Strength, 5.200),
        (Feature::Passage, 0.957),
        (Feature::Phrase, 0.613),
        (Feature::Speaker, 1.112),
        (Feature::Time, 2.627),
        (Feature::Answers, 2.659),
        (Feature::Question, -0.717),
        (Feature::Short, -1.131),
        (Feature::Asked, 4.099),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const PEOPLE_WITH_MEANING: Weights = Weights {
    base: -8.510,
    of: &[
        (Feature::Own, -0.170),
        (Feature::Previous, -0.375),
        (Feature::Next, -0.316),
        (Feature::Near, 0.083),
        (Feature::Session, 0.451),
        (Feature::SessionBest, 0.763),
        (Feature::Cover, 0.503),
        (Feature::CoverContext, 1.759),
        (Feature::Strength, 2.676),
        (Feature::Passage, 0.506),
        (Feature::Phrase, 0.218),
        (Feature::Speaker, 0.595),
        (Feature::Time, 1.872),
        (Feature::Answers, 1.432),
        (Feature::Question, -0.438),
        (Feature::Short, -0.988),
        (Feature::Meaning, 0.782),
        (Feature::PreviousMeaning, 0.339),
        (Feature::NextMeaning, 0.475),
        (Feature::SessionMeaning, 0.363),
        (Feature::Asked, 2.233),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const ASSISTANT: Weights = Weights {
    base: -7.122,
    of: &[
        (Feature::Own, 1.414),
        (Feature::Previous, -0.021),
        (Feature::Next, 0.631),
        (Feature::Near, -0.554),
        (Feature::Session, 0.753),
        (Feature::SessionBest, 0.504),
        (Feature::Cover, -2.316),
        (Feature::CoverContext, 0.257),
        (Feature::Strength, 1.363),
        (Feature::Passage, 0.889),
        (Feature::Phrase, 0.424),
        (Feature::Role, 0.890),
        (Feature::Time, 0.889),
        (Feature::Answers, -0.261),
        (Feature::Question, -0.173),
        (Feature::Short, 2.611),
        (Feature::Asked, 1.230),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const ASSISTANT_WITH_MEANING: Weights = Weights {
    base: -6.968,
    of: &[
        (Feature::Own, 0.630),
        (Feature::Previous, 0.011),
        (Feature::Next, 0.358),
        (Feature::Near, -0.738),
        (Feature::Session, 0.474),
        (Feature::SessionBest, 0.188),
        (Feature::Cover, -1.757),
        (Feature::CoverContext, 0.368),
        (Feature::Strength, 0.864),
        (Feature::Passage, 0.866),
        (Feature::Phrase, 0.527),
        (Feature::Role, 0.964),
        (Feature::Time, 0.842),
        (Feature::Answers, -0.238),
        (Feature::Question, -0.213),
        (Feature::Short, 1.796),
        (Feature::Meaning, 1.291),
        (Feature::PreviousMeaning, -0.204),
        (Feature::NextMeaning, -0.026),
        (Feature::SessionMeaning, 0.780),
        (Feature::Asked, -0.183),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
