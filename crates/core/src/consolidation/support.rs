//! Whether what a model proposes is what the person said: a statement and a conversation go in, a verdict comes out.
//!
//! A statement is supported by one clause of the person's own words (and what that clause points back to): every word that
//! carries meaning stands there, with the same negation, about the same people, in the same order around a comparison. What a
//! question, a condition, a quotation, a tool or another speaker says supports nothing.

use std::collections::HashSet;

use crate::model::{Role, Turn};
use crate::recall::analysis;
use crate::statements;
use crate::text::own_words::{own_words, without_quotations};
use crate::text::sentences::{clauses, is_cjk, sentences};

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

/// Words with which a model speaks of the person, and words that carry no meaning of their own.
const LIGHT: &str = " person user speaker name call use work live have be do want need like team project they their them she he her his \
    currently now also that which state mention say report ask 用户 go make get keep come put new already";

const NEGATIONS: &str = " not no never none without don't doesn't didn't isn't aren't wasn't won't can't cannot mustn't shouldn't wouldn't \
    haven't hasn't n't neither nor nicht kein keine keinen keinem keiner nie niemals ohne pas jamais sans aucun aucune ni nunca jamás sin \
    ningún ninguna tampoco dont doesnt cant wont ";
const NEGATIONS_HAN: [&str; 8] = ["不", "没", "别", "勿", "禁止", "无法", "未", "非"];

const CONDITIONS: &str = " if maybe perhaps might would could suppose imagine unless considering wish probably possibly falls vielleicht \
    würde könnte wäre peut-être pourrait serait quizá quizás podría sería ojalá hypothetically pretend ";
const CONDITIONS_HAN: [&str; 10] = ["如果", "要是", "假如", "也许", "可能", "假设", "说不定", "考虑", "万一", "的话"];

const QUANTIFIERS: &str = " always never every all only both everyone everything immer nie alle jeder nur toujours jamais tous chaque \
    seulement siempre nunca todos cada solo sólo ";
const QUANTIFIERS_HAN: [&str; 9] = ["总是", "从不", "所有", "只", "都", "每", "一直", "永远", "从来"];

/// Words that change what a clause says: a claim that leaves one out says something else.
const MODIFIERS: &str = " barely hardly almost nearly nobody formerly previously will won't gonna rarely seldom kaum fast beinahe früher \
    werde werden wird selten presque autrefois bientôt apenas casi antes pronto that this these those ce cette ces ese esa este esta \
    dieser diese dieses ";
const MODIFIER_PHRASES: [&str; 17] = [
    "used to ",
    "let's say",
    "for example",
    "this example",
    "for instance",
    "going to ",
    "zum beispiel",
    "par exemple",
    "por ejemplo",
    "以前",
    "曾经",
    "差点",
    "几乎",
    "打算",
    "比如",
    "例如",
    "假装",
];

/// Words after which something is taken back.
const TAKES_BACK: [&str; 16] = [
    "no wait",
    "sorry, no",
    "sorry no",
    "i meant",
    "i mean ",
    "scratch that",
    "correction",
    "oops",
    "不对",
    "哦不",
    "更正",
    "说错",
    "ich meinte",
    "je voulais dire",
    "quise decir",
    "wait,",
];

/// Words around which order matters.
const PIVOTS: &str = " only nur seulement uniquement solo sólo over than instead rather not to from before after for by of statt als nach von vor plutôt que avant après en lugar \
    vez antes después ";
const PIVOTS_HAN: [&str; 7] = ["比", "而不是", "不是", "给", "向", "替", "胜过"];

/// People that a clause may be about.
const PEOPLE: &str = " wife husband partner son daughter mother father mom mum dad sister brother manager boss colleague teammate friend \
    neighbor neighbour roommate client customer kid kids child children parents doctor landlord coworker aunt uncle cousin frau mann \
    sohn tochter mutter vater schwester bruder chef chefin kollege kollegin freund freundin kunde femme mari fils fille mère père sœur \
    frère collègue ami amie client mujer marido hijo hija madre padre hermana hermano jefe jefa compañero amigo amiga cliente he she they \
    er ils elles él ella ellos ";
