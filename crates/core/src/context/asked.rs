//! Earlier questions of the person that ask what the message asks: they tell nothing, their replies may. Pure.

use std::collections::HashSet;

use crate::recall::analysis::stems;
use crate::text::sentences::{is_cjk, sentences};

/// Words that a question without a question mark begins with, and what follows them.
const ASKING: &str = " what when where which who whose why how ";
const AUXILIARIES: &str = " am is are was were do does did can could should will would have has had ";

/// The words of a message that say something, as stems.
pub(super) fn content(message: &str) -> HashSet<String> {
    stems(message).into_iter().filter(|(_, is_stop)| !is_stop).map(|(stem, _)| stem).collect()
}

/// Whether a text only asks, and asks no more than the message: at most one word more, and neither a name nor a number.
pub(super) fn asks_same(text: &str, message: &HashSet<String>) -> bool {
    let sentences = sentences(text);
    if sentences.is_empty() || !sentences.iter().all(|sentence| is_question(sentence)) {
        return false;
    }
    let (mut known, mut unknown) = (0, 0);
    for (at, word) in sentences.iter().flat_map(|sentence| sentence.split_whitespace().enumerate()) {
        let said = content(word);
        let new = said.difference(message).count();
        if new > 0 && tells(word, at == 0) {
            return false;
        }
        known += said.len() - new;
        unknown += new;
    }
    let most = if text.contains(is_cjk) { known } else { 1 };
    known > 0 && unknown <= known.min(most)
}

/// Whether a word is a name or a number.
fn tells(word: &str, is_first: bool) -> bool {
    let is_name = !is_first && word.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_uppercase);
    is_name || word.contains(|c: char| c.is_numeric())
}

fn is_question(sentence: &str) -> bool {
    if sentence.trim_end_matches(['"', '”', ')', '）', '!', ' ']).ends_with(['?', '？']) {
        return true;
    }
    let mut words = sentence.split_whitespace().map(str::to_lowercase);
    let mut next_is = |list: &str| words.next().is_some_and(|word| list.contains(&format!(" {word} ")));
    next_is(ASKING) && next_is(AUXILIARIES) && !sentence.ends_with(['.', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_repeats_the_message_is_told_from_one_that_tells_something() {
        let check = |text: &str, message: &str, is_same: bool| {
            assert_eq!(asks_same(text, &content(message)), is_same, "{text:?} for {message:?}");
        };
        check("What am I allergic to?", "What am I allergic to?", true);
        check("What am I allergic to?", "Am I allergic to nuts?", true);
        check("what am i allergic to", "Which foods am I allergic to?", true);
        check("Which foods am I allergic to?", "What am I allergic to?", true);
        check("Am I allergic to Penicillin?", "What am I allergic to?", false);
        check("I'm allergic to peanuts.", "What am I allergic to?", false);
        check("I'm allergic to peanuts. What can I eat?", "What am I allergic to?", false);
        check("Which hotel near the allergy clinic takes dogs?", "What am I allergic to?", false);
        check("When I was five I was allergic to nuts", "What am I allergic to?", false);
        check("我对什么过敏？", "我对哪些食物过敏？", true);
        check("我对花生过敏。", "我对什么过敏？", false);
        check("Thanks!", "What am I allergic to?", false);
        check("", "What am I allergic to?", false);
    }
}
