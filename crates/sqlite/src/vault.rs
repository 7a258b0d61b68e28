//! The vault: documents and their chunks.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{ContentHash, EntryId, VaultId};
use throughline_core::ports::Vault;
use throughline_core::recall::analysis;
use throughline_core::vault::{Chunk, Passage, Place, UnreadFile, VaultDocument, searched};

use crate::error::while_doing;
use crate::rows::{json, parsed, time, to_json};
use crate::{SqliteStore, Stored};

impl Vault for SqliteStore {
    fn vault_documents(&self) -> Stored<Vec<VaultDocument>> {
        let sql = "SELECT d.id, d.path, d.root, d.collection, d.title, d.hash, d.stamp, d.bytes, d.updated_at, \
                   (SELECT count(*) FROM vault_chunks c WHERE c.document = d.row) FROM vault_documents d ORDER BY d.path";
        self.read(|connection| connection.prepare_cached(sql)?.query_map([], document)?.collect(), "list the vault")
    }

    fn replace_documents(&self, documents: &[(VaultDocument, Vec<Chunk>)]) -> Stored<()> {
        self.write_alone("index a document", |transaction| {
            let replaced = documents.iter().try_for_each(|(document, chunks)| replace(transaction, document, chunks));
            replaced.and_then(|()| changed(transaction)).map_err(while_doing("index a document"))
        })
    }

    fn restamp_document(&self, document: &VaultDocument) -> Stored<()> {
        let sql = "UPDATE vault_documents SET stamp = ?2, bytes = ?3 WHERE id = ?1 AND hash = ?4";
        self.write("note a document", |transaction| {
            let values = params![document.id.as_str(), document.stamp, document.bytes, document.hash.as_str()];
            transaction.execute(sql, values).map(drop).map_err(while_doing("note a document"))
        })
    }

    fn remove_documents(&self, ids: &[VaultId], left_out: &[String]) -> Stored<u64> {
        // What was noted about a chunk goes with it, so the notes must all be there.
        self.bookkeeper.flush();
        let removing = while_doing("remove from the vault");
        self.write_alone("remove from the vault", |transaction| {
            let removed = ids.iter().map(|id| remove(transaction, id)).sum::<rusqlite::Result<u64>>();
            let sql = "INSERT INTO vault_left_out (path) VALUES (?) ON CONFLICT DO NOTHING";
            let mut leave_out = transaction.prepare_cached(sql).map_err(&removing)?;
            left_out.iter().try_for_each(|path| leave_out.execute([path]).map(drop)).map_err(&removing)?;
            changed(transaction).map_err(&removing)?;
            removed.map_err(&removing)
        })
    }

    fn left_out(&self) -> Stored<Vec<String>> {
        let sql = "SELECT path FROM vault_left_out ORDER BY path";
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect(),
            "list what is left out",
        )
    }

    fn take_in_again(&self, paths: &[String]) -> Stored<()> {
        let taking = while_doing("take files in again");
        self.write_alone("take files in again", |transaction| {
            let sql = "DELETE FROM vault_left_out WHERE path = ?";
            let mut statement = transaction.prepare_cached(sql).map_err(&taking)?;
            paths.iter().try_for_each(|path| statement.execute([path]).map(drop)).map_err(&taking)
        })
    }

    fn chunks_of(&self, document: &VaultId) -> Stored<Vec<Chunk>> {
        let sql = "SELECT c.id, c.titles, c.page, c.first_line, c.last_line, c.content FROM vault_chunks c \
                   JOIN vault_documents d ON d.row = c.document WHERE d.id = ? ORDER BY c.nth";
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([document.as_str()], chunk)?.collect(),
            "read a document of the vault",
        )
    }

    fn unread_files(&self) -> Stored<Vec<UnreadFile>> {
        let sql = "SELECT path, stamp, why FROM vault_unread ORDER BY path";
        let unread = |row: &Row<'_>| Ok(UnreadFile { path: row.get(0)?, stamp: row.get(1)?, why: row.get(2)? });
        self.read(|connection| connection.prepare_cached(sql)?.query_map([], unread)?.collect(), "list unread files")
    }

    fn note_unread_files(&self, unread: &[UnreadFile], others: &[String]) -> Stored<()> {
        let note = |transaction: &Connection| {
            let mut remove = transaction.prepare_cached("DELETE FROM vault_unread WHERE path = ?")?;
            others.iter().try_for_each(|path| remove.execute([path]).map(drop))?;
            let sql = "INSERT INTO vault_unread (path, stamp, why) VALUES (?1, ?2, ?3) \
                       ON CONFLICT (path) DO UPDATE SET stamp = ?2, why = ?3";
            let mut insert = transaction.prepare_cached(sql)?;
            unread.iter().try_for_each(|file| insert.execute([&file.path, &file.stamp, &file.why]).map(drop))
        };
        self.write("note unread files", |transaction| note(transaction).map_err(while_doing("note unread files")))
    }

    fn vault_size(&self) -> Stored<(u64, u64)> {
        let sql = "SELECT (SELECT count(*) FROM vault_documents), (SELECT count(*) FROM vault_chunks)";
        self.read(
            |connection| connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))),
            "count the vault",
        )
    }
}

