//! One hit per statement: a memory, the turns it came from and the summaries that repeat it are one. Of memory and turn, the
//! memory stands if it tells most of the turn, else the turn, which says more; it names the others as its evidence.

use std::cell::OnceCell;

use crate::model::{Entry, EntryId, Kind, Layer};

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
pub(super) fn is_part_of_summary(entry: &Entry) -> bool {
    entry.layer == Layer::Archive && entry.key.as_deref().is_some_and(|key| key.starts_with(PARTS))
}

/// Folds hits that say the same, best first. Memories are looked at first, then what was said: a summary that repeats one
/// is its evidence, however well the summary fits.
pub(crate) fn fold(hits: Vec<Hit>) -> Vec<Hit> {
    fold_around(hits, |_| false)
}

/// The same; a memory that `stays` and fits better than its turns is not replaced by one of them.
pub(crate) fn fold_around(hits: Vec<Hit>, stays: impl Fn(&Hit) -> bool) -> Vec<Hit> {
    let mut placed: Vec<(usize, Hit)> = hits.into_iter().enumerate().collect();
    placed.sort_by_key(|(_, hit)| match (hit.memory.entry.layer, hit.memory.entry.kind) {
        (Layer::Archive, Kind::Turn) => 1,
        (Layer::Archive, _) => 2,
        _ => 0,
    });
    let mut kept: Vec<Kept> = Vec::new();
    for (at, hit) in placed {
        let initials = initials(&hit.memory.entry.content);
        let hit = Kept { at, hit, initials, words: OnceCell::new() };
        if at >= COMPARED {
            kept.push(hit);
            continue;
        }
        match place_of(&kept, &hit, &stays) {
            Place::OfItsOwn => kept.push(hit),
            Place::In(at) => kept[at].take_in(hit),
            Place::Of(told) => {
                let mut hit = hit;
                // From the back, so that the places of the others stay.
                told.into_iter().rev().for_each(|at| hit.take_in(kept.remove(at)));
                kept.push(hit);
            }
        }
    }
    kept.sort_by_key(|kept| kept.at);
    kept.into_iter().map(|kept| kept.hit).collect()
}

/// A hit, its place among all, and its words, which most comparisons do not need: what has the same words has the same
/// initials.
struct Kept {
    at: usize,
    hit: Hit,
    initials: u64,
    words: OnceCell<Vec<String>>,
}

impl Kept {
    /// Takes in another that says the same, and stands where the better of the two stood, with its score.
    fn take_in(&mut self, mut other: Kept) {
        if other.at < self.at {
            std::mem::swap(&mut self.at, &mut other.at);
            std::mem::swap(&mut self.hit.score, &mut other.hit.score);
            std::mem::swap(&mut self.hit.why, &mut other.hit.why);
        }
        self.hit.evidence.push(other.hit.memory.entry.id);
        self.hit.evidence.extend(other.hit.evidence);
    }

    /// The distinct stems of its text, sorted; none of a hit that is not compared.
    fn words(&self) -> &[String] {
        self.words.get_or_init(|| match self.at < COMPARED {
            true => distinct_stems(&self.hit.memory.entry.content),
            false => Vec::new(),
        })
    }

    /// Whether this memory tells most of what a turn says.
    fn tells(&self, turn: &Kept) -> bool {
        shared(self.words(), turn.words()) as f64 >= TOLD * turn.words().len() as f64
    }

    fn entry(&self) -> &Entry {
        &self.hit.memory.entry
    }

    fn is_turn(&self) -> bool {
        self.entry().kind == Kind::Turn
    }

    fn is_summary(&self) -> bool {
        self.entry().layer == Layer::Archive && !self.is_turn()
    }

    /// Whether two hits say the same.
    fn is_same(&self, other: &Kept) -> bool {
        // Two turns are two things that were said, unless the words are the same.
        if self.is_turn() && other.is_turn() {
            let is_equal = self.entry().content.trim() == other.entry().content.trim();
            return is_equal && !self.words().is_empty();
        }
        let are_alike = self.is_summary() == other.is_summary();
        if are_alike && self.initials != other.initials {
            return false;
        }
        let (a, b) = (self.words(), other.words());
        if a.is_empty() || b.is_empty() {
            return false;
        }
        if are_alike {
            // Memories that differ in one word may differ in the one that matters.
            return a == b;
        }
        // A summary repeats what it has of another.
        let (told, summary) = if self.is_summary() { (b, a) } else { (a, b) };
        shared(told, summary) as f64 >= REPEATED * told.len() as f64
    }
}

/// Where a hit goes among those before it.
enum Place {
    /// It says something new.
    OfItsOwn,
    /// It is evidence of this one.
    In(usize),
    /// It is a turn that says more than these memories, which are made of it.
    Of(Vec<usize>),
}

fn place_of(kept: &[Kept], hit: &Kept, stays: impl Fn(&Hit) -> bool) -> Place {
    let is_made_of_it = |at: &usize| comes_from(&kept[*at].hit, &hit.hit) && !hit.words().is_empty();
    let told: Vec<usize> = (0..kept.len()).filter(is_made_of_it).collect();
    let stands = |at: &&usize| {
        let memory = &kept[**at];
        memory.tells(hit) || (memory.at < hit.at && stays(&memory.hit))
    };
    match told.iter().find(stands) {
        Some(at) => return Place::In(*at),
        None if !told.is_empty() => return Place::Of(told),
        None => {}
    }
    let same = kept.iter().position(|kept| kept.is_same(hit));
    same.map_or(Place::OfItsOwn, Place::In)
}

/// Whether a memory was made of this turn.
fn comes_from(memory: &Hit, turn: &Hit) -> bool {
    let (entry, turn) = (&memory.memory.entry, &turn.memory.entry);
    let is_source = |id: &EntryId| entry.provenance.iter().any(|source| source.as_str() == id.as_str());
    turn.kind == Kind::Turn && entry.layer != Layer::Archive && is_source(&turn.id)
}

/// The first letters and digits of the words of an English text, as bits; all of them for another text, which is told apart by
/// its words alone. The `s` of `Ada's` is no word.
fn initials(text: &str) -> u64 {
    if !text.is_ascii() {
        return u64::MAX;
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.eq_ignore_ascii_case("s"));
    let bit = |word: &str| word.bytes().next().map_or(0, |first| 1 << (first.to_ascii_lowercase() % 64));
    words.fold(0, |bits, word| bits | bit(word))
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
