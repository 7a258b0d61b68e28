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

/// Conversations between people.
pub(super) const PEOPLE: Weights = Weights {
    base: -8.548,
    of: &[
        (Feature::Own, -0.093),
        (Feature::Previous, -0.081),
        (Feature::Next, -0.227),
        (Feature::Near, 0.439),
        (Feature::Session, 0.368),
        (Feature::SessionBest, 0.842),
        (Feature::Cover, 0.384),
        (Feature::CoverContext, 3.733),
        (Feature::Strength, 5.268),
        (Feature::Passage, 1.860),
        (Feature::Phrase, 0.728),
        (Feature::Speaker, 1.183),
        (Feature::Time, 0.110),
        (Feature::Answers, 2.801),
        (Feature::Question, -0.690),
        (Feature::Short, -0.724),
        (Feature::Asked, 4.295),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const PEOPLE_WITH_MEANING: Weights = Weights {
    base: -8.893,
    of: &[
        (Feature::Own, -0.987),
        (Feature::Previous, -0.994),
        (Feature::Next, -0.882),
        (Feature::Near, 0.064),
        (Feature::Session, 0.762),
        (Feature::SessionBest, 1.035),
        (Feature::Cover, 1.105),
        (Feature::CoverContext, 3.699),
        (Feature::Strength, 2.959),
        (Feature::Passage, 1.806),
        (Feature::Phrase, 1.118),
        (Feature::Speaker, 1.232),
        (Feature::Time, 1.636),
        (Feature::Answers, 3.135),
        (Feature::Question, -0.849),
        (Feature::Short, -1.998),
        (Feature::Meaning, 1.519),
        (Feature::PreviousMeaning, 0.576),
        (Feature::NextMeaning, 0.678),
        (Feature::SessionMeaning, 0.250),
        (Feature::Asked, -0.618),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const ASSISTANT: Weights = Weights {
    base: -8.370,
    of: &[
        (Feature::Own, 2.878),
        (Feature::Previous, 0.068),
        (Feature::Next, 1.335),
        (Feature::Near, -1.076),
        (Feature::Session, 1.914),
        (Feature::SessionBest, 0.138),
        (Feature::Cover, -5.233),
        (Feature::CoverContext, 2.891),
        (Feature::Strength, 2.281),
        (Feature::Passage, 1.621),
        (Feature::Phrase, 1.651),
        (Feature::Role, 0.991),
        (Feature::Time, 2.375),
        (Feature::Answers, 0.886),
        (Feature::Question, -0.472),
        (Feature::Short, 3.695),
        (Feature::Asked, 0.225),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const ASSISTANT_WITH_MEANING: Weights = Weights {
    base: -8.190,
    of: &[
        (Feature::Own, 1.336),
        (Feature::Previous, -0.053),
        (Feature::Next, 0.661),
        (Feature::Near, -1.391),
        (Feature::Session, 1.598),
        (Feature::SessionBest, -0.055),
        (Feature::Cover, -4.118),
        (Feature::CoverContext, 3.077),
        (Feature::Strength, 1.202),
        (Feature::Passage, 1.369),
        (Feature::Phrase, 1.776),
        (Feature::Role, 0.979),
        (Feature::Time, 2.632),
        (Feature::Answers, 0.885),
        (Feature::Question, -0.496),
        (Feature::Short, 1.613),
        (Feature::Meaning, 2.239),
        (Feature::PreviousMeaning, -0.111),
        (Feature::NextMeaning, 0.457),
        (Feature::SessionMeaning, 0.391),
        (Feature::Personal, 3.000),
        (Feature::Asked, -1.172),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};

pub(super) const MEMORIES: Weights = Weights {
    base: -6.477,
    of: &[
        (Feature::Own, 0.517),
        (Feature::Session, 1.582),
        (Feature::SessionBest, 0.886),
        (Feature::Cover, 0.961),
        (Feature::CoverContext, 0.961),
        (Feature::Strength, 5.344),
        (Feature::Passage, 1.624),
        (Feature::Phrase, 1.265),
        (Feature::Speaker, 1.192),
        (Feature::Time, 0.518),
        (Feature::Question, -0.670),
        (Feature::Short, -1.678),
        (Feature::Asked, 2.388),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const MEMORIES_WITH_MEANING: Weights = Weights {
    base: -5.292,
    of: &[
        (Feature::Own, -0.872),
        (Feature::Session, 1.206),
        (Feature::SessionBest, -1.363),
        (Feature::Cover, 1.445),
        (Feature::CoverContext, 1.445),
        (Feature::Strength, 4.736),
        (Feature::Passage, 1.318),
        (Feature::Phrase, 1.677),
        (Feature::Speaker, 2.730),
        (Feature::Time, 1.118),
        (Feature::Question, -0.438),
        (Feature::Short, -3.979),
        (Feature::Meaning, 1.815),
        (Feature::SessionMeaning, 1.815),
        (Feature::Personal, 4.000),
        (Feature::Asked, -3.395),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
