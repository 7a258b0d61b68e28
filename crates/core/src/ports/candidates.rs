//! Candidates for a recall.

use crate::recall::{Candidate, Filter, Terms};
use crate::vault::Passage;

use super::Stored;

/// Finds candidates: memories, turns and passages that ranking then orders. Whoever keeps another index than the store's
/// replaces this port and [`Index`](super::Index), and nothing else.
pub trait Candidates {
    /// Memories and turns by BM25, best first.
    fn search(&self, search: &Search) -> Stored<Vec<Candidate>>;
    /// Memories and turns that contain one of `needles` literally, case of ASCII letters aside; most needles first.
    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Candidate>>;
    /// Passages of the vault by BM25, best first.
    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>>;
}

/// What to look for, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The analysed query.
    pub terms: Terms,
    /// What may be found.
    pub filter: Filter,
    /// How many candidates at most.
    pub limit: usize,
}
