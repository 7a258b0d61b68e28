//! Facts: what the person stated that lasts, in their own words, as the strict JSON that the extraction prompt names.
//!
//! Each message is read with the turns before it, whatever was consolidated when: the same turns give the same facts in any
//! batching. Of a message only the person's own words count, and of those the moves that state something.

use serde_json::Value;
use throughline_core::consolidation::facts::FactKind;
use throughline_core::model::{Role, Turn};
use throughline_core::ports::ExtractBrief;
use throughline_core::statements;
use throughline_core::text::own_words::{QUOTED, own_words, without_quotations};
use throughline_core::text::prose::{self, Form};
use throughline_core::text::sentences::{clauses, is_cjk, whole_of_line};

use super::classify::{Verdict, classify};
use super::groups;
use super::kind::{careful_kind, lasting_kind};
use super::language::{Language, language};
use super::lexicon::count_words;
use super::moves::{has_verb, joints, moves, without_fillers};
use super::one_line;
use super::outcome;
use super::reference;
use super::remember::{before_reference, refers_back, to_remember};
use super::veto::{
    is_addressed, is_fragment, is_nameless, is_remark, is_rest, is_sentiment, is_single_order, is_vetoed, pretends,
    speaks_to,
};

/// How surely a move must be worth keeping; more surely in languages with fewer sentences to learn from.
const FLOOR: f32 = 0.55;
const CAREFUL_FLOOR: f32 = 0.65;

/// The same for what says by itself that it is a rule or a decision: always, never, we decided.
const RULE_FLOOR: f32 = 0.45;
const CAREFUL_RULE_FLOOR: f32 = 0.5;

/// The same for what tells who the person is, in English.
const IDENTITY_FLOOR: f32 = 0.5;

/// The same for what says plainly who the person is, in any language.
const WHO_FLOOR: f32 = 0.1;

/// The same for a fact that names nothing in particular.
const VAGUE_FLOOR: f32 = 0.75;

/// The same for what sounds like a wish, a rule or a word about the person, without the words that say so.
const VAGUE_WISH_FLOOR: f32 = 0.65;

/// The same where the person corrects something: that it matters is said.
const CORRECTION_FLOOR: f32 = 0.4;

/// The same for the beginning of a sentence that is not worth keeping as a whole.
const SURE: f32 = 0.7;

/// Facts of one message, the first ones.
const MAX_FACTS: usize = 12;

const MAX_CHARS: usize = 300;

/// Sentences before a message that are looked at for names, the nearest.
const MAX_BEFORE: usize = 24;

/// A fact of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) kind: FactKind,
    pub(super) text: String,
}

/// The facts of the conversation, as JSON.
pub(super) fn extract(brief: &ExtractBrief) -> String {
    // Written out, so that the keys come in the order of the prompt.
    let fact = |fact: Fact| format!("{{\"text\":{},\"kind\":\"{}\"}}", Value::String(fact.text), fact.kind.as_str());
    let facts: Vec<String> = stated(&brief.before, &brief.turns).into_iter().map(fact).collect();
    format!("{{\"facts\":[{}]}}", facts.join(","))
}

