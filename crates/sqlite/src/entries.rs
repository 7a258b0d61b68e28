//! Entries: looked up and listed.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};
use throughline_core::model::{Entry, EntryId, Memory, Namespace};
use throughline_core::ports::{Entries, Listing, Page, StoreError};
use throughline_core::recall::Filter;

use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS};
use crate::{SqliteStore, Stored, filter};

/// The shortest beginning of an id that names it.
const SHORTEST_PREFIX: usize = 6;

impl Entries for SqliteStore {
    fn memory(&self, id: &EntryId) -> Stored<Option<Memory>> {
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS} FROM entries e LEFT JOIN uses u ON u.id = e.id WHERE e.id = ?"
        );
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_row([id.as_str()], rows::memory).optional(),
            "read a memory",
        )
    }

    fn keyed(&self, namespace: &Namespace, project: Option<&str>, key: &str) -> Stored<Option<Entry>> {
        let sql = format!(
            "SELECT {ENTRY_COLUMNS} FROM entries e \
             WHERE namespace = ?1 AND ifnull(project, '') = ?2 AND key = ?3 AND status = 'active'"
        );
        let values = params![namespace.to_string(), project.unwrap_or(""), key];
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_row(values, rows::entry).optional(),
            "look up a key",
        )
    }

    fn resolve(&self, reference: &str) -> Stored<Vec<EntryId>> {
        self.read(|connection| resolve(connection, reference), "look up a memory")
    }

    fn list(&self, filter: &Filter, page: &Page) -> Stored<Listing> {
        let limit = page.limit.min(i64::MAX as usize - 1);
        let mut condition = filter::condition(filter);
        if let Some(cursor) = &page.cursor {
            let (created_at, row) = parse_cursor(cursor)?;
            condition.sql.push_str(" AND (e.created_at, e.row) < (?, ?)");
            condition.values.extend([Value::Integer(created_at), Value::Integer(row)]);
        }
        condition.values.push(Value::Integer(limit as i64 + 1));
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, e.row FROM entries e LEFT JOIN uses u ON u.id = e.id \
             WHERE TRUE {} ORDER BY e.created_at DESC, e.row DESC LIMIT ?",
            condition.sql
        );
        let mut found: Vec<(Memory, i64)> = self.read(
            |connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let with_row = |row: &rusqlite::Row<'_>| Ok((rows::memory(row)?, row.get(rows::ENTRY_WIDTH + 2)?));
                statement.query_map(params_from_iter(condition.values), with_row)?.collect()
            },
            "list memories",
        )?;
        let more = found.len() > limit;
        found.truncate(limit);
        let cursor = found
            .last()
            .filter(|_| more)
            .map(|(memory, row)| format!("{}.{row}", memory.entry.created_at.as_millisecond()));
        Ok(Listing { memories: found.into_iter().map(|(memory, _)| memory).collect(), cursor })
    }
}

/// Where a listing ended: a time and a row.
pub(crate) fn parse_cursor(cursor: &str) -> Stored<(i64, i64)> {
    let parts = cursor.split_once('.').and_then(|(at, row)| Some((at.parse().ok()?, row.parse().ok()?)));
    parts.ok_or_else(|| StoreError::BadCursor { cursor: cursor.to_owned() })
}

fn resolve(connection: &Connection, reference: &str) -> rusqlite::Result<Vec<EntryId>> {
    let ids = |sql: &str, value: &str| -> rusqlite::Result<Vec<EntryId>> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map([value], |row| Ok(EntryId::new(row.get::<_, String>(0)?)))?.collect()
    };
    for sql in [
        "SELECT id FROM entries WHERE id = ?",
        "SELECT id FROM entries WHERE key = ? AND status = 'active' ORDER BY row DESC LIMIT 20",
        "SELECT id FROM entries WHERE key = ? ORDER BY updated_at DESC, row DESC LIMIT 1",
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
        "SELECT id FROM entries WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT 20",
        &reference.to_ascii_lowercase(),
    )
}
