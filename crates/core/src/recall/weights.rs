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
    base: -8.393,
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
    base: -6.710,
    of: &[
        (Feature::Own, 3.011),
        (Feature::Previous, -0.137),
        (Feature::Next, 1.334),
        (Feature::Near, -0.999),
        (Feature::Session, 0.697),
        (Feature::SessionBest, 0.626),
        (Feature::Cover, -4.899),
        (Feature::CoverContext, 0.822),
        (Feature::Strength, 3.045),
        (Feature::Passage, 1.404),
        (Feature::Phrase, 0.969),
        (Feature::Role, 1.849),
        (Feature::Time, 1.402),
        (Feature::Answers, -0.593),
        (Feature::Question, -0.431),
        (Feature::Short, 5.358),
        (Feature::Asked, 0.212),
        (Feature::Recency, 0.150),
        (Feature::Trust, 0.200),
        (Feature::Significance, 0.300),
        (Feature::Correction, 0.150),
    ],
};
pub(super) const ASSISTANT_WITH_MEANING: Weights = Weights {
    base: -7.489,
    of: &[
        (Feature::Own, 1.317),
        (Feature::Previous, 0.036),
        (Feature::Next, 0.730),
        (Feature::Near, -1.464),
        (Feature::Session, 1.104),
        (Feature::SessionBest, -0.217),
        (Feature::Cover, -4.016),
        (Feature::CoverContext, 2.878),
        (Feature::Strength, 1.337),
        (Feature::Passage, 1.363),
        (Feature::Phrase, 1.418),
        (Feature::Role, 1.198),
        (Feature::Time, 2.168),
        (Feature::Answers, 0.518),
        (Feature::Question, -0.399),
        (Feature::Short, 2.081),
        (Feature::Meaning, 2.215),
        (Feature::PreviousMeaning, -0.251),
        (Feature::NextMeaning, 0.416),
        (Feature::SessionMeaning, 0.570),
        (Feature::Personal, 3.000),
        (Feature::Asked, -1.077),
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