const PEOPLE_HAN: [&str; 22] = [
    "老婆", "老公", "妻子", "丈夫", "儿子", "女儿", "妈", "爸", "姐", "妹", "哥", "弟", "经理", "老板", "同事", "朋友",
    "客户", "室友", "他", "她", "邻居", "领导",
];

/// How a statement stands to a conversation.
pub fn support(text: &str, said: &Said<'_>) -> Support {
    // A model speaks of the person as the user.
    let claim = Claim::of(&text.replace("该用户", "我").replace("用户", "我"));
    let own = own_sentences(said);
    let is_corrected = |nth: usize| own.get(nth + 1).is_some_and(|next| takes_back(&next.raw));
    let says = |nth: usize| is_said(&claim, &own[nth], &own[..nth], said);
    if (0..own.len()).any(|nth| says(nth) && !is_corrected(nth)) {
        return Support::Own;
    }
    if is_accepted(text, said) {
        return Support::Accepted;
    }
    let all: HashSet<String> = own.iter().flat_map(|sentence| sentence.words()).collect();
    let is_theirs = claim.words.iter().all(|word| is_light(word) || all.contains(word));
    let is_sharp_theirs =
        claim.sharp.iter().all(|word| own.iter().any(|sentence| sentence.raw.contains(word.as_str())));
    // The words are all there, but no clause says it: a join, a turned comparison, a lost "not".
    let is_twisted = is_theirs && !own.is_empty();
    let shared = claim.words.iter().filter(|word| all.contains(*word)).count();
    let is_grounded = shared > 0 && shared * 3 >= claim.words.len();
    if is_grounded && is_sharp_theirs && !is_twisted && !claim.has_quantifier && !claim.is_denied {
        Support::Loose
    } else {
        Support::None
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

    fn words(&self) -> HashSet<String> {
        stems(&self.text)
    }
}

fn own_sentences(said: &Said<'_>) -> Vec<Sentence> {
    let own = said.turns.iter().filter(|turn| turn.role == Role::User);
    let runs = own.flat_map(|turn| own_words(&turn.content)).map(without_quotations);
    runs.flat_map(|run| sentences(&run).into_iter().map(Sentence::of).collect::<Vec<_>>()).collect()
}

/// Whether a sentence says what is claimed. `earlier` has the sentences before it, which a pronoun may mean.
fn is_said(claim: &Claim, sentence: &Sentence, earlier: &[Sentence], said: &Said<'_>) -> bool {
    let parts = clauses(&sentence.text);
    // `My name is Ada, can you help me?` asks in its last clause alone.
    let stated = if sentence.is_question { &parts[..parts.len().saturating_sub(1)] } else { &parts[..] };
    // In the very words of the person, whatever it is made of.
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
    const SUBJECTS: &str = " i i'm i've i'd my we we're our he she they it you but and so ich wir mein meine er sie es und aber je j'ai on nous \
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

fn says(claim: &Claim, clause: &str, context: &[String]) -> bool {
    let lower = clause.to_lowercase();
    let words = stems(clause);
    let in_context = |word: &String| context.iter().any(|text| stems(text).contains(word));
    let heavy: Vec<&String> = claim.words.iter().filter(|word| !is_light(word)).collect();
    let here = heavy.iter().filter(|word| words.contains(**word)).count();
    let missing = heavy.iter().filter(|word| !words.contains(**word) && !in_context(word)).count();
    // A pronoun stands for a name, not for the statement.
    if here * 2 < heavy.len() {
        return false;
    }
    let is_denied = has(&lower, NEGATIONS, &NEGATIONS_HAN);
    let is_conditional = has(&lower, CONDITIONS, &CONDITIONS_HAN);
    let sharp_missing = claim
        .sharp
        .iter()
        .any(|word| !has_value(&lower, word) && !context.iter().any(|text| has_value(&text.to_lowercase(), word)));
    missing == 0
        && !claim.words.is_empty()
        && !sharp_missing
        && is_denied == claim.is_denied
        && (!is_conditional || claim.is_conditional)
        && quantifiers_stand(claim, &lower)
        && people_stand(claim, clause, &lower)
        && modifiers_stand(claim, &lower)
        && order_stands(claim, &lower)
        && values_stand(claim, &lower)
}

/// Every quantifier of the claim stands in the clause.
fn quantifiers_stand(claim: &Claim, clause: &str) -> bool {
    let stands = |word: &str| has(clause, &format!(" {word} "), &[]);
    let spoken = QUANTIFIERS.split_whitespace().filter(|word| has(&claim.text, &format!(" {word} "), &[])).all(stands);
    spoken && QUANTIFIERS_HAN.iter().filter(|word| claim.text.contains(*word)).all(|word| clause.contains(word))
}

/// Every word that changes what the clause says stands in the claim.
fn modifiers_stand(claim: &Claim, clause: &str) -> bool {
    let spoken = MODIFIERS.split_whitespace().filter(|word| has(clause, &format!(" {word} "), &[]));
    spoken.into_iter().all(|word| has(&claim.text, &format!(" {word} "), &[]))
        && MODIFIER_PHRASES.iter().filter(|words| clause.contains(*words)).all(|words| claim.text.contains(words))
}

/// What the claim says before a number is said before it, no other number stands between, and its unit is the same.
fn values_stand(claim: &Claim, clause: &str) -> bool {
    let numbers = claim.sharp.iter().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    numbers.into_iter().all(|number| {
        let (Some(here), Some(there)) = (claim.text.find(number.as_str()), clause.find(number.as_str())) else {
            return true;
        };
        let before: Vec<usize> = claim
            .words
            .iter()
            .filter(|word| !is_light(word) && place(&claim.text, word).is_some_and(|at| at < here))
            .filter_map(|word| place(clause, word))
            .collect();
        let is_behind = before.iter().all(|at| *at < there);
        let nearest = before.iter().copied().filter(|at| *at < there).max().unwrap_or(0);
        let between = clause.get(nearest..there).unwrap_or_default();
        let has_other = sharp(between)
            .iter()
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !claim.text.contains(word.as_str()));
        let first = before.iter().copied().min().unwrap_or(there);
        let crossed = clause.get(first..there).unwrap_or_default();
        let has_crossed = sharp(crossed)
            .iter()
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !claim.text.contains(word.as_str()));
        is_behind
            && !has_other
            && !has_crossed
            && unit_of(&claim.text, here + number.len()) == unit_of(clause, there + number.len())
    })
}

