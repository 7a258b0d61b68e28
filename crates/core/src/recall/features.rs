//! How well each candidate fits a question, as named features. All but the last row are absolute: none depends on what else a
//! store holds. The last row compares candidates with each other: it orders them, and adds nothing to how surely they fit.
//!
//! | feature | what it says |
//! |---|---|
//! | `own` | the question's words in the text, each worth what it says, often ones a little more, long texts less |
//! | `previous`, `next` | `own` of the turn before and after |
//! | `near` | the share of the question that stands two turns before or after |
//! | `session` | the share of the question that the conversation has, as far as it was found |
//! | `session_best` | `own` of the best turn of the conversation |
//! | `cover` | the share of the question that the text has |
//! | `cover_context` | the share that it has together with the four turns around it |
//! | `strength` | how much the words say that it has, in units of 64 bits |
//! | `passage` | the share of the question that its best passage has, about three sentences |
//! | `phrase` | the share of the question's neighbouring words that stand side by side in it |
//! | `speaker` | said by the one whom the question names |
//! | `role` | said by the one whose words are asked for: the person, or the assistant |
//! | `time` | said at a time that the question names |
//! | `answers` | follows a question that fits |
//! | `question` | is a question itself |
//! | `short` | is short |
//! | `meaning` | similarity beyond the mean, in units of what unrelated texts vary by |
//! | `previous_meaning`, `next_meaning`, `session_meaning` | the same of the turn before and after, and the best of the conversation |
//! | `personal` | `meaning`, where the message asks about the person or what is theirs: "what is my pet called?" |
//! | `asked` | how much the question says at all, in units of 64 bits |
//! | `recency`, `trust`, `significance`, `correction` | newer, from the person, weighty, corrected |
//! | `rare`, `rare_context`, `rare_session` | `own`, and the shares of `cover_context` and `session`, with words that few candidates have counting more |
//! | `archive` | is a summary or another entry of the archive: it stands behind memories that fit as well |

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use crate::model::{Kind, Layer, SessionId, Source};

use super::places::Places;
use super::pool::{Candidate, FoundBy, MeaningBy, Pool};
use super::question::{Part, Question, WordSet, bits, share_of_characters};
use super::sketch::Sketch;

macro_rules! features {
    ($($name:ident => $text:literal),* $(,)?) => {
        /// A named feature of a candidate.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Feature { $(#[doc = $text] $name),* }

        impl Feature {
            /// All of them, in order.
            pub const ALL: &[Feature] = &[$(Feature::$name),*];

            /// As it is written in explanations and in the file of weights.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$name => $text),* }
            }
        }
    };
}

features! {
    Own => "own", Previous => "previous", Next => "next", Near => "near", Session => "session",
    SessionBest => "session_best", Cover => "cover", CoverContext => "cover_context", Strength => "strength",
    Passage => "passage", Phrase => "phrase", Speaker => "speaker", Role => "role", Time => "time", Answers => "answers",
    Question => "question", Short => "short", Meaning => "meaning", PreviousMeaning => "previous_meaning",
    NextMeaning => "next_meaning", SessionMeaning => "session_meaning", Personal => "personal", Asked => "asked", Recency => "recency",
    Trust => "trust", Significance => "significance", Correction => "correction", Rare => "rare", RareContext => "rare_context", RareSession => "rare_session", Archive => "archive",
}

/// How many features there are.
pub const FEATURES: usize = Feature::ALL.len();

/// The features of one candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features([f32; FEATURES]);

impl Default for Features {
    fn default() -> Self {
        Self([0.0; FEATURES])
    }
}

impl Features {
    /// The value of one.
    pub fn get(&self, feature: Feature) -> f32 {
        self.0[feature as usize]
    }

    fn set(&mut self, feature: Feature, value: f32) {
        self.0[feature as usize] = value;
    }
}

/// A unit of information: what five rare words say.
const UNIT_BITS: f32 = 64.0;

/// BM25's saturation and length normalisation, and the length that counts as usual, in terms of the index.
const K1: f32 = 1.2;
const B: f32 = 0.75;
const USUAL_TERMS: f32 = 45.0;
const USUAL_TERMS_WITH_ASSISTANT: f32 = 220.0;

/// Turns of more terms on average are long.
const LONG_TERMS: f32 = 70.0;

/// Of a neighbouring turn, so many terms count.
const BESIDE_TERMS: usize = 60;