/// Makes a change of the vault seen in its change token.
fn changed(connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE revisions SET vault = vault + 1")?.execute([]).map(drop)
}

fn document(row: &Row<'_>) -> rusqlite::Result<VaultDocument> {
    Ok(VaultDocument {
        id: VaultId::new(row.get::<_, String>(0)?),
        path: row.get(1)?,
        root: row.get(2)?,
        collection: parsed(row, 3)?,
        title: row.get(4)?,
        hash: ContentHash::stored(row.get::<_, String>(5)?),
        stamp: row.get(6)?,
        bytes: row.get(7)?,
        updated_at: time(row.get(8)?)?,
        chunks: row.get(9)?,
    })
}

/// The passages in these rows, in this order; what is gone by now is left out.
pub(crate) fn passages(connection: &Connection, ranked: Vec<(i64, f64)>) -> rusqlite::Result<Vec<(Passage, f64)>> {
    let sql = "SELECT c.id, c.titles, c.page, c.first_line, c.last_line, c.content, d.path, d.title, d.id, \
               d.collection, d.updated_at FROM vault_chunks c JOIN vault_documents d ON d.row = c.document \
               WHERE c.row = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = Vec::with_capacity(ranked.len());
    for (row, score) in ranked {
        found.extend(statement.query_row([row], passage).optional()?.map(|passage| (passage, score)));
    }
    Ok(found)
}

/// From the first six columns.
fn chunk(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    let place = match row.get::<_, Option<u32>>(2)? {
        Some(page) => Place::Page { page },
        None => Place::Lines { first_line: row.get(3)?, last_line: row.get(4)? },
    };
    Ok(Chunk { id: EntryId::new(row.get::<_, String>(0)?), titles: json(row, 1)?, place, content: row.get(5)? })
}

fn passage(row: &Row<'_>) -> rusqlite::Result<Passage> {
    Ok(Passage {
        chunk: chunk(row)?,
        path: row.get(6)?,
        title: row.get(7)?,
        document: VaultId::new(row.get::<_, String>(8)?),
        collection: parsed(row, 9)?,
        updated_at: time(row.get(10)?)?,
    })
}

