//! What changed since the segments were made: rows of the tail, and what they stand for.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};
use throughline_stores::words::{Cache, Changed, Collection, TailItem};

use super::tail_table;

/// Reads the tail of a snapshot. A row of it stands for the same document as long as it is the last one of its item.
pub(super) fn changed(connection: &Connection, cache: &Cache, collection: Collection) -> rusqlite::Result<Changed> {
    let sql = format!("SELECT item, mark, max(row) FROM {} GROUP BY item", tail_table(collection));
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut of_item = connection.prepare_cached(&format!("SELECT terms FROM {} WHERE row = ?", collection.table()))?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, mark): (i64, i64) = (row.get(0)?, row.get(1)?);
        let item = match cache.item(mark) {
            Some(known) => known,
            None => {
                let terms = of_item.query_row([number], |row| row.get(0)).optional()?;
                let item = terms.map(|terms| Arc::new(TailItem::new(number, terms)));
                cache.keep_item(mark, item.clone());
                item
            }
        };
        items.push((number, item));
    }
    Ok(Changed::new(items))
}
