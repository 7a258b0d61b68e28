//! Whether what a model proposes is what the person said: a statement and a conversation go in, a verdict comes out.
//!
//! A statement is supported by one clause of the person's own words (and what that clause points back to): every word that
//! carries meaning stands there, with the same negation, about the same people, in the same order around a comparison. What a
//! question, a condition, a quotation, a tool or another speaker says supports nothing.

mod clause;
mod lexicon;

use std::collections::HashSet;

use crate::model::{Role, Turn};
use crate::recall::analysis;
use crate::statements;
use crate::text::own_words::{own_words, without_quotations};
use crate::text::sentences::{clauses, is_cjk, sentences};

use clause::says;
use lexicon::{
    CONDITIONS, CONDITIONS_HAN, LIGHT, MODIFIER_PHRASES, MODIFIERS, NEGATIONS, NEGATIONS_HAN, PEOPLE, PEOPLE_HAN,
    QUANTIFIERS, QUANTIFIERS_HAN, TAKES_BACK,
};

/// A conversation, as a statement is checked against it.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// The turns right before: names and values may come from there.
    pub before: &'a [Turn],
    /// The turns that statements come from, without those of other people.
    pub turns: &'a [Turn],
}

/// How a statement stands to what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// The person said it.
    Own,
    /// The assistant found it, and the person said that it was right.
    Accepted,
    /// Its words are the person's, put together otherwise: nobody said it so.
    Loose,
    /// It has a name, a number, a negation or a subject that the person did not give it.
    None,
}

/// How a statement stands to a conversation.
pub fn support(text: &str, said: &Said<'_>) -> Support {
    Judge::of(*said).support(text)
}

/// Judges the statements of one conversation.
pub struct Judge<'a> {
    said: Said<'a>,
    own: Vec<Sentence>,
    /// Everything that carries meaning in the person's own words.
    words: HashSet<String>,
}

impl<'a> Judge<'a> {
    /// Reads the person's own words once.
    pub fn of(said: Said<'a>) -> Self {
        let own = own_sentences(&said);
        let words = own.iter().flat_map(|sentence| stems(&sentence.text)).collect();
        Self { said, own, words }
    }

    /// How a statement stands to what was said.
    pub fn support(&self, text: &str) -> Support {
        let claim = Claim::of(&of_person(text));
        let is_corrected = |nth: usize| self.own.get(nth + 1).is_some_and(|next| takes_back(&next.raw));
        let says = |nth: usize| is_said(&claim, &self.own[nth], &self.own[..nth], &self.said);
        if (0..self.own.len()).any(|nth| says(nth) && !is_corrected(nth)) {
            Support::Own
        } else if is_accepted(text, &self.said) {
            Support::Accepted
        } else if self.is_loose(&claim) {
            Support::Loose
        } else {
            Support::None
        }
    }

    /// Whether a claim is grounded in the person's words and adds no name, number, negation or quantifier. Where all of its
    /// words are there and no clause says it, it is a wrong join, a turned comparison or a lost "not".
    fn is_loose(&self, claim: &Claim) -> bool {
        let is_theirs = claim.words.iter().all(|word| is_light(word) || self.words.contains(word));
        let is_sharp_theirs =
            claim.sharp.iter().all(|word| self.own.iter().any(|sentence| sentence.raw.contains(word.as_str())));
        let shared = claim.words.iter().filter(|word| self.words.contains(*word)).count();
        let is_grounded = shared > 0 && shared * 3 >= claim.words.len();
        let is_own = is_sharp_theirs && !self.begins_with_a_tools_name(claim);
        is_grounded && is_own && !is_theirs && !claim.has_quantifier && !claim.is_denied
    }

    /// Whether a claim begins with a word that a tool printed and the person did not say. Whether it is a name does not show
    /// there: every sentence begins with a capital.
    fn begins_with_a_tools_name(&self, claim: &Claim) -> bool {
        let Some(first) = claim.text.split_whitespace().next() else { return false };
        let is_known = stems(first).iter().all(|stem| is_light(stem) || self.words.contains(stem));
        let all = self.said.before.iter().chain(self.said.turns);
        let mut printed = all.filter(|turn| turn.role == Role::Tool);
        !is_known && printed.any(|turn| turn.content.to_lowercase().contains(first))
    }
}

/// Whether a sentence corrects the one before it by a value alone.
fn takes_back(lower: &str) -> bool {
    let begins = [
        "sorry, no",
        "no, it's",
        "no it's",
        "wait, i meant",
        "i meant",
        "oops",
        "correction",
        "哦不",
        "不对",
        "说错",
        "更正",
    ];
    begins.iter().any(|words| lower.trim_start().starts_with(words))
}

