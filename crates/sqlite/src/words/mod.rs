//! The word index in SQLite: its segments are rows, transactional with the rows that they index.
//!
//! Goes in: rows, which triggers note in a tail as they change. Comes out: the rows that fit a question best. Never
//! happens: a search that misses a committed row, text of an erased row in a segment, or a merge under the write lock.
//!
//! | file | what it does |
//! |---|---|
//! | `documents.rs` | rows as documents of the index |
//! | `segments.rs` | the port of the index over two tables |
//! | `tail.rs` | what changed since the segments were made |
//! | `upkeep.rs` | sealing the tail, merging, building anew |
//! | `worker.rs` | the thread that does so |
//! | `purge.rs` | erasing, and checking |
//! | `fts5.rs` | the index before this one, until this one is complete |

mod documents;
pub(crate) mod fts5;
mod purge;
#[cfg(test)]
mod rank_tests;
mod segments;
mod tail;
#[cfg(test)]
mod tests;
mod upkeep;
mod worker;

use rusqlite::Connection;
use throughline_core::recall::Filter;
use throughline_index::{IndexError, SegmentReader};
use throughline_stores::words::{Cache, Collection, Searched};

use crate::error::unreadable;

use segments::Served;

pub(crate) use documents::Rows;
pub(crate) use purge::{check, purge};
pub(crate) use upkeep::{begin_again, build_on, keep_up};
pub(crate) use worker::Worker;

/// The table of what changed.
const fn tail_table(collection: Collection) -> &'static str {
    match collection {
        Collection::Entries => "entry_tail",
        Collection::Turns => "turn_tail",
        Collection::Chunks => "chunk_tail",
    }
}

/// Whether searches use the index.
pub(super) fn is_ready(connection: &Connection, collection: Collection) -> rusqlite::Result<bool> {
    let sql = "SELECT is_ready FROM word_indexes WHERE collection = ?";
    connection.prepare_cached(sql)?.query_row([collection.number()], |row| row.get(0))
}

/// A collection as one snapshot has it, for one search.
pub(crate) fn searched<'c>(rows: &'c Rows<'c>, cache: &'c Cache, filter: &'c Filter) -> rusqlite::Result<Searched<'c>> {
    let Rows { connection, collection } = *rows;
    let index: Option<(Box<dyn SegmentReader + 'c>, _)> = if is_ready(connection, collection)? {
        let changed = tail::changed(connection, cache, collection)?;
        Some((Box::new(Served::new(connection, cache, collection)?), changed))
    } else {
        None
    };
    Ok(Searched::new(rows, (cache, collection), filter, index))
}

/// An error of the index as the closures of this crate give it.
pub(crate) fn as_sqlite(error: IndexError) -> rusqlite::Error {
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