/// Everything that the person stated in `turns`, in order. `before` is read for names only.
pub(super) fn stated(before: &[Turn], turns: &[Turn]) -> Vec<Fact> {
    let mut reader = Reader::default();
    before.iter().for_each(|turn| reader.pass(turn));
    let mut facts: Vec<Fact> = Vec::new();
    for turn in turns {
        for fact in reader.read(turn) {
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }
    facts
}

/// What was said so far.
#[derive(Default)]
struct Reader {
    /// The last sentences, with who said them.
    before: Vec<(Role, String)>,
    /// The last message of the assistant, where the person has not answered it yet.
    found: Vec<String>,
}

impl Reader {
    /// Hears a turn without keeping anything of it.
    fn pass(&mut self, turn: &Turn) {
        let sentences = match turn.role {
            Role::User => own_sentences(&turn.content),
            Role::Assistant => prose_sentences(&turn.content),
            _ => return,
        };
        self.found = if turn.role == Role::Assistant { sentences.clone() } else { Vec::new() };
        self.hear(turn.role, sentences);
    }

    fn hear(&mut self, role: Role, sentences: Vec<String>) {
        self.before.extend(sentences.into_iter().map(|sentence| (role, sentence)));
        let extra = self.before.len().saturating_sub(MAX_BEFORE);
        self.before.drain(..extra);
    }

    /// Reads a turn; gives the facts that the person states in it.
    fn read(&mut self, turn: &Turn) -> Vec<Fact> {
        if turn.role != Role::User {
            self.pass(turn);
            return Vec::new();
        }
        let sentences = own_sentences(&turn.content);
        let mut facts = outcome::accepted(&sentences, &self.found, &self.before);
        self.found.clear();
        let mut is_pretended = false;
        for sentence in sentences {
            // What follows `pretend that` is said of nobody.
            is_pretended = is_pretended || pretends(without_fillers(&sentence));
            if !is_pretended {
                facts.extend(self.sentence(&sentence));
            }
            self.hear(Role::User, vec![sentence]);
        }
        facts.dedup();
        facts.truncate(MAX_FACTS);
        facts
    }

    fn sentence(&self, sentence: &str) -> Vec<Fact> {
        if refers_back(sentence) {
            let last = self.before.last().filter(|(role, _)| *role == Role::User).map(|(_, text)| text.clone());
            return last.and_then(|last| self.asked_for(&last)).into_iter().collect();
        }
        if let Some(wanted) = before_reference(sentence).or_else(|| to_remember(without_fillers(sentence))) {
            return self.asked_for(wanted).into_iter().collect();
        }
        // Around a quotation nothing is whole.
        if sentence.contains(QUOTED) {
            return Vec::new();
        }
        moves(sentence).into_iter().flat_map(|part| self.part(part)).collect()
    }

    /// What a person asked to remember: a fact, whatever its words, as long as it can be understood by itself.
    fn asked_for(&self, text: &str) -> Option<Fact> {
        let text = without_fillers(text).trim_end_matches([' ', ',', '，', ';', ':']);
        let text = self.named(text)?;
        let kind = classify(&text).map_or(FactKind::Fact, |verdict| verdict.kind);
        let is_lost = is_vetoed(&text) || language(&text) == Some(Language::English) && is_empty(kind, false, &text);
        (count_words(&text) >= 3 && !is_lost).then_some(Fact { kind, text })
    }

    /// The facts of one move.
    fn part(&self, part: &str) -> Vec<Fact> {
        if let Some(rest) = reference::correction(part) {
            return self.corrected(part, rest).into_iter().collect();
        }
        let cuts = joints(part);
        if !cuts.is_empty() {
            let mut starts = vec![0];
            starts.extend(&cuts);
            let ends = cuts.iter().copied().chain([part.len()]);
            let pieces: Vec<&str> = starts.into_iter().zip(ends).map(|(from, to)| piece(&part[from..to])).collect();
            let facts: Vec<Option<Fact>> = pieces.iter().map(|piece| self.statement(piece)).collect();
            // `My niece loves films, so I'll look for some`: the intention is left out.
            let has_intention = !part.contains(is_cjk) && pieces.iter().any(|piece| is_vetoed(piece));
            if facts.iter().all(Option::is_some) || has_intention {
                return facts.into_iter().flatten().collect();
            }
        }
        // `I turned 47 and never had a plan`: the beginning may be worth keeping where the whole is not.
        let is_english = language(part) == Some(Language::English);
        let first =
            || first_conjunct(part).filter(|_| is_english && !is_remark(part)).and_then(|first| self.statement(first));
        self.statement(part).or_else(first).into_iter().collect()
    }

    /// `no, it's 5433`: the statement before it with the new value; else what follows the word of correction.
    fn corrected(&self, part: &str, rest: &str) -> Option<Fact> {
        let said = self.before.iter().rev().take(MAX_BEFORE / 2);
        let completed = said.map(|(_, text)| text.as_str()).find_map(|before| statements::completed(part, before));
        let text = match completed {
            Some(text) => text,
            // `no, I just checked, the deadline is the 3rd`: the last clause that can stand alone says what is right.
            None => {
                let clauses = clauses(rest);
                let starts = std::iter::once(rest).chain(clauses.iter().rev().take(2).map(|clause| piece(clause)));
                starts.into_iter().find_map(|text| self.right(text))?
            }
        };
        let text = text.trim_end_matches(['?', '？', ' ']).to_owned();
        (!is_vetoed(&text)).then_some(Fact { kind: FactKind::Correction, text })
    }

    /// What a correction says is right, where it is worth keeping.
    fn right(&self, text: &str) -> Option<String> {
        let text = self.named(text)?;
        let worth = classify(&text).map_or(0.0, |verdict| verdict.worth);
        let is_english = language(&text) == Some(Language::English);
        let is_lost = is_vetoed(&text) || is_english && (is_rest(&text) || !has_verb(&text) && is_fragment(&text));
        let least = if is_english && !is_specific(&text) { 3 } else { 2 };
        (worth >= CORRECTION_FLOOR && count_words(&text) >= least && !is_lost).then_some(text)
    }

    fn statement(&self, part: &str) -> Option<Fact> {
        let text = self.named(part)?;
        let verdict = classify(&text)?;
        let is_rule = is_announced(verdict.kind, &text, verdict.language);
        let floor = floor(verdict, is_rule, &text);
        let kind = careful_kind(verdict.kind, &text, verdict.language);
        let is_lost = is_vetoed(&text) || verdict.language == Language::English && is_empty(kind, is_rule, &text);
        let is_kept = verdict.worth >= floor && says_enough(kind, &text) && !is_lost;
        is_kept.then(|| Fact { kind: lasting_kind(kind, &text, verdict.language), text })
    }

    /// A part with names for its pronouns; none where one of them stays.
    fn named(&self, part: &str) -> Option<String> {
        if !reference::points(part) {
            return Some(part.to_owned());
        }
        // `that was the cause` means what happened, not what an assistant spoke of last.
        let is_meant = |role: Role| role == Role::User || !reference::is_demonstrative(part);
        let before: Vec<String> =
            self.before.iter().filter(|(role, _)| is_meant(*role)).map(|(_, text)| text.clone()).collect();
        reference::resolved(part, &before)
    }
}

/// How surely a text must be worth keeping.
fn floor(verdict: Verdict, is_rule: bool, text: &str) -> f32 {
    let is_english = verdict.language == Language::English;
    match verdict.kind {
        _ if is_rule => {
            if is_english {
                RULE_FLOOR
            } else {
                CAREFUL_RULE_FLOOR
            }
        }
        _ if statements::tells_who(text) => WHO_FLOOR,
        FactKind::Fact if is_vague(verdict.kind, text, verdict.language) => VAGUE_FLOOR,
        FactKind::Fact if is_english && is_impersonal(text) => VAGUE_FLOOR,
        FactKind::Identity if is_english => IDENTITY_FLOOR,
        _ if is_vague(verdict.kind, text, verdict.language) => VAGUE_WISH_FLOOR,
        _ if is_english || verdict.language == Language::Chinese => FLOOR,
        _ => CAREFUL_FLOOR,
    }
}

/// Whether a text says by itself that it is a rule or a decision.
fn is_announced(kind: FactKind, text: &str, language: Language) -> bool {
    let groups = groups::in_sentence(text, language);
    match kind {
        FactKind::Constraint => {
            ["always", "never", "from now on", "only", "must"].iter().any(|name| groups.contains(name))
        }
        FactKind::Decision => groups.contains(&"decided"),
        _ => false,
    }
}

/// Whether an English text has the form of a statement and states nothing.
fn is_empty(kind: FactKind, is_rule: bool, text: &str) -> bool {
    let is_told = matches!(kind, FactKind::Fact | FactKind::Decision);
    let is_felt = !is_rule && kind != FactKind::Constraint && is_sentiment(text);
    let is_unnamed = !matches!(kind, FactKind::Constraint | FactKind::Preference) && is_nameless(text);
    let is_once = matches!(kind, FactKind::Constraint | FactKind::Fact) && is_single_order(text);
    let is_told = is_told && is_addressed(text) || kind == FactKind::Constraint && !is_rule && speaks_to(text);
    is_told || is_felt || is_once || is_fragment(text) || is_unnamed || is_notation(text)
}

/// `cxd4 Bb4 10.`: neither a verb nor two words.
fn is_notation(text: &str) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_end_matches(['.', ',', ':']);
        word.len() > 2 && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
    };
    !has_verb(text) && text.split_whitespace().filter(is_word).count() < 2
}

