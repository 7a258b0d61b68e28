//! BM25 in whole units: sums are exact whatever their order, so that every bound is one, and every store ranks alike.

/// So many units are a score of 1.
pub const SCORE_UNIT: f64 = 65_536.0;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What a word is worth that more than half of all documents have: next to nothing, and yet more than its absence.
const LEAST_IDF: f64 = 1e-3;

/// Lengths up to this are exact; above, sixteen codes stand for each doubling.
const EXACT: u32 = 128;

/// A term counts as often as this at most.
pub(crate) const MOST: u32 = 255;

/// The length of a document as one byte: exact for short ones, within 5 % for long ones.
pub fn length_code(terms: u32) -> u8 {
    if terms < EXACT {
        return terms as u8;
    }
    let (mut low, mut high) = (EXACT as usize, 255);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if length(middle as u8) <= f64::from(terms) { low = middle } else { high = middle - 1 }
    }
    low as u8
}

/// The length that a code stands for.
fn length(code: u8) -> f64 {
    if u32::from(code) < EXACT {
        return f64::from(code);
    }
    let above = u32::from(code) - EXACT;
    f64::from(EXACT << (above / 16)) * (1.0 + f64::from(above % 16) / 16.0)
}

/// What the score of a term depends on, besides the document. Documents that were replaced or removed count until their
/// segment is merged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// How many documents there are.
    pub documents: u64,
    /// How many terms they have together.
    pub terms: u64,
    /// How many documents have each term of the query, in its order.
    pub frequencies: Vec<u64>,
}

/// What one term adds to the score of a document that has it `count` times, in units of 1 / [`SCORE_UNIT`].
pub fn contribution(statistics: &Statistics, nth_term: usize, count: u32, length_code: u8) -> u32 {
    let frequency = statistics.frequencies.get(nth_term).copied().unwrap_or(0);
    TermScore::new(statistics, frequency, 1).score(count.min(MOST), length_code)
}

/// The score of one term for any document.
#[derive(Debug, Clone)]
pub(crate) struct TermScore {
    idf: f64,
    mean: f64,
    times: u32,
    /// For documents that have it once: most do. A rare term is computed where it is met.
    once: Option<Box<[u32; 256]>>,
}

/// A term of fewer documents has no table: making it takes longer.
const TABLED: u64 = 256;

impl TermScore {
    /// `times`: how often the query says it.
    pub(crate) fn new(statistics: &Statistics, frequency: u64, times: u32) -> Self {
        let is_common = frequency >= TABLED;
        let (documents, frequency) = (statistics.documents as f64, frequency as f64);
        let idf = ((documents - frequency + 0.5) / (frequency + 0.5)).ln().max(LEAST_IDF);
        let mean = (statistics.terms as f64 / documents.max(1.0)).max(1.0);
        let term = Self { idf, mean, times, once: None };
        let once = is_common.then(|| Box::new(std::array::from_fn(|code| term.compute(1, code as u8))));
        Self { once, ..term }
    }

    #[inline]
    pub(crate) fn score(&self, count: u32, length_code: u8) -> u32 {
        match &self.once {
            Some(once) if count == 1 => once[usize::from(length_code)],
            _ => self.compute(count, length_code),
        }
    }

    /// Never less for a larger count or a shorter document, rounding included: each step is monotone.
    fn compute(&self, count: u32, length_code: u8) -> u32 {
        let damping = K1 * (1.0 - B + B * length(length_code) / self.mean);
        let units = self.idf * (K1 + 1.0) / (1.0 + damping / f64::from(count.max(1))) * SCORE_UNIT;
        rounded(units).max(1).saturating_mul(self.times)
    }
}

/// The nearest whole number of at least 1/2, without the library call that `round` is on many processors.
fn rounded(units: f64) -> u32 {
    (units + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_rounded_as_by_the_library() {
        let halves = (0..4_000_000u32).step_by(37).map(|number| f64::from(number) + 0.5);
        for units in halves.chain((0..64).map(|bit| 2f64.powi(bit) - 0.5)).filter(|units| *units >= 0.5) {
            for near in [units.next_down(), units, units.next_up(), units * 1.001] {
                assert_eq!(rounded(near).max(1), (near.round() as u32).max(1), "{near}");
            }
        }
    }

    #[test]
    fn rare_and_common_terms_are_scored_by_one_formula() {
        let statistics = Statistics { documents: 1000, terms: 17_311, frequencies: Vec::new() };
        for frequency in [TABLED - 1, TABLED] {
            let term = TermScore::new(&statistics, frequency, 2);
            assert_eq!(term.once.is_some(), frequency == TABLED);
            for code in 0..=255u8 {
                assert_eq!(term.score(1, code), term.compute(1, code));
            }
        }
    }

    #[test]
    fn length_codes_are_exact_below_128_and_monotone_above() {
        for terms in 0..100_000 {
            let code = length_code(terms);
            let stands_for = length(code);
            assert!(terms >= EXACT || stands_for == f64::from(terms));
            assert!(stands_for <= f64::from(terms));
            assert!(code == 255 || length(code + 1) > f64::from(terms));
        }
        assert_eq!(length_code(u32::MAX), 255);
    }

    #[test]
    fn scores_grow_with_the_count_and_fall_with_the_length() {
        let statistics = Statistics { documents: 1000, terms: 17_311, frequencies: Vec::new() };
        for frequency in [0, 1, 7, 400, 600, 1000] {
            let term = TermScore::new(&statistics, frequency, 1);
            for code in 0..=255u8 {
                for count in 1..MOST {
                    assert!(term.score(count, code) <= term.score(count + 1, code));
                }
                assert!(code == 255 || term.score(1, code) >= term.score(1, code + 1));
                assert!(term.score(1, code) > 0);
            }
        }
    }
}
