//! Summaries: the sentences of a conversation that the next one needs, under short headings.
//!
//! About a fifth of the prose, never over the budget. What was corrected later and what was done later is left out;
//! of two sentences that say the same, the later stays.

use std::collections::HashSet;

use throughline_core::model::{Role, Turn};
use throughline_core::ports::SummaryBrief;
use throughline_core::prompts::CARRIED_OVER;
use throughline_core::text::tokens;

use super::carry::{self, Carried};
use super::change::Change;
use super::lexicon::Cue;
use super::prose::Form;
use super::spoken::read;
use super::weigh::{Place, STRONG, Section, Sentence, Speaker, WORTHY, is_technical, specifics};
use super::words::Words;

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

/// A thing that has this part of an open thread's words and is done closes it.
const CLOSED: f64 = 0.5;

const PERSONAL: [&str; 4] = ["## Working on", "## Decisions", "## Preferences and constraints", "## Open threads"];

/// Below what is carried over: what was worked on, where this conversation is about something else, and what was decided.
const CARRIED_WORK: &str = "### Working on";
const CARRIED_DECISIONS: &str = "### Decisions";

const GENERIC: [&str; 3] = ["## Topics", "## Decisions and actions", "## Technical details"];

struct Candidate {
    sentence: Sentence,
    order: usize,
    section: Section,
    score: f64,
    words: Words,
}

impl Candidate {
    /// Whether the person says what they are doing, and does not only ask.
    fn is_work(&self) -> bool {
        let sentence = &self.sentence;
        let is_said = self.section == Section::Working
            && sentence.speaker == Speaker::Person
            && sentence.by.is_none()
            && !sentence.is_question();
        is_said && (sentence.has(Cue::Works) || sentence.has(Cue::Done) || specifics(&sentence.text) > 0)
    }
}

/// The summary, in Markdown; empty where there is nothing to keep.
pub(super) fn summarise(brief: &SummaryBrief) -> String {
    let sentences = read(&brief.turns, &brief.person);
    let previous = brief.previous.as_deref().filter(|_| brief.personal);
    let mut carried = previous.map(|previous| carry::untouched(previous, &sentences)).unwrap_or_default();
    let reserved = size_of(&carried).min(brief.max_tokens / 4);
    let length: usize = sentences.iter().map(|sentence| tokens::estimate(&sentence.text)).sum();
    let mut page = Page { personal: brief.personal, left: brief.max_tokens - reserved, sections: Default::default() };
    let mut works = false;
    for candidate in choose(sentences, &brief.turns, (length / SHARE).max(MIN_TOKENS.min(length * 2 / 3)), &mut page) {
        works |= candidate.2;
        page.sections[candidate.0].1.push(candidate.1);
    }
    if works {
        carried.work.clear();
    }
    page.left += reserved;
    page.finish(&carried)
}

/// What all that is carried over would take.
fn size_of(carried: &Carried) -> usize {
    let lists =
        [(CARRIED_OVER, &carried.threads), (CARRIED_WORK, &carried.work), (CARRIED_DECISIONS, &carried.decisions)];
    let of_list = |(heading, lines): (&str, &Vec<String>)| {
        let lines: usize = lines.iter().map(|line| cost(line)).sum();
        if lines == 0 { 0 } else { lines + cost(heading) }
    };
    let size: usize = lists.into_iter().map(of_list).sum();
    if size > 0 && carried.threads.is_empty() { size + cost(CARRIED_OVER) } else { size }
}

/// The lines of the summary with the place of their heading, in the order of the conversation; and whether each says
/// what the person works on.
fn choose(sentences: Vec<Sentence>, turns: &[Turn], target: usize, page: &mut Page) -> Vec<(usize, String, bool)> {
    let mut candidates = weighed(sentences, turns);
    drop_corrected(&mut candidates);
    drop_closed(&mut candidates);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.order.cmp(&a.order)));
    let (mut chosen, mut spent, mut errors) = (Vec::<Candidate>::new(), 0, 0);
    for candidate in candidates {
        let is_error = candidate.sentence.form == Form::Error;
        let strong = candidate.score >= STRONG && candidate.sentence.speaker == Speaker::Person;
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
    let line = |c: Candidate| (page.heading(&c), c.is_work(), c.sentence.line());
    chosen.into_iter().map(line).map(|(heading, works, text)| (heading, text, works)).collect()
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
        Candidate { sentence, order, section, score, words }
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
    /// Whether the heading is paid for, and the lines below it.
    sections: [(bool, Vec<String>); 4],
}

