//! The words index: derived, and rebuilt at will.

use crate::model::{ContentHash, DocumentName, Entry};
use crate::recall::{Candidate, Filter, Terms};

use super::Stored;

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

/// The words index: derived, and rebuilt at will.
pub trait Index {
    /// Candidates by BM25, best first.
    fn search(&self, search: &Search) -> Stored<Vec<Candidate>>;
    /// Candidates that contain one of `needles` literally, case of ASCII letters aside; most needles first.
    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Candidate>>;
    /// Replaces the bullets that are known of a document, and the stamp they were read at. A bullet that was known
    /// keeps its source and its dates.
    fn replace_bullets(
        &self,
        name: &DocumentName,
        hash: &ContentHash,
        stamp: Option<&str>,
        bullets: &[Entry],
    ) -> Stored<()>;
    /// Rebuilds everything from the rows; reports how far it is.
    fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Stored<u64>;
}
