//! How similar unrelated texts are to a model: some give every pair a cosine of .8, others of .1. Cosines of different
//! models are comparable as distances from that, in units of how much it varies.

/// Unrelated sentences of several topics, one to a line.
const BACKGROUND: &str = include_str!("background.txt");

/// Below this a deviation says that the model does not tell the background sentences apart.
const LEAST_DEVIATION: f64 = 0.01;

/// What cosines of one model are measured against.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The mean of the unit vectors of the background sentences.
    pub mean: Vec<f32>,
    /// The standard deviation of the cosines between the background sentences.
    pub deviation: f64,
}

impl Baseline {
    /// The texts that a model embeds for its baseline.
    pub fn texts() -> Vec<String> {
        BACKGROUND.lines().map(str::to_owned).collect()
    }

    /// The baseline of a model that gave these vectors for [`texts`](Self::texts): at least one, all of one length.
    pub fn of(vectors: &[Vec<f32>]) -> Self {
        let units: Vec<Vec<f32>> = vectors.iter().map(|vector| crate::vault::unit(vector)).collect();
        let mut mean = vec![0.0_f32; units.first().map_or(0, Vec::len)];
        for unit in &units {
            mean.iter_mut().zip(unit).for_each(|(sum, number)| *sum += number / units.len() as f32);
        }
        let pairs = units.iter().enumerate().flat_map(|(nth, a)| units[nth + 1..].iter().map(move |b| dot(a, b)));
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for cosine in pairs {
            count += 1.0;
            sum += cosine;
            squares += cosine * cosine;
        }
        let count = f64::max(count, 1.0);
        let variance = squares / count - (sum / count).powi(2);
        Self { mean, deviation: variance.max(0.0).sqrt().max(LEAST_DEVIATION) }
    }

    /// How similar a text is to a query, above what an unrelated text would be, in standard deviations. `query` is the
    /// query's vector, `cosine` that of the two.
    pub fn above_mean(&self, query: &[f32], cosine: f64) -> f64 {
        (cosine - self.expected(query)) / self.deviation
    }

    /// The mean cosine of a query with unrelated texts.
    pub fn expected(&self, query: &[f32]) -> f64 {
        let length = dot(query, query).sqrt();
        if length > 0.0 { dot(query, &self.mean) / length } else { 0.0 }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn background_sentences_are_distinct_and_not_empty() {
        let texts = Baseline::texts();
        assert_eq!(texts.len(), 64);
        assert!(texts.iter().all(|text| text.len() > 10));
        assert_eq!(texts.iter().collect::<HashSet<_>>().len(), 64);
    }

    #[test]
    fn a_shift_of_all_vectors_does_not_change_what_is_above_the_mean() {
        // Cosines with the axis and with each other: a common part of 9 against own parts of 1.
        let shifted = |own: usize| {
            let mut vector = vec![0.0; 8];
            (vector[0], vector[own]) = (9.0, 1.0);
            vector
        };
        let plain = |own: usize| {
            let mut vector = vec![0.0; 8];
            vector[own] = 1.0;
            vector
        };
        for vectors in [(1..8).map(shifted).collect::<Vec<_>>(), (1..8).map(plain).collect()] {
            let baseline = Baseline::of(&vectors);
            let unrelated = crate::vault::Sought::of(&vectors[0]);
            let packed = crate::vault::Packed::of(&vectors[1]);
            let above = baseline.above_mean(&vectors[0], unrelated.cosine(packed.scale, &packed.bytes));
            assert!(above < 0.1, "unrelated: {above}");
            assert!(baseline.above_mean(&vectors[0], 1.0) > 0.8, "the same");
        }
    }

    #[test]
    fn deviation_is_that_of_the_cosines() {
        let baseline = Baseline::of(&[vec![2.0, 0.0], vec![0.0, 1.0], vec![3.0, 0.0]]);
        // The cosines are 0, 1 and 0.
        assert!((baseline.deviation - (2.0_f64 / 9.0).sqrt()).abs() < 1e-6);
        assert!((baseline.expected(&[0.0, 5.0]) - 1.0 / 3.0).abs() < 1e-6);
        let same = Baseline::of(&[vec![1.0, 0.0], vec![1.0, 0.0]]);
        assert_eq!((same.deviation, &same.mean), (LEAST_DEVIATION, &vec![1.0, 0.0]));
        assert_eq!(same.expected(&[0.0, 0.0]), 0.0);
    }
}
