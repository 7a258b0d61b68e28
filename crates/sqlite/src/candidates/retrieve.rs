//! What was found, whole: entries, turns and passages in the shape of memories.

use rusqlite::{Connection, OptionalExtension as _, Row};
use throughline_core::model::{Entry, EntryId, Memory, Namespace};
use throughline_core::recall::{CandidateMark, Retrieved};
use throughline_stores::marks::{self, Marked, marked};
use throughline_stores::words::{chunk_entry, turn_entry};

use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS};

pub(super) const TURN_COLUMNS: &str =
    "t.id, s.id, t.role, t.speaker, t.at, t.content, s.project, ifnull(u.count, 0), u.last_at";

/// How many columns [`turn`] reads.
pub(super) const TURN_WIDTH: usize = 9;

/// What marks stand for, in their order.
pub(super) fn by_marks(connection: &Connection, marks: &[CandidateMark]) -> rusqlite::Result<Vec<Option<Retrieved>>> {
    let mut of_entry = connection.prepare_cached(&format!(
        "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS} FROM entries e LEFT JOIN uses u ON u.id = e.id WHERE e.row = ?"
    ))?;
    let mut of_turn = connection.prepare_cached(&format!(
        "SELECT {TURN_COLUMNS} FROM turns t JOIN sessions s ON s.row = t.session LEFT JOIN uses u ON u.id = t.id \
         WHERE t.row = ?"
    ))?;
    // Few searches look for passages.
    let of_chunk = || {
        connection.prepare_cached(
            "SELECT c.id, c.content, d.collection, d.updated_at FROM vault_chunks c \
             JOIN vault_documents d ON d.row = c.document WHERE c.row = ?",
        )
    };
    let mut found = |mark: &CandidateMark| match marked(*mark) {
        Marked::Entry(row) => of_entry.query_row([row], entry).optional(),
        Marked::Turn(row) => of_turn.query_row([row], turn).optional(),
        Marked::Chunk(row) => of_chunk()?.query_row([row], chunk).optional(),
    };
    marks.iter().map(&mut found).collect()
}

/// The marks of turns and memories, in the order of their ids.
pub(super) fn marks(connection: &Connection, ids: &[EntryId]) -> rusqlite::Result<Vec<Option<CandidateMark>>> {
    let mut of_turn = connection.prepare_cached("SELECT row FROM turns WHERE id = ?")?;
    let mut of_entry = connection.prepare_cached("SELECT row FROM entries WHERE id = ?")?;
    let mut mark = |id: &EntryId| {
        let turn: Option<i64> = of_turn.query_row([id.as_str()], |row| row.get(0)).optional()?;
        if let Some(row) = turn {
            return Ok(Some(marks::of_turn(row)));
        }
        let entry: Option<i64> = of_entry.query_row([id.as_str()], |row| row.get(0)).optional()?;
        Ok(entry.map(marks::of_entry))
    };
    ids.iter().map(&mut mark).collect()
}

/// What turns and memories say, in the order of their ids.
pub(super) fn texts(connection: &Connection, ids: &[EntryId]) -> rusqlite::Result<Vec<String>> {
    let mut of_turn = connection.prepare_cached("SELECT content FROM turns WHERE id = ?")?;
    let mut of_entry = connection.prepare_cached("SELECT content FROM entries WHERE id = ?")?;
    let mut text = |id: &EntryId| {
        let turn: Option<String> = of_turn.query_row([id.as_str()], |row| row.get(0)).optional()?;
        if turn.is_some() {
            return Ok(turn);
        }
        of_entry.query_row([id.as_str()], |row| row.get(0)).optional()
    };
    ids.iter().filter_map(|id| text(id).transpose()).collect()
}

pub(super) fn entry(row: &Row<'_>) -> rusqlite::Result<Retrieved> {
    Ok(Retrieved { memory: rows::memory(row)?, speaker: None })
}

/// A turn in the shape of a memory.
pub(super) fn turn(row: &Row<'_>) -> rusqlite::Result<Retrieved> {
    let at = rows::time(row.get(4)?)?;
    let entry = Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        content: row.get(5)?,
        created_at: at,
        updated_at: at,
        ..turn_entry(rows::parsed(row, 2)?, rows::parsed(row, 1)?, row.get(6)?)
    };
    let last_at = row.get::<_, Option<i64>>(8)?.map(rows::time).transpose()?;
    Ok(Retrieved { memory: Memory::new(entry, row.get(7)?, last_at), speaker: row.get(3)? })
}

/// A passage in the shape of a memory.
fn chunk(row: &Row<'_>) -> rusqlite::Result<Retrieved> {
    let at = rows::time(row.get(3)?)?;
    let entry = Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        content: row.get(1)?,
        created_at: at,
        updated_at: at,
        ..chunk_entry(Namespace::Vault(rows::parsed(row, 2)?))
    };
    Ok(Retrieved { memory: Memory::new(entry, 0, None), speaker: None })
}
