//! What changed since the segments were made: rows of the tail, and the documents that they stand for.

use std::collections::HashMap;
use std::sync::Arc;

use throughline_stores::words::{Cache, Changed, Collection, TailItem};

use super::documents;
use crate::connection::Connection;
use crate::error::Sql;
use crate::values::values;

/// Reads the tail of a snapshot. A mark stands for the same document as long as it is there; those that this process does not
/// know are read together. A process that knows none of any tail asks for all of them, together with the tail.
pub(super) fn changed(connection: &Connection, cache: &Cache, collection: Collection) -> Sql<Changed> {
    let sql = "SELECT item, mark FROM word_tail WHERE space = $1 AND collection = $2";
    let tail = connection.all(sql, &values![collection.number()], |row| Ok((row.int(0)?, row.int(1)?)))?;
    let unknown: Vec<i64> =
        tail.iter().filter(|(_, mark)| cache.item(*mark).is_none()).map(|(item, _)| *item).collect();
    let is_none_known = !cache.has_items() || !unknown.is_empty() && unknown.len() == tail.len();
    let all = if is_none_known { Some(documents::of_tail(connection, collection)?) } else { None };
    let mut read: HashMap<i64, Arc<TailItem>> = HashMap::new();
    if !unknown.is_empty() {
        let documents = all.map_or_else(|| documents::read(connection, collection, unknown), Ok)?;
        read.extend(documents.into_iter().map(|document| (document.number, Arc::new(document.into()))));
    }
    // Where questions are only gathered, nothing was read: no row may be taken for one that is gone.
    if connection.answers().is_gathering() {
        return Ok(Changed::default());
    }
    let of = |(item, mark): (i64, i64)| {
        let now = cache.item(mark).unwrap_or_else(|| {
            let now = read.get(&item).cloned();
            cache.keep_item(mark, now.clone());
            now
        });
        (item, now)
    };
    Ok(Changed::new(tail.into_iter().map(of)))
}