/// Whether a statement names nobody, nothing and no number, and is no wish or rule by its words: most of those are said in
/// passing.
fn is_vague(kind: FactKind, text: &str, language: Language) -> bool {
    let groups = groups::in_sentence(text, language);
    let has = |names: &[&str]| names.iter().any(|name| groups.contains(name));
    let is_wish = match kind {
        FactKind::Preference => has(&["prefers", "rather than", "please", "only", "from now on"]),
        FactKind::Constraint => has(&["never", "always", "must", "only", "please", "from now on", "order"]),
        FactKind::Correction => has(&["corrects"]),
        FactKind::Identity => has(&["who"]),
        _ => false,
    };
    let is_known = has(&["health", "colleague", "family", "value", "schedule", "decided", "uses", "pet"]);
    language == Language::English && !is_wish && !is_known && !is_specific(text)
}

/// Whether an English text speaks of neither the person nor a value.
fn is_impersonal(text: &str) -> bool {
    let groups = groups::in_sentence(text, Language::English);
    let is_known = ["i", "my", "we", "family", "colleague", "health", "value", "schedule", "uses"];
    !text.contains(|c: char| c.is_ascii_digit()) && !is_known.iter().any(|name| groups.contains(name))
}

/// Whether a text has a name or a number.
fn is_specific(text: &str) -> bool {
    let is_named = |word: &str| {
        word.starts_with(char::is_uppercase) && word != "I" && !word.starts_with("I'") && !word.starts_with("I’")
    };
    text.split_whitespace().skip(1).any(is_named) || text.contains(|c: char| c.is_ascii_digit())
}

