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
//! | `cache.rs` | parts and documents that a process keeps |
//! | `upkeep.rs` | sealing the tail, merging, building anew |
//! | `worker.rs` | the thread that does so |
//! | `purge.rs` | erasing, and checking |
//! | `fts5.rs` | the index before this one, until this one is complete |

mod cache;
mod documents;
pub(crate) mod fts5;
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

pub(crate) use cache::Cache;
pub(crate) use documents::{chunk_entry, turn_entry};
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
pub(crate) fn is_ready(connection: &Connection, collection: Collection) -> rusqlite::Result<bool> {
    let sql = "SELECT is_ready FROM word_indexes WHERE collection = ?";
    connection.prepare_cached(sql)?.query_row([collection.number()], |row| row.get(0))
}

/// The rows that fit best and that the filter admits, with how well they fit.
pub(crate) fn search(
    connection: &Connection,
    cache: &Cache,
    collection: Collection,
    terms: &[String],
    (filter, limit): (&Filter, usize),
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let admitted = documents::Admitted::new(collection, filter);
    let since = filter.since.map(filter::rounded_up);
    let until = filter.until.map(filter::rounded_up);
    let live_at = filter.live_at.map(jiff::Timestamp::as_millisecond);
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    let query = Query { terms: &terms, limit, since, until, live_at, admit: &admitted };
    let changed = tail::changed(connection, cache, collection)?;
    let store = segments::Served::new(connection, cache, collection)?;
    let hits = throughline_index::search(&store, &changed.tail(&query), &query).map_err(as_sqlite)?;
    Ok(hits.into_iter().map(|hit| (hit.number, hit.score())).collect())
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
