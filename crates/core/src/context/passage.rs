//! Of a long turn, the passage that fits.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::recall::Question;
use crate::text::sentences::sentences;
use crate::text::tokens;

/// What is shown of one turn, in tokens: longer ones are cut to the passage that fits.
const SHOWN_TOKENS: usize = 120;

/// The text itself where it is short; else the sentences around those that fit the question, with `…` for what is left out.
pub(crate) fn passage<'t>(text: &'t str, question: &Question) -> Cow<'t, str> {
    if tokens::estimate(text) <= SHOWN_TOKENS {
        return Cow::Borrowed(text);
    }
    let sentences = sentences(text);
    let worth = |sentence: &&str| (question.words_in(sentence), tokens::estimate(sentence) + 1);
    let worths: Vec<(HashSet<usize>, usize)> = sentences.iter().map(worth).collect();
    let (first, last) = best_stretch(&worths, question);
    let Some(shown) = sentences.get(first..=last).filter(|shown| !shown.is_empty()) else {
        return Cow::Owned(format!("{} …", tokens::cut(text, SHOWN_TOKENS)));
    };
    let shown = shown.join(" ");
    let shown = tokens::cut(&shown, SHOWN_TOKENS);
    let (before, after) = (if first > 0 { "… " } else { "" }, if last + 1 < sentences.len() { " …" } else { "" });
    Cow::Owned(format!("{before}{shown}{after}"))
}

/// The stretch of sentences within the size that says most of the question; of several, the first, and as long as fits.
fn best_stretch(worths: &[(HashSet<usize>, usize)], question: &Question) -> (usize, usize) {
    let mut best = (f32::MIN, 0, 0);
    for first in 0..worths.len() {
        let (mut size, mut words) = (0, HashSet::new());
        let mut last = first;
        for (at, (places, tokens)) in worths.iter().enumerate().skip(first) {
            size += tokens;
            if size > SHOWN_TOKENS && at > first {
                break;
            }
            words.extend(places);
            last = at;
        }
        let said: f32 = words.iter().map(|place: &usize| question.words[*place].weight).sum();
        if said > best.0 + f32::EPSILON {
            best = (said, first, last);
        }
    }
    (best.1, best.2)
}