fn says_enough(kind: FactKind, text: &str) -> bool {
    let is_specific = text.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit() || is_cjk(c));
    // `I'm vegan`.
    let least = if is_specific || kind == FactKind::Identity { 2 } else { 3 };
    // `Rc1 Rhc8 18.` and `Absolutely Jon.` are no sentences.
    let is_sentence = text.starts_with("I")
        || text.contains(is_cjk)
        || text.split(' ').any(|word| word.starts_with(char::is_lowercase));
    count_words(text) >= least && text.chars().count() <= MAX_CHARS && is_sentence && !text.starts_with('(')
}

/// The beginning of an English text, up to where something is joined to it, where it names something.
fn first_conjunct(text: &str) -> Option<&str> {
    let joints = [", ", " and ", " but ", " so ", " because ", "; ", " - ", " – "];
    let at = joints.iter().filter_map(|joint| text.find(joint)).min()?;
    let first = piece(&text[..at]);
    let worth = classify(first).map_or(0.0, |verdict| verdict.worth);
    (worth >= SURE && is_specific(first) && count_words(first) >= 4 && has_verb(first)).then_some(first)
}

fn piece(text: &str) -> &str {
    without_fillers(text).trim_end_matches([' ', ',', '，', ';', '；', '—', '-', '–', ':', '：', '、'])
}

/// The sentences of the person's own words.
pub(super) fn own_sentences(message: &str) -> Vec<String> {
    let sentences = own_words(message).into_iter().flat_map(|run| prose_sentences(&without_quotations(run)));
    // `[shares a photo]` is a note about the message.
    sentences.filter(|sentence| !sentence.starts_with(['[', '【', '*'])).collect()
}

fn prose_sentences(text: &str) -> Vec<String> {
    let pieces = prose::pieces(text).into_iter().filter(|piece| piece.form == Form::Prose);
    pieces.flat_map(|piece| whole_of_line(piece.text)).map(one_line).collect()
}

#[cfg(test)]
mod tests {
    use throughline_core::ports::ExtractBrief;

    use super::super::corpus::turn;
    use super::*;

    fn check(turns: &[(&str, &str)], expected: &[&str]) {
        let turns: Vec<Turn> = turns.iter().map(|(role, content)| turn(role, content)).collect();
        let brief = ExtractBrief { before: Vec::new(), turns, known: Vec::new() };
        let reply: Value = serde_json::from_str(&extract(&brief)).unwrap();
        let texts: Vec<&str> =
            reply["facts"].as_array().unwrap().iter().map(|fact| fact["text"].as_str().unwrap()).collect();
        assert_eq!(texts, expected, "of {:?}", brief.turns.iter().map(|turn| &turn.content).collect::<Vec<_>>());
    }

