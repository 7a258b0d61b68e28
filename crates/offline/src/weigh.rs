//! What a sentence is worth to the next conversation, and where it belongs.
//!
//! What the person said weighs more than what the assistant said; later more than earlier; names, paths and numbers
//! more than general words. Greetings, thanks and small commands weigh nothing.

use std::sync::LazyLock;

use throughline_core::text::tokens;

use super::classify::classify;
use super::groups;
use super::language::language;
use super::lexicon::{Cue, Found, count_words, cues};
use super::phrases::Phrases;
use super::smalltalk::is_small_talk;
use throughline_core::consolidation::facts::FactKind;
use throughline_core::text::prose::Form;
use throughline_core::text::sentences::is_word_char;

/// From here on a sentence is worth a line.
pub(super) const WORTHY: f64 = 1.6;

/// From here on it is worth a line even where the summary gets longer than it should.
pub(super) const STRONG: f64 = 2.7;

/// A longer sentence is no bullet.
const MAX_TOKENS: usize = 110;

/// Where a sentence belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Section {
    Working,
    Decisions,
    Preferences,
    Open,
}

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Person,
    Assistant,
    Tool,
}

/// A sentence where it stands.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// The words, white space folded.
    pub(super) text: String,
    pub(super) speaker: Speaker,
    /// The name of somebody else than the person, whose words these are.
    pub(super) by: Option<String>,
    pub(super) form: Form,
    /// Which turn it is of.
    pub(super) turn: usize,
    pub(super) found: Vec<Found>,
    /// Whether it stands in a list.
    pub(super) is_item: bool,
}

/// What is around it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// From 0, the beginning of the conversation, to 1, its end.
    pub(super) position: f64,
    /// The first thing that the person wants.
    pub(super) opens: bool,
    /// The beginning of the answer to a question.
    pub(super) answers: bool,
    /// Nobody said anything after this turn.
    pub(super) unanswered: bool,
    /// The person said yes to this turn.
    pub(super) accepted: bool,
    /// A question that the assistant answered.
    pub(super) answered: bool,
    /// About the person's own matters, as far as can be told.
    pub(super) own: bool,
}

impl Sentence {
    pub(super) fn new(text: String, speaker: Speaker, form: Form, turn: usize) -> Self {
        let found = cues(&text);
        Self { text, speaker, by: None, form, turn, found, is_item: false }
    }

    /// As a summary shows it: other people's words with their name.
    pub(super) fn line(&self) -> String {
        self.by.as_ref().map_or_else(|| self.text.clone(), |name| format!("{name}: {}", self.text))
    }

    pub(super) fn has(&self, cue: Cue) -> bool {
        self.found.iter().any(|found| found.cue == cue)
    }

    pub(super) fn is_question(&self) -> bool {
        let text = self.text.trim_end_matches(['"', '”', ')', '）', '*', '。']);
        text.ends_with(['?', '？', '吗', '嗎', '呢'])
    }

    /// Words besides the chatter.
    pub(super) fn substance(&self) -> usize {
        let chatter = self.found.iter().filter(|found| found.cue == Cue::Chatter);
        let empty: usize = chatter.map(|found| count_words(&self.text[found.start..found.end])).sum();
        count_words(&self.text).saturating_sub(empty)
    }

    pub(super) fn says_something(&self) -> bool {
        self.form == Form::Prose && !self.is_question() && !self.is_empty_talk()
    }

    /// Whether it says who the person is, or how things are as a rule: that is nothing they work on.
    pub(super) fn introduces(&self) -> bool {
        let verdict = classify(&self.text);
        verdict
            .is_some_and(|verdict| verdict.worth >= 0.6 && matches!(verdict.kind, FactKind::Identity | FactKind::Fact))
    }

    /// Whether it asks the assistant to do something and names nothing: `can you help me find out why?`
    fn asks_assistant(&self) -> bool {
        let groups = language(&self.text).map(|language| groups::in_sentence(&self.text, language)).unwrap_or_default();
        groups.contains(&"you") && specifics(&self.text) == 0
    }

    /// Marks it as something that the person wants to be kept.
    pub(super) fn keep(&mut self) {
        self.found.push(Found { cue: Cue::Prefers, start: 0, end: 0 });
    }

    /// Whether it speaks of the person or of what they have at hand.
    pub(super) fn is_personal(&self) -> bool {
        static PERSON: LazyLock<Phrases> = LazyLock::new(|| {
            Phrases::new(
                "i|i'm|i've|my|mine|we|we're|we've|our|ours|我|我们|我們|咱们|ich|mein|meine|wir|unser|yo|mi|je|mon|ma|nous",
            )
        });
        PERSON.are_in(&self.text) || is_technical(&self.text)
    }

    fn is_empty_talk(&self) -> bool {
        let chatty = self.has(Cue::Chatter);
        let substance = self.substance();
        substance < 2 || is_small_talk(&self.text) || (chatty && (self.speaker == Speaker::Assistant || substance < 4))
    }

