//! History: versions, changes, and what undoing one takes.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use throughline_core::model::{Change, ContentHash, DocumentName, DocumentVersion, Entry, EntryId, EntryVersion};
use throughline_core::ports::{History, KnownDocument, Undoable};

use crate::rows::{self, CHANGE_COLUMNS, ENTRY_COLUMNS};
use crate::{SqliteStore, Stored, work};

impl History for SqliteStore {
    fn entry_versions(&self, id: &EntryId) -> Stored<Vec<EntryVersion>> {
        self.read(|connection| entry_versions(connection, Some(id)), "read a history")
    }

    fn document_versions(&self, name: &DocumentName) -> Stored<Vec<DocumentVersion>> {
        self.read(|connection| document_versions(connection, Some(name)), "read a document's history")
    }

    fn document_changed_at(&self, name: &DocumentName) -> Stored<Option<Timestamp>> {
        let sql = "SELECT c.at FROM document_versions v JOIN changes c ON c.row = v.change WHERE v.name = ? \
                   ORDER BY v.version DESC LIMIT 1";
        self.read(
            |connection| {
                let mut statement = connection.prepare_cached(sql)?;
                statement.query_row([rows::document_address(name)], |row| rows::time(row.get(0)?)).optional()
            },
            "read when a document was changed",
        )
    }

    fn known_documents(&self) -> Stored<Vec<KnownDocument>> {
        let known = |row: &rusqlite::Row<'_>| {
            let hash = ContentHash::stored(row.get::<_, String>(1)?);
            Ok(KnownDocument { name: rows::parsed(row, 0)?, hash, stamp: row.get(2)? })
        };
        self.read(
            |connection| {
                let mut statement =
                    connection.prepare_cached("SELECT name, hash, stamp FROM documents ORDER BY name")?;
                statement.query_map([], known)?.collect()
            },
            "read the known documents",
        )
    }

    fn changes(&self, limit: usize) -> Stored<Vec<Change>> {
        let sql = format!("SELECT {CHANGE_COLUMNS} FROM changes c ORDER BY c.row DESC LIMIT ?");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_map([limit], |row| rows::change(row, 0))?.collect(),
            "read the changes",
        )
    }

    fn undoable(&self) -> Stored<Option<Undoable>> {
        self.snapshot(undoable, "look for what to undo")
    }
}

/// The versions of one entry, or of all, oldest first.
pub(crate) fn entry_versions(connection: &Connection, id: Option<&EntryId>) -> rusqlite::Result<Vec<EntryVersion>> {
    let only = if id.is_some() { "WHERE v.entry = ?" } else { "" };
    let sql = format!(
        "SELECT v.state, {CHANGE_COLUMNS} FROM entry_versions v JOIN changes c ON c.row = v.change {only} \
         ORDER BY v.entry, v.version"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let version =
        |row: &rusqlite::Row<'_>| Ok(EntryVersion { entry: rows::json(row, 0)?, change: rows::change(row, 1)? });
    statement.query_map(params_from_iter(id.map(EntryId::as_str)), version)?.collect()
}

/// The versions of one document, or of all, oldest first.
pub(crate) fn document_versions(
    connection: &Connection,
    name: Option<&DocumentName>,
) -> rusqlite::Result<Vec<DocumentVersion>> {
    let only = if name.is_some() { "WHERE v.name = ?" } else { "" };
    let sql = format!(
        "SELECT v.name, v.version, v.text, v.hash, {CHANGE_COLUMNS} FROM document_versions v \
         JOIN changes c ON c.row = v.change {only} ORDER BY v.name, v.version"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let version = |row: &rusqlite::Row<'_>| {
        Ok(DocumentVersion {
            name: rows::parsed(row, 0)?,
            version: row.get(1)?,
            text: row.get(2)?,
            hash: ContentHash::stored(row.get::<_, String>(3)?),
            change: rows::change(row, 4)?,
        })
    };
    statement.query_map(params_from_iter(name.map(rows::document_address)), version)?.collect()
}

fn undoable(connection: &Connection) -> rusqlite::Result<Option<Undoable>> {
    let sql = format!(
        "SELECT {CHANGE_COLUMNS}, c.row FROM changes c \
         WHERE c.verb <> 'undo' AND c.undone_by IS NULL AND c.adopted_by IS NULL \
           AND (c.verb = 'erase' OR EXISTS (SELECT 1 FROM entry_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM document_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM task_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM project_versions v WHERE v.change = c.row) \
                OR EXISTS (SELECT 1 FROM adopted a WHERE a.change = c.row)) \
         ORDER BY c.row DESC LIMIT 1"
    );
    let found = connection
        .prepare_cached(&sql)?
        .query_row([], |row| Ok((rows::change(row, 0)?, row.get::<_, i64>(6)?)))
        .optional()?;
    let Some((change, row)) = found else { return Ok(None) };
    let entries = touched_entries(connection, row)?;
    let documents = touched_documents(connection, row)?;
    let (tasks, projects) = (work::touched(connection, row)?, work::touched(connection, row)?);
    Ok(Some(Undoable { change, entries, documents, tasks, projects }))
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
