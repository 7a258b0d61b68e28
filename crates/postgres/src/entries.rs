//! Entries: looked up and listed.

use throughline_core::model::{Entry, EntryId, Memory, Namespace};
use throughline_core::ports::{Entries, Listing, Page, StoreError};
use throughline_core::recall::Filter;

use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, ENTRY_COLUMNS, ENTRY_WIDTH, JOIN_USES, USE_COLUMNS};
use crate::values::values;
use crate::{PostgresStore, Stored, filter};

/// The shortest beginning of an id that names it.
const SHORTEST_PREFIX: usize = 6;

impl Entries for PostgresStore {
    fn memory(&self, id: &EntryId) -> Stored<Option<Memory>> {
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS} FROM entries e {JOIN_USES} WHERE e.space = $1 AND e.id = $2"
        );
        self.read("read a memory", |connection| {
            connection.maybe(&sql, &values![id.as_str()])?.as_ref().map(rows::memory).transpose()
        })
    }

    fn keyed(&self, namespace: &Namespace, project: Option<&str>, key: &str) -> Stored<Option<Entry>> {
        let sql = format!(
            "SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.space = $1 AND e.namespace = $2 \
             AND coalesce(e.project, '') = $3 AND e.key = $4 AND e.status = 'active'"
        );
        self.read("look up a key", |connection| {
            let bound = values![namespace.to_string(), project.unwrap_or(""), key];
            connection.maybe(&sql, &bound)?.as_ref().map(rows::entry).transpose()
        })
    }

    fn resolve(&self, reference: &str) -> Stored<Vec<EntryId>> {
        self.read("look up a memory", |connection| resolve(connection, reference))
    }

    fn list(&self, filter: &Filter, page: &Page) -> Stored<Listing> {
        let limit = page.limit.min(i64::MAX as usize - 1);
        let mut condition = filter::condition(filter, 2);
        if let Some(cursor) = &page.cursor {
            let (created_at, number) = parse_cursor(cursor)?;
            condition.and("(e.created_at, e.number) < (?, ?)", values![created_at, number]);
        }
        let limited = condition.place(limit + 1);
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, e.number FROM entries e {JOIN_USES} \
             WHERE e.space = $1 {} ORDER BY e.created_at DESC, e.number DESC LIMIT {limited}",
            condition.sql
        );
        let mut found: Vec<(Memory, i64)> = self.read("list memories", |connection| {
            connection.all(&sql, &condition.values, |row| Ok((rows::memory(row)?, row.int(ENTRY_WIDTH + 2)?)))
        })?;
        let more = found.len() > limit;
        found.truncate(limit);
        let cursor = found
            .last()
            .filter(|_| more)
            .map(|(memory, number)| format!("{}.{number}", memory.entry.created_at.as_millisecond()));
        Ok(Listing { memories: found.into_iter().map(|(memory, _)| memory).collect(), cursor })
    }
}

/// Where a listing ended: a time and a number.
pub(crate) fn parse_cursor(cursor: &str) -> Stored<(i64, i64)> {
    let parts = cursor.split_once('.').and_then(|(at, number)| Some((at.parse().ok()?, number.parse().ok()?)));
    parts.ok_or_else(|| StoreError::BadCursor { cursor: cursor.to_owned() })
}

fn resolve(connection: &Connection, reference: &str) -> Sql<Vec<EntryId>> {
    let ids = |sql: &str, value: &str| connection.all(sql, &values![value], |row| Ok(EntryId::new(row.text(0)?)));
    for sql in [
        "SELECT id FROM entries WHERE space = $1 AND id = $2",
        "SELECT id FROM entries WHERE space = $1 AND key = $2 AND status = 'active' ORDER BY number DESC LIMIT 20",
        "SELECT id FROM entries WHERE space = $1 AND key = $2 ORDER BY updated_at DESC, number DESC LIMIT 1",
    ] {
        let found = ids(sql, reference)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    if reference.len() < SHORTEST_PREFIX || !reference.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(Vec::new());
    }
    ids(
        "SELECT id FROM entries WHERE space = $1 AND id >= $2 AND id < $2 || '~' ORDER BY id LIMIT 20",
        &reference.to_ascii_lowercase(),
    )
}
