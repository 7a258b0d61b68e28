//! One segment, window by window.

use crate::error::IndexError;
use crate::score::TermScore;
use crate::segment::{Entry, Segment};

use super::cursor::Cursor;
use super::gate::Gate;
use super::top::OfSegment;

/// Documents in a window.
const WINDOW: u32 = 1024;

/// Offers every document of a segment that scores enough and may be found.
pub(super) fn search(
    segment: &Segment<'_>,
    entries: &[Option<Entry>],
    scores: &[TermScore],
    gate: &mut Gate<'_>,
    top: &mut OfSegment<'_>,
) -> Result<(), IndexError> {
    let mut cursors = entries
        .iter()
        .zip(scores)
        .filter_map(|(entry, score)| entry.as_ref().map(|entry| Cursor::new(segment, entry, score)))
        .collect::<Result<Vec<_>, _>>()?;
    if cursors.is_empty() {
        return Ok(());
    }
    let mut window = Window::new();
    for from in (0..segment.documents).step_by(WINDOW as usize) {
        let to = from.saturating_add(WINDOW).min(segment.documents);
        window.begin(&mut cursors, from, to);
        if window.best >= top.needed() && window.best > 0 && gate.opens(from, to)? {
            window.score(&mut cursors, gate, top)?;
        }
    }
    Ok(())
}

/// Documents one after the other, with room for their scores.
struct Window {
    from: u32,
    to: u32,
    /// What each term that is here can score, the least first, with its cursor.
    bounds: Vec<(u32, usize)>,
    /// What a document can score by all of them.
    best: u32,
    scores: Box<[u32; WINDOW as usize]>,
    /// A bit for each document that was found.
    found: [u64; WINDOW as usize / 64],
}

impl Window {
    fn new() -> Self {
        Self {
            from: 0,
            to: 0,
            bounds: Vec::new(),
            best: 0,
            scores: Box::new([0; WINDOW as usize]),
            found: [0; WINDOW as usize / 64],
        }
    }

    fn begin(&mut self, cursors: &mut [Cursor<'_>], from: u32, to: u32) {
        (self.from, self.to) = (from, to);
        self.bounds.clear();
        for (nth, cursor) in cursors.iter_mut().enumerate() {
            match cursor.bound(from, to) {
                0 => {}
                bound => self.bounds.push((bound, nth)),
            }
        }
        self.best = self.bounds.iter().fold(0, |sum, (bound, _)| sum.saturating_add(*bound));
    }

    fn score(
        &mut self,
        cursors: &mut [Cursor<'_>],
        gate: &mut Gate<'_>,
        top: &mut OfSegment<'_>,
    ) -> Result<(), IndexError> {
        self.bounds.sort_unstable();
        let (minor, of_minor) = self.minor(top.needed());
        for (_, nth) in &self.bounds[minor..] {
            let (from, scores, found) = (self.from, &mut self.scores, &mut self.found);
            cursors[*nth].each(from, self.to, |ordinal, score| {
                let place = (ordinal - from) as usize;
                scores[place] = scores[place].saturating_add(score);
                found[place / 64] |= 1 << (place % 64);
            })?;
        }
        for word in 0..self.found.len() {
            let mut bits = std::mem::take(&mut self.found[word]);
            while bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let score = std::mem::take(&mut self.scores[place]);
                if score.saturating_add(of_minor) >= top.needed() {
                    self.complete(cursors, (self.from + place as u32, score), (minor, of_minor), gate, top)?;
                }
            }
        }
        Ok(())
    }

    /// How many of the weakest terms cannot reach what is needed together, and what they can score.
    fn minor(&self, needed: u32) -> (usize, u32) {
        let mut sum = 0u32;
        for (nth, (bound, _)) in self.bounds.iter().enumerate() {
            let with = sum.saturating_add(*bound);
            if with >= needed {
                return (nth, sum);
            }
            sum = with;
        }
        (self.bounds.len(), sum)
    }

    /// Looks the weak terms up for a document, the best of them first, as long as it can still score enough.
    fn complete(
        &self,
        cursors: &mut [Cursor<'_>],
        (ordinal, mut score): (u32, u32),
        (minor, mut left): (usize, u32),
        gate: &mut Gate<'_>,
        top: &mut OfSegment<'_>,
    ) -> Result<(), IndexError> {
        for (bound, nth) in self.bounds[..minor].iter().rev() {
            if score.saturating_add(left) < top.needed() {
                return Ok(());
            }
            score = score.saturating_add(cursors[*nth].score(ordinal)?);
            left -= bound;
        }
        if score >= top.needed()
            && let Some(number) = gate.pass(ordinal)?
        {
            top.offer(score, number);
        }
        Ok(())
    }
}
