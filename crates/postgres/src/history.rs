//! History: every version of every entry and document.

use jiff::Timestamp;
use throughline_core::model::{ContentHash, DocumentName, DocumentVersion, EntryId, EntryVersion};
use throughline_core::ports::{History, KnownDocument};

use crate::connection::Connection;
use crate::error::Sql;
use crate::index::EVERY_MACHINE;
use crate::rows::{self, CHANGE_COLUMNS};
use crate::values::values;
use crate::{PostgresStore, Stored};

impl History for PostgresStore {
    fn entry_versions(&self, id: &EntryId) -> Stored<Vec<EntryVersion>> {
        self.read("read a history", |connection| entry_versions(connection, Some(id)))
    }

    fn document_versions(&self, name: &DocumentName) -> Stored<Vec<DocumentVersion>> {
        self.read("read a document's history", |connection| document_versions(connection, Some(name)))
    }

    fn document_changed_at(&self, name: &DocumentName) -> Stored<Option<Timestamp>> {
        let sql = "SELECT c.at FROM document_versions v JOIN changes c ON c.space = v.space AND c.number = v.change \
                   WHERE v.space = $1 AND v.name = $2 ORDER BY v.version DESC LIMIT 1";
        self.read("read when a document was changed", |connection| {
            connection.maybe(sql, &values![rows::document_address(name)])?.map(|row| row.time(0)).transpose()
        })
    }

    fn known_documents(&self) -> Stored<Vec<KnownDocument>> {
        let sql = "SELECT d.name, d.hash, coalesce(o.stamp, e.stamp) FROM documents d \
                   LEFT JOIN document_stamps o ON o.space = d.space AND o.name = d.name AND o.machine = $2 \
                   LEFT JOIN document_stamps e ON e.space = d.space AND e.name = d.name AND e.machine = $3 \
                   WHERE d.space = $1 ORDER BY d.name";
        self.read("read the known documents", |connection| {
            connection.all(sql, &values![self.machine.as_str(), EVERY_MACHINE], |row| {
                let hash = ContentHash::stored(row.text(1)?);
                Ok(KnownDocument { name: row.parsed(0)?, hash, stamp: row.maybe_text(2)? })
            })
        })
    }
}

/// The versions of one entry, or of all, oldest first.
pub(crate) fn entry_versions(connection: &Connection, id: Option<&EntryId>) -> Sql<Vec<EntryVersion>> {
    let sql = format!(
        "SELECT v.state, {CHANGE_COLUMNS} FROM entry_versions v JOIN changes c ON c.space = v.space AND c.number = v.change \
         WHERE v.space = $1 AND ($2::text IS NULL OR v.entry = $2) ORDER BY v.entry, v.version"
    );
    connection.all(&sql, &values![id.map(EntryId::as_str)], |row| {
        Ok(EntryVersion { entry: row.json(0)?, change: rows::change(row, 1)? })
    })
}

/// The versions of one document, or of all, oldest first.
pub(crate) fn document_versions(connection: &Connection, name: Option<&DocumentName>) -> Sql<Vec<DocumentVersion>> {
    let sql = format!(
        "SELECT v.name, v.version, v.text, v.hash, {CHANGE_COLUMNS} FROM document_versions v \
         JOIN changes c ON c.space = v.space AND c.number = v.change \
         WHERE v.space = $1 AND ($2::text IS NULL OR v.name = $2) ORDER BY v.name, v.version"
    );
    connection.all(&sql, &values![name.map(rows::document_address)], |row| {
        Ok(DocumentVersion {
            name: row.parsed(0)?,
            version: row.number(1)?,
            text: row.maybe_text(2)?,
            hash: ContentHash::stored(row.text(3)?),
            change: rows::change(row, 4)?,
        })
    })
}
