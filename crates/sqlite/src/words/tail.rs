//! What changed since the segments were made: rows of the tail, and the documents that they stand for.

use std::sync::Arc;

use rusqlite::Connection;
use throughline_index::{Document, Query, Tail, TailDocument};

use super::cache::Cache;
use super::{Collection, documents};

/// The items of a tail, as they are now.
#[derive(Default)]
pub(super) struct Changed {
    documents: Vec<Arc<Document>>,
    removed: Vec<i64>,
}

impl Changed {
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
    Ok(changed)
}
