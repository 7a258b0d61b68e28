//! What becomes of the facts that a model proposes: each is a statement for the one writer of statements.

use jiff::{SignedDuration, Timestamp};

use crate::consolidation::ConsolidationService;
use crate::consolidation::facts::{Fact, FactKind, Support};
use crate::error::Done;
use crate::memories::Outcome;
use crate::memories::place::{Placed, Placement, Statement, Wanted};
use crate::model::{ACCEPTED_TAG, UNCONFIRMED_TAG};
use crate::model::{Document, Entry, EntryId, Kind, Layer, Role, SessionState, Source, Status, Turn};
use crate::ports::{KnownFact, Op};
use crate::recall::find::Fallback;
use crate::recall::{Filter, Hit, Projects, RecallRequest, Terms, similarity};
use crate::statements;
use crate::text::relative_dates::dated;
use crate::text::sentences::sentences;

/// What was said longer ago than this is dated by when it was said: it is no news.
const NEWS: SignedDuration = SignedDuration::from_hours(24);

/// What storing facts takes.
#[derive(Default)]
pub(crate) struct NewFacts {
    placement: Placement,
    placed: Vec<Placed>,
}

impl NewFacts {
    /// The operations that store them.
    pub(crate) fn ops(&self) -> Vec<Op> {
        self.placement.ops().to_vec()
    }

    /// The documents that they change.
    pub(crate) fn documents(&self) -> Vec<(Document, String)> {
        self.placement.documents()
    }

    /// The memories that are new: lines, and entries that are among `stored`.
    pub(crate) fn stored(&self, stored: &[Entry]) -> Vec<EntryId> {
        let is_there = |placed: &&Placed| placed.document.is_some() || stored.iter().any(|entry| entry.id == placed.id);
        let new = self.placed.iter().filter(|placed| placed.outcome != Outcome::Unchanged);
        new.filter(is_there).map(|placed| placed.id.clone()).collect()
    }

    /// The memories that were replaced.
    pub(crate) fn superseded(&self) -> Vec<EntryId> {
        self.placed.iter().flat_map(|placed| placed.superseded.iter().cloned()).collect()
    }
}

