//! What an erased text is told by wherever else it stands. Only computes.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::model::DocumentName;
use crate::ports::Erasure;
use crate::recall::analysis::stems;
use crate::text::bullets;
use crate::text::frequency::zipf;
use crate::text::sentences::sentences;

use super::judge;
use super::says::Words;

/// What stands in the place of a summary or a title of which nothing is left.
pub const ERASED: &str = "[erased]";

/// A word that is rarer than this names something: about once in ten million words.
const RARE: f32 = 2.0;

/// The same for numbers, of which those with four digits are codes, unless they are years.
const RARE_NUMBER: f32 = 3.0;

/// Shorter words are rare by chance.
const SHORTEST: usize = 4;

/// One common word alone is in too many sentences to tell a memory by.
const FEWEST: usize = 2;

/// An erased text, ready to be looked for in what repeats it.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    words: Words,
    /// Stems of words that hardly anything else has: names, codes.
    rare: HashSet<String>,
    /// The same words as they were written.
    spelled: Vec<String>,
    /// Whether whatever has its words is about it.
    is_topic: bool,
}

impl Trace {
    /// Of what a memory says.
    pub fn of(text: &str) -> Self {
        let mut trace = Self { words: Words::of(text), ..Self::default() };
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= SHORTEST) {
            let stems = stems(word);
            let is_rare = !stems.is_empty() && stems.iter().all(|(stem, is_stop)| !is_stop && is_rare(stem));
            if is_rare && !trace.spelled.iter().any(|known| known == word) {
                trace.spelled.push(word.to_owned());
                trace.rare.extend(stems.into_iter().map(|(stem, _)| stem));
            }
        }
        trace
    }

    /// Of everything that an erasure has in words.
    pub fn all_of(erasure: &Erasure) -> Vec<Self> {
        let topic = erasure.topic.as_deref().map(|topic| Self { is_topic: true, ..Self::of(topic) });
        erasure.texts.iter().map(|text| Self::of(text)).chain(topic).collect()
    }

    /// Its words that hardly anything else has, as they were written.
    pub fn rare_words(&self) -> &[String] {
        &self.spelled
    }

    /// Whether a text has a word of it that hardly anything else has, or a sentence that says it.
    pub fn is_in(&self, text: &str) -> bool {
        self.is_named_by(text) || sentences(text).into_iter().any(|sentence| self.is_said_by(&Words::of(sentence)))
    }

    /// Whether a line or a title says it and, unless it is a topic, little else.
    pub fn is_repeated_by(&self, line: &str) -> bool {
        let words = Words::of(line);
        self.is_said_by(&words) && (self.is_topic || words.repeats(&self.words))
    }

    fn is_named_by(&self, text: &str) -> bool {
        !self.rare.is_empty() && stems(text).iter().any(|(stem, _)| self.rare.contains(stem))
    }

    /// Whether a sentence has all of its words. Another statement about the same stays.
    fn is_said_by(&self, sentence: &Words) -> bool {
        if self.is_topic {
            return sentence.says(&self.words);
        }
        let is_telling = self.words.count() >= FEWEST || !self.rare.is_empty();
        is_telling && sentence.has_all_of(&self.words)
    }

    /// The text without the sentences that repeat the erased one; `None` if no sentence does. May be empty.
    pub fn taken_out_of(&self, text: &str) -> Option<String> {
        let all = sentences(text);
        let gone: Vec<&str> = all.iter().copied().filter(|sentence| self.is_said_by(&Words::of(sentence))).collect();
        (!gone.is_empty()).then(|| judge::without(text, &all, &gone))
    }

    /// The document without the lines that repeat the erased text, and with headings that do replaced; `None` if nothing repeats it.
    pub fn taken_out_of_lines(&self, name: &DocumentName, text: &str) -> Option<String> {
        let lines = bullets::parse(name, text).into_iter().filter(|line| self.is_repeated_by(&line.content));
        let without = lines.fold(text.to_owned(), |text, line| bullets::without_content(name, &text, &line.content));
        let headed: String = without.split_inclusive('\n').map(|line| self.headed(line)).collect();
        (headed != text).then_some(headed)
    }

    /// A line, without its words where it is a heading that repeats it.
    fn headed<'t>(&self, line: &'t str) -> Cow<'t, str> {
        let marks = line.len() - line.trim_start_matches('#').len();
        if marks == 0 || !self.is_repeated_by(&line[marks..]) {
            return Cow::Borrowed(line);
        }
        let end = &line[line.trim_end().len()..];
        Cow::Owned(format!("{} {ERASED}{end}", &line[..marks]))
    }
}

