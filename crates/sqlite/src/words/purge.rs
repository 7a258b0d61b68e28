//! Erasing: no word of a row that is gone stays in a segment. And whether the index agrees with its rows.

use std::collections::BTreeSet;

use rusqlite::Connection;
use throughline_index::{IndexError, SegmentReader as _, SegmentStore as _, bury, info, merge, numbers, replace};
use throughline_stores::words::Collection;

use super::segments::{Segments, Set};
use super::{as_sqlite, fts5, tail_table};

/// Takes everything that changed since out of the segments, and whatever is buried in them.
pub(crate) fn purge(connection: &Connection) -> rusqlite::Result<()> {
    fts5::remove_unused(connection)?;
    for collection in Collection::ALL {
        let tail = tail_table(collection);
        let items: Vec<i64> = connection
            .prepare_cached(&format!("SELECT DISTINCT item FROM {tail}"))?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for set in [Set::Building, Set::Served] {
            match purge_set(&mut Segments::new(connection, collection, set), &items) {
                Ok(()) => {}
                // What cannot be read may still hold the words: it goes as a whole, and is built anew.
                Err(IndexError::Corrupt { .. } | IndexError::Format { .. }) => {
                    Segments::new(connection, collection, set).become_part_of(Set::Retired)?;
                    super::upkeep::begin(connection, collection)?;
                }
                Err(error) => return Err(as_sqlite(error)),
            }
        }
        let mut retired = Segments::new(connection, collection, Set::Retired);
        for id in retired.list().map_err(as_sqlite)? {
            retired.delete(id).map_err(as_sqlite)?;
        }
        // Segments have nothing of them any more.
        let gone = format!("DELETE FROM {tail} WHERE item NOT IN (SELECT row FROM {})", collection.table());
        connection.prepare_cached(&gone)?.execute([])?;
    }
    Ok(())
}

fn purge_set(segments: &mut Segments<'_>, items: &[i64]) -> Result<(), IndexError> {
    bury(segments, items, None)?;
    for id in segments.list()? {
        if info(segments, id)?.buried > 0 {
            let merged = merge(segments, &[id])?;
            replace(segments, &merged)?;
        }
    }
    Ok(())
}

/// What does not agree with the rows.
pub(crate) fn check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    // One snapshot: another process may merge segments meanwhile.
    let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let mut problems = Vec::new();
    for collection in Collection::ALL {
        let table = collection.table();
        let problem = match disagreement(connection, collection) {
            Ok(None) => continue,
            Ok(Some(count)) => format!("{count} rows of {table} are not in the word index, or only there"),
            Err(error) => format!("the word index of {table} cannot be read ({error})"),
        };
        problems.push(format!("{problem}: run `throughline reindex`"));
    }
    Ok(problems)
}

/// How many rows are not indexed, or are indexed and gone. An index that is not complete is not compared.
fn disagreement(connection: &Connection, collection: Collection) -> rusqlite::Result<Option<usize>> {
    if !super::is_ready(connection, collection)? {
        return Ok(None);
    }
    let set = |sql: String| -> rusqlite::Result<BTreeSet<i64>> {
        connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let changed = set(format!("SELECT item FROM {}", tail_table(collection)))?;
    let rows = set(format!("SELECT row FROM {}", collection.table()))?;
    let segments = Segments::new(connection, collection, Set::Served);
    let mut indexed = BTreeSet::new();
    for id in segments.list().map_err(as_sqlite)? {
        indexed.extend(numbers(&segments, id).map_err(as_sqlite)?);
    }
    let count = rows.symmetric_difference(&indexed).filter(|row| !changed.contains(row)).count();
    Ok((count > 0).then_some(count))
}
