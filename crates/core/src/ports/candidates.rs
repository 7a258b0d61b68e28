//! Candidates for a recall.

use crate::model::EntryId;
use crate::recall::{CandidateMark, Filter, Pool, Retrieved, Terms};
use crate::vault::Passage;

use super::Stored;

/// Finds candidates: memories, turns and passages that ranking then orders. Whoever keeps another index than the store's
/// replaces this port and [`Index`](super::Index), and nothing else.
pub trait Candidates {
    /// Memories and turns that have one of the words, those that fit best by BM25; turns with their neighbours. What
    /// stands beside a turn need not pass the filter.
    fn search(&self, search: &Search) -> Stored<Pool>;
    /// What marks stand for, in their order; nothing for what is gone.
    fn fetch(&self, marks: &[CandidateMark]) -> Stored<Vec<Option<Retrieved>>>;
    /// The marks of memories and turns, in the order of their ids; nothing for an id that is neither.
    fn marks(&self, ids: &[EntryId]) -> Stored<Vec<Option<CandidateMark>>>;
    /// What memories and turns say, in the order of their ids, as far as they are there.
    fn texts(&self, ids: &[EntryId]) -> Stored<Vec<String>>;
    /// Memories and turns that contain one of `needles` literally, case of ASCII letters aside; most needles first.
    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Retrieved>>;
    /// Passages of the vault by BM25, best first.
    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>>;
}

/// What to look for, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Terms of the index, any of which may be found.
    pub terms: Vec<String>,
    /// What was found otherwise and is wanted too, where the filter admits it.
    pub also: Vec<EntryId>,
    /// What may be found.
    pub filter: Filter,
    /// How many candidates of each kind at most; of turns, see below.
    pub limit: usize,
    /// How many turns at most, without neighbours.
    pub turns: usize,
}
