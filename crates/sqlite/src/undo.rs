//! What undoing a change takes.

use rusqlite::{Connection, OptionalExtension as _};
use throughline_core::model::{ContentHash, DocumentName, Entry, MachineId};
use throughline_core::ports::Undoable;

use crate::rows::{self, CHANGE_COLUMNS, ENTRY_COLUMNS};
use crate::versioned;

pub(crate) fn undoable(connection: &Connection, machine: &MachineId) -> rusqlite::Result<Option<Undoable>> {
    let sql = "SELECT c.row FROM changes c \
         WHERE c.verb <> 'undo' AND c.undone_by IS NULL AND c.adopted_by IS NULL \
           AND (c.verb = 'erase' OR EXISTS (SELECT 1 FROM entry_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM document_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM task_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM thread_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM project_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM adopted a WHERE a.change = c.row)) \
         ORDER BY c.row DESC LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    found.map(|row| touched(connection, machine, row)).transpose()
}

/// What a change touched, by its row.
pub(crate) fn touched(connection: &Connection, machine: &MachineId, row: i64) -> rusqlite::Result<Undoable> {
    let sql = format!("SELECT {CHANGE_COLUMNS} FROM changes c WHERE c.row = ?");
    let change = connection.prepare_cached(&sql)?.query_row([row], |row| rows::change(row, 0))?;
    let entries = touched_entries(connection, row)?;
    let documents = touched_documents(connection, row)?;
    Ok(Undoable {
        change,
        entries,
        documents,
        tasks: versioned::touched(connection, machine, row)?,
        threads: versioned::touched(connection, machine, row)?,
        projects: versioned::touched(connection, machine, row)?,
    })
}

fn touched_entries(connection: &Connection, change: i64) -> rusqlite::Result<Vec<(Entry, Option<Entry>)>> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, p.state FROM \
           (SELECT entry, min(version) AS version FROM entry_versions WHERE change = ?1 GROUP BY entry \
            UNION ALL SELECT id, NULL FROM adopted WHERE change = ?1 AND what = 'entry' \
              AND id NOT IN (SELECT entry FROM entry_versions WHERE change = ?1)) v \
         JOIN entries e ON e.id = v.entry \
         LEFT JOIN entry_versions p ON p.entry = v.entry AND p.version = v.version - 1 \
           AND NOT EXISTS (SELECT 1 FROM adopted a WHERE a.change = ?1 AND a.what = 'entry' AND a.id = v.entry) \
         ORDER BY e.row"
    );
    let mut statement = connection.prepare(&sql)?;
    let touched = |row: &rusqlite::Row<'_>| {
        let before = row.get_ref(rows::ENTRY_WIDTH)?.as_str_or_null()?.map(rows::from_json).transpose()?;
        Ok((rows::entry(row)?, before))
    };
    statement.query_map([change], touched)?.collect()
}

/// Each document's name, the digest the change left, and the text before it.
type TouchedDocument = (DocumentName, ContentHash, Option<String>);

fn touched_documents(connection: &Connection, change: i64) -> rusqlite::Result<Vec<TouchedDocument>> {
    let sql = "SELECT v.name, v.hash, p.text FROM \
                 (SELECT name, min(version) AS first, max(version) AS last FROM document_versions \
                  WHERE change = ?1 GROUP BY name) t \
               JOIN document_versions v ON v.name = t.name AND v.version = t.last \
               LEFT JOIN document_versions p ON p.name = t.name AND p.version = t.first - 1 \
               UNION ALL SELECT d.name, d.hash, NULL FROM adopted a JOIN documents d ON d.name = a.id \
               WHERE a.change = ?1 AND a.what = 'document' \
                 AND a.id NOT IN (SELECT name FROM document_versions WHERE change = ?1) ORDER BY 1";
    let mut statement = connection.prepare(sql)?;
    let touched = |row: &rusqlite::Row<'_>| {
        Ok((rows::parsed(row, 0)?, ContentHash::stored(row.get::<_, String>(1)?), row.get(2)?))
    };
    statement.query_map([change], touched)?.collect()
}
