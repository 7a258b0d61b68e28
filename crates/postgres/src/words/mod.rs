//! The word index on PostgreSQL: its segments are rows, transactional with the rows that they index. The bytes are those that the
//! SQLite store keeps, so that both rank alike.
//!
//! Goes in: rows, which transactions note in a tail as they change. Comes out: the rows that fit a question best. Never
//! happens: a search that misses a committed row, text of an erased row in a segment, or a merge under the lock of a space.
//!
//! | file | what it does |
//! |---|---|
//! | `documents.rs` | rows as documents of the index |
//! | `segments.rs` | the port of the index over two tables |
//! | `tail.rs` | what changed since the segments were made |
//! | `upkeep.rs` | sealing the tail, merging, building anew |
//! | `worker.rs` | the thread that does so |
//! | `purge.rs` | erasing, and checking |

mod documents;
mod purge;
mod segments;
mod tail;
mod upkeep;
mod worker;

use throughline_core::recall::Filter;
use throughline_stores::words::{Cache, Searched};

use crate::error::Sql;

use segments::Served;

pub(crate) use documents::Rows;
pub(crate) use purge::{check, purge};
pub(crate) use upkeep::{begin_again, build_on, keep_up};
pub(crate) use worker::Worker;

/// A collection as one snapshot has it, for one search.
pub(crate) fn searched<'c>(rows: &'c Rows<'c>, cache: &'c Cache, filter: &'c Filter) -> Sql<Searched<'c>> {
    let Rows { connection, collection } = *rows;
    let changed = tail::changed(connection, cache, collection)?;
    let served = Served::new(connection, cache, collection)?;
    Ok(Searched::new(rows, (cache, collection), filter, Some((Box::new(served), changed))))
}