/// How much a time says that a question names, in bits.
const TIME_WEIGHT: f32 = 16.0;

/// A passage has about so many terms: three sentences.
const PASSAGE_TERMS: usize = 80;

/// A turn of so few terms is short: it is shown with its neighbour.
const SHORT_TERMS: f32 = 20.0;

/// Who spoke, and when, lifts what fits already; this much it lifts anything.
const PRIOR: f32 = 0.2;

/// The words of the question in one candidate.
struct Matches {
    /// How often each stands in it, by place.
    counts: Vec<(usize, f32)>,
    /// Those in the whole text, and in its beginning.
    all: WordSet,
    beginning: WordSet,
    /// Those in each stretch of the text, half overlapping.
    windows: Vec<WordSet>,
    pairs: Vec<(u8, u8)>,
    terms: f32,
}

/// What a part of the question finds, and who is beside whom: computed once for all parts.
pub(super) struct Read<'a> {
    question: &'a Question,
    pool: &'a Pool,
    matches: Vec<Matches>,
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
    session: Vec<Option<usize>>,
    sessions: Vec<Conversation>,
    /// Words that are the name of somebody who speaks: they say who, not what.
    named: WordSet,
    speaker: Option<String>,
    /// How rare each word of the question is among the candidates.
    rarity: Vec<f32>,
    now: Timestamp,
}

/// Where a candidate stands: each setting has weights of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// By itself: an entry, a line of a document, or a turn where only one person speaks.
    Alone,
    /// In a conversation of short turns, as people have them with each other.
    People,
    /// In a conversation of long turns, as assistants make them.
    Assistant,
}

/// A conversation, as far as it is in the pool.
#[derive(Default)]
struct Conversation {
    with_assistant: bool,
    /// Whether turns have different speakers.
    with_others: bool,
    members: Vec<usize>,
    words: WordSet,
    /// Terms of its members together.
    terms: f32,
}

impl Conversation {
    /// Whether its turns are long on average: then a turn says more than what stands beside it.
    fn is_long(&self) -> bool {
        self.terms > LONG_TERMS * self.members.len() as f32
    }
}

impl<'a> Read<'a> {
    pub(super) fn new(question: &'a Question, pool: &'a Pool, now: Timestamp) -> Self {
        let count = pool.candidates.len();
        let places = Places::of(question);
        let mut counts = vec![0.0; question.words.len()];
        let mut read = |candidate: &Candidate| matches(&candidate.sketch, &places, &mut counts);
        let matches: Vec<Matches> = pool.candidates.iter().map(&mut read).collect();
        let rarity = rarity(question, &pool.candidates, &matches);
        let (mut before, mut after) = (vec![None; count], vec![None; count]);
        for (left, right) in &pool.beside {
            before[*right] = Some(*left);
            after[*left] = Some(*right);
        }
        let (session, sessions) = conversations(&pool.candidates, &matches);
        let (named, speaker) = named(question, &pool.candidates);
        Self { question, pool, matches, before, after, session, sessions, named, speaker, rarity, now }
    }

    /// Where a candidate stands.
    pub(super) fn setting(&self, at: usize) -> Setting {
        match self.conversation(at) {
            Some(conversation) if conversation.with_assistant && conversation.is_long() => Setting::Assistant,
            Some(conversation) if conversation.with_assistant || conversation.with_others => Setting::People,
            _ => Setting::Alone,
        }
    }

    fn conversation(&self, at: usize) -> Option<&Conversation> {
        self.session[at].map(|session| &self.sessions[session])
    }

    /// Whether a candidate was said to or by an assistant.
    pub(super) fn is_with_assistant(&self, at: usize) -> bool {
        self.conversation(at).is_some_and(|conversation| conversation.with_assistant)
    }

    /// What makes a short turn understandable: the answer to a question, else what was said before. Its place, and whether
    /// it comes before.
    pub(super) fn beside(&self, at: usize) -> Option<(usize, bool)> {
        let is_before = !self.is_question(at);
        let place = if is_before { self.before[at] } else { self.after[at] };
        place.filter(|_| self.matches[at].terms <= SHORT_TERMS).map(|place| (place, is_before))
    }

    fn is_question(&self, at: usize) -> bool {
        self.pool.candidates[at].sketch.is_question()
    }

