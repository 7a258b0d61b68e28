//! Summaries: the sentences of a conversation that the next one needs, under short headings.
//!
//! About a fifth of the prose, never over the budget. What was corrected later and what was done later is left out;
//! of two sentences that say the same, the later stays. What a later conversation does not go on from stands under
//! headings of its own.

use std::collections::HashSet;

use throughline_core::model::{Role, Turn};
use throughline_core::ports::SummaryBrief;
use throughline_core::prompts::NOTHING;
use throughline_core::text::tokens;

use super::change::Change;
use super::fate::{self, Fate};
use super::lexicon::Cue;
use super::spoken::read;
use super::weigh::{Place, STRONG, Section, Sentence, Speaker, WORTHY, is_technical};
use super::words::Words;
use throughline_core::text::prose::Form;

/// The part of the conversation that its summary takes.
const SHARE: usize = 5;

/// A short conversation may have a summary of this size all the same, up to two thirds of it.
const MIN_TOKENS: usize = 150;

/// Sentences that are compared with each other; beyond them only worse ones are.
const MAX_CANDIDATES: usize = 2048;

/// Corrections and finished things that are looked at, the latest.
const MAX_CHANGES: usize = 64;

/// More lines than this are no summary.
const MAX_BULLETS: usize = 60;

/// Sentences before a question that it may be about.
const RECENT: usize = 40;

/// Lines that tell an error.
const MAX_ERRORS: usize = 2;

/// Lines of the assistant in a summary for the person: what it found or did last, not what it explained.
const MAX_ASSISTANT: usize = 2;

/// Lines that a later conversation goes on from.
const MAX_CARRIED: usize = 8;

/// A thing that has this part of an open thread's words and is done closes it.
const CLOSED: f64 = 0.5;

const PERSONAL: [&str; 6] =
    ["## Working on", "## Decisions", "## Preferences and constraints", "## Open threads", "## Done", "## Also said"];

/// The places of the last two.
const DONE: usize = 4;
const ALSO_SAID: usize = 5;

const GENERIC: [&str; 3] = ["## Topics", "## Decisions and actions", "## Technical details"];

pub(super) struct Candidate {
    pub(super) sentence: Sentence,
    pub(super) order: usize,
    pub(super) section: Section,
    score: f64,
    pub(super) words: Words,
    pub(super) fate: Fate,
    /// Whether there is something to go on from where this was said.
    pub(super) begins: bool,
}

/// The summary, in Markdown; [`NOTHING`] where there is nothing to keep.
pub(super) fn summarise(brief: &SummaryBrief) -> String {
    let sentences = read(&brief.turns, &brief.person);
    let length: usize = sentences.iter().map(|sentence| tokens::estimate(&sentence.text)).sum();
    let (personal, left) = (brief.personal, brief.max_tokens);
    let mut page = Page { personal, left, title: None, sections: Default::default() };
    for (heading, line) in
        choose(sentences, &brief.turns, (length / SHARE).max(MIN_TOKENS.min(length * 2 / 3)), &mut page)
    {
        page.sections[heading].1.push(line);
    }
    page.finish()
}

/// The lines of the summary with the place of their heading, in the order of the conversation.
fn choose(sentences: Vec<Sentence>, turns: &[Turn], target: usize, page: &mut Page) -> Vec<(usize, String)> {
    let mut candidates = weighed(sentences, turns);
    drop_corrected(&mut candidates);
    drop_closed(&mut candidates);
    fate::decide(&mut candidates, turns);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.order.cmp(&a.order)));
    let (mut chosen, mut spent, mut errors) = (Vec::<Candidate>::new(), 0, 0);
    for candidate in candidates {
        if page.personal && is_one_too_many(&candidate, &chosen) {
            continue;
        }
        let is_error = candidate.sentence.form == Form::Error;
        let is_thread = page.personal && candidate.begins && candidate.fate == Fate::Carried;
        let strong = is_thread || (candidate.score >= STRONG && candidate.sentence.speaker == Speaker::Person);
        let size = cost(&candidate.sentence.line());
        let room = if strong { 2 * target } else { target };
        if chosen.len() == MAX_BULLETS || spent + size > room || (is_error && errors == MAX_ERRORS) {
            continue;
        }
        if chosen.iter().any(|other| same(&candidate, other)) || !page.take(page.heading(&candidate), size) {
            continue;
        }
        spent += size;
        errors += usize::from(is_error);
        chosen.push(candidate);
    }
    chosen.sort_by_key(|candidate| candidate.order);
    page.give_title(&chosen);
    chosen.into_iter().map(|candidate| (page.heading(&candidate), candidate.sentence.line())).collect()
}