impl ConsolidationService<'_> {
    /// What becomes of facts, with the turns that say them. What an assistant or a person stored in this very
    /// conversation, after it was said, counts as the same already where it shares `alike` of its words. What was taken
    /// back after it was said stays so.
    pub(crate) fn new_facts(
        &self,
        state: &SessionState,
        turns: &[Turn],
        facts: &[Fact],
        alike: f64,
        placement: Placement,
    ) -> Done<NewFacts> {
        self.documents.notice_all_quietly();
        let mut new = NewFacts { placement, placed: Vec::new() };
        for fact in facts {
            let said = said_in(&fact.text, turns);
            if self.is_told(fact, state, said, alike)? || self.is_taken_back(fact, state, said)? {
                continue;
            }
            let statement = self.statement(fact, state, turns, said);
            new.placed.push(self.memories.place(&statement, &mut new.placement)?);
        }
        Ok(new)
    }

    fn statement(&self, fact: &Fact, state: &SessionState, turns: &[Turn], said: Option<&Turn>) -> Statement {
        let text = completed(fact, turns, said).unwrap_or_else(|| fact.text.clone());
        let day = said.map_or(self.kernel.now, |turn| turn.at).to_zoned(self.kernel.settings.zone.clone()).date();
        let text = dated(&text, day).into_owned();
        let entry = self.system_entry(state, turns, self.kernel.facts(), Layer::Knowledge, text);
        let entry = Entry {
            created_at: said.map_or(entry.created_at, |turn| learned_at(turn.at, entry.created_at)),
            provenance: said.map(|turn| turn.id.clone()).into_iter().collect(),
            tags: tags(fact),
            ..entry
        };
        let (said_at, replaces) = (said.map(|turn| turn.at), fact.replaces.iter().cloned().collect());
        Statement { said_at, replaces, ..Statement::new(entry, Wanted::ByKind(fact.kind)) }
    }

    /// Whether somebody stored it in this conversation since it was said, in whatever words.
    fn is_told(&self, fact: &Fact, state: &SessionState, said: Option<&Turn>, alike: f64) -> Done<bool> {
        let hits = self.like(&fact.text, state, Status::Active)?;
        Ok(hits.iter().map(|hit| &hit.memory.entry).any(|entry| {
            let is_here = entry.session.as_ref() == Some(&state.session.id);
            let is_since = said.is_some_and(|turn| entry.updated_at >= turn.at);
            // The program's own facts are told apart by more, but for a correction that it stored already.
            let is_stored_correction = fact.kind == FactKind::Correction && entry.tags.contains(&fact.kind.to_string());
            let is_told = entry.source != Source::System || is_stored_correction;
            is_here && is_since && is_told && similarity(&entry.content, &fact.text) >= alike
        }))
    }

    /// Whether this was stored, and forgotten or corrected since it was said.
    fn is_taken_back(&self, fact: &Fact, state: &SessionState, said: Option<&Turn>) -> Done<bool> {
        let Some(said) = said else { return Ok(false) };
        if self.recall.lineage.is_withdrawn_since(&fact.text, said)? {
            return Ok(true);
        }
        let gone = self.like(&fact.text, state, Status::Inactive)?;
        let is_it = |entry: &Entry| entry.updated_at > said.at && statements::same(&entry.content, &fact.text);
        Ok(gone.iter().any(|hit| is_it(&hit.memory.entry)))
    }

    /// Knowledge that sounds like this, of no project or of the conversation's own.
    fn like(&self, text: &str, state: &SessionState, status: Status) -> Done<Vec<Hit>> {
        let filter = Filter { status: Some(status), kinds: vec![Kind::Entry], ..self.in_reach(state) };
        self.recall.find(&RecallRequest { query: text.to_owned(), limit: 5, filter }, Fallback::Nothing)
    }

    /// What is known on the subject of a conversation, with ids: a model may name what a fact replaces.
    pub(crate) fn known_facts(&self, state: &SessionState, turns: &[Turn]) -> Vec<KnownFact> {
        if !self.kernel.settings.enabled {
            return Vec::new();
        }
        let said = turns.iter().filter(|turn| turn.role == Role::User).map(|turn| turn.content.as_str());
        let query = said.collect::<Vec<_>>().join("\n");
        let request = RecallRequest { query, limit: self.kernel.settings.recall_limit, filter: self.in_reach(state) };
        self.documents.notice_all_quietly();
        let hits = self.recall.find(&request, Fallback::Nothing).unwrap_or_else(|error| {
            tracing::warn!(%error, "nothing can be recalled; going on without");
            Vec::new()
        });
        hits.into_iter().map(|hit| KnownFact { id: hit.memory.entry.id, text: hit.memory.entry.content }).collect()
    }

    /// Knowledge and identity, of no project or of the conversation's own.
    fn in_reach(&self, state: &SessionState) -> Filter {
        Filter {
            kinds: vec![Kind::Entry, Kind::Bullet],
            layers: vec![Layer::Identity, Layer::Knowledge],
            projects: Projects::NoneOr(state.session.project.iter().cloned().collect()),
            ..Filter::recallable(self.kernel.now)
        }
    }
}

/// A correction that says a value alone, with the statement before it that it corrects.
fn completed(fact: &Fact, turns: &[Turn], said: Option<&Turn>) -> Option<String> {
    let at = turns.iter().position(|turn| said.is_some_and(|said| said.id == turn.id))?;
    let theirs = turns[..=at].iter().rev().filter(|turn| turn.role == Role::User);
    let before = theirs.flat_map(|turn| sentences(&turn.content).into_iter().rev());
    before.take(MAX_BEFORE).find_map(|before| statements::completed(&fact.text, before))
}

/// Its kind, and what others should know of where it comes from.
fn tags(fact: &Fact) -> Vec<String> {
    let origin = match fact.support {
        Support::Own => None,
        Support::Accepted => Some(ACCEPTED_TAG),
        Support::Loose | Support::None => Some(UNCONFIRMED_TAG),
    };
    std::iter::once(fact.kind.to_string()).chain(origin.map(str::to_owned)).collect()
}

/// So many sentences before a correction are looked at.
const MAX_BEFORE: usize = 12;

/// When a fact was learned: now, or long ago where the conversation was.
fn learned_at(said: Timestamp, now: Timestamp) -> Timestamp {
    if now.duration_since(said) > NEWS { said } else { now }
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