    /// What tells the meaning of a candidate; what has no vector yet is weighed by its words.
    pub(super) fn meaning_by(&self, at: usize) -> Option<MeaningBy> {
        self.pool.candidates[at].meaning.map(|_| self.pool.meaning_by)
    }

    /// The features of every candidate for one part of the question.
    pub(super) fn features(&self, part: &Part) -> Vec<Features> {
        let asked = if part.words & !self.named == 0 { part.words } else { part.words & !self.named };
        // A time that is named is asked for like a word.
        let time = if self.question.times.is_empty() { 0.0 } else { TIME_WEIGHT };
        let total = (self.question.weight(asked) + time).max(f32::MIN_POSITIVE);
        let share = |words: WordSet| self.question.weight(words & asked) / total;
        let common = |at: usize| self.question.words[at].weight;
        let own: Vec<f32> = (0..self.matches.len()).map(|at| self.own(at, asked, common) / total).collect();
        let sessions = self.session_scores(asked, total, &own);
        let rarity = |at: usize| self.rarity[at];
        let all_rarity = bits(asked).map(rarity).sum::<f32>().max(f32::MIN_POSITIVE);
        let rare_share = |words: WordSet| bits(words & asked).map(rarity).sum::<f32>() / all_rarity;
        (0..self.matches.len())
            .map(|at| {
                let mut features = Features::default();
                // What stands alone is not understood by what stands beside it.
                let is_alone = self.setting(at) == Setting::Alone;
                let (before, after) = if is_alone { (None, None) } else { (self.before[at], self.after[at]) };
                let second = [before.and_then(|at| self.before[at]), after.and_then(|at| self.after[at])];
                let beginning = |at: Option<usize>| at.map_or(0, |at| self.matches[at].beginning);
                let near = beginning(second[0]) | beginning(second[1]);
                let around = near | beginning(before) | beginning(after) | self.matches[at].all;
                let beside = |at: Option<usize>| at.map_or(0.0, |at| own[at]);
                let in_time = if self.is_in_time(&self.pool.candidates[at]) { time / total } else { 0.0 };
                let cover = share(self.matches[at].all) + in_time;
                let (session, session_best) = match self.session[at].filter(|_| !is_alone) {
                    Some(session) => sessions[session],
                    None => (cover, own[at]),
                };
                let cover_context = share(around) + in_time;
                let candidate = &self.pool.candidates[at];
                let prior = PRIOR + cover_context;
                features.set(Feature::Own, own[at] + in_time);
                features.set(Feature::Previous, beside(before));
                features.set(Feature::Next, beside(after));
                features.set(Feature::Near, share(near));
                features.set(Feature::Session, session);
                features.set(Feature::SessionBest, session_best);
                features.set(Feature::Cover, cover);
                features.set(Feature::CoverContext, cover_context);
                features.set(Feature::Strength, (cover * total / UNIT_BITS).min(1.0));
                features.set(Feature::Passage, share_of_best(&self.matches[at].windows, &share));
                features.set(Feature::Phrase, self.phrase(at, part));
                features.set(Feature::Speaker, if self.is_by_named(candidate) { prior } else { 0.0 });
                features.set(Feature::Role, if self.is_by_asked_role(at) { prior } else { 0.0 });
                features.set(Feature::Time, if self.is_in_time(candidate) { prior } else { 0.0 });
                features.set(Feature::Answers, before.filter(|at| self.is_question(*at)).map_or(0.0, |at| own[at]));
                features.set(Feature::Question, if self.is_question(at) { own[at] } else { 0.0 });
                features.set(Feature::Short, own[at] / (1.0 + self.matches[at].terms / 30.0));
                features.set(Feature::Asked, (total / UNIT_BITS).min(1.0));
                features.set(Feature::Rare, self.own(at, asked, rarity) / all_rarity);
                features.set(Feature::RareContext, rare_share(around));
                let conversation = self.conversation(at).filter(|_| !is_alone);
                features.set(Feature::RareSession, rare_share(conversation.map_or(around, |other| other.words)));
                self.set_meaning(at, is_alone, &mut features);
                self.set_priors(candidate, &mut features);
                features
            })
            .collect()
    }

    /// BM25, with so much for each word.
    fn own(&self, at: usize, asked: WordSet, worth: impl Fn(usize) -> f32) -> f32 {
        let matches = &self.matches[at];
        let usual = if self.setting(at) == Setting::Assistant { USUAL_TERMS_WITH_ASSISTANT } else { USUAL_TERMS };
        let length = K1 * (1.0 - B + B * matches.terms / usual);
        let counted = matches.counts.iter().filter(|(place, _)| asked & (1 << place) != 0);
        counted.map(|(place, count)| worth(*place) * count * (K1 + 1.0) / (count + length)).sum()
    }

