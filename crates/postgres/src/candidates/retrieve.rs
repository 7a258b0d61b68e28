//! What was found, whole: entries, turns and passages in the shape of memories. One statement for each kind.

use std::collections::HashMap;

use throughline_core::model::{Entry, EntryId, Memory, Namespace};
use throughline_core::recall::{CandidateMark, Retrieved};
use throughline_stores::marks::{self, Marked, marked};
use throughline_stores::words::{Collection, chunk_entry, turn_entry};

use super::numbers;
use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, ENTRY_COLUMNS, ENTRY_WIDTH, JOIN_USES, USE_COLUMNS};
use crate::values::{Row, values};

pub(super) const TURN_COLUMNS: &str = "t.id AS turn, s.id AS session, t.role, t.speaker, t.at, t.content, s.project, \
     coalesce(u.count, 0), u.last_at";

/// How many columns [`turn`] reads.
pub(super) const TURN_WIDTH: usize = 9;

/// What marks stand for, in their order.
pub(super) fn by_marks(connection: &Connection, marks: &[CandidateMark]) -> Sql<Vec<Option<Retrieved>>> {
    let (mut entries, mut turns, mut chunks) = (Vec::new(), Vec::new(), Vec::new());
    for mark in marks {
        match marked(*mark) {
            Marked::Entry(number) => entries.push(number),
            Marked::Turn(number) => turns.push(number),
            Marked::Chunk(number) => chunks.push(number),
        }
    }
    let mut found: HashMap<i64, Retrieved> = HashMap::with_capacity(marks.len());
    let mut add = |sql: &str,
                   wanted: Vec<i64>,
                   width: usize,
                   read: fn(&Row) -> Sql<Retrieved>,
                   mark: fn(i64) -> CandidateMark| {
        if wanted.is_empty() {
            return Ok(());
        }
        let rows = connection.all(sql, &values![wanted], |row| Ok((mark(row.int(width)?).get(), read(row)?)));
        rows.map(|rows| found.extend(rows))
    };
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, e.number FROM entries e {JOIN_USES} WHERE e.space = $1 AND e.number = ANY($2)"
    );
    add(&sql, entries, ENTRY_WIDTH + 2, entry, marks::of_entry)?;
    let sql = format!(
        "SELECT {TURN_COLUMNS}, t.number FROM turns t JOIN sessions s ON s.space = $1 AND s.number = t.session \
         LEFT JOIN uses u ON u.space = $1 AND u.id = t.id WHERE t.space = $1 AND t.number = ANY($2)"
    );
    add(&sql, turns, TURN_WIDTH, turn, marks::of_turn)?;
    let sql = "SELECT c.id, c.content, d.collection, d.updated_at, c.number FROM vault_chunks c \
               JOIN vault_documents d ON d.space = $1 AND d.number = c.document WHERE c.space = $1 AND c.number = ANY($2)";
    add(sql, chunks, 4, chunk, marks::of_chunk)?;
    Ok(marks.iter().map(|mark| found.get(&mark.get()).cloned()).collect())
}

/// The marks of turns and memories, in the order of their ids.
pub(super) fn marks(connection: &Connection, ids: &[EntryId]) -> Sql<Vec<Option<CandidateMark>>> {
    let turns = numbers(connection, Collection::Turns, ids)?;
    let entries = numbers(connection, Collection::Entries, ids)?;
    let mark = |id: &EntryId| {
        let turn = turns.get(id.as_str()).map(|number| marks::of_turn(*number));
        turn.or_else(|| entries.get(id.as_str()).map(|number| marks::of_entry(*number)))
    };
    Ok(ids.iter().map(mark).collect())
}

pub(super) fn entry(row: &Row) -> Sql<Retrieved> {
    Ok(Retrieved { memory: rows::memory(row)?, speaker: None })
}

/// A turn in the shape of a memory.
pub(super) fn turn(row: &Row) -> Sql<Retrieved> {
    let at = row.time(4)?;
    let entry = Entry {
        id: EntryId::new(row.text(0)?),
        content: row.text(5)?,
        created_at: at,
        updated_at: at,
        ..turn_entry(row.parsed(2)?, row.parsed(1)?, row.maybe_text(6)?)
    };
    Ok(Retrieved { memory: Memory::new(entry, row.number(7)?, row.maybe_time(8)?), speaker: row.maybe_text(3)? })
}

/// A passage in the shape of a memory.
fn chunk(row: &Row) -> Sql<Retrieved> {
    let at = row.time(3)?;
    let entry = Entry {
        id: EntryId::new(row.text(0)?),
        content: row.text(1)?,
        created_at: at,
        updated_at: at,
        ..chunk_entry(Namespace::Vault(row.parsed(2)?))
    };
    Ok(Retrieved { memory: Memory::new(entry, 0, None), speaker: None })
}