/// Whether a summary for the person has enough of such lines: it says in a few lines where things stand.
fn is_one_too_many(candidate: &Candidate, chosen: &[Candidate]) -> bool {
    // Of files and commands, what was done is the state of the work.
    let is_by_assistant = |candidate: &Candidate| {
        candidate.sentence.speaker == Speaker::Assistant && !is_technical(&candidate.sentence.text)
    };
    let is_carried =
        |candidate: &Candidate| candidate.fate == Fate::Carried && candidate.section != Section::Preferences;
    let count = |is: &dyn Fn(&Candidate) -> bool| chosen.iter().filter(|other| is(other)).count();
    is_by_assistant(candidate) && count(&is_by_assistant) >= MAX_ASSISTANT
        || is_carried(candidate) && count(&is_carried) >= MAX_CARRIED
}

fn same(a: &Candidate, b: &Candidate) -> bool {
    a.sentence.text == b.sentence.text || a.words.repeats(&b.words) || b.words.repeats(&a.words)
}

/// The sentences that are worth a line, or the best one where none is; in order.
fn weighed(sentences: Vec<Sentence>, turns: &[Turn]) -> Vec<Candidate> {
    let places = Places::new(&sentences, turns);
    let mut all: Vec<(usize, Section, f64, Sentence)> = Vec::new();
    for (order, sentence) in sentences.into_iter().enumerate() {
        if let Some((section, score)) = sentence.weigh(places.of(order, &sentence)) {
            all.push((order, section, score, sentence));
        }
    }
    all.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.0.cmp(&a.0)));
    let worthy = all.iter().take_while(|(_, _, score, _)| *score >= WORTHY).count();
    all.truncate(worthy.clamp(1, MAX_CANDIDATES));
    all.sort_by_key(|(order, ..)| *order);
    let candidate = |(order, section, score, sentence): (usize, Section, f64, Sentence)| {
        let words = Words::of(&sentence.text);
        Candidate { sentence, order, section, score, words, fate: Fate::Said, begins: false }
    };
    all.into_iter().map(candidate).collect()
}

/// What is around each sentence.
struct Places {
    /// The person's first sentence of substance.
    first: Option<usize>,
    /// The turns that the person said yes to.
    accepted: Vec<bool>,
    /// The sentences that answer a question of the person, by their order.
    answers: HashSet<usize>,
    /// The questions of the person that were answered.
    answered: HashSet<usize>,
    /// The questions of the person that are about their own matters.
    own: HashSet<usize>,
    /// The last turn in which somebody spoke.
    last: usize,
}

impl Places {
    fn new(sentences: &[Sentence], turns: &[Turn]) -> Self {
        let spoken = |turn: &&Turn| matches!(turn.role, Role::User | Role::Assistant);
        let wants = |s: &Sentence| s.speaker == Speaker::Person && s.substance() >= 3 && !s.introduces();
        let first = sentences.iter().position(wants);
        let last = turns.iter().rposition(|turn| spoken(&turn)).unwrap_or_default();
        let mut accepted = vec![false; turns.len()];
        let (mut before, mut asked, mut answers) = (None, false, HashSet::new());
        let (mut waiting, mut answered) = (Vec::new(), HashSet::new());
        for (order, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| sentence.speaker != Speaker::Tool)
        {
            if sentence.speaker == Speaker::Person {
                asked = sentence.is_question();
                waiting.extend(asked.then_some(order));
            } else if !waiting.is_empty() && sentence.says_something() {
                answers.extend(asked.then_some(order));
                answered.extend(waiting.drain(..));
                asked = false;
            }
            if sentence.speaker == Speaker::Assistant {
                before = Some(sentence.turn);
            } else if let Some(turn) = before.take() {
                let yes = |found: &super::lexicon::Found| found.cue == Cue::Accepts && found.start == 0;
                accepted[turn] = sentence.found.iter().any(yes);
            }
        }
        Self { first, accepted, answers, answered, own: own_questions(sentences), last }
    }

    fn of(&self, order: usize, sentence: &Sentence) -> Place {
        Place {
            position: if self.last == 0 { 1.0 } else { sentence.turn as f64 / self.last as f64 },
            opens: self.first == Some(order),
            answers: self.answers.contains(&order),
            unanswered: sentence.turn >= self.last,
            accepted: self.accepted.get(sentence.turn).copied().unwrap_or_default(),
            answered: self.answered.contains(&order),
            own: self.own.contains(&order),
        }
    }
}

