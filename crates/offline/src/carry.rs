//! What the previous working memory says and this conversation left alone, in its own words: open threads, and what was
//! worked on and decided.

use std::collections::HashSet;

use super::change::Change;
use super::lexicon::Cue;
use super::one_line;
use super::weigh::{Sentence, Speaker};
use super::words::Words;
use throughline_core::text::sentences::is_cjk;

/// The headings that are read, in lower case, and the list that their bullets belong to.
const HEADINGS: [(&str, usize); 4] =
    [("carried over", THREADS), ("open threads", THREADS), ("working on", WORK), ("decisions", DECIDED)];

const THREADS: usize = 0;
const WORK: usize = 1;
const DECIDED: usize = 2;

/// A working memory has fewer; what is beyond them is the oldest.
const MAX_THREADS: usize = 64;

/// Lines about work, and about decisions: what is older is found in the timeline.
const MAX_CONTEXT: usize = 5;

/// A sentence that has this part of a line's words is about it.
const MENTIONED: f64 = 0.5;

/// What is carried over, each oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// Open threads that no sentence is about.
    pub(super) threads: Vec<String>,
    /// What was worked on, and neither finished nor said again.
    pub(super) work: Vec<String>,
    /// What was decided, and neither taken back nor said again.
    pub(super) decisions: Vec<String>,
}

/// The lines of the previous working memory that still stand.
pub(super) fn untouched(previous: &str, sentences: &[Sentence]) -> Carried {
    let [threads, work, decisions] = bullets(previous);
    let by_person = |sentence: &Sentence| sentence.speaker == Speaker::Person;
    let ends = |sentence: &Sentence, said: &Words, line: &Words| {
        let takes_back = || Change::of(&sentence.text, &sentence.found, said).is_some_and(|c| c.takes_back(line, true));
        line.repeats(said) || (sentence.has(Cue::Done) && mentions(said, line)) || (by_person(sentence) && takes_back())
    };
    Carried {
        threads: standing(threads, MAX_THREADS, sentences, |_, said, line| mentions(said, line)),
        work: standing(work, MAX_CONTEXT, sentences, ends),
        decisions: standing(decisions, MAX_CONTEXT, sentences, ends),
    }
}

/// The latest lines, each once, that no sentence ends.
fn standing(
    lines: Vec<String>,
    most: usize,
    sentences: &[Sentence],
    ends: impl Fn(&Sentence, &Words, &Words) -> bool,
) -> Vec<String> {
    let mut open: Vec<(String, Words)> = Vec::new();
    for text in lines {
        let words = Words::of(&text);
        if !words.is_empty() && !open.iter().any(|(_, other)| words.repeats(other)) {
            open.push((text, words));
        }
    }
    open.drain(..open.len().saturating_sub(most));
    let known: HashSet<Beginning> = open.iter().flat_map(|(text, _)| beginnings(text)).collect();
    for sentence in sentences {
        if open.is_empty() {
            break;
        }
        if !beginnings(&sentence.text).any(|beginning| known.contains(&beginning)) {
            continue;
        }
        let said = Words::of(&sentence.text);
        open.retain(|(_, words)| !ends(sentence, &said, words));
    }
    open.into_iter().map(|(text, _)| text).collect()
}

/// The first letters of a word of substance, which its other forms share; a CJK character is a word.
type Beginning = [char; 4];

/// Cheap to compare, so that only sentences that may be about a thread are analysed.
fn beginnings(text: &str) -> impl Iterator<Item = Beginning> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    words.flat_map(|word| {
        let wide = word.contains(is_cjk);
        let first = word.chars().take(if wide { 0 } else { 4 });
        let letters = first.chain(std::iter::repeat(' ')).flat_map(char::to_lowercase);
        let beginning: Vec<char> = letters.take(4).collect();
        let beginning = beginning.try_into().unwrap_or([' '; 4]);
        let single = word.chars().filter(move |_| wide).map(|c| [c, ' ', ' ', ' ']);
        single.chain((!wide).then_some(beginning))
    })
}

fn mentions(said: &Words, thread: &Words) -> bool {
    let shared = thread.shared(said);
    shared >= thread.len().min(2) && thread.share_in(said) >= MENTIONED
}