/// A model speaks of the person as the user; in Chinese, where words run together, both become the same.
fn of_person(text: &str) -> String {
    const FORMS: [(&str, &str); 9] = [
        ("用户要求", ""),
        ("用户希望", ""),
        ("该用户", "我"),
        ("用户的", "我"),
        ("用户", "我"),
        ("我们的", "我"),
        ("我们", "我"),
        ("咱们", "我"),
        ("我的", "我"),
    ];
    if !text.contains(is_cjk) {
        return without_asking(text);
    }
    FORMS.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// `Remember that I live in Porto` says that they live in Porto: this `that` points at nothing.
fn without_asking(text: &str) -> String {
    const ASKING: [&str; 5] =
        ["remember that ", "keep in mind that ", "bear in mind that ", "note that ", "know that "];
    let lower = text.to_ascii_lowercase();
    let found = ASKING.iter().filter_map(|words| lower.find(words).map(|at| (at, at + words.len()))).min();
    found.map_or_else(|| text.to_owned(), |(from, to)| [&text[..from], &text[to..]].concat())
}

/// What a statement claims.
struct Claim {
    text: String,
    /// Stems of what carries meaning.
    words: HashSet<String>,
    /// Names and numbers, in lower case.
    sharp: Vec<String>,
    is_denied: bool,
    is_conditional: bool,
    has_quantifier: bool,
}

impl Claim {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        Self {
            words: stems(text),
            sharp: sharp(text),
            is_denied: has(&lower, NEGATIONS, &NEGATIONS_HAN),
            is_conditional: has(&lower, CONDITIONS, &CONDITIONS_HAN),
            has_quantifier: has(&lower, QUANTIFIERS, &QUANTIFIERS_HAN),
            text: lower,
        }
    }
}

/// A sentence of the person.
struct Sentence {
    text: String,
    /// In lower case.
    raw: String,
    is_question: bool,
}

impl Sentence {
    fn of(text: &str) -> Self {
        let end = text.trim_end_matches(['"', ')', ' ', '”']);
        let is_question = end.ends_with(['?', '？', '吗', '呢']);
        Self { text: text.to_owned(), raw: text.to_lowercase(), is_question }
    }
}

fn own_sentences(said: &Said<'_>) -> Vec<Sentence> {
    let own = said.turns.iter().filter(|turn| turn.role == Role::User);
    let runs = own.flat_map(|turn| own_words(&turn.content)).map(|run| of_person(&without_quotations(run)));
    runs.flat_map(|run| sentences(&run).into_iter().map(Sentence::of).collect::<Vec<_>>()).collect()
}

/// Whether a sentence says what is claimed. `earlier` has the sentences before it, which a pronoun may mean.
fn is_said(claim: &Claim, sentence: &Sentence, earlier: &[Sentence], said: &Said<'_>) -> bool {
    let parts = clauses(&sentence.text);
    // `My name is Ada, can you help me?` asks in its last clause alone.
    let stated = if sentence.is_question { &parts[..parts.len().saturating_sub(1)] } else { &parts[..] };
    // Verbatim, however many clauses it spans.
    if is_verbatim(&stated.concat().to_lowercase(), claim.text.trim_end_matches(['.', '!', '。', '！', ' '])) {
        return true;
    }
    if is_said_in(claim, stated, &[]) {
        return true;
    }
    if sentence.is_question {
        return false;
    }
    let before = || names_before(earlier, said);
    let is_pointing = points_back(&sentence.raw) || statements::has_sign(&sentence.text);
    is_pointing && is_said_in(claim, &parts, &before()) || is_completed(claim, &sentence.text, earlier, said)
}

/// Whether a text stands in another from the beginning of a clause on, its last number whole.
fn is_verbatim(said: &str, text: &str) -> bool {
    let ends_in_digit = text.ends_with(|c: char| c.is_ascii_digit());
    let goes_on =
        |rest: &str| ends_in_digit && rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '%' | '.'));
    let changes = |before: &str| {
        let clause = before.rsplit([',', '，', ';', '；', ':', '：']).next().unwrap_or_default();
        has(clause, NEGATIONS, &NEGATIONS_HAN)
            || has(clause, CONDITIONS, &CONDITIONS_HAN)
            || has(clause, MODIFIERS, &MODIFIER_PHRASES)
            || has(clause, PEOPLE, &PEOPLE_HAN)
    };
    !text.is_empty()
        && said.match_indices(text).any(|(at, _)| !goes_on(&said[at + text.len()..]) && !changes(&said[..at]))
}

