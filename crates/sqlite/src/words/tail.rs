//! What changed since the segments were made: rows of the tail, and the documents that they stand for.

use std::sync::Arc;

use rusqlite::Connection;
use throughline_index::{Document, Query, Tail, TailDocument};

use super::cache::Cache;
use super::{Collection, documents};

/// The items of a tail, as they are now.
#[derive(Default)]
pub(super) struct Changed {
    /// In the order of their numbers.
    documents: Vec<Arc<Document>>,
    removed: Vec<i64>,
}

/// What a tail says of a row.
pub(super) enum Said<'t> {
    /// Nothing: segments have it as it is.
    Nothing,
    /// It is this now.
    Now(&'t Document),
    /// It is gone.
    Removed,
}

impl Changed {
    /// What became of a row.
    pub(super) fn of(&self, number: i64) -> Said<'_> {
        match self.documents.binary_search_by_key(&number, |document| document.number) {
            Ok(at) => Said::Now(&self.documents[at]),
            Err(_) if self.removed.contains(&number) => Said::Removed,
            Err(_) => Said::Nothing,
        }
    }

    /// The tail of a search.
    pub(super) fn tail(&self, query: &Query<'_>) -> Tail<'_> {
        let documents = self.documents.iter().map(|of| TailDocument {
            number: of.number,
            terms: &of.terms,
            is_admitted: query.admits(of),
        });
        Tail::new(documents.collect(), &self.removed)
    }
}

/// Reads the tail of a snapshot. A row of it stands for the same document as long as it is the last one of its item.
pub(super) fn changed(connection: &Connection, cache: &Cache, collection: Collection) -> rusqlite::Result<Changed> {
    let sql = format!("SELECT item, mark, max(row) FROM {} GROUP BY item", collection.tail());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut changed = Changed::default();
    while let Some(row) = rows.next()? {
        let (item, mark) = (row.get(0)?, row.get(1)?);
        let document = match cache.document(mark) {
            Some(known) => known,
            None => {
                let document = documents::read(connection, collection, item)?.map(Arc::new);
                cache.keep_document(mark, document.clone());
                document
            }
        };
        match document {
            Some(document) => changed.documents.push(document),
            None => changed.removed.push(item),
        }
    }
    changed.documents.sort_unstable_by_key(|document| document.number);
    Ok(changed)
}
