//! BM25 over analysed text, for memories so small that a word's rarity needs care.
//!
//! The usual inverse document frequency is zero or less for a word that half of the documents have; in a new memory of
//! three entries that is every word. This one, `ln(1 + (N − n + ½) / (n + ½))`, stays positive.

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What is known about all documents together.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// How many documents there are.
    pub documents: u64,
    /// How many of them have each term of the query, in its order.
    pub having: Vec<u64>,
    /// Their mean length in terms.
    pub mean_length: f64,
}

/// How well analysed text fits the terms of a query.
pub fn score(terms: &[String], text: &str, collection: &Collection) -> f64 {
    let mut counts = vec![0u32; terms.len()];
    let mut length = 0u32;
    for word in text.split(' ') {
        length += 1;
        if let Some(at) = terms.iter().position(|term| term == word) {
            counts[at] += 1;
        }
    }
    let norm = K1 * (1.0 - B + B * f64::from(length) / collection.mean_length.max(1.0));
    let weigh = |(count, having): (&u32, &u64)| {
        let (count, n, having) = (f64::from(*count), collection.documents as f64, *having as f64);
        let rarity = (1.0 + (n - having + 0.5).max(0.0) / (having + 0.5)).ln();
        rarity * count * (K1 + 1.0) / (count + norm)
    };
    counts.iter().zip(&collection.having).map(weigh).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_everybody_has_still_counts() {
        let terms = ["deploy".to_owned(), "friday".to_owned()];
        let collection = Collection { documents: 2, having: vec![2, 1], mean_length: 2.0 };
        let (both, one) = (score(&terms, "deploy friday", &collection), score(&terms, "deploy monday", &collection));
        assert!(both > one && one > 0.0);
        assert_eq!(score(&terms, "tea", &collection), 0.0);
    }
}