impl Page {
    fn headings(&self) -> &'static [&'static str] {
        if self.personal { &PERSONAL } else { &GENERIC }
    }

    fn heading(&self, candidate: &Candidate) -> usize {
        let technical = candidate.sentence.form == Form::Error || is_technical(&candidate.sentence.text);
        match candidate.section {
            section if self.personal => section as usize,
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

    fn finish(mut self, carried: &Carried) -> String {
        let mut left = self.left.saturating_sub(cost(CARRIED_OVER));
        let threads = lines(latest(&carried.threads, &mut left));
        let work = sub_block(CARRIED_WORK, &carried.work, &mut left);
        let decisions = sub_block(CARRIED_DECISIONS, &carried.decisions, &mut left);
        let kept: Vec<String> = threads.into_iter().chain(work).chain(decisions).collect();
        let mut blocks: Vec<String> = Vec::new();
        for (heading, (_, lines)) in self.headings().iter().zip(std::mem::take(&mut self.sections)) {
            blocks.extend(block(heading, lines.iter()));
        }
        blocks.extend((!kept.is_empty()).then(|| format!("{CARRIED_OVER}\n{}", kept.join("\n"))));
        blocks.join("\n\n")
    }
}

/// The latest of these that there is room for, oldest first.
fn latest<'a>(texts: &'a [String], left: &mut usize) -> Vec<&'a String> {
    let mut kept: Vec<&String> = Vec::new();
    for text in texts.iter().rev() {
        if cost(text) > *left {
            break;
        }
        *left -= cost(text);
        kept.push(text);
    }
    kept.reverse();
    kept
}

/// A part of what is carried over, below a heading of its own.
fn sub_block(heading: &str, texts: &[String], left: &mut usize) -> Option<String> {
    let mut room = left.checked_sub(cost(heading))?;
    let block = block(heading, latest(texts, &mut room).into_iter())?;
    *left = room;
    Some(block)
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

    fn check(personal: bool, max_tokens: usize, previous: Option<&str>, turns: &[(&str, &str)], expected: &str) {
        let turns = turns.iter().map(|(role, content)| turn(role, content)).collect();
        let previous = previous.map(str::to_owned);
        assert_eq!(
            summarise(&SummaryBrief {
                personal,
                turns,
                person: Default::default(),
                previous,
                knowledge: Vec::new(),
                max_tokens
            }),
            expected
        );
    }

    const PREVIOUS: &str = "## Decisions\n- use Rust\n\n## Open threads\n- Ask Bob about the fence\n- Paint the shed\n\n\
        ## Carried over\n- Renew the licence\n";

    #[test]
    fn carried_threads_give_way_oldest_first() {
        let all = "## Carried over\n- Renew the licence\n- Ask Bob about the fence\n- Paint the shed";
        check(true, 100, Some(PREVIOUS), &[], &format!("{all}\n### Decisions\n- use Rust"));
        check(true, 28, Some(PREVIOUS), &[], all);
        check(true, 19, Some(PREVIOUS), &[], "## Carried over\n- Ask Bob about the fence\n- Paint the shed");
        check(true, 11, Some(PREVIOUS), &[], "## Carried over\n- Paint the shed");
        check(true, 5, Some(PREVIOUS), &[], "");
        check(false, 100, Some(PREVIOUS), &[], "");
    }

    #[test]
    fn what_was_done_is_no_open_thread() {
        let said = [
            ("user", "TODO: write the changelog for 2.4"),
            ("assistant", "I've added the changelog for 2.4 and it is done."),
        ];
        check(true, 200, None, &said, "## Working on\n- I've added the changelog for 2.4 and it is done.");
    }

    const LAUNCH: &str = "## Working on\n- I'm working on the launch page\n\n## Decisions\n- Let's use the blue theme\n\n\
        ## Open threads\n- Call the printer\n";

    #[test]
    fn what_was_worked_on_is_carried_until_something_else_is() {
        check(
            true,
            200,
            Some(LAUNCH),
            &[("user", "I prefer tabs over spaces")],
            "## Preferences and constraints\n- I prefer tabs over spaces\n\n## Carried over\n- Call the printer\n\
            ### Working on\n- I'm working on the launch page\n### Decisions\n- Let's use the blue theme",
        );
        check(
            true,
            200,
            Some(LAUNCH),
            &[("user", "I'm fixing the invoices of the shop")],
            "## Working on\n- I'm fixing the invoices of the shop\n\n## Carried over\n- Call the printer\n\
            ### Decisions\n- Let's use the blue theme",
        );
    }

    #[test]
    fn a_plain_question_is_no_open_thread() {
        check(true, 200, None, &[("user", "What is 2+2?")], "");
        check(true, 200, None, &[("user", "What is 2+2?"), ("assistant", "4.")], "");
        check(
            true,
            200,
            None,
            &[
                ("user", "I'm working on the launch page"),
                ("user", "What is 2+2?"),
                ("user", "Which font has the page?"),
            ],
            "## Working on\n- I'm working on the launch page\n\n## Open threads\n- Which font has the page?",
        );
    }

    #[test]
    fn small_talk_and_who_somebody_is_are_not_worked_on() {
        for said in ["Where were we?", "Thanks, bye", "ok go on", "Remember that.", "继续"] {
            check(true, 200, None, &[("user", said)], "");
        }
        check(
            true,
            200,
            None,
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
        check(true, 200, None, &said, "## Decisions\n- we decided to use Postgres for orders!");
    }

    #[test]
    fn a_single_plain_sentence_is_better_than_nothing() {
        check(
            true,
            200,
            None,
            &[("user", "the weather was fine in the mountains")],
            "## Working on\n- the weather was fine in the mountains",
        );
        check(true, 3, None, &[("user", "the weather was fine in the mountains")], "");
    }
}
