//! One order out of two: what the words found, and what the meaning found.
//!
//! ```text
//! score   = ½ words + ½ meaning                    words alone: score = bm25
//! words   = bm25 / the best bm25                   0 where no word was found
//! meaning = (cosine − floor) / (best − floor)      0 where the meaning was not near; floor: the least of its list
//! ```
//!
//! A weighted sum of normalised scores, because ranks alone lose how much better the best one is: measured, reciprocal
//! rank fusion fell behind words alone, and any weight from 0.3 to 0.6 was better than either side.

use std::collections::HashMap;

use serde::Serialize;

use crate::model::EntryId;
use crate::recall::FoundBy;

use super::Passage;

const MEANING_WEIGHT: f64 = 0.5;

/// How a passage's score came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PassageWhy {
    /// By its words, or by its meaning where no word was found.
    pub found_by: FoundBy,
    /// How well the words fit; 0 where none was found.
    pub bm25: f64,
    /// How near the meaning is: the cosine; nothing where that was not looked at or is not near.
    pub similarity: Option<f64>,
    /// The result.
    #[serde(skip)]
    pub score: f64,
}

/// A passage, and why it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The passage.
    pub passage: Passage,
    /// Why.
    pub why: PassageWhy,
}

/// Orders what was found. `words` carry their BM25; `near` their cosine, or nothing where nobody looked at meaning.
pub fn fuse(words: Vec<(Passage, f64)>, near: Option<Vec<(Passage, f64)>>, limit: usize) -> Vec<Found> {
    let has_meaning = near.is_some();
    let best_words = most(words.iter().map(|(_, bm25)| *bm25));
    let near = near.unwrap_or_default();
    let best = most(near.iter().map(|(_, cosine)| *cosine));
    let floor = near.iter().map(|(_, cosine)| *cosine).fold(f64::INFINITY, f64::min);
    let by_meaning = |cosine: f64| if best > floor { (cosine - floor) / (best - floor) } else { 1.0 };

    let mut found: HashMap<EntryId, Found> = HashMap::new();
    for (passage, bm25) in words {
        let share = if best_words > 0.0 { bm25 / best_words } else { 0.0 };
        let score = if has_meaning { (1.0 - MEANING_WEIGHT) * share } else { bm25 };
        let why = PassageWhy { found_by: FoundBy::Words, bm25, similarity: None, score };
        found.insert(passage.chunk.id.clone(), Found { passage, why });
    }
    for (passage, cosine) in near {
        let why = PassageWhy { found_by: FoundBy::Meaning, bm25: 0.0, similarity: None, score: 0.0 };
        let hit = found.entry(passage.chunk.id.clone()).or_insert(Found { passage, why });
        hit.why.similarity = Some(cosine);
        hit.why.score += MEANING_WEIGHT * by_meaning(cosine);
    }
    let mut found: Vec<Found> = found.into_values().collect();
    found.sort_by(|a, b| b.why.score.total_cmp(&a.why.score).then_with(|| a.passage.chunk.id.cmp(&b.passage.chunk.id)));
    found.truncate(limit);
    found
}

fn most(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::VaultId;
    use crate::vault::{Chunk, Place};

    fn passage(id: &str) -> Passage {
        let place = Place::Lines { first_line: 1, last_line: 1 };
        Passage {
            chunk: Chunk { id: EntryId::new(id), titles: Vec::new(), place, content: id.to_owned() },
            path: "/a".to_owned(),
            title: "a".to_owned(),
            document: VaultId::new("d"),
            collection: "files".parse().unwrap(),
            updated_at: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    fn order(words: &[(&str, f64)], near: Option<&[(&str, f64)]>) -> Vec<String> {
        let list = |list: &[(&str, f64)]| list.iter().map(|(id, score)| (passage(id), *score)).collect::<Vec<_>>();
        let found = fuse(list(words), near.map(list), 10);
        assert!(found.windows(2).all(|pair| pair[0].why.score >= pair[1].why.score));
        found.into_iter().map(|found| found.passage.chunk.id.to_string()).collect()
    }

    #[test]
    fn words_alone_keep_their_order() {
        assert_eq!(order(&[("a", 3.0), ("b", 2.0)], None), ["a", "b"]);
    }

    #[test]
    fn both_sides_together_beat_one() {
        assert_eq!(order(&[("a", 3.0), ("b", 2.9)], Some(&[("b", 0.8), ("c", 0.7), ("d", 0.1)])), ["b", "a", "c", "d"]);
    }

    #[test]
    fn nothing_and_equals_are_no_trouble() {
        assert_eq!(order(&[], Some(&[])), [""; 0]);
        assert_eq!(order(&[], Some(&[("a", 0.4)])), ["a"]);
        assert_eq!(order(&[("b", 0.0), ("a", 0.0)], Some(&[])), ["a", "b"]);
    }
}