/// The questions of the person that speak of them, or of something that was told shortly before.
fn own_questions(sentences: &[Sentence]) -> HashSet<usize> {
    let is_own = |order: &usize| {
        let question = &sentences[*order];
        let words = Words::of(&question.text);
        let before = sentences[..*order].iter().rev().take(RECENT).filter(|other| !other.is_question());
        question.is_personal() || before.into_iter().any(|other| words.meets(&Words::of(&other.text)))
    };
    let asks = |order: &usize| sentences[*order].speaker == Speaker::Person && sentences[*order].is_question();
    (0..sentences.len()).filter(asks).filter(is_own).collect()
}

/// Drops what the person took back later.
fn drop_corrected(candidates: &mut Vec<Candidate>) {
    let change = |c: &Candidate| {
        let by_person = c.sentence.speaker == Speaker::Person;
        by_person
            .then(|| Change::of(&c.sentence.text, &c.sentence.found, &c.words))
            .flatten()
            .map(|change| (c.order, change))
    };
    let changes: Vec<_> = candidates.iter().rev().filter_map(change).take(MAX_CHANGES).collect();
    let stands = |c: &Candidate| {
        let decides = c.section == Section::Decisions;
        // What the person is doing goes on; what the assistant did about it may be undone.
        let lasts = match c.section {
            Section::Open => true,
            Section::Working => c.sentence.speaker != Speaker::Assistant || c.sentence.form != Form::Prose,
            Section::Decisions | Section::Preferences => false,
        };
        lasts || !changes.iter().any(|(order, change)| *order > c.order && change.takes_back(&c.words, decides))
    };
    candidates.retain(stands);
}

/// Drops open threads that were done later.
fn drop_closed(candidates: &mut Vec<Candidate>) {
    let done = |c: &&Candidate| c.section != Section::Open && c.sentence.has(Cue::Done);
    let done: Vec<(usize, Words)> =
        candidates.iter().rev().filter(done).take(MAX_CHANGES).map(|c| (c.order, c.words.clone())).collect();
    candidates.retain(|c| {
        c.section != Section::Open
            || !done.iter().any(|(order, words)| *order > c.order && c.words.share_in(words) >= CLOSED)
    });
}

/// What a line takes of the budget, at most.
fn cost(line: &str) -> usize {
    tokens::estimate(line) + 1
}

/// The summary as it grows.
struct Page {
    personal: bool,
    left: usize,
    /// What the thread is about.
    title: Option<String>,
    /// Whether the heading is paid for, and the lines below it.
    sections: [(bool, Vec<String>); 6],
}

impl Page {
    fn headings(&self) -> &'static [&'static str] {
        if self.personal { &PERSONAL } else { &GENERIC }
    }

    fn heading(&self, candidate: &Candidate) -> usize {
        let technical = candidate.sentence.form == Form::Error || is_technical(&candidate.sentence.text);
        match candidate.section {
            Section::Preferences if self.personal => Section::Preferences as usize,
            section if self.personal => match candidate.fate {
                Fate::Carried => section as usize,
                Fate::Done => DONE,
                Fate::Said => ALSO_SAID,
            },
            Section::Decisions | Section::Open => 1,
            Section::Working | Section::Preferences if technical => 2,
            // Who somebody is, or how things are, was not decided.
            Section::Preferences if !candidate.sentence.has(Cue::Prefers) => 0,
            Section::Preferences => 1,
            Section::Working => 0,
        }
    }

    /// Pays for a line, and for its heading where it is the first; false where the budget does not suffice.
    fn take(&mut self, heading: usize, size: usize) -> bool {
        let title = if self.sections[heading].0 { 0 } else { cost(self.headings()[heading]) };
        if size + title > self.left {
            return false;
        }
        self.left -= size + title;
        self.sections[heading].0 = true;
        true
    }

    /// The first that the person says of their work, else of what they decided or left open, where there is room to say
    /// it twice.
    fn give_title(&mut self, chosen: &[Candidate]) {
        let carried = || chosen.iter().filter(|candidate| candidate.fate == Fate::Carried);
        let is_work = |c: &&Candidate| c.section == Section::Working && c.sentence.speaker == Speaker::Person;
        let first = carried().find(is_work).or_else(|| carried().find(|candidate| candidate.begins));
        let first = first.map(|candidate| format!("# {}", candidate.sentence.line()));
        self.title = first.filter(|title| self.personal && cost(title) <= self.left);
    }

    fn finish(self) -> String {
        let headings = self.headings().iter();
        let blocks = headings.zip(&self.sections).filter_map(|(heading, (_, lines))| block(heading, lines.iter()));
        let text = self.title.iter().cloned().chain(blocks).collect::<Vec<_>>().join("\n\n");
        if text.is_empty() { NOTHING.to_owned() } else { text }
    }
}

