//! Rows as documents of the index.

use throughline_core::model::EntryId;
use throughline_index::{Document, IndexError};
use throughline_stores::words::{ChunkRow, Collection, EntryRow, IndexedRows, NearTurn, Place, TurnRow};

use crate::connection::Connection;
use crate::error::{Sql, as_index, unreadable};
use crate::values::{Row, values};

/// The columns that [`document`] reads.
const fn select(collection: Collection) -> &'static str {
    match collection {
        Collection::Entries => {
            "SELECT d.number, d.terms, d.created_at, d.expires_at, d.content, d.kind, d.namespace, d.layer, d.source, \
             d.status, d.importance, d.tags, d.session, d.task, d.project, d.key, d.updated_at, d.supersedes \
             FROM entries d WHERE d.space = $1"
        }
        Collection::Turns => {
            "SELECT d.number, d.terms, d.at, d.content, d.role, s.id, s.project, d.speaker, d.session, d.position \
             FROM turns d JOIN sessions s ON s.space = $1 AND s.number = d.session WHERE d.space = $1"
        }
        Collection::Chunks => {
            "SELECT d.number, d.terms, v.updated_at, d.content, v.collection FROM vault_chunks d \
             JOIN vault_documents v ON v.space = $1 AND v.number = d.document WHERE d.space = $1"
        }
    }
}

fn document(collection: Collection, row: &Row) -> Sql<Document> {
    match collection {
        Collection::Entries => entry(row)?.document(),
        Collection::Turns => turn(row)?.document(),
        Collection::Chunks => chunk(row)?.document(),
    }
    .map_err(unreadable)
}

fn entry(row: &Row) -> Sql<EntryRow> {
    Ok(EntryRow {
        number: row.int(0)?,
        terms: row.text(1)?,
        created_at: row.int(2)?,
        expires_at: row.maybe_int(3)?,
        content: row.text(4)?,
        kind: row.text(5)?,
        namespace: row.text(6)?,
        layer: row.text(7)?,
        source: row.text(8)?,
        status: row.text(9)?,
        importance: row.real(10)?,
        tags: row.texts(11)?,
        session: row.maybe_text(12)?,
        task: row.maybe_text(13)?,
        project: row.maybe_text(14)?,
        key: row.maybe_text(15)?,
        updated_at: row.int(16)?,
        supersedes: row.texts(17)?.into_iter().map(EntryId::new).collect(),
    })
}

fn turn(row: &Row) -> Sql<TurnRow> {
    Ok(TurnRow {
        number: row.int(0)?,
        terms: row.text(1)?,
        at: row.int(2)?,
        content: row.text(3)?,
        role: row.text(4)?,
        session: row.text(5)?,
        project: row.maybe_text(6)?,
        speaker: row.maybe_text(7)?,
        place: Place { session: row.int(8)?, position: row.int(9)? },
    })
}

fn chunk(row: &Row) -> Sql<ChunkRow> {
    Ok(ChunkRow {
        number: row.int(0)?,
        terms: row.text(1)?,
        at: row.int(2)?,
        content: row.text(3)?,
        collection: row.text(4)?,
    })
}

/// The rows of a collection, in a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) collection: Collection,
}

impl IndexedRows for Rows<'_> {
    fn document(&self, number: i64) -> Result<Option<Document>, IndexError> {
        read(self.connection, self.collection, vec![number]).map(|mut found| found.pop()).map_err(as_index)
    }

    fn turns_between(&self, session: i64, (first, last): (i64, i64)) -> Result<Vec<NearTurn>, IndexError> {
        let sql = "SELECT number, position, role IN ('user', 'assistant') FROM turns \
                   WHERE space = $1 AND session = $2 AND position BETWEEN $3 AND $4 ORDER BY position";
        let near = |row: &Row| Ok(NearTurn { number: row.int(0)?, position: row.int(1)?, is_said: row.flag(2)? });
        self.connection.all(sql, &values![session, first, last], near).map_err(as_index)
    }
}

/// Those of these rows that are there, as they are now, in order.
pub(super) fn read(connection: &Connection, collection: Collection, items: Vec<i64>) -> Sql<Vec<Document>> {
    let sql = format!("{} AND d.number = ANY($2) ORDER BY d.number", select(collection));
    connection.all(&sql, &values![items], |row| document(collection, row))
}

/// All rows of a tail that are there.
pub(super) fn of_tail(connection: &Connection, collection: Collection) -> Sql<Vec<Document>> {
    let sql = format!(
        "{} AND d.number IN (SELECT item FROM word_tail WHERE space = $1 AND collection = $2) ORDER BY d.number",
        select(collection)
    );
    connection.all(&sql, &values![collection.number()], |row| document(collection, row))
}

/// The rows after one and up to another, in order.
pub(super) fn after(
    connection: &Connection,
    collection: Collection,
    (after, until): (i64, i64),
    limit: i64,
) -> Sql<Vec<Document>> {
    let sql = format!("{} AND d.number > $2 AND d.number <= $3 ORDER BY d.number LIMIT $4", select(collection));
    connection.all(&sql, &values![after, until, limit], |row| document(collection, row))
}