    #[test]
    fn only_the_person_states_facts() {
        let others = ["assistant", "tool", "system", "summary"];
        others.iter().for_each(|role| check(&[(role, "I prefer tabs.")], &[]));
        check(&[("user", "I prefer tabs.")], &["I prefer tabs."]);
    }

    #[test]
    fn a_correction_is_completed_with_what_it_corrects() {
        check(
            &[("user", "The staging port is 5432."), ("user", "no, it's 5433")],
            &["The staging port is 5432.", "The staging port is 5433."],
        );
        check(&[("user", "Actually, I live in Porto now.")], &["I live in Porto now."]);
    }

    #[test]
    fn what_is_to_be_remembered_is_the_sentence_before() {
        let rate = "Our tax rate in Portugal is 23%.";
        for said in ["Remember that.", "Please remember this!", "Keep that in mind."] {
            check(&[("user", &format!("{rate} {said}"))], &[rate]);
        }
        check(&[("user", "What is the rate? Remember that.")], &[]);
    }

    #[test]
    fn a_statement_is_told_from_the_request_beside_it() {
        check(
            &[("user", "Can you fix the failing test? btw we deploy from the release branch, never from main")],
            &["we deploy from the release branch, never from main"],
        );
        check(&[("user", "I'm Ada and I live in Porto")], &["I'm Ada", "I live in Porto"]);
        check(
            &[("user", "I'm vegetarian and my sister Clara comes on Tuesday, please keep the dinner meat-free")],
            &["I'm vegetarian", "my sister Clara comes on Tuesday", "please keep the dinner meat-free"],
        );
        check(&[("user", "My nephew loves trains, so I'll look for a set.")], &["My nephew loves trains"]);
        check(&[("user", "I like the Quinoa and Black Bean Salad idea, as I made something similar.")], &[]);
    }

    #[test]
    fn a_plain_introduction_is_who_the_person_is() {
        let check = |message: &str, expected: &[&str]| {
            let facts = stated(&[], &[turn("user", message)]);
            let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
            assert_eq!(texts, expected, "{message}");
            assert!(facts.iter().all(|fact| fact.kind == FactKind::Identity), "{facts:?}");
        };
        check("Hi, I'm Marta, I run a small bakery in Porto", &["I'm Marta", "I run a small bakery in Porto"]);
        check("Ich heiße Marta", &["Ich heiße Marta"]);
        check("Je m'appelle Marta", &["Je m'appelle Marta"]);
        check("Vivo en Oporto", &["Vivo en Oporto"]);
        check("我住在上海", &["我住在上海"]);
        check("Pretend I'm Marta, I run a small bakery in Porto", &[]);
        check("Let's role-play. I'm Marta, I run a small bakery in Porto.", &[]);
        check("Write a bio: I'm Marta, I run a small bakery in Porto", &[]);
    }

    #[test]
    fn skips_code_memory_and_texts_to_work_on() {
        check(&[("user", "```\nI prefer tabs.\n```\n> I prefer spaces.")], &[]);
        check(
            &[("user", "<memory-context>\n- I prefer tabs.\n</memory-context>\n\nMy name is Ada.")],
            &["My name is Ada."],
        );
        check(&[("user", "Please translate:\nMy name is Hans. I live in Berlin.")], &[]);
        check(&[("user", "请翻译下面这段：\n我叫汉斯。我住在柏林。")], &[]);
    }

    #[test]
    fn batches_do_not_matter() {
        let turns = [
            turn("user", "Tom is my new manager."),
            turn("assistant", "Noted."),
            turn("user", "He is based in Berlin. I never work on Fridays."),
        ];
        let whole = stated(&[], &turns);
        let mut parts = stated(&[], &turns[..1]);
        parts.extend(stated(&turns[..1], &turns[1..]));
        assert_eq!(whole, parts);
        assert!(whole.iter().any(|fact| fact.text == "Tom is based in Berlin."), "{whole:?}");
    }
}
