//! What undoing a change takes.

use throughline_core::model::{ContentHash, DocumentName, Entry, MachineId};
use throughline_core::ports::Undoable;

use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, CHANGE_COLUMNS, ENTRY_COLUMNS};
use crate::values::{from_json, values};
use crate::versioned;

pub(crate) fn undoable(connection: &Connection, machine: &MachineId) -> Sql<Option<Undoable>> {
    let touches = |table: &str| format!("EXISTS (SELECT 1 FROM {table} v WHERE v.space = $1 AND v.change = c.number)");
    let tables =
        ["entry_versions", "document_versions", "task_versions", "thread_versions", "project_versions", "adopted"];
    let sql = format!(
        "SELECT c.number FROM changes c WHERE c.space = $1 AND c.verb <> 'undo' AND c.undone_by IS NULL \
         AND c.adopted_by IS NULL AND (c.verb = 'erase' OR {}) ORDER BY c.number DESC LIMIT 1",
        tables.map(touches).join(" OR ")
    );
    let found = connection.maybe(&sql, &[])?;
    found.map(|row| touched(connection, machine, row.int(0)?)).transpose()
}

/// What a change touched, by its number.
pub(crate) fn touched(connection: &Connection, machine: &MachineId, number: i64) -> Sql<Undoable> {
    let sql = format!("SELECT {CHANGE_COLUMNS} FROM changes c WHERE c.space = $1 AND c.number = $2");
    Ok(Undoable {
        change: rows::change(&connection.one(&sql, &values![number])?, 0)?,
        entries: touched_entries(connection, number)?,
        documents: touched_documents(connection, number)?,
        tasks: versioned::touched(connection, machine, number)?,
        threads: versioned::touched(connection, machine, number)?,
        projects: versioned::touched(connection, machine, number)?,
    })
}

fn touched_entries(connection: &Connection, change: i64) -> Sql<Vec<(Entry, Option<Entry>)>> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, p.state FROM \
           (SELECT entry, min(version) AS version FROM entry_versions WHERE space = $1 AND change = $2 GROUP BY entry \
            UNION ALL SELECT id, NULL FROM adopted WHERE space = $1 AND change = $2 AND what = 'entry' \
              AND id NOT IN (SELECT entry FROM entry_versions WHERE space = $1 AND change = $2)) v \
         JOIN entries e ON e.space = $1 AND e.id = v.entry \
         LEFT JOIN entry_versions p ON p.space = $1 AND p.entry = v.entry AND p.version = v.version - 1 \
           AND NOT EXISTS (SELECT 1 FROM adopted a \
                           WHERE a.space = $1 AND a.change = $2 AND a.what = 'entry' AND a.id = v.entry) \
         ORDER BY e.number"
    );
    connection.all(&sql, &values![change], |row| {
        let before = row.maybe_text(rows::ENTRY_WIDTH)?.map(|state| from_json(&state)).transpose()?;
        Ok((rows::entry(row)?, before))
    })
}

/// Each document's name, the digest the change left, and the text before it.
type TouchedDocument = (DocumentName, ContentHash, Option<String>);

fn touched_documents(connection: &Connection, change: i64) -> Sql<Vec<TouchedDocument>> {
    let sql = "SELECT v.name, v.hash, p.text FROM \
                 (SELECT name, min(version) AS first, max(version) AS last FROM document_versions \
                  WHERE space = $1 AND change = $2 GROUP BY name) t \
               JOIN document_versions v ON v.space = $1 AND v.name = t.name AND v.version = t.last \
               LEFT JOIN document_versions p ON p.space = $1 AND p.name = t.name AND p.version = t.first - 1 \
               UNION ALL SELECT d.name, d.hash, NULL FROM adopted a JOIN documents d ON d.space = $1 AND d.name = a.id \
               WHERE a.space = $1 AND a.change = $2 AND a.what = 'document' \
                 AND a.id NOT IN (SELECT name FROM document_versions WHERE space = $1 AND change = $2) ORDER BY 1";
    connection
        .all(sql, &values![change], |row| Ok((row.parsed(0)?, ContentHash::stored(row.text(1)?), row.maybe_text(2)?)))
}