/// The short word behind a number: `ms`, `kg`, `am`.
fn unit_of(text: &str, at: usize) -> &str {
    let rest = text[at..].trim_start();
    let end = rest.find(|c: char| !c.is_alphabetic() || is_cjk(c)).unwrap_or(rest.len());
    if end <= 3 { &rest[..end] } else { "" }
}

/// The people that the clause is about before it comes to the claim are in the claim too.
fn people_stand(claim: &Claim, clause: &str, lower: &str) -> bool {
    let first = claim
        .words
        .iter()
        .filter(|word| !is_light(word))
        .filter_map(|word| place(lower, word))
        .min()
        .unwrap_or(lower.len());
    let before = &lower[..first];
    let spoken = PEOPLE.split_whitespace().filter(|word| has(before, &format!(" {word} "), &[]));
    let is_pronoun =
        |word: &str| matches!(word, "he" | "she" | "they" | "er" | "ils" | "elles" | "él" | "ella" | "ellos");
    let names = sharp(clause)
        .into_iter()
        .filter(|name| name.starts_with(char::is_alphabetic) && before.contains(name.as_str()));
    let is_in_claim = |word: &str| claim.text.contains(word) || is_pronoun(word) && !claim.sharp.is_empty();
    let han = PEOPLE_HAN
        .iter()
        .filter(|word| before.contains(*word))
        .all(|word| claim.text.contains(word) || matches!(*word, "他" | "她") && !claim.sharp.is_empty());
    spoken.into_iter().all(is_in_claim) && names.into_iter().all(|name| claim.text.contains(&name)) && han
}