    /// `I'll check those out`: an answer to the answer, which names nothing.
    fn promises(&self) -> bool {
        static PROMISES: LazyLock<Phrases> = LazyLock::new(|| {
            Phrases::new("i'll|i will|i'm going to|i think i'll|i'll definitely|let me|i'd love to|thanks|thank you")
        });
        static POINTING: LazyLock<Phrases> = LazyLock::new(|| {
            Phrases::new("this|these|those|that|them|it|you suggested|you mentioned|your|some of|for taking|for the")
        });
        PROMISES.after(&self.text).is_some_and(|rest| POINTING.are_in(rest)) && specifics(&self.text) == 0
    }

    /// Whether a cue tells what it usually does: in the middle of a sentence, `actually` corrects nothing and `make it` decides nothing.
    fn is_meant(&self, found: &Found) -> bool {
        let phrase = self.text[found.start..found.end].to_lowercase();
        let before = self.text[..found.start].trim_end().to_lowercase();
        let leads = before.is_empty() || before.ends_with([',', ';', '-']);
        match phrase.as_str() {
            "actually" | "instead" => leads || before.ends_with("no"),
            "make it" => {
                leads || ["let's", "lets", "please", "we'll", "ok", "so"].iter().any(|word| before.ends_with(word))
            }
            _ => true,
        }
    }

    fn corrects(&self) -> bool {
        self.found.iter().any(|found| found.cue == Cue::Corrects && self.is_meant(found))
    }

    /// Whether something was decided: `还没决定用…` is the contrary.
    fn decides(&self) -> bool {
        let open_before = |at: usize| self.found.iter().any(|f| f.cue == Cue::Opens && f.end <= at && at - f.end <= 1);
        !self.is_question()
            && self.found.iter().any(|f| f.cue == Cue::Decided && !open_before(f.start) && self.is_meant(f))
    }

    /// Where it belongs and what it is worth; none if it says nothing.
    pub(super) fn weigh(&self, place: Place) -> Option<(Section, f64)> {
        let size = tokens::estimate(&self.text);
        if size > MAX_TOKENS {
            return None;
        }
        let (section, base) = match (self.form, self.speaker) {
            (Form::Error, _) => (Section::Working, 1.2),
            (_, Speaker::Tool) => return None,
            _ if self.is_empty_talk() => return None,
            (Form::ToDo, _) => (Section::Open, 3.0),
            (Form::Prose, Speaker::Person) => self.weigh_person(place)?,
            (Form::Prose, Speaker::Assistant) => self.weigh_assistant(place)?,
        };
        let too_long = if size > 70 {
            0.8
        } else if size > 45 {
            0.3
        } else {
            0.0
        };
        let details = specifics(&self.text).min(3);
        let thin = if details == 0 && self.substance() < 4 { 0.8 } else { 0.0 };
        Some((section, base + 0.35 * details as f64 + 0.6 * place.position - too_long - thin))
    }

    fn weigh_person(&self, place: Place) -> Option<(Section, f64)> {
        let first = if place.opens { 1.6 } else { 0.0 };
        if self.promises() {
            return None;
        }
        Some(if self.is_question() {
            if self.has(Cue::Opens) || (place.unanswered && place.own) {
                (Section::Open, 2.8)
            } else if (place.own || place.answered) && !self.asks_assistant() {
                (Section::Working, 0.8 + first)
            } else {
                return None;
            }
        } else if self.decides() {
            (Section::Decisions, 3.0)
        } else if self.has(Cue::Opens) {
            (Section::Open, 2.8)
        } else if self.has(Cue::Prefers) {
            (Section::Preferences, 2.6)
        } else if self.corrects() {
            (Section::Decisions, 2.2)
        } else if self.has(Cue::Works) {
            (Section::Working, 1.6 + first)
        } else if self.has(Cue::Done) {
            (Section::Working, 1.4 + first)
        } else if self.introduces() {
            (Section::Preferences, 2.0)
        } else {
            (Section::Working, 0.8 + first)
        })
    }

    /// Whether it is part of what an answer offers or explains: an item of a list that tells nothing that was done, a heading, advice
    /// to whoever asked.
    fn is_offered(&self) -> bool {
        static ADVICE: LazyLock<Phrases> =
            LazyLock::new(|| Phrases::new("you can|you could|you may|you might|consider|try|remember to|make sure"));
        let text = self.text.trim_end_matches(['*', ' ']);
        let is_heading = text.ends_with([':', '：']) || self.text.starts_with("**") && self.text.ends_with("**");
        let is_told = self.has(Cue::Done) && !self.text.starts_with("**");
        is_heading || self.is_item && !is_told || ADVICE.begin(text)
    }

    fn weigh_assistant(&self, place: Place) -> Option<(Section, f64)> {
        if self.is_offered() && !(place.accepted && self.has(Cue::Proposes)) {
            return None;
        }
        Some(if self.is_question() {
            if !place.unanswered {
                return None;
            }
            (Section::Open, 1.8)
        } else if place.accepted && self.has(Cue::Proposes) {
            (Section::Decisions, 2.4)
        } else if self.has(Cue::Opens) {
            (Section::Open, 1.0)
        } else if self.has(Cue::Decided) {
            (Section::Decisions, 0.9)
        } else if self.has(Cue::Done) {
            (Section::Working, 1.3)
        } else {
            (Section::Working, if place.answers { 0.8 } else { 0.2 })
        })
    }
}

