//! Is a sentence of the person worth keeping, and as what? A linear classifier over [`features`](super::features::features),
//! with weights fitted by `scripts/fit-offline` on sentences written for it.

use std::collections::HashMap;
use std::sync::LazyLock;

use throughline_core::consolidation::facts::FactKind;

use super::features::features;
use super::language::Language;

/// The table's columns: the weight for being kept, then one for every kind.
const COLUMNS: usize = 7;
const KINDS: [FactKind; COLUMNS - 1] = [
    FactKind::Identity,
    FactKind::Preference,
    FactKind::Constraint,
    FactKind::Fact,
    FactKind::Decision,
    FactKind::Correction,
];

struct Weights {
    bias: [f32; COLUMNS],
    by_feature: HashMap<&'static str, [f32; COLUMNS]>,
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    let mut weights = Weights { bias: [0.0; COLUMNS], by_feature: HashMap::new() };
    for line in include_str!("weights.tsv").lines() {
        let mut columns = line.split('\t');
        let feature = columns.next().unwrap_or_default();
        let mut values = [0.0; COLUMNS];
        for (value, column) in values.iter_mut().zip(columns) {
            *value = column.parse::<f32>().unwrap_or_default() / 100.0;
        }
        if feature.is_empty() {
            weights.bias = values;
        } else {
            weights.by_feature.insert(feature, values);
        }
    }
    weights
});

/// What the classifier says of a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    pub(super) language: Language,
    /// How surely it is worth keeping, from 0 to 1.
    pub(super) worth: f32,
    /// What it would be kept as.
    pub(super) kind: FactKind,
}

/// Judges a sentence; none where its language is unknown.
pub(super) fn classify(sentence: &str) -> Option<Verdict> {
    let (language, features) = features(sentence)?;
    let mut scores = WEIGHTS.bias;
    for weights in features.iter().filter_map(|feature| WEIGHTS.by_feature.get(feature.as_str())) {
        scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight);
    }
    let worth = 1.0 / (1.0 + (-scores[0]).exp());
    let best = (1..COLUMNS).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(1);
    Some(Verdict { language, worth, kind: KINDS[best - 1] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_from_the_rest() {
        for (sentence, kind) in [
            ("I live in Porto", FactKind::Identity),
            ("I prefer short answers", FactKind::Preference),
            ("Never push to main", FactKind::Constraint),
            ("We decided to use Postgres because of the extensions", FactKind::Decision),
            ("我对花生过敏", FactKind::Identity),
        ] {
            let verdict = classify(sentence).unwrap();
            assert!(verdict.worth > 0.5, "{sentence}: {verdict:?}");
            assert_eq!(verdict.kind, kind, "{sentence}");
        }
        for sentence in
            ["run it again", "I'm so tired today", "what is my name?", "maybe we should use Redis", "谢谢，再见"]
        {
            let verdict = classify(sentence).unwrap();
            assert!(verdict.worth < 0.5, "{sentence}: {verdict:?}");
        }
        assert_eq!(classify("Я живу в Москве"), None);
    }
}