fn block<'a>(heading: &str, texts: impl Iterator<Item = &'a String>) -> Option<String> {
    lines(texts).map(|lines| format!("{heading}\n{lines}"))
}

fn lines<'a>(texts: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let lines: Vec<String> = texts.into_iter().map(|text| format!("- {text}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::corpus::turn;
    use super::*;

    fn check(max_tokens: usize, turns: &[(&str, &str)], expected: &str) {
        let turns = turns.iter().map(|(role, content)| turn(role, content)).collect();
        assert_eq!(
            summarise(&SummaryBrief {
                personal: true,
                turns,
                person: Default::default(),
                previous: None,
                knowledge: Vec::new(),
                max_tokens
            }),
            expected
        );
    }

    #[test]
    fn what_was_done_is_no_open_thread() {
        let said = [
            ("user", "TODO: write the changelog for 2.4"),
            ("assistant", "I've added the changelog for 2.4 and it is done."),
        ];
        check(200, &said, "## Also said\n- I've added the changelog for 2.4 and it is done.");
    }

    #[test]
    fn a_plain_question_is_no_open_thread() {
        check(200, &[("user", "What is 2+2?")], "NOTHING");
        check(200, &[("user", "What is 2+2?"), ("assistant", "4.")], "NOTHING");
        check(
            200,
            &[
                ("user", "I'm working on the launch page"),
                ("user", "What is 2+2?"),
                ("user", "Which font has the page?"),
            ],
            "# I'm working on the launch page\n\n## Working on\n- I'm working on the launch page\n\n\
            ## Open threads\n- Which font has the page?",
        );
    }

    #[test]
    fn small_talk_and_who_somebody_is_are_not_worked_on() {
        for said in ["Where were we?", "Thanks, bye", "ok go on", "Remember that.", "继续"] {
            check(200, &[("user", said)], "NOTHING");
        }
        check(
            200,
            &[("user", "My name is Ada. Our tax rate in Portugal is 23%. Remember that.")],
            "## Preferences and constraints\n- My name is Ada.\n- Our tax rate in Portugal is 23%.",
        );
    }

    #[test]
    fn of_two_that_say_the_same_the_later_stays() {
        let said = [
            ("user", "We decided to use Postgres for orders"),
            ("user", "As I said, we decided to use Postgres for orders!"),
        ];
        check(
            200,
            &said,
            "# we decided to use Postgres for orders!\n\n## Decisions\n- we decided to use Postgres for orders!",
        );
    }

    #[test]
    fn lists_of_an_answer_are_no_summary() {
        let said = [
            ("user", "I'm planning a bike tour along the Danube in June."),
            (
                "assistant",
                "Here are some helmets for you:\n\n- **Bell Helmets**: Known for their safety since 1954.\n- **Giro**: Popular in 30 \
                countries.\n\nA Trek bike is a great piece of equipment!\n\n**Certifications:**\n\n1. **CPSC**: Required in the US.",
            ),
            ("user", "I'm actually looking for an easy route since two friends come along. I'll check those out."),
        ];
        check(
            400,
            &said,
            "# I'm planning a bike tour along the Danube in June.\n\n## Working on\n- I'm planning a bike tour along the Danube in June.\n\n\
            ## Preferences and constraints\n- I'm actually looking for an easy route since two friends come along.",
        );
    }

    #[test]
    fn a_thread_has_a_few_lines() {
        let mut said = Vec::new();
        let tasks: Vec<String> = [
            "parser", "printer", "linter", "cache", "index", "router", "editor", "viewer", "server", "client", "logger",
        ]
        .iter()
        .map(|part| format!("I'm fixing the {part} of the shop in shop/{part}.py."))
        .collect();
        tasks.iter().for_each(|task| said.push(turn("user", task)));
        let (person, knowledge) = (Default::default(), Vec::new());
        let brief = SummaryBrief { personal: true, turns: said, person, previous: None, knowledge, max_tokens: 2000 };
        let lines = summarise(&brief).lines().filter(|line| line.starts_with("- ")).count();
        assert_eq!(lines, MAX_CARRIED);
    }

    #[test]
    fn a_single_plain_sentence_is_better_than_nothing() {
        check(
            200,
            &[("user", "the weather was fine in the mountains")],
            "## Also said\n- the weather was fine in the mountains",
        );
        check(3, &[("user", "the weather was fine in the mountains")], "NOTHING");
    }
}
