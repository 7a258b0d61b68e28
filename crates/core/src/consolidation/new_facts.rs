//! Which of the facts that a model proposes are new, and which memory each corrects.

use jiff::{SignedDuration, Timestamp};

use crate::consolidation::ConsolidationService;
use crate::consolidation::corrections::corrects;
use crate::consolidation::facts::{Fact, FactKind};
use crate::error::Done;
use crate::memories::MemoryService;
use crate::model::{Entry, Importance, Layer, Role, SessionState, Source, Status, Turn};
use crate::ports::Op;
use crate::recall::find::Fallback;
use crate::recall::{Filter, Hit, Projects, RecallRequest, Scope, Terms, similarity};

/// Facts that share this much with one that is stored are that fact.
pub(crate) const SAME_FACT: f64 = 0.8;

/// A correction is known only where all of its words are: one word may be what was wrong.
const SAME_WORDS: f64 = 0.99;

/// What was said longer ago than this is dated by when it was said: it is no news.
const NEWS: SignedDuration = SignedDuration::from_hours(24);

/// Facts to store, and what they take the place of.
#[derive(Default)]
pub(crate) struct NewFacts {
    pub(crate) entries: Vec<(Entry, FactKind)>,
    pub(crate) wrong: Vec<Entry>,
}

impl NewFacts {
    /// The operations that store them.
    pub(crate) fn ops(&self, memories: &MemoryService<'_>) -> Vec<Op> {
        let retired = self.wrong.iter().map(|entry| Op::Update(memories.retired(entry)));
        retired.chain(self.entries.iter().map(|(entry, _)| Op::Insert(entry.clone()))).collect()
    }
}

impl ConsolidationService<'_> {
    /// The facts that are not stored yet, as entries with the turns that say them. What an assistant or a person stored
    /// in this very conversation, after it was said, counts as the same already where it shares `alike` of its words.
    /// What was taken back after it was said stays so.
    pub(crate) fn new_facts(&self, state: &SessionState, turns: &[Turn], facts: &[Fact], alike: f64) -> Done<NewFacts> {
        let mut new = NewFacts::default();
        for fact in facts {
            let hits = self.like(&fact.text, state, Status::Active)?;
            let said = said_in(&fact.text, turns);
            let is_correction = fact.kind == FactKind::Correction;
            let is_known = |hit: &Hit| {
                let entry = &hit.memory.entry;
                let is_here = entry.session.as_ref() == Some(&state.session.id);
                let is_since = said.is_some_and(|turn| entry.updated_at >= turn.at);
                // The program's own facts are told apart by more, but for a correction that it stored already.
                let is_told =
                    entry.source != Source::System || is_correction && entry.tags.contains(&fact.kind.to_string());
                let enough = match (is_here && is_since && is_told, is_correction) {
                    (true, _) => alike,
                    (false, true) => SAME_WORDS,
                    (false, false) => SAME_FACT,
                };
                similarity(&entry.content, &fact.text) >= enough
            };
            let said_before = new.entries.iter().any(|(entry, _)| similarity(&entry.content, &fact.text) >= SAME_FACT);
            if said_before || hits.iter().any(is_known) || self.is_taken_back(fact, state, said)? {
                continue;
            }
            let entry = self.system_entry(state, turns, self.kernel.facts(), Layer::Knowledge, fact.text.clone());
            let weighty = matches!(fact.kind, FactKind::Identity | FactKind::Constraint | FactKind::Correction);
            let importance = if weighty { Importance::new(0.75).unwrap_or_default() } else { Importance::default() };
            let wrong = corrected_by(fact, said, hits).filter(|wrong| !new.wrong.contains(wrong));
            let entry = Entry {
                importance,
                created_at: said.map_or(entry.created_at, |turn| learned_at(turn.at, entry.created_at)),
                provenance: said.map(|turn| turn.id.clone()).into_iter().collect(),
                tags: vec![fact.kind.to_string()],
                supersedes: wrong.iter().map(|wrong| wrong.id.clone()).collect(),
                ..entry
            };
            let entry = match &wrong {
                Some(wrong) => in_place_of(wrong, entry),
                None => entry,
            };
            new.wrong.extend(wrong);
            new.entries.push((entry, fact.kind));
        }
        Ok(new)
    }

    /// Whether this was stored, and forgotten or corrected since it was said.
    fn is_taken_back(&self, fact: &Fact, state: &SessionState, said: Option<&Turn>) -> Done<bool> {
        let Some(said) = said else { return Ok(false) };
        let gone = self.like(&fact.text, state, Status::Inactive)?;
        let is_it = |entry: &Entry| entry.updated_at > said.at && similarity(&entry.content, &fact.text) >= SAME_WORDS;
        Ok(gone.iter().any(|hit| is_it(&hit.memory.entry)))
    }

    /// Knowledge that sounds like this, of no project or of the conversation's own.
    fn like(&self, text: &str, state: &SessionState, status: Status) -> Done<Vec<Hit>> {
        let filter = Filter {
            scope: Scope::Only(self.kernel.facts()),
            layers: vec![Layer::Knowledge],
            projects: Projects::NoneOr(state.session.project.iter().cloned().collect()),
            status: Some(status),
            ..Filter::recallable(self.kernel.now)
        };
        self.recall.find(&RecallRequest { query: text.to_owned(), limit: 5, filter }, Fallback::Nothing)
    }
}

/// What a correction takes the place of: the best of what was known when it was said. What somebody said matters much
/// is left for the person to correct.
fn corrected_by(fact: &Fact, said: Option<&Turn>, hits: Vec<Hit>) -> Option<Entry> {
    if fact.kind != FactKind::Correction {
        return None;
    }
    let certainty = |entry: Entry| {
        let is_weighed = entry.source != Source::System && entry.importance.significance().value() >= 4;
        let is_newer = said.is_some_and(|turn| entry.created_at.duration_since(turn.at) > NEWS);
        let certainty = if is_weighed || is_newer { None } else { corrects(&fact.text, &entry.content) };
        certainty.map(|certainty| (certainty, entry))
    };
    let wrong = hits.into_iter().filter_map(|hit| certainty(hit.memory.entry));
    // Of two that are as good, the one that was found first.
    let better = |best: (f64, Entry), next: (f64, Entry)| if next.0 > best.0 { next } else { best };
    wrong.reduce(better).map(|(_, entry)| entry)
}

/// When a fact was learned: now, or long ago where the conversation was.
fn learned_at(said: Timestamp, now: Timestamp) -> Timestamp {
    if now.duration_since(said) > NEWS { said } else { now }
}

/// A correction with the place, the key and at least the weight of what it corrects.
fn in_place_of(wrong: &Entry, right: Entry) -> Entry {
    let (key, project) = (wrong.key.clone(), wrong.project.clone());
    Entry { key, project, importance: right.importance.max(wrong.importance), ..right }
}

/// The turn of the person that shares most words with a fact.
fn said_in<'a>(fact: &str, turns: &'a [Turn]) -> Option<&'a Turn> {
    let terms = Terms::of_query(fact);
    let shared = |turn: &&Turn| {
        let said = crate::recall::analysis::index_text(&turn.content);
        terms.as_slice().iter().filter(|term| said.split(' ').any(|word| word == *term)).count()
    };
    let theirs = turns.iter().filter(|turn| turn.role == Role::User);
    theirs.max_by_key(shared)
}
