//! What becomes of each line of a summary: a later conversation goes on from it, it is finished, or the archive keeps it.
//!
//! There is something to go on from where the person says what they are working on, decides something, or leaves
//! something open. A single request, a plain question and small talk are none of these.

use std::sync::LazyLock;

use throughline_core::model::{Role, Turn};
use throughline_core::threads::is_closing;

use super::lexicon::Cue;
use super::phrases::Phrases;
use super::smalltalk::is_order;
use super::summary::Candidate;
use super::weigh::{Section, Speaker, is_technical, specifics};
use super::words::Words;
use throughline_core::text::prose::Form;

/// What is finished has this part of a line's words, or the line has this part of its words: then the line is about it.
const MENTIONED: f64 = 0.5;
const MENTIONS: f64 = 0.6;

/// Lines that others are compared with, the latest.
const COMPARED: usize = 64;

/// Wishes that an answer fulfils: nothing is being worked on.
static ASKS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "help me|can you help|could you help|i need help|i want to know|i'd like to know|i would like to know|\
        i want you to|i'd like you to|i need you to|帮我|我想知道|我想问|ich möchte wissen|ich will wissen|quiero saber|je veux savoir|je voudrais savoir",
    )
});

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// A later conversation goes on from it.
    Carried,
    /// It is finished.
    Done,
    /// It was said.
    Said,
}

/// Decides for every candidate, which stand in the order of the conversation.
pub(super) fn decide(candidates: &mut [Candidate], turns: &[Turn]) {
    let is_over = is_over(turns);
    let around = Around::of(candidates);
    let looks: Vec<Look> = candidates.iter().map(|candidate| around.look(candidate, is_over)).collect();
    let is_some_done = looks.iter().any(|look| look.is_done);
    // What was decided about a thing that is finished is finished, too.
    let goes_on = |(candidate, look): (&Candidate, &Look)| {
        look.begins && !look.is_done && (candidate.section != Section::Decisions || !is_some_done)
    };
    let is_left = candidates.iter().zip(&looks).any(goes_on);
    for (candidate, look) in candidates.iter_mut().zip(looks) {
        candidate.begins = look.begins;
        candidate.fate = match look {
            Look { may_be_carried: false, .. } => Fate::Said,
            Look { is_done: true, .. } => Fate::Done,
            _ if is_left => Fate::Carried,
            _ => Fate::Said,
        };
    }
}

/// Whether the last that the person said is that all is finished. To an assistant that asks, "done" is an answer.
fn is_over(turns: &[Turn]) -> bool {
    let Some(last) = turns.iter().rposition(|turn| turn.role == Role::User) else { return false };
    let before = turns[..last].iter().rfind(|turn| turn.role == Role::Assistant);
    let asks = before.is_some_and(|turn| turn.content.trim_end().ends_with(['?', '？', ':', '：']));
    !asks && is_closing(&turns[last].content)
}

/// What one line is by itself.
struct Look {
    /// Whether a later conversation could go on from it.
    may_be_carried: bool,
    /// Whether the person says that it is finished.
    is_done: bool,
    /// Whether there is something to go on from where this was said.
    begins: bool,
}

/// The lines that others are compared with: the latest.
struct Around {
    /// Those of everybody, each with its speaker and its turn.
    said: Vec<(Speaker, usize, Words)>,
    /// Those that say that something is finished, each with its place.
    done: Vec<(usize, Words)>,
}

impl Around {
    fn of(candidates: &[Candidate]) -> Self {
        let theirs = || candidates.iter().rev().filter(|candidate| candidate.sentence.speaker == Speaker::Person);
        let is_done = |candidate: &&Candidate| {
            let sentence = &candidate.sentence;
            candidate.section == Section::Working && sentence.has(Cue::Done) && !sentence.has(Cue::Works)
        };
        let done = theirs().filter(is_done).map(|candidate| (candidate.order, candidate.words.clone()));
        let latest = candidates.iter().rev().map(|c| (c.sentence.speaker, c.sentence.turn, c.words.clone()));
        Self { said: latest.take(COMPARED).collect(), done: done.take(COMPARED).collect() }
    }

    fn look(&self, candidate: &Candidate, is_over: bool) -> Look {
        let may_be_carried = self.may_be_carried(candidate);
        let is_done = may_be_carried && (is_over || self.is_finished(candidate));
        Look { may_be_carried, is_done, begins: may_be_carried && self.begins(candidate) }
    }

