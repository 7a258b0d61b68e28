//! One hit per statement: a memory, the turns it came from and the summaries that repeat it are one; of memory and turn
//! the one that fits best stands, or the memory that tells it, and names the others as its evidence.

use crate::model::{EntryId, Kind, Layer};

use super::analysis;
use super::request::Hit;

/// A summary that has so much of the words of another repeats it.
const REPEATED: f64 = 0.9;

/// A memory that has so much of the words of its turn tells it.
const TOLD: f64 = 0.6;

/// So many hits are compared: more are never given, and each is compared with all before it.
const COMPARED: usize = 60;

/// Keys of the parts of a session's summary.
const PARTS: &str = "ctx_";

/// Whether it is a part of a session's summary: kept for searching by hand.
pub(crate) fn is_summary_part(hit: &Hit) -> bool {
    let entry = &hit.memory.entry;
    entry.layer == Layer::Archive && entry.key.as_deref().is_some_and(|key| key.starts_with(PARTS))
}

/// Folds hits that say the same, best first. Memories are looked at first, then what was said: a summary that repeats one
/// is its evidence, however well the summary fits.
pub(crate) fn fold(hits: Vec<Hit>) -> Vec<Hit> {
    let mut placed: Vec<(usize, Hit)> = hits.into_iter().enumerate().collect();
    placed.sort_by_key(|(_, hit)| match (hit.memory.entry.layer, hit.memory.entry.kind) {
        (Layer::Archive, Kind::Turn) => 1,
        (Layer::Archive, _) => 2,
        _ => 0,
    });
    let mut kept: Vec<Kept> = Vec::new();
    for (at, hit) in placed {
        if at >= COMPARED {
            kept.push(Kept { at, hit, words: Vec::new() });
            continue;
        }
        let words = distinct_stems(&hit.memory.entry.content);
        match kept.iter_mut().find(|kept| is_same((&kept.hit, &kept.words), (&hit, &words))) {
            None => kept.push(Kept { at, hit, words }),
            Some(kept) => kept.fold(Kept { at, hit, words }),
        }
    }
    kept.sort_by_key(|kept| kept.at);
    kept.into_iter().map(|kept| kept.hit).collect()
}

/// A hit, its place among all, and its words.
struct Kept {
    at: usize,
    hit: Hit,
    words: Vec<String>,
}

impl Kept {
    /// Takes in another that says the same.
    fn fold(&mut self, mut other: Kept) {
        if comes_from(&self.hit, &other.hit) && other.at < self.at {
            std::mem::swap(self, &mut other);
            if shared(&self.words, &other.words) as f64 >= TOLD * self.words.len() as f64 {
                // The memory tells what was said: it stands in the turn's place.
                std::mem::swap(&mut self.hit, &mut other.hit);
                std::mem::swap(&mut self.hit.score, &mut other.hit.score);
                std::mem::swap(&mut self.hit.why, &mut other.hit.why);
                std::mem::swap(&mut self.words, &mut other.words);
            }
        }
        self.hit.evidence.push(other.hit.memory.entry.id);
        self.hit.evidence.extend(other.hit.evidence);
    }
}

fn is_summary(hit: &Hit) -> bool {
    hit.memory.entry.layer == Layer::Archive && hit.memory.entry.kind != Kind::Turn
}

fn is_same((a, a_words): (&Hit, &[String]), (b, b_words): (&Hit, &[String])) -> bool {
    if a_words.is_empty() || b_words.is_empty() {
        return false;
    }
    if comes_from(a, b) || comes_from(b, a) {
        return true;
    }
    let is_turn = |hit: &Hit| hit.memory.entry.kind == Kind::Turn;
    match (is_turn(a), is_turn(b)) {
        // Two turns are two things that were said, unless the words are the same.
        (true, true) => a.memory.entry.content.trim() == b.memory.entry.content.trim(),
        // A summary repeats what it has of another.
        _ if is_summary(a) != is_summary(b) => {
            let (told, summary) = if is_summary(a) { (b_words, a_words) } else { (a_words, b_words) };
            shared(told, summary) as f64 >= REPEATED * told.len() as f64
        }
        // Memories that differ in one word may differ in the one that matters.
        _ => a_words == b_words,
    }
}

/// Whether a memory was made of this turn and says nothing beyond it.
fn comes_from(memory: &Hit, turn: &Hit) -> bool {
    let (entry, turn) = (&memory.memory.entry, &turn.memory.entry);
    let is_source = |id: &EntryId| entry.provenance.iter().any(|source| source.as_str() == id.as_str());
    turn.kind == Kind::Turn && entry.layer != Layer::Archive && is_source(&turn.id)
}

/// The distinct stems of a text, sorted.
fn distinct_stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = analysis::stems(text).into_iter().map(|(stem, _)| stem).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn shared(a: &[String], b: &[String]) -> usize {
    a.iter().filter(|word| b.binary_search(word).is_ok()).count()
}
