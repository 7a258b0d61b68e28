//! What follows from the rows that a transaction wrote: the tail of the word index, and which memories have no vector any more.
//! Noted while rows are written, and written at once before the commit.

use std::collections::{BTreeMap, BTreeSet};

use throughline_stores::marks::TURNS;
use throughline_stores::words::Collection;

use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::values;
use crate::vectors;

/// What becomes of the vectors of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vectors {
    /// It is new, or has another text: it is embedded anew.
    Queued,
    /// It is gone, or is not embedded.
    Removed,
}

/// What a transaction noted.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    tail: BTreeSet<(Collection, i64)>,
    vectors: BTreeMap<i64, Vectors>,
    /// Those that may have vectors.
    outdated: BTreeSet<i64>,
}

/// The item of a memory among those that have vectors; passages have vectors of their own.
fn item(collection: Collection, number: i64) -> Option<i64> {
    match collection {
        Collection::Entries => Some(number),
        Collection::Turns => Some(TURNS + number),
        Collection::Chunks => None,
    }
}

impl Derived {
    /// A row is new; `is_embedded` says whether it gets a vector.
    pub(crate) fn added(&mut self, collection: Collection, number: i64, is_embedded: bool) {
        self.tail.insert((collection, number));
        if let Some(item) = item(collection, number).filter(|_| is_embedded) {
            self.vectors.insert(item, Vectors::Queued);
        }
    }

    /// A row changed; its text did not.
    pub(crate) fn changed(&mut self, collection: Collection, number: i64) {
        self.tail.insert((collection, number));
    }

    /// A row has another text.
    pub(crate) fn rewritten(&mut self, collection: Collection, number: i64) {
        self.tail.insert((collection, number));
        if let Some(item) = item(collection, number) {
            self.vectors.insert(item, Vectors::Queued);
            self.outdated.insert(item);
        }
    }

    /// A row is gone.
    pub(crate) fn removed(&mut self, collection: Collection, number: i64) {
        self.tail.insert((collection, number));
        if let Some(item) = item(collection, number) {
            self.vectors.insert(item, Vectors::Removed);
            self.outdated.insert(item);
        }
    }

    /// Writes all of it.
    pub(crate) fn write(self, transaction: &Transaction<'_>) -> Sql<()> {
        let outdated: Vec<i64> = self.outdated.into_iter().collect();
        if !outdated.is_empty() {
            vectors::forget_memories(transaction, &outdated)?;
        }
        let of = |wanted: Vectors| -> Vec<i64> {
            self.vectors.iter().filter(|(_, fate)| **fate == wanted).map(|(item, _)| *item).collect()
        };
        let (queued, removed) = (of(Vectors::Queued), of(Vectors::Removed));
        if !queued.is_empty() {
            let sql =
                "INSERT INTO memory_vector_queue (space, item) SELECT $1, unnest($2::bigint[]) ON CONFLICT DO NOTHING";
            transaction.post(sql, &values![queued])?;
        }
        if !removed.is_empty() {
            let sql = "DELETE FROM memory_vector_queue WHERE space = $1 AND item = ANY($2)";
            transaction.post(sql, &values![removed])?;
        }
        for collection in Collection::ALL {
            let items: Vec<i64> = self.tail.iter().filter(|(of, _)| *of == collection).map(|(_, item)| *item).collect();
            note_in_tail(transaction, collection, items)?;
        }
        Ok(())
    }
}

/// Notes in the tail that rows changed. The mark is random: another copy of this memory may have the same numbers.
fn note_in_tail(transaction: &Transaction<'_>, collection: Collection, items: Vec<i64>) -> Sql<()> {
    if items.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO word_tail (space, collection, item, written, mark) \
               SELECT $1, $2, item, $4, floor(random() * 9007199254740992)::bigint FROM unnest($3::bigint[]) AS item \
               ON CONFLICT (space, collection, item) DO UPDATE SET written = excluded.written, mark = excluded.mark";
    transaction.post(sql, &values![collection.number(), items, transaction.number()])
}
