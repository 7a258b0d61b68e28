//! History: every version of every entry and document.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use throughline_core::model::{ContentHash, DocumentName, DocumentVersion, EntryId, EntryVersion};
use throughline_core::ports::{History, KnownDocument};

use crate::rows::{self, CHANGE_COLUMNS};
use crate::{SqliteStore, Stored};

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
                let sql = "SELECT d.name, d.hash, s.stamp FROM documents d \
                           LEFT JOIN document_stamps s ON s.name = d.name AND s.machine = ? ORDER BY d.name";
                connection.prepare_cached(sql)?.query_map([self.machine.as_str()], known)?.collect()
            },
            "read the known documents",
        )
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