fn replace(connection: &Connection, document: &VaultDocument, chunks: &[Chunk]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO vault_documents (id, path, root, collection, title, hash, stamp, bytes, updated_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET root = ?3, collection = ?4, \
               title = ?5, hash = ?6, stamp = ?7, bytes = ?8, updated_at = ?9 RETURNING row";
    let row: i64 = connection.prepare_cached(sql)?.query_row(
        params![
            document.id.as_str(),
            document.path,
            document.root,
            document.collection.as_str(),
            document.title,
            document.hash.as_str(),
            document.stamp,
            document.bytes,
            document.updated_at.as_millisecond(),
        ],
        |row| row.get(0),
    )?;
    let mut known: HashMap<String, i64> = connection
        .prepare_cached("SELECT id, row FROM vault_chunks WHERE document = ?")?
        .query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (nth, chunk) in chunks.iter().enumerate() {
        let kept = known.remove(chunk.id.as_str());
        put_chunk(connection, kept, row, nth, document, chunk)?;
    }
    remove_chunks(connection, &known.into_iter().map(|(id, row)| (row, id)).collect::<Vec<_>>())
}

/// Writes a chunk in its old place, if it has one: its text is the same, and so its vectors stay.
fn put_chunk(
    connection: &Connection,
    kept: Option<i64>,
    document_row: i64,
    nth: usize,
    document: &VaultDocument,
    chunk: &Chunk,
) -> rusqlite::Result<()> {
    let sql = match kept {
        Some(_) => {
            "UPDATE vault_chunks SET id = ?2, document = ?3, nth = ?4, titles = ?5, page = ?6, first_line = ?7, \
             last_line = ?8, content = ?9, terms = ?10 WHERE row = ?1"
        }
        None => {
            "INSERT INTO vault_chunks (row, id, document, nth, titles, page, first_line, last_line, content, terms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        }
    };
    let (page, first, last) = match chunk.place {
        Place::Page { page } => (Some(page), None, None),
        Place::Lines { first_line, last_line } => (None, Some(first_line), Some(last_line)),
    };
    let terms = analysis::index_text(&searched(&chunk.titles, &chunk.content, &document.path, &document.title));
    let nth = i64::try_from(nth).unwrap_or(i64::MAX);
    let values = params![
        kept,
        chunk.id.as_str(),
        document_row,
        nth,
        to_json(&chunk.titles)?,
        page,
        first,
        last,
        chunk.content,
        terms
    ];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

fn remove_chunks(connection: &Connection, chunks: &[(i64, String)]) -> rusqlite::Result<()> {
    crate::vectors::forget(connection, &chunks.iter().map(|(row, _)| *row).collect::<Vec<_>>())?;
    for (row, id) in chunks {
        connection.prepare_cached("DELETE FROM uses WHERE id = ?")?.execute([id])?;
        connection.prepare_cached("DELETE FROM vault_chunks WHERE row = ?")?.execute([row])?;
    }
    Ok(())
}

/// Removes every file with its passages and their vectors.
pub(crate) fn remove_all(connection: &Connection) -> rusqlite::Result<()> {
    let chunks: Vec<(i64, String)> = connection
        .prepare("SELECT row, id FROM vault_chunks")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    remove_chunks(connection, &chunks)?;
    connection.execute("DELETE FROM vault_documents", []).map(drop)
}

fn remove(connection: &Connection, id: &VaultId) -> rusqlite::Result<u64> {
    let sql = "SELECT c.row, c.id FROM vault_chunks c JOIN vault_documents d ON d.row = c.document WHERE d.id = ?";
    let chunks: Vec<(i64, String)> = connection
        .prepare_cached(sql)?
        .query_map([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    remove_chunks(connection, &chunks)?;
    let removed = connection.prepare_cached("DELETE FROM vault_documents WHERE id = ?")?.execute([id.as_str()])?;
    Ok(removed as u64)
}

/// Chunks after a row, with their analysed text.
pub(crate) fn texts(connection: &Connection, after: i64, limit: i64) -> rusqlite::Result<Vec<(i64, String)>> {
    let sql = "SELECT c.row, c.titles, c.content, d.path, d.title FROM vault_chunks c \
               JOIN vault_documents d ON d.row = c.document WHERE c.row > ? ORDER BY c.row LIMIT ?";
    let terms = |row: &Row<'_>| {
        let searched = searched(
            &json::<Vec<String>>(row, 1)?,
            row.get_ref(2)?.as_str()?,
            row.get_ref(3)?.as_str()?,
            row.get_ref(4)?.as_str()?,
        );
        Ok((row.get(0)?, analysis::index_text(&searched)))
    };
    connection.prepare_cached(sql)?.query_map([after, limit], terms)?.collect()
}