/// Words stand on the same side of a comparison, and names in the same order.
fn order_stands(claim: &Claim, clause: &str) -> bool {
    if swaps_person(claim, clause) {
        return false;
    }
    let (claim_text, clause) = (format!(" {} ", claim.text), format!(" {clause} "));
    let clause = clause.as_str();
    let pivots = PIVOTS
        .split_whitespace()
        .map(|word| format!(" {word} "))
        .chain(PIVOTS_HAN.iter().map(|word| (*word).to_owned()));
    for pivot in pivots {
        let (Some(here), Some(there)) = (claim_text.find(&pivot), clause.find(&pivot)) else { continue };
        let swaps = claim.words.iter().filter(|word| !is_light(word)).any(|word| {
            let (in_claim, in_clause) = (place(&claim_text, word), place(clause, word));
            in_claim.zip(in_clause).is_some_and(|(a, b)| (a < here) != (b < there))
        });
        if swaps {
            return false;
        }
    }
    let places: Vec<usize> = claim.sharp.iter().filter_map(|name| clause.find(name.as_str())).collect();
    places.is_sorted()
}

/// Whether a name stands before the person in one of the two, and behind them in the other: who owes whom.
fn swaps_person(claim: &Claim, clause: &str) -> bool {
    let first = |text: &str, words: &[&str]| {
        let padded = format!(" {text} ");
        words.iter().filter_map(|word| padded.find(&format!(" {word} "))).min()
    };
    let here = first(&claim.text, &["user", "person", "i", "me", "us", "we"]);
    let there = first(clause, &["i", "me", "us", "we"]);
    let (Some(here), Some(there)) = (here, there) else { return false };
    let names = claim.text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2 && !is_light(word));
    let is_swapped = |name: &str| {
        let (in_claim, in_clause) = (claim.text.find(name), clause.find(name));
        in_claim.zip(in_clause).is_some_and(|(a, b)| (a < here) && (b > there))
    };
    names.into_iter().any(is_swapped)
}

/// Where a word with this stem stands.
fn place(text: &str, stem: &str) -> Option<usize> {
    let head: String = stem.chars().take(stem.chars().count().max(5) - 1).collect();
    text.find(stem).or_else(|| text.find(&head))
}

/// Whether a number or a name stands in a text, not as part of another.
fn has_value(text: &str, value: &str) -> bool {
    let is_number = value.starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(value).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
        if is_number {
            !is_digit(before) && !is_digit(after) && !(after.is_some_and(is_unit) && !value.ends_with(is_unit))
        } else {
            value.contains(is_cjk) || !is_letter(before) && !is_letter(after)
        }
    })
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
    !message.trim_end().ends_with(['?', '？']) && has(&message.to_lowercase(), YES, &YES_HAN)
}

fn is_light(stem: &str) -> bool {
    LIGHT.contains(&format!(" {stem} "))
        || stem.chars().count() == 1 && stem.is_ascii() && !stem.starts_with(|c: char| c.is_ascii_digit())
}

fn stems(text: &str) -> HashSet<String> {
    analysis::stems(text).into_iter().filter(|(_, is_stop)| !is_stop).map(|(stem, _)| stem).collect()
}

/// Names (capitals that do not begin the sentence), numbers, and words with signs inside, in lower case, in order.
fn sharp(text: &str) -> Vec<String> {
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

/// A Han character that belongs to the number before it.
fn is_unit(c: char) -> bool {
    "万千百亿元块点号月日岁".contains(c)
}

/// A word cut where Han characters meet others; a number keeps its Han unit.
fn split_scripts(word: &str) -> Vec<&str> {
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
fn has(lower: &str, words: &str, han: &[&str]) -> bool {
    let mut spoken = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-') || is_cjk(c))
        .filter(|word| !word.is_empty());
    spoken.any(|word| words.contains(&format!(" {word} ")) || word.ends_with("n't") && words.contains(" n't "))
        || han.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
#[path = "support/tests.rs"]
mod tests;
