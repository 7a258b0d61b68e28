//! The word index of a store: rows as its documents, hits as candidates.
//!
//! | file | what it does |
//! |---|---|
//! | `classes.rs` | rows as documents of the index, with the class that filters are asked about |
//! | `tail.rs` | what changed since the segments were made |
//! | `lookup.rs` | rows as candidates, from what the index keeps of them |
//! | `conversation.rs` | turns that were found, with those that stand beside them |
//! | `cache.rs` | parts and items of tails that a process keeps |
//! | `ages.rs` | a bounded cache of two ages |

mod ages;
mod cache;
mod classes;
mod conversation;
mod lookup;
mod tail;

use throughline_core::recall::{Candidate, Filter, FoundBy};
use throughline_index::{Document, IndexError, Query, SegmentReader};

pub use cache::Cache;
pub use classes::{Admitted, ChunkRow, Class, EntryRow, Place, TurnRow, chunk_entry, turn_entry};
pub use conversation::add_turns;
pub use lookup::Lookup;
pub use tail::{Changed, TailItem};

/// What is indexed: the kinds are searched and counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collection {
    /// Entries, and bullets of documents.
    Entries,
    /// Turns of conversations.
    Turns,
    /// Passages of the vault.
    Chunks,
}

impl Collection {
    /// Every one there is.
    pub const ALL: [Self; 3] = [Self::Entries, Self::Turns, Self::Chunks];

    /// Its number in the tables of a store.
    pub const fn number(self) -> i64 {
        match self {
            Self::Entries => 1,
            Self::Turns => 2,
            Self::Chunks => 3,
        }
    }

    /// The table that is indexed.
    pub const fn table(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Turns => "turns",
            Self::Chunks => "vault_chunks",
        }
    }

    /// A tail of so many rows becomes a segment: each search reads all of it.
    pub const fn longest_tail(self) -> i64 {
        match self {
            Self::Entries => 256,
            Self::Turns => 128,
            Self::Chunks => 64,
        }
    }
}

/// A row, and how it was found.
pub type Found = (i64, FoundBy);

/// What is wanted anyway is found only where the filter admits it.
pub fn is_found(candidate: &Candidate) -> bool {
    candidate.is_admitted || candidate.found_by == FoundBy::Words
}

/// The rows of one collection, in the snapshot of one search.
pub trait IndexedRows {
    /// A row as it is now, if it is still there.
    fn document(&self, number: i64) -> Result<Option<Document>, IndexError>;
    /// The turns of a session between two positions, both included, in order.
    fn turns_between(&self, session: i64, positions: (i64, i64)) -> Result<Vec<NearTurn>, IndexError>;
}

/// A turn near one that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearTurn {
    /// The number of its row.
    pub number: i64,
    /// Where it stands in its session.
    pub position: i64,
    /// Whether a person or an assistant said it.
    pub is_said: bool,
}

/// A collection as one snapshot has it, for one search.
pub struct Searched<'c> {
    rows: &'c dyn IndexedRows,
    collection: Collection,
    filter: &'c Filter,
    admitted: Admitted<'c>,
    /// None until the index is complete.
    index: Option<(Box<dyn SegmentReader + 'c>, Changed)>,
}

impl<'c> Searched<'c> {
    /// A search of a collection; `index` has its segments and its tail, once those are complete.
    pub fn new(
        rows: &'c dyn IndexedRows,
        (cache, collection): (&'c Cache, Collection),
        filter: &'c Filter,
        index: Option<(Box<dyn SegmentReader + 'c>, Changed)>,
    ) -> Self {
        Self { rows, collection, filter, admitted: Admitted::new(cache, collection, filter), index }
    }

    fn query<'q>(&'q self, terms: &'q [&'q str], limit: usize) -> Query<'q> {
        let (since, until) = (self.filter.since.map(crate::rounded_up), self.filter.until.map(crate::rounded_up));
        let live_at = self.filter.live_at.map(jiff::Timestamp::as_millisecond);
        Query { terms, limit, since, until, live_at, admit: &self.admitted }
    }

    /// The rows that fit best and that the filter admits, with how well they fit; nothing until the index is complete.
    pub fn search(&self, terms: &[String], limit: usize) -> Result<Option<Vec<(i64, f64)>>, IndexError> {
        let Some((served, changed)) = &self.index else { return Ok(None) };
        let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        let query = self.query(&terms, limit);
        let hits = throughline_index::search(&**served, &changed.tail(&query, self.rows)?, &query)?;
        Ok(Some(hits.into_iter().map(|hit| (hit.number, hit.score())).collect()))
    }

    /// The filter of the search.
    pub fn filter(&self) -> &Filter {
        self.filter
    }

    /// Looks rows up.
    pub fn lookup(&self) -> Result<Lookup<'_>, IndexError> {
        Lookup::new(self)
    }
}
