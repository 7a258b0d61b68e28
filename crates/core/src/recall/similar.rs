//! How much two texts share.

use super::analysis;

/// The share of all words of both texts that both have.
pub fn similarity(a: &str, b: &str) -> f64 {
    overlap(&distinct_words(a), &distinct_words(b))
}

/// The distinct terms of a text, sorted.
pub fn distinct_words(text: &str) -> Vec<String> {
    let analysed = analysis::index_text(text);
    let mut words: Vec<String> = analysed.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The share of all words of both that both have.
pub fn overlap(a: &[String], b: &[String]) -> f64 {
    let both = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    let either = a.len() + b.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}