/// Whether hardly any text has a word.
fn is_rare(stem: &str) -> bool {
    let is_number = stem.bytes().all(|byte| byte.is_ascii_digit());
    zipf(stem) < if is_number { RARE_NUMBER } else { RARE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(text: &str) -> Trace {
        Trace::all_of(&Erasure { topic: Some(text.to_owned()), ..Erasure::default() }).remove(0)
    }

    #[test]
    fn a_text_is_told_by_its_rare_words_and_by_what_it_says() {
        let trace = Trace::of("My dentist is Doctor Brimblewick");
        assert_eq!(trace.rare_words(), ["Brimblewick"]);
        assert_eq!(Trace::of("The alarm code of 2019 is 4711").rare_words(), ["4711"]);
        assert!(trace.is_in("Noted, Brimblewick's it is.") && trace.is_in("who is brimblewick"));
        assert!(!trace.is_in("My dentist is in Porto. The doctor is ill."));
        let plain = Trace::of("I live in Lisbon");
        assert!(plain.rare_words().is_empty() && plain.is_in("do I live in Lisbon?") && !plain.is_in("Lisbon is warm"));
    }

    #[test]
    fn sentences_and_lines_that_repeat_it_are_taken_out() {
        let trace = Trace::of("My dentist is Doctor Brimblewick");
        let summary = "## Facts\n- The dentist, Doctor Brimblewick, moved.\n- We meet on Mondays.";
        assert_eq!(trace.taken_out_of(summary).as_deref(), Some("## Facts\n- We meet on Mondays."));
        assert_eq!(trace.taken_out_of("Dentist: Doctor Brimblewick").as_deref(), Some(""));
        let name = "user/working".parse().unwrap();
        let left = trace.taken_out_of_lines(&name, "# Now\n\n- ask dentist Doctor Brimblewick\n- buy milk\n");
        assert_eq!(left.as_deref(), Some("# Now\n\n- buy milk\n"));
        let headed = trace.taken_out_of_lines(&name, "## Dentist Doctor Brimblewick\n\n- half done\n");
        assert_eq!(headed.as_deref(), Some("## [erased]\n\n- half done\n"));
    }

    #[test]
    fn another_statement_about_the_same_stays() {
        let trace = Trace::of("My daughter Brimblewina likes chess");
        for other in ["My daughter Brimblewina goes to school in Porto.", "Brimblewina is ill.", "She likes chess."] {
            assert_eq!(trace.taken_out_of(other), None, "{other}");
        }
        let five = Trace::of("The standup of the parser team is at noon on Mondays");
        assert_eq!(five.taken_out_of("The standup of the parser team is at noon on Fridays."), None);
        let name = "user/working".parse().unwrap();
        let own = "- pick up Brimblewina, who likes chess as much as my other daughter likes horses and football\n";
        assert_eq!(trace.taken_out_of_lines(&name, own), None, "a person's line that says more is theirs");
        assert_eq!(Trace::of("Coffee").taken_out_of("They met for coffee in Porto."), None);
        assert_eq!(Trace::of("of the and").taken_out_of("The end of the road and beyond."), None);
    }

    #[test]
    fn whatever_has_the_words_of_a_topic_is_about_it() {
        let left = topic("coffee").taken_out_of("They met for coffee in Porto. It rained.");
        assert_eq!(left.as_deref(), Some("It rained."));
        assert!(topic("Brimblewick").is_repeated_by("the long letter about the garden of Brimblewick"));
        assert!(!topic("Brimblewick letters").is_repeated_by("the garden of Brimblewick"));
    }
}