/// How many names, numbers, paths and identifiers a text has.
pub(super) fn specifics(text: &str) -> usize {
    let is_specific = |(nth, word): (usize, &str)| {
        let upper = word.chars().skip(usize::from(nth == 0)).any(char::is_uppercase);
        let only_i = matches!(word, "I" | "I'm" | "I'll" | "I've" | "I'd" | "I’m" | "I’ll" | "I’ve" | "I’d" | "OK");
        (upper && !only_i) || word.contains(|c: char| c.is_numeric()) || is_technical_word(word)
    };
    text.split(|c: char| !is_word_char(c) && !matches!(c, '\'' | '’' | '/' | '_' | '.' | ':' | '`' | '-' | '\\'))
        .map(|word| word.trim_matches(['.', ':', '-', '\'', '’']))
        .filter(|word| !word.is_empty())
        .enumerate()
        .filter(|found| is_specific(*found))
        .count()
}

/// Whether a sentence is about paths, commands or identifiers.
pub(super) fn is_technical(text: &str) -> bool {
    text.contains('`')
        || text.split_whitespace().any(|word| is_technical_word(word.trim_matches(['.', ',', ':', '!', '?'])))
}

fn is_technical_word(word: &str) -> bool {
    let inner = |mark: &str| word.split(mark).filter(|part| part.chars().any(is_word_char)).count() > 1;
    let extension = || {
        word.rsplit_once('.').is_some_and(|(stem, end)| {
            stem.len() > 1 && (1..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    };
    word.starts_with('`')
        || (word.starts_with('/') && word.len() > 2)
        || inner("_")
        || inner("::")
        || extension()
        || (inner("/") && word.matches('/').count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(text: &str, speaker: Speaker) -> Option<(Section, f64)> {
        Sentence::new(text.to_owned(), speaker, Form::Prose, 0).weigh(Place { own: true, ..Place::default() })
    }

    #[test]
    fn sections_of_the_persons_sentences() {
        for (text, expected) in [
            ("We decided to use Postgres for the queue", Section::Decisions),
            ("Let's go with the blue theme", Section::Decisions),
            ("我们决定用 Rust 重写解析器", Section::Decisions),
            ("那就用方案二的布局吧", Section::Decisions),
            ("还没决定用哪个数据库", Section::Open),
            ("I haven't decided on the color", Section::Open),
            ("I prefer short answers", Section::Preferences),
            ("The report must be in PDF", Section::Preferences),
            ("我喜欢靠窗的座位", Section::Preferences),
            ("千万别删除旧的备份", Section::Preferences),
            ("Remind me to renew the passport", Section::Open),
            ("We still need a logo for the site", Section::Open),
            ("下次继续写测试部分", Section::Open),
            ("I'm working on the login page", Section::Working),
            ("我正在写毕业论文的第三章", Section::Working),
            ("Is Postgres decided for the queue?", Section::Working),
            ("Ich bevorzuge kurze Antworten", Section::Preferences),
            ("Hemos decidido viajar en tren", Section::Decisions),
            ("Je préfère le train de nuit", Section::Preferences),
            ("My name is Ada.", Section::Preferences),
            ("Our standup is at 9:30.", Section::Preferences),
            ("We moved from Postgres to SQLite.", Section::Decisions),
        ] {
            assert_eq!(weigh(text, Speaker::Person).map(|(section, _)| section), Some(expected), "of {text:?}");
        }
    }

    #[test]
    fn empty_talk_is_worth_nothing() {
        for text in [
            "Thanks!",
            "Hello there",
            "ok",
            "Never mind",
            "谢谢你",
            "你好啊",
            "好的",
            "Great question!",
            "thanks a lot, bye",
            "Where were we?",
            "ok go on",
            "Remember that.",
        ] {
            assert_eq!(weigh(text, Speaker::Person), None, "of {text:?}");
        }
        assert_eq!(weigh("Let me know if you want me to change the config in app.toml.", Speaker::Assistant), None);
    }

    #[test]
    fn a_question_is_open_where_nobody_answered_and_it_is_the_persons_own() {
        let weigh = |text: &str, place| Sentence::new(text.to_owned(), Speaker::Person, Form::Prose, 0).weigh(place);
        let section = |text, place| weigh(text, place).map(|(section, _)| section);
        let left = Place { unanswered: true, ..Place::default() };
        assert_eq!(section("What is 2+2?", left), None);
        assert_eq!(section("When does our page go live?", Place { own: true, ..left }), Some(Section::Open));
        assert_eq!(section("What is a monad?", Place { answered: true, ..Place::default() }), Some(Section::Working));
    }

    #[test]
    fn counts_what_is_specific() {
        for (text, expected) in [
            ("We should talk about it", 0),
            ("Fix src/main.rs for Ada on port 8080", 3),
            ("I think I'm fine", 0),
            ("用 Postgres 16 存日志", 1),
            ("call parse_line in Parser::new", 2),
        ] {
            assert_eq!(specifics(text), expected, "of {text:?}");
        }
    }
}
