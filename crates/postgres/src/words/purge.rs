//! Erasing: no word of a row that is gone stays in a segment. And whether the index agrees with its rows.

use std::collections::BTreeSet;

use throughline_index::{IndexError, SegmentReader as _, SegmentStore as _, bury, info, merge, numbers, replace};
use throughline_stores::words::Collection;

use super::segments::{Segments, Set, WrittenSegments};
use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::values;

/// Takes everything that changed since out of the segments, and whatever is buried in them.
pub(crate) fn purge(transaction: &Transaction<'_>) -> Sql<()> {
    for collection in Collection::ALL {
        let sql = "SELECT item FROM word_tail WHERE space = $1 AND collection = $2";
        let items = transaction.all(sql, &values![collection.number()], |row| row.int(0))?;
        for set in [Set::Building, Set::Served] {
            match purge_set(&mut WrittenSegments::new(transaction, collection, set), &items) {
                Ok(()) => {}
                // What cannot be read may still hold the words: it goes as a whole, and is built anew.
                Err(IndexError::Corrupt { .. } | IndexError::Format { .. }) => {
                    WrittenSegments::new(transaction, collection, set).become_part_of(Set::Retired)?;
                    super::upkeep::begin(transaction, collection)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let mut retired = WrittenSegments::new(transaction, collection, Set::Retired);
        for id in retired.list()? {
            retired.delete(id)?;
        }
        // Segments have nothing of them any more.
        let gone = format!(
            "DELETE FROM word_tail t WHERE t.space = $1 AND t.collection = $2 \
             AND NOT EXISTS (SELECT 1 FROM {} d WHERE d.space = $1 AND d.number = t.item)",
            collection.table()
        );
        transaction.post(&gone, &values![collection.number()])?;
    }
    Ok(())
}

fn purge_set(segments: &mut WrittenSegments<'_>, items: &[i64]) -> Result<(), IndexError> {
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
pub(crate) fn check(connection: &Connection) -> Sql<Vec<String>> {
    let mut problems = Vec::new();
    for collection in Collection::ALL {
        let table = collection.table();
        let problem = match disagreement(connection, collection)? {
            Ok(0) => continue,
            Ok(count) => format!("{count} rows of {table} are not in the word index, or only there"),
            Err(error) => format!("the word index of {table} cannot be read ({error})"),
        };
        problems.push(format!("{problem}: run `throughline reindex`"));
    }
    Ok(problems)
}

/// How many rows are not indexed, or are indexed and gone.
fn disagreement(connection: &Connection, collection: Collection) -> Sql<Result<usize, IndexError>> {
    let set = |sql: &str, bound: &[crate::values::Value<'_>]| -> Sql<BTreeSet<i64>> {
        Ok(connection.all(sql, bound, |row| row.int(0))?.into_iter().collect())
    };
    let sql = "SELECT item FROM word_tail WHERE space = $1 AND collection = $2";
    let changed = set(sql, &values![collection.number()])?;
    let rows = set(&format!("SELECT number FROM {} WHERE space = $1", collection.table()), &[])?;
    Ok(indexed(connection, collection)
        .map(|indexed| rows.symmetric_difference(&indexed).filter(|row| !changed.contains(row)).count()))
}

fn indexed(connection: &Connection, collection: Collection) -> Result<BTreeSet<i64>, IndexError> {
    let segments = Segments::new(connection, collection, Set::Served);
    let mut indexed = BTreeSet::new();
    for id in segments.list()? {
        indexed.extend(numbers(&segments, id)?);
    }
    Ok(indexed)
}