    /// For each conversation: the share of the question that it has, words in several turns counting more; and its best.
    fn session_scores(&self, asked: WordSet, total: f32, own: &[f32]) -> Vec<(f32, f32)> {
        let mut turns = vec![0.0_f32; self.question.words.len()];
        let score = |conversation: &Conversation| {
            turns.fill(0.0);
            for member in &conversation.members {
                bits(self.matches[*member].all & asked).for_each(|place| turns[place] += 1.0);
            }
            let worth =
                |place: usize| self.question.words[place].weight * turns[place] * (K1 + 1.0) / (turns[place] + K1);
            // Summed in the order of the words: the same question gives the same score to the last bit.
            let said: f32 = bits(asked & conversation.words).map(worth).sum();
            let best = conversation.members.iter().map(|member| own[*member]).fold(0.0, f32::max);
            (said / total, best)
        };
        self.sessions.iter().map(score).collect()
    }

    fn phrase(&self, at: usize, part: &Part) -> f32 {
        let pairs = &self.matches[at].pairs;
        if part.pairs.is_empty() || pairs.is_empty() {
            return 0.0;
        }
        let found = part.pairs.iter().filter(|pair| pairs.contains(pair)).count();
        found as f32 / part.pairs.len() as f32
    }

    fn is_by_named(&self, candidate: &Candidate) -> bool {
        self.speaker.is_some() && candidate.traits.speaker.as_ref().map(|name| name.to_lowercase()) == self.speaker
    }

    fn is_by_asked_role(&self, at: usize) -> bool {
        let asked = if self.question.asks_assistant { Source::Agent } else { Source::User };
        self.is_with_assistant(at) && self.pool.candidates[at].traits.source == asked
    }

    /// What happened on a day is also told on the next.
    fn is_in_time(&self, candidate: &Candidate) -> bool {
        const DAY: SignedDuration = SignedDuration::from_hours(24);
        let at = candidate.created_at;
        let told_at = at.checked_sub(DAY).unwrap_or(at);
        self.question.times.iter().any(|time| time.from <= at && told_at < time.until)
    }

    fn set_meaning(&self, at: usize, is_alone: bool, features: &mut Features) {
        let meaning = |at: Option<usize>| at.and_then(|at| self.pool.candidates[at].meaning).unwrap_or_default();
        let own = meaning(Some(at));
        features.set(Feature::Meaning, own);
        features.set(Feature::Personal, if self.question.is_personal { own } else { 0.0 });
        let conversation = self.conversation(at).filter(|_| !is_alone);
        features.set(Feature::PreviousMeaning, conversation.map_or(0.0, |_| meaning(self.before[at])));
        features.set(Feature::NextMeaning, conversation.map_or(0.0, |_| meaning(self.after[at])));
        let best = |other: &Conversation| other.members.iter().map(|at| meaning(Some(*at))).fold(0.0, f32::max);
        features.set(Feature::SessionMeaning, conversation.map_or(own, best));
    }

    fn set_priors(&self, candidate: &Candidate, features: &mut Features) {
        const HALF_LIFE_DAYS: f32 = 30.0;
        let traits = &candidate.traits;
        if traits.kind == Kind::Turn {
            return;
        }
        let age = (self.now.as_millisecond() - updated_at(candidate)).max(0) as f32 / 86_400_000.0;
        features.set(Feature::Recency, 0.5f32.powf(age / HALF_LIFE_DAYS));
        features.set(
            Feature::Trust,
            match traits.source {
                Source::User => 1.0,
                Source::Agent => 0.5,
                Source::System => 0.0,
            },
        );
        features.set(Feature::Significance, traits.importance.value() as f32);
        features.set(Feature::Archive, if traits.layer == Layer::Archive { 1.0 } else { 0.0 });
        features.set(Feature::Correction, if candidate.sketch.is_correction() { 1.0 } else { 0.0 });
    }
}

/// When a candidate was changed last, in milliseconds.
pub(super) fn updated_at(candidate: &Candidate) -> i64 {
    candidate.created_at.as_millisecond().saturating_add(candidate.sketch.updated_after())
}

