//! Rows as documents of the index.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_index::{Document, IndexError};
use throughline_stores::words::{ChunkRow, Collection, EntryRow, IndexedRows, NearTurn, Place, TurnRow};

use super::as_index;
use crate::error::unreadable;
use crate::rows;

/// The columns that [`document`] reads.
const fn select(collection: Collection) -> &'static str {
    match collection {
        Collection::Entries => {
            "SELECT d.row, d.terms, d.created_at, d.expires_at, d.content, d.kind, d.namespace, d.layer, d.source, \
             d.status, d.importance, d.tags, d.session, d.task, d.project, d.key, d.updated_at, d.supersedes \
             FROM entries d"
        }
        Collection::Turns => {
            "SELECT d.row, d.terms, d.at, d.content, d.role, s.id, s.project, d.speaker, d.session, d.position \
             FROM turns d JOIN sessions s ON s.row = d.session"
        }
        Collection::Chunks => {
            "SELECT d.row, d.terms, v.updated_at, d.content, v.collection FROM vault_chunks d \
             JOIN vault_documents v ON v.row = d.document"
        }
    }
}

fn document(collection: Collection, row: &Row<'_>) -> rusqlite::Result<Document> {
    match collection {
        Collection::Entries => entry(row)?.document(),
        Collection::Turns => turn(row)?.document(),
        Collection::Chunks => chunk(row)?.document(),
    }
    .map_err(unreadable)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<EntryRow> {
    let supersedes = row.get_ref(17)?.as_str_or_null()?.map(rows::from_json).transpose()?;
    Ok(EntryRow {
        number: row.get(0)?,
        terms: row.get(1)?,
        created_at: row.get(2)?,
        expires_at: row.get(3)?,
        content: row.get(4)?,
        kind: row.get(5)?,
        namespace: row.get(6)?,
        layer: row.get(7)?,
        source: row.get(8)?,
        status: row.get(9)?,
        importance: row.get(10)?,
        tags: rows::json(row, 11)?,
        session: row.get(12)?,
        task: row.get(13)?,
        project: row.get(14)?,
        key: row.get(15)?,
        updated_at: row.get(16)?,
        supersedes: supersedes.unwrap_or_default(),
    })
}

fn turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        number: row.get(0)?,
        terms: row.get(1)?,
        at: row.get(2)?,
        content: row.get(3)?,
        role: row.get(4)?,
        session: row.get(5)?,
        project: row.get(6)?,
        speaker: row.get(7)?,
        place: Place { session: row.get(8)?, position: row.get(9)? },
    })
}

fn chunk(row: &Row<'_>) -> rusqlite::Result<ChunkRow> {
    Ok(ChunkRow {
        number: row.get(0)?,
        terms: row.get(1)?,
        at: row.get(2)?,
        content: row.get(3)?,
        collection: row.get(4)?,
    })
}

/// The rows of a collection, in a snapshot.
pub(crate) struct Rows<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) collection: Collection,
}

impl IndexedRows for Rows<'_> {
    fn document(&self, number: i64) -> Result<Option<Document>, IndexError> {
        read(self.connection, self.collection, number).map_err(as_index)
    }

    fn turns_between(&self, session: i64, positions: (i64, i64)) -> Result<Vec<NearTurn>, IndexError> {
        turns_between(self.connection, session, positions).map_err(as_index)
    }
}

/// The index that has the role too, so that no row is read.
fn turns_between(connection: &Connection, session: i64, (first, last): (i64, i64)) -> rusqlite::Result<Vec<NearTurn>> {
    let sql = "SELECT row, position, role IN ('user', 'assistant') FROM turns INDEXED BY turns_due \
               WHERE session = ? AND position BETWEEN ? AND ? ORDER BY position";
    let near = |row: &Row<'_>| Ok(NearTurn { number: row.get(0)?, position: row.get(1)?, is_said: row.get(2)? });
    connection.prepare_cached(sql)?.query_map([session, first, last], near)?.collect()
}

/// A row as it is now, if it is still there.
pub(super) fn read(connection: &Connection, collection: Collection, item: i64) -> rusqlite::Result<Option<Document>> {
    let sql = format!("{} WHERE d.row = ?", select(collection));
    connection.prepare_cached(&sql)?.query_row([item], |row| document(collection, row)).optional()
}

/// The rows after one and up to another, in order.
pub(super) fn after(
    connection: &Connection,
    collection: Collection,
    (after, until): (i64, i64),
    limit: i64,
) -> rusqlite::Result<Vec<Document>> {
    let sql = format!("{} WHERE d.row > ? AND d.row <= ? ORDER BY d.row LIMIT ?", select(collection));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![after, until, limit], |row| document(collection, row))?.collect()
}
