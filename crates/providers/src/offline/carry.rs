//! Threads of the previous working memory that this conversation left alone, in their own words.

use std::collections::HashSet;

use super::one_line;
use super::split::is_cjk;
use super::weigh::Sentence;
use super::words::Words;

/// Headings whose bullets are threads, in lower case; the older ones first.
const HEADINGS: [&str; 2] = ["carried over", "open threads"];

/// A working memory has fewer; what is beyond them is the oldest.
const MAX_THREADS: usize = 64;

/// A sentence that has this part of a thread's words is about it.
const MENTIONED: f64 = 0.5;

/// The threads that no sentence is about, oldest first.
pub(super) fn untouched(previous: &str, sentences: &[Sentence]) -> Vec<String> {
    let mut open: Vec<(String, Words)> = Vec::new();
    for text in threads(previous) {
        let words = Words::of(&text);
        if !words.is_empty() && !open.iter().any(|(_, other)| words.repeats(other)) {
            open.push((text, words));
        }
    }
    open.drain(..open.len().saturating_sub(MAX_THREADS));
    let known: HashSet<Beginning> = open.iter().flat_map(|(text, _)| beginnings(text)).collect();
    for sentence in sentences {
        if open.is_empty() {
            break;
        }
        if !beginnings(&sentence.text).any(|beginning| known.contains(&beginning)) {
            continue;
        }
        let said = Words::of(&sentence.text);
        open.retain(|(_, words)| !mentions(&said, words));
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

/// The bullets under the headings for threads, oldest first.
fn threads(previous: &str) -> Vec<String> {
    let mut found: [Vec<String>; 2] = Default::default();
    let mut section = None;
    let mut open = false;
    for line in previous.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') {
            let title = trimmed.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase();
            section = HEADINGS.iter().position(|heading| *heading == title);
            open = false;
        } else if let Some(section) = section {
            let list = &mut found[section];
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
    found.into_iter().flatten().map(|text| one_line(&text)).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::prose::Form;
    use super::super::weigh::Speaker;
    use super::*;

    fn check(previous: &str, said: &[&str], expected: &[&str]) {
        let sentence = |text: &&str| Sentence::new((*text).to_owned(), Speaker::Person, Form::Prose, 0);
        let sentences: Vec<_> = said.iter().map(sentence).collect();
        assert_eq!(untouched(previous, &sentences), expected);
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
}