/// Whether one clause, or several that belong together, say what is claimed. `context` has words that a pronoun may stand for.
fn is_said_in(claim: &Claim, parts: &[&str], context: &[String]) -> bool {
    let groups = grouped(parts);
    // `it's three, no wait, four` does not say three.
    let is_taken_back = |text: &str| TAKES_BACK.iter().any(|words| text.to_lowercase().contains(words));
    if parts.len() > 1 && is_taken_back(&parts[1..].concat()) && !is_taken_back(&claim.text) {
        return false;
    }
    let single = groups.iter().any(|clause| says(claim, clause, context));
    // A claim of two clauses is said by two clauses.
    single || groups.len() > 1 && claim.text.contains([',', '，', ';']) && says(claim, &groups.join(" "), context)
}

/// Clauses with those that go on without a subject of their own.
fn grouped(parts: &[&str]) -> Vec<String> {
    const SUBJECTS: &str = " that this which never always don't please only i i'm i've i'd my we we're our he she they it you but and so ich wir mein meine er sie es und aber je j'ai on nous \
        mon ma il elle et mais yo mi nosotros él ella y pero ";
    let mut groups: Vec<String> = Vec::new();
    for part in parts.iter().flat_map(|part| at_joints(part)) {
        let first = part
            .trim_start()
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let has_subject = SUBJECTS.contains(&format!(" {first} "))
            || part.trim_start().starts_with(['我', '他', '她', '它', '你', '但', '不']);
        match groups.last_mut() {
            Some(last) if !has_subject => last.push_str(part),
            _ => groups.push(part.to_owned()),
        }
    }
    groups
}

/// A clause, cut before `and`, `but` and the like where a new subject follows.
fn at_joints(clause: &str) -> Vec<&str> {
    const JOINTS: [&str; 14] = [
        " and my ",
        " and i ",
        " and he ",
        " and she ",
        " and we ",
        " but i ",
        " but my ",
        " but we ",
        " while my ",
        " while i ",
        " und mein",
        " et mon ",
        " et ma ",
        " y mi ",
    ];
    let lower = clause.to_lowercase();
    if lower.len() != clause.len() {
        return vec![clause];
    }
    let mut cuts: Vec<usize> =
        JOINTS.iter().filter_map(|joint| lower.find(joint)).filter(|at| clause.is_char_boundary(*at)).collect();
    cuts.sort_unstable();
    let mut parts = Vec::new();
    let mut at = 0;
    for cut in cuts {
        parts.push(&clause[at..cut]);
        at = cut;
    }
    parts.push(&clause[at..]);
    parts
}

/// What a pronoun may mean: the last sentences of everybody.
fn names_before(earlier: &[Sentence], said: &Said<'_>) -> Vec<String> {
    let here = earlier.iter().rev().take(3).map(|sentence| sentence.text.clone());
    let turns =
        said.before.iter().chain(said.turns).rev().filter(|turn| matches!(turn.role, Role::User | Role::Assistant));
    let there = turns.take(4).flat_map(|turn| own_words(&turn.content)).map(without_quotations);
    here.chain(there).collect()
}

fn points_back(lower: &str) -> bool {
    const POINTERS: &str = " it it's its he she they he's she's they're his her their that that's this these those er sie es das il elle ça \
        c'est eso esto él ella ";
    has(lower, POINTERS, &["它", "他", "她", "这", "那"])
}

/// Whether the claim is an earlier statement with the value that the person corrects.
fn is_completed(claim: &Claim, sentence: &str, earlier: &[Sentence], said: &Said<'_>) -> bool {
    let turns =
        said.before.iter().chain(said.turns).rev().filter(|turn| matches!(turn.role, Role::User | Role::Assistant));
    let there = turns.take(6).flat_map(|turn| sentences(&turn.content));
    let before = earlier.iter().rev().take(6).map(|sentence| sentence.text.as_str()).chain(there);
    let is_it = |text: String| stems(&text) == claim.words;
    before.into_iter().filter_map(|before| statements::completed(sentence, before)).any(is_it)
}

