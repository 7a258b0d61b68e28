//! One hit per statement: a memory, the turns it came from and the summaries that repeat it are one; the one that
//! fits best stands, or the memory that tells it, and names the others as its evidence.

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

/// Folds hits that say the same, best first.
pub(crate) fn fold(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<(Hit, Vec<String>)> = Vec::new();
    for (at, hit) in hits.into_iter().enumerate() {
        if at >= COMPARED {
            kept.push((hit, Vec::new()));
            continue;
        }
        let words = distinct_stems(&hit.memory.entry.content);
        match kept.iter().position(|(better, better_words)| is_same((better, better_words), (&hit, &words))) {
            None => kept.push((hit, words)),
            Some(place) => {
                let (better, better_words) = &mut kept[place];
                let mut folded = hit;
                if comes_from(&folded, better)
                    && shared(better_words, &words) as f64 >= TOLD * better_words.len() as f64
                {
                    // The memory tells what was said: it stands in the turn's place.
                    std::mem::swap(better, &mut folded);
                    std::mem::swap(&mut better.score, &mut folded.score);
                    std::mem::swap(&mut better.why, &mut folded.why);
                    *better_words = words;
                }
                better.evidence.push(folded.memory.entry.id);
                better.evidence.extend(folded.evidence);
            }
        }
    }
    kept.into_iter().map(|(hit, _)| hit).collect()
}

fn is_same((a, a_words): (&Hit, &[String]), (b, b_words): (&Hit, &[String])) -> bool {
    if a_words.is_empty() || b_words.is_empty() {
        return false;
    }
    if comes_from(a, b) || comes_from(b, a) {
        return true;
    }
    let is_turn = |hit: &Hit| hit.memory.entry.kind == Kind::Turn;
    let is_archive = |hit: &Hit| hit.memory.entry.layer == Layer::Archive && !is_turn(hit);
    match (is_turn(a), is_turn(b)) {
        // Two turns are two things that were said, unless the words are the same.
        (true, true) => a.memory.entry.content.trim() == b.memory.entry.content.trim(),
        // A summary repeats what it has of another.
        _ if is_archive(a) != is_archive(b) => {
            let (told, summary) = if is_archive(a) { (b_words, a_words) } else { (a_words, b_words) };
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
