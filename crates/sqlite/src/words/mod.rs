//! The word index in SQLite: its segments are rows, transactional with the rows that they index.
//!
//! Goes in: rows, which triggers note in a tail as they change. Comes out: the rows that fit a question best. Never
//! happens: a search that misses a committed row, text of an erased row in a segment, or a merge under the write lock.
//!
//! | file | what it does |
//! |---|---|
//! | `documents.rs` | rows as documents of the index, with the class that filters are asked about |
//! | `segments.rs` | the port of the index over two tables |
//! | `tail.rs` | what changed since the segments were made |
//! | `lookup.rs` | rows as candidates, from what the index keeps of them |
//! | `cache.rs` | parts and documents that a process keeps |
//! | `upkeep.rs` | sealing the tail, merging, building anew |
//! | `worker.rs` | the thread that does so |
//! | `purge.rs` | erasing, and checking |
//! | `fts5.rs` | the index before this one, until this one is complete |

mod cache;
mod documents;
pub(crate) mod fts5;
mod lookup;
mod purge;
mod segments;
mod tail;
#[cfg(test)]
mod tests;
mod upkeep;
mod worker;

use rusqlite::Connection;
use throughline_core::recall::Filter;
use throughline_index::{IndexError, Query};

use crate::error::unreadable;
use crate::filter;

use documents::Admitted;
use segments::Served;
use tail::Changed;

pub(crate) use cache::Cache;
pub(crate) use documents::{Place, chunk_entry, turn_entry};
pub(crate) use lookup::Lookup;
pub(crate) use purge::{check, purge};
pub(crate) use upkeep::{begin_again, build_on, keep_up};
pub(crate) use worker::Worker;

/// What is indexed: the kinds are searched and counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collection {
    /// Entries, and bullets of documents.
    Entries,
    /// Turns of conversations.
    Turns,
    /// Passages of the vault.
    Chunks,
}

impl Collection {
    pub(crate) const ALL: [Self; 3] = [Self::Entries, Self::Turns, Self::Chunks];

    const fn number(self) -> i64 {
        match self {
            Self::Entries => 1,
            Self::Turns => 2,
            Self::Chunks => 3,
        }
    }

    /// The table of what changed.
    const fn tail(self) -> &'static str {
        match self {
            Self::Entries => "entry_tail",
            Self::Turns => "turn_tail",
            Self::Chunks => "chunk_tail",
        }
    }

    /// The table that is indexed.
    const fn table(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Turns => "turns",
            Self::Chunks => "vault_chunks",
        }
    }
}

/// Whether searches use the index.
pub(super) fn is_ready(connection: &Connection, collection: Collection) -> rusqlite::Result<bool> {
    let sql = "SELECT is_ready FROM word_indexes WHERE collection = ?";
    connection.prepare_cached(sql)?.query_row([collection.number()], |row| row.get(0))
}

/// A collection as one snapshot has it, for one search.
pub(crate) struct Searched<'c> {
    connection: &'c Connection,
    collection: Collection,
    filter: &'c Filter,
    admitted: Admitted,
    /// None until the index is complete.
    index: Option<(Served<'c>, Changed)>,
}

impl<'c> Searched<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        cache: &'c Cache,
        collection: Collection,
        filter: &'c Filter,
    ) -> rusqlite::Result<Self> {
        let index = if is_ready(connection, collection)? {
            let changed = tail::changed(connection, cache, collection)?;
            Some((Served::new(connection, cache, collection)?, changed))
        } else {
            None
        };
        Ok(Self { connection, collection, filter, admitted: Admitted::new(collection, filter), index })
    }

    fn query<'q>(&'q self, terms: &'q [&'q str], limit: usize) -> Query<'q> {
        let (since, until) = (self.filter.since.map(filter::rounded_up), self.filter.until.map(filter::rounded_up));
        let live_at = self.filter.live_at.map(jiff::Timestamp::as_millisecond);
        Query { terms, limit, since, until, live_at, admit: &self.admitted }
    }

    /// The rows that fit best and that the filter admits, with how well they fit; nothing until the index is complete.
    pub(crate) fn search(&self, terms: &[String], limit: usize) -> rusqlite::Result<Option<Vec<(i64, f64)>>> {
        let Some((served, changed)) = &self.index else { return Ok(None) };
        let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        let query = self.query(&terms, limit);
        let hits = throughline_index::search(served, &changed.tail(&query), &query).map_err(as_sqlite)?;
        Ok(Some(hits.into_iter().map(|hit| (hit.number, hit.score())).collect()))
    }

    /// The filter of the search.
    pub(crate) fn filter(&self) -> &Filter {
        self.filter
    }

    /// Looks rows up.
    pub(crate) fn lookup(&self) -> rusqlite::Result<Lookup<'_>> {
        Lookup::new(self)
    }
}

/// An error of the index as the closures of this crate give it.
fn as_sqlite(error: IndexError) -> rusqlite::Error {
    match error {
        IndexError::Store(source) => match source.downcast::<rusqlite::Error>() {
            Ok(error) => *error,
            Err(other) => unreadable(IndexError::Store(other)),
        },
        other => unreadable(other),
    }
}

fn as_index(error: rusqlite::Error) -> IndexError {
    IndexError::Store(Box::new(error))
}