/// Whether the assistant said it in the turn that the person accepts.
fn is_accepted(text: &str, said: &Said<'_>) -> bool {
    let words: HashSet<String> = stems(text);
    let all: Vec<&Turn> = said.before.iter().chain(said.turns).collect();
    let is_new = |nth: usize| nth >= said.before.len();
    all.windows(2).enumerate().any(|(nth, pair)| {
        let is_answer = pair[0].role == Role::Assistant && pair[1].role == Role::User && is_new(nth + 1);
        let spoken = || stems(&pair[0].content).union(&stems(&pair[1].content)).cloned().collect::<HashSet<_>>();
        let also: HashSet<String> = all[..nth]
            .iter()
            .rev()
            .take(4)
            .filter(|turn| turn.role == Role::User)
            .flat_map(|turn| stems(&turn.content))
            .collect();
        is_answer && accepts(&pair[1].content) && !words.is_empty() && {
            let spoken = spoken();
            words.iter().all(|word| spoken.contains(word) || also.contains(word))
        }
    })
}

fn accepts(message: &str) -> bool {
    const YES: &str = " yes yep yeah yup fixed works worked working solved right exactly confirmed correct perfect bingo indeed passes green \
        ja genau stimmt läuft funktioniert gelöst behoben oui exactement marche fonctionne réglé résolu parfait sí exacto funciona resuelto \
        solucionado perfecto listo it gone catch war's c'était était era raison razón ";
    const YES_HAN: [&str; 12] =
        ["好了", "解决", "搞定", "可以了", "没错", "果然", "确实", "修好", "正常", "原来", "对", "通过"];
    // 不对 holds 对 and says the contrary.
    let plain = ["不对", "对不上"].iter().fold(message.to_lowercase(), |text, words| text.replace(words, ""));
    !message.trim_end().ends_with(['?', '？']) && has(&plain, YES, &YES_HAN)
}

fn is_light(stem: &str) -> bool {
    LIGHT.contains(&format!(" {stem} "))
        || stem.chars().count() == 1 && stem.is_ascii() && !stem.starts_with(|c: char| c.is_ascii_digit())
}

fn stems(text: &str) -> HashSet<String> {
    analysis::stems(text).into_iter().filter(|(_, is_stop)| !is_stop).map(|(stem, _)| stem).collect()
}

/// Names (capitals that do not begin the sentence), numbers, and words with signs inside, in lower case, in order.
pub(crate) fn sharp(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (nth, word) in text.split(|c: char| c.is_whitespace() || is_cjk(c) && !c.is_alphanumeric()).enumerate() {
        for piece in split_scripts(word) {
            let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
            let piece = piece.strip_suffix("'s").or_else(|| piece.strip_suffix("’s")).unwrap_or(piece);
            let is_number = piece.starts_with(|c: char| c.is_ascii_digit());
            let is_name = piece.starts_with(char::is_uppercase)
                && (nth > 0 || piece.chars().skip(1).any(char::is_uppercase))
                && piece != "I"
                && !piece.starts_with("I'");
            if is_number || is_name {
                found.push(piece.to_lowercase());
            }
        }
    }
    found
}

/// Whether a text speaks of all, of always or of only.
pub(crate) fn has_quantifier(text: &str) -> bool {
    has(&text.to_lowercase(), QUANTIFIERS, &QUANTIFIERS_HAN)
}

/// Whether a text in lower case says no, or what would be.
pub(crate) fn is_denied_or_conditional(lower: &str) -> bool {
    has(lower, NEGATIONS, &NEGATIONS_HAN) || has(lower, CONDITIONS, &CONDITIONS_HAN)
}

/// A Han character that belongs to the number before it.
fn is_unit(c: char) -> bool {
    "万千百亿元块点号月日岁".contains(c)
}

/// A word cut where Han characters meet others; a number keeps its Han unit.
pub(super) fn split_scripts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut last: Option<char> = None;
    for (at, c) in word.char_indices() {
        let is_unit = is_unit(c) && last.is_some_and(|last| last.is_ascii_digit());
        if last.is_some_and(|last| is_cjk(last) != is_cjk(c)) && !is_unit {
            parts.push(&word[start..at]);
            start = at;
        }
        last = Some(c);
    }
    parts.push(&word[start..]);
    parts
}

/// Whether one of the words stands in a text in lower case.
pub(crate) fn has(lower: &str, words: &str, han: &[&str]) -> bool {
    let mut spoken = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-') || is_cjk(c))
        .filter(|word| !word.is_empty());
    spoken.any(|word| words.contains(&format!(" {word} ")) || word.ends_with("n't") && words.contains(" n't "))
        || han.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
#[path = "support/tests.rs"]
mod tests;