/// BM25's inverse document frequency of each word among the candidates that were found, not those beside them; 0 for a word
/// that none has.
fn rarity(question: &Question, candidates: &[Candidate], matches: &[Matches]) -> Vec<f32> {
    let mut having = vec![0.0_f32; question.words.len()];
    let mut count = 0.0;
    for (_, matches) in candidates.iter().zip(matches).filter(|(candidate, _)| candidate.found_by != FoundBy::Beside) {
        count += 1.0;
        bits(matches.all).for_each(|place| having[place] += 1.0);
    }
    let rarity = |having: f32| if having > 0.0 { (1.0 + (count - having + 0.5) / (having + 0.5)).ln() } else { 0.0 };
    question.words.iter().zip(having).map(|(word, having)| rarity(having) * share_of_characters(&word.term)).collect()
}

fn share_of_best(windows: &[WordSet], share: &impl Fn(WordSet) -> f32) -> f32 {
    windows.iter().map(|window| share(*window)).fold(0.0, f32::max)
}

/// Finds the words of a question in a text. `counts` is all zeros, before and after.
fn matches(sketch: &Sketch, places: &Places, counts: &mut [f32]) -> Matches {
    let (mut all, mut beginning, mut pairs) = (0, 0, Vec::new());
    let mut halves: Vec<WordSet> = Vec::new();
    // A word of the index is followed by its plain form: the next word is one or two terms away.
    let mut last: Option<(usize, usize)> = None;
    for (at, hash) in sketch.hashes().enumerate() {
        let Some(place) = places.get(hash) else { continue };
        counts[place] += 1.0;
        all |= 1 << place;
        halves.resize(halves.len().max(at / (PASSAGE_TERMS / 2) + 1), 0);
        halves[at / (PASSAGE_TERMS / 2)] |= 1 << place;
        if at < BESIDE_TERMS {
            beginning |= 1 << place;
        }
        if let Some((before, _)) = last.filter(|(before, seen)| at - seen <= 2 && *before != place) {
            pairs.push((before as u8, place as u8));
        }
        last = Some((place, at));
    }
    let windows = (0..halves.len()).map(|at| halves[at] | halves.get(at + 1).copied().unwrap_or_default()).collect();
    let counts = bits(all).map(|place| (place, std::mem::take(&mut counts[place]))).collect();
    Matches { counts, all, beginning, windows, pairs, terms: sketch.len() as f32 }
}

fn conversations(candidates: &[Candidate], matches: &[Matches]) -> (Vec<Option<usize>>, Vec<Conversation>) {
    let mut known: HashMap<&SessionId, usize> = HashMap::new();
    let mut conversations: Vec<Conversation> = Vec::new();
    let mut session = Vec::with_capacity(candidates.len());
    for (at, candidate) in candidates.iter().enumerate() {
        let traits = &*candidate.traits;
        let place = traits.session.as_ref().filter(|_| traits.kind == Kind::Turn).map(|id| {
            *known.entry(id).or_insert_with(|| {
                conversations.push(Conversation::default());
                conversations.len() - 1
            })
        });
        if let Some(place) = place {
            let conversation = &mut conversations[place];
            let first = conversation.members.first().map(|first: &usize| &candidates[*first]);
            conversation.with_others |= first.is_some_and(|first| first.traits.speaker != traits.speaker);
            conversation.with_assistant |= traits.source == Source::Agent;
            conversation.words |= matches[at].all;
            conversation.terms += matches[at].terms;
            conversation.members.push(at);
        }
        session.push(place);
    }
    (session, conversations)
}

/// The one speaker whom the question names, and the words of the question that are names of speakers.
fn named(question: &Question, candidates: &[Candidate]) -> (WordSet, Option<String>) {
    let mut names: Vec<&str> = candidates.iter().filter_map(|candidate| candidate.traits.speaker.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    let mut speakers: Vec<String> = names.into_iter().map(str::to_lowercase).collect();
    speakers.sort_unstable();
    speakers.dedup();
    let mut words = 0;
    for speaker in &speakers {
        for (term, _) in super::analysis::stems(speaker) {
            let place = question.words.iter().position(|word| word.term == term);
            words |= place.map_or(0, |at| 1 << at);
        }
    }
    speakers.retain(|speaker| question.names(speaker));
    let one = (speakers.len() == 1).then(|| speakers.remove(0));
    (words, one)
}
