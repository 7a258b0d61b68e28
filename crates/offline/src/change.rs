//! Changes of mind: a sentence of the person goes in, what it takes back of earlier ones comes out.

use super::lexicon::{Cue, Found};
use super::words::Words;

/// A later decision with this overlap that takes something back replaces the earlier one.
const SAME_MATTER: f64 = 0.25;

/// A sentence that takes something back.
#[derive(Debug)]
pub(super) struct Change {
    corrects: bool,
    words: Words,
    rejected: Vec<Words>,
}

impl Change {
    /// Nothing where the sentence takes nothing back, or cannot be understood without what it corrects.
    pub(super) fn of(text: &str, found: &[Found], words: &Words) -> Option<Self> {
        let has = |cue| found.iter().any(|found| found.cue == cue);
        let corrects = has(Cue::Corrects);
        if !corrects && !has(Cue::Rejects) || is_pointing(text) {
            return None;
        }
        let explicit = found.iter().filter(|found| found.cue == Cue::Rejects).map(|found| found.end);
        // `use Postgres not MySQL`: a bare `not` rejects in a correction only.
        let bare = text.match_indices(" not ").map(|(at, not)| at + not.len()).filter(|_| corrects);
        let rejected = explicit.chain(bare).take(4).map(|at| Words::of(first_words(&text[at..]))).collect();
        Some(Self { corrects, words: words.clone(), rejected })
    }

    /// Whether it takes back an earlier sentence with these words.
    pub(super) fn takes_back(&self, earlier: &Words, is_decision: bool) -> bool {
        self.rejected.iter().any(|words| words.share_in(earlier) >= 1.0)
            || (self.corrects && is_decision && earlier.overlap(&self.words) >= SAME_MATTER)
    }
}

/// `Actually, it's the 13th` says nothing without the sentence that it corrects.
fn is_pointing(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    [" it's ", " it is ", " that's "].into_iter().any(|words| lower.contains(words))
}

/// What is rejected: up to two words, or some CJK characters, of the same clause.
fn first_words(text: &str) -> &str {
    let text = text.trim_start();
    let text =
        ["the ", "a ", "an ", "our ", "my "].into_iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text);
    let end = text.find([',', '.', ';', '!', '?', '，', '。', '；', '！', '了', '、']).unwrap_or(text.len());
    let clause = &text[..end];
    let words = clause.match_indices(' ').nth(1).map_or(clause, |(at, _)| &clause[..at]);
    words.char_indices().nth(24).map_or(words, |(at, _)| &words[..at])
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::cues;
    use super::*;

    fn check(earlier: &str, later: &str, expected: bool) {
        let change = Change::of(later, &cues(later), &Words::of(later));
        let taken = change.is_some_and(|change| change.takes_back(&Words::of(earlier), true));
        assert_eq!(taken, expected, "{later:?} after {earlier:?}");
    }

    #[test]
    fn takes_back_what_it_names_or_replaces() {
        check("Let's use MySQL for orders", "no, use Postgres not MySQL", true);
        check("Let's use MySQL for orders", "Use Postgres instead of MySQL", true);
        check("Let's use port 8080", "Actually, let's use port 9090", true);
        check("我们决定用 MySQL", "不用 MySQL 了，改用 Postgres", true);
        check("那就用 8080 端口部署", "还是用 9090 端口部署吧", true);
    }

    #[test]
    fn leaves_the_rest() {
        check("Let's use Rust for the parser", "no, use Postgres not MySQL", false);
        check("Let's use MySQL for orders", "MySQL listens on 3306", false);
        check("We decided to fly on 12 May with TAP", "Actually, it's 13 May, not 12 May", false);
    }
}