/// The bullets under the headings that are read, oldest first: what was carried over already is older.
fn bullets(previous: &str) -> [Vec<String>; 3] {
    let mut found: [[Vec<String>; 2]; 3] = Default::default();
    let mut section = None;
    let mut carried = false;
    let mut open = false;
    for line in previous.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') {
            let title = trimmed.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase();
            carried = title == HEADINGS[0].0 || (carried && trimmed.starts_with("###"));
            section = HEADINGS.iter().find(|(heading, _)| *heading == title).map(|(_, list)| *list);
            open = false;
        } else if let Some(section) = section {
            let list = &mut found[section][usize::from(!carried)];
            let bullet = ["- ", "* ", "+ "].into_iter().find_map(|mark| trimmed.strip_prefix(mark));
            match (bullet, list.last_mut()) {
                (Some(text), _) => list.push(text.to_owned()),
                (None, Some(last)) if open && !trimmed.is_empty() => {
                    last.push(' ');
                    last.push_str(trimmed);
                }
                _ => {}
            }
            open = !trimmed.is_empty() && !list.is_empty();
        }
    }
    let texts = |lists: [Vec<String>; 2]| lists.into_iter().flatten().map(|text| one_line(&text));
    found.map(|lists| texts(lists).filter(|text| !text.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::prose::Form;
    use super::*;

    fn check(previous: &str, said: &[&str], expected: &[&str]) {
        let sentence = |text: &&str| Sentence::new((*text).to_owned(), Speaker::Person, Form::Prose, 0);
        let sentences: Vec<_> = said.iter().map(sentence).collect();
        assert_eq!(untouched(previous, &sentences).threads, expected);
    }

    const PREVIOUS: &str = "## Working on\n- the parser\n\n## Open threads\n- Renew the passport\n  before June\n\
        - 买去东京的机票\n\n## Carried over\n* Ask Bob about the invoice\n";

    #[test]
    fn keeps_the_threads_that_nobody_mentioned() {
        check(
            PREVIOUS,
            &["Nice weather"],
            &["Ask Bob about the invoice", "Renew the passport before June", "买去东京的机票"],
        );
        check(PREVIOUS, &["I asked Bob, the invoice is paid"], &["Renew the passport before June", "买去东京的机票"]);
        check(PREVIOUS, &["The passport is renewed", "去东京的机票买好了"], &["Ask Bob about the invoice"]);
    }

    #[test]
    fn takes_nothing_else() {
        check("- loose\n## Decisions\n- use Rust\n### Open Threads:\n\n", &[], &[]);
        check("", &[], &[]);
        check("# open threads\n- one thing\n- one thing", &[], &["one thing"]);
    }

    fn context(said: &str) -> (Vec<String>, Vec<String>) {
        let previous = "## Working on\n- The launch page in index.html\n\n## Decisions\n- Let's use the blue theme\n\n\
            ## Carried over\n- call Ann\n### Working on\n- The old shop\n### Decisions\n- We ship on Friday";
        let sentence = Sentence::new(said.to_owned(), Speaker::Person, Form::Prose, 0);
        let carried = untouched(previous, &[sentence]);
        assert_eq!(carried.threads, ["call Ann"]);
        (carried.work, carried.decisions)
    }

    #[test]
    fn work_and_decisions_stand_until_they_are_done_or_taken_back() {
        let (page, shop) = ("The launch page in index.html", "The old shop");
        let (blue, friday) = ("Let's use the blue theme", "We ship on Friday");
        let check = |said: &str, work: &[&str], decisions: &[&str]| {
            assert_eq!(
                context(said),
                (work.iter().map(|s| (*s).to_owned()).collect(), decisions.iter().map(|s| (*s).to_owned()).collect()),
                "{said}"
            );
        };
        check("Is the launch page nice?", &[shop, page], &[friday, blue]);
        check("The launch page in index.html is done", &[shop], &[friday, blue]);
        check("Use the red theme instead of blue", &[shop, page], &[friday]);
        check("As I said, we ship on Friday", &[shop, page], &[blue]);
    }
}