    fn begins(&self, candidate: &Candidate) -> bool {
        let sentence = &candidate.sentence;
        let by_person = sentence.speaker == Speaker::Person;
        by_person
            && match candidate.section {
                Section::Open => sentence.form == Form::ToDo || sentence.has(Cue::Opens),
                Section::Decisions => sentence.has(Cue::Decided),
                Section::Working if sentence.has(Cue::Works) => true,
                Section::Working => {
                    is_technical(&sentence.text) && self.is_taken_up(candidate, |by| by == Speaker::Person)
                }
                Section::Preferences => false,
            }
    }

    fn may_be_carried(&self, candidate: &Candidate) -> bool {
        let sentence = &candidate.sentence;
        let names_something = candidate.words.len() >= 2 || specifics(&sentence.text) > 0;
        let is_wish = || ASKS.are_in(&sentence.text) || sentence.has(Cue::Material);
        let is_work = || sentence.has(Cue::Works) || sentence.has(Cue::Done) || specifics(&sentence.text) > 0;
        names_something
            && match (candidate.section, sentence.speaker) {
                (Section::Preferences, _) => false,
                (Section::Decisions, _) => !is_order(&sentence.text),
                (Section::Working, Speaker::Person) => {
                    !sentence.is_question() && !is_wish() && (is_work() || self.is_taken_up(candidate, |_| true))
                }
                // What an assistant explains is for the archive; what it did or found is where things stand.
                (Section::Working, Speaker::Assistant) => sentence.has(Cue::Done) || is_technical(&sentence.text),
                (Section::Open | Section::Working, _) => true,
            }
    }

    /// Whether the person says later that it is finished.
    fn is_finished(&self, candidate: &Candidate) -> bool {
        let words = &candidate.words;
        self.done.iter().filter(|(order, _)| *order > candidate.order).any(|(_, done)| {
            let is_about = words.shared(done) >= words.len().min(2);
            is_about && (words.share_in(done) >= MENTIONED || done.share_in(words) >= MENTIONS)
        })
    }

    /// Whether somebody comes back to it in another turn.
    fn is_taken_up(&self, candidate: &Candidate, by: impl Fn(Speaker) -> bool) -> bool {
        let elsewhere =
            |(speaker, turn, _): &&(Speaker, usize, Words)| by(*speaker) && *turn != candidate.sentence.turn;
        self.said.iter().filter(elsewhere).any(|(_, _, words)| candidate.words.meets(words))
    }
}

#[cfg(test)]
mod tests {
    use throughline_core::ports::SummaryBrief;
    use throughline_core::threads::{Draft, draft};

    use super::super::corpus::turn;
    use super::super::summary::summarise;

    /// The title of what is left to go on from; none if nothing is, and "(done)" where it is finished.
    fn left(turns: &[(&str, &str)]) -> Option<String> {
        let turns = turns.iter().map(|(role, content)| turn(role, content)).collect();
        let (person, knowledge) = (Default::default(), Vec::new());
        let brief = SummaryBrief { personal: true, turns, person, previous: None, knowledge, max_tokens: 400 };
        match draft(&summarise(&brief), 1000) {
            Draft::Open { title, .. } => Some(title),
            Draft::Finished => Some("(done)".to_owned()),
            Draft::Nothing => None,
        }
    }

    #[test]
    fn the_title_is_what_the_person_works_on() {
        let said = [
            ("user", "I'm migrating the billing service to Stripe v3, billing/webhooks.rs still fails."),
            ("assistant", "Done: the check uses Stripe-Signature now."),
            ("user", "we decided to keep the old endpoint until June."),
        ];
        let title = "I'm migrating the billing service to Stripe v3, billing/webhooks.rs…";
        assert_eq!(left(&said).as_deref(), Some(title));
        let over = [&said[..], &[("user", "the billing migration is done")]].concat();
        assert_eq!(left(&over).as_deref(), Some("(done)"), "with what was decided about it");
    }

    #[test]
    fn done_is_an_answer_to_a_question() {
        let work = ("user", "I'm working on the parser in src/parse.rs");
        let asked = [work, ("assistant", "Did you run the tests?"), ("user", "done")];
        assert_eq!(left(&asked).as_deref(), Some("I'm working on the parser in src/parse.rs"));
        let told = [work, ("assistant", "The parser passes its tests now."), ("user", "done")];
        assert_eq!(left(&told).as_deref(), Some("(done)"));
    }

    #[test]
    fn what_is_finished_leaves_and_what_is_not_stays() {
        let said = [
            ("user", "I'm working on the launch page in site/index.html."),
            ("user", "I'm fixing the invoices of the shop in shop/invoice.py."),
            ("user", "The launch page is done."),
        ];
        assert_eq!(left(&said).as_deref(), Some("I'm fixing the invoices of the shop in shop/invoice.py"));
    }
}
