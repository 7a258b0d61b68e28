//! Which statements were taken back, and what of a text that repeats them may still be given.
//!
//! Goes in: a turn, a summary or another text. Comes out: the text without the sentences that say something which was
//! superseded, forgotten or erased, and what took their place. Never happens: a turn or a summary brings a statement back that
//! was taken back after it was said.

mod judge;
mod says;
mod trace;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::error::Done;
use crate::model::{EntryId, Kind, Layer, SessionId, Status, Turn, TurnId, Withdrawn};
use crate::ports;
use crate::recall::{Hit, RecallRequest};
use crate::text::sentences::sentences;

use judge::{Judge, Told};
use says::Words;
pub use says::{digested, normalised, says};
pub use trace::{ERASED, Trace};

/// Statements that were taken back.
#[derive(Clone, Copy)]
pub(crate) struct LineageService<'e> {
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) withdrawals: &'e dyn ports::Withdrawals,
}

impl LineageService<'_> {
    /// The hits without what was taken back. What took its place stands beside what is left of a hit, if anything is.
    pub(crate) fn current(&self, hits: Vec<Hit>, request: &RecallRequest) -> Done<Vec<Hit>> {
        let judge = self.judge_of(&hits)?;
        if judge.is_empty() {
            return Ok(hits);
        }
        let asked = Words::of(&request.query);
        let mut known: HashSet<EntryId> = hits.iter().map(|hit| hit.memory.entry.id.clone()).collect();
        let mut current = Vec::with_capacity(hits.len());
        for mut hit in hits {
            if !may_repeat(&hit) {
                current.push(hit);
                continue;
            }
            let verdict = judge.judge(&told(&hit), &asked);
            for id in verdict.replaced_by.into_iter().filter(|id| known.insert(id.clone())) {
                current.extend(self.in_its_place(&id, &hit, request)?);
            }
            hit.beside = hit.beside.take().filter(|beside| {
                let beside = Told { id: beside.id.as_str(), text: &beside.content, said_at: said_at(&hit) };
                judge.judge(&beside, &asked).why.is_none()
            });
            if !verdict.left.is_empty() {
                hit.memory.entry.content = verdict.left;
                current.push(hit);
            }
        }
        Ok(current)
    }

    /// The hits, those marked that say something which was taken back: for somebody who asks for just that.
    pub(crate) fn marked(&self, mut hits: Vec<Hit>) -> Done<Vec<Hit>> {
        let judge = self.judge_of(&hits)?;
        for hit in hits.iter_mut().filter(|hit| may_repeat(hit)) {
            hit.withdrawn = judge.judge(&told(hit), &Words::default()).why;
        }
        Ok(hits)
    }

    /// A text of several conversations without what was taken back.
    pub(crate) fn current_text(&self, text: &str) -> Done<String> {
        let told = Told { id: "", text, said_at: None };
        let judge = self.judge(&[told], &[])?;
        Ok(if judge.is_empty() { text.to_owned() } else { judge.judge(&told, &Words::default()).left })
    }

    /// Whether a statement was taken back after it was said, by its words or its reading; one without a time is an old one.
    pub(crate) fn is_withdrawn(&self, statement: &str, said_at: Option<Timestamp>) -> Done<bool> {
        let found = self.withdrawals.withdrawals_of(&digested(statement))?;
        Ok(found.into_iter().flatten().any(|withdrawn| said_at.is_none_or(|said_at| said_at <= withdrawn.at)))
    }

    /// Whether a statement that was made of a turn was taken back since: its very words, or the sentences that say it.
    pub(crate) fn is_withdrawn_since(&self, statement: &str, turn: &Turn) -> Done<bool> {
        if self.is_withdrawn(statement, Some(turn.at))? {
            return Ok(true);
        }
        let told = Told { id: turn.id.as_str(), text: &turn.content, said_at: Some(turn.at) };
        let judge = self.judge(&[told], std::slice::from_ref(&turn.session))?;
        let mut sources = sentences(&turn.content).into_iter().filter(|sentence| says(sentence, statement));
        Ok(!judge.is_empty() && sources.any(|sentence| judge.taken_back(sentence, &told).is_some()))
    }

    fn judge_of(&self, hits: &[Hit]) -> Done<Judge> {
        let hits: Vec<&Hit> = hits.iter().filter(|hit| may_repeat(hit)).collect();
        let beside = hits.iter().filter_map(|hit| {
            let beside = hit.beside.as_ref()?;
            Some(Told { id: beside.id.as_str(), text: &beside.content, said_at: None })
        });
        let texts: Vec<Told<'_>> = hits.iter().map(|hit| told(hit)).chain(beside).collect();
        let sessions: HashSet<SessionId> = hits.iter().filter_map(|hit| hit.memory.entry.session.clone()).collect();
        self.judge(&texts, &sessions.into_iter().collect::<Vec<_>>())
    }

    fn judge(&self, texts: &[Told<'_>], sessions: &[SessionId]) -> Done<Judge> {
        if texts.is_empty() {
            return Ok(Judge::default());
        }
        let turns: Vec<TurnId> = texts.iter().map(|told| TurnId::new(told.id)).collect();
        let Some(withdrawn) = self.withdrawals.withdrawn(&turns, sessions)? else { return Ok(Judge::default()) };
        let all: HashSet<&str> = texts.iter().flat_map(|told| sentences(told.text)).collect();
        let forms = all.into_iter().flat_map(|said| digested(said).into_iter().map(move |form| (said, form)));
        let (said, forms): (Vec<&str>, Vec<String>) = forms.unzip();
        let found = self.withdrawals.withdrawals_of(&forms)?;
        let mut same: HashMap<String, Withdrawn> = HashMap::new();
        for (sentence, withdrawn) in said.into_iter().zip(found).filter_map(|(said, found)| Some((said, found?))) {
            let is_later = same.get(sentence).is_none_or(|known| known.at < withdrawn.at);
            if is_later {
                same.insert(sentence.to_owned(), withdrawn);
            }
        }
        let successor = |id: &EntryId| self.entries.memory(id).ok().flatten().map(|memory| memory.entry.content);
        Ok(Judge::new(withdrawn, same, successor))
    }

    /// What took the place of something that was found, as it would have been found; none if it is out of reach.
    fn in_its_place(&self, id: &EntryId, hit: &Hit, request: &RecallRequest) -> Done<Option<Hit>> {
        let Some(memory) = self.entries.memory(id)? else { return Ok(None) };
        let is_given = memory.entry.status == Status::Active && request.filter.admits(&memory.entry);
        Ok(is_given.then(|| Hit { score: hit.score, ..Hit::of(memory, hit.why.clone()) }))
    }
}

/// Turns, summaries of conversations and working memory repeat what others say; any other memory says it itself.
fn may_repeat(hit: &Hit) -> bool {
    let entry = &hit.memory.entry;
    let is_summary = |key: &str| key.starts_with("session_") || key.starts_with("ctx_");
    match entry.kind {
        Kind::Turn => true,
        Kind::Entry => entry.layer == Layer::Archive && entry.key.as_deref().is_some_and(is_summary),
        // A line of working memory, which is made of what was said.
        Kind::Bullet => entry.layer == Layer::Archive,
        Kind::Chunk => false,
    }
}

fn said_at(hit: &Hit) -> Option<Timestamp> {
    (hit.memory.entry.kind == Kind::Turn).then_some(hit.memory.entry.created_at)
}

fn told(hit: &Hit) -> Told<'_> {
    let entry = &hit.memory.entry;
    Told { id: entry.id.as_str(), text: &entry.content, said_at: said_at(hit) }
}
