//! The vault: documents and their chunks.

use std::collections::HashMap;

use throughline_core::model::{ContentHash, EntryId, VaultId};
use throughline_core::ports::Vault;
use throughline_core::recall::analysis;
use throughline_core::vault::{Chunk, Passage, Place, UnreadFile, VaultDocument, searched};
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, values};
use crate::{PostgresStore, Stored, vectors};

impl Vault for PostgresStore {
    fn vault_documents(&self) -> Stored<Vec<VaultDocument>> {
        let sql = "SELECT d.id, d.path, d.root, d.collection, d.title, d.hash, d.stamp, d.bytes, d.updated_at, \
                   (SELECT count(*) FROM vault_chunks c WHERE c.space = $1 AND c.document = d.number) \
                   FROM vault_documents d WHERE d.space = $1 ORDER BY d.path";
        self.read("list the vault", |connection| connection.all(sql, &[], document))
    }

    fn replace_documents(&self, documents: &[(VaultDocument, Vec<Chunk>)]) -> Stored<()> {
        self.write("index a document", |transaction| {
            documents.iter().try_for_each(|(document, chunks)| replace(transaction, document, chunks))?;
            changed(transaction)
        })
    }

    fn restamp_document(&self, document: &VaultDocument) -> Stored<()> {
        let sql = "UPDATE vault_documents SET stamp = $3, bytes = $4 WHERE space = $1 AND id = $2 AND hash = $5";
        self.write("note a document", |transaction| {
            let bound = values![document.id.as_str(), &document.stamp, document.bytes, document.hash.as_str()];
            transaction.post(sql, &bound)
        })
    }

    fn remove_documents(&self, ids: &[VaultId], left_out: &[String]) -> Stored<u64> {
        // What was noted about a chunk goes with it, so the notes must all be there.
        self.bookkeeper.flush();
        let leave_out = "INSERT INTO vault_left_out (space, path) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING";
        self.write("remove from the vault", |transaction| {
            let removed = ids.iter().map(|id| remove(transaction, id)).sum::<Sql<u64>>()?;
            transaction.post(leave_out, &values![left_out.to_vec()])?;
            changed(transaction)?;
            Ok(removed)
        })
    }

    fn left_out(&self) -> Stored<Vec<String>> {
        let sql = "SELECT path FROM vault_left_out WHERE space = $1 ORDER BY path";
        self.read("list what is left out", |connection| connection.all(sql, &[], |row| row.text(0)))
    }

    fn take_in_again(&self, paths: &[String]) -> Stored<()> {
        let sql = "DELETE FROM vault_left_out WHERE space = $1 AND path = ANY($2)";
        self.write("take files in again", |transaction| transaction.post(sql, &values![paths.to_vec()]))
    }

    fn chunks_of(&self, document: &VaultId) -> Stored<Vec<Chunk>> {
        let sql = "SELECT c.id, c.titles, c.page, c.first_line, c.last_line, c.content FROM vault_chunks c \
                   JOIN vault_documents d ON d.space = $1 AND d.number = c.document \
                   WHERE c.space = $1 AND d.id = $2 ORDER BY c.nth";
        self.read("read a document of the vault", |connection| connection.all(sql, &values![document.as_str()], chunk))
    }

    fn unread_files(&self) -> Stored<Vec<UnreadFile>> {
        let sql = "SELECT path, stamp, why FROM vault_unread WHERE space = $1 ORDER BY path";
        self.read("list unread files", |connection| {
            connection
                .all(sql, &[], |row| Ok(UnreadFile { path: row.text(0)?, stamp: row.text(1)?, why: row.text(2)? }))
        })
    }

    fn note_unread_files(&self, unread: &[UnreadFile], others: &[String]) -> Stored<()> {
        let remove = "DELETE FROM vault_unread WHERE space = $1 AND path = ANY($2)";
        let insert = "INSERT INTO vault_unread (space, path, stamp, why) VALUES ($1, $2, $3, $4) \
                      ON CONFLICT (space, path) DO UPDATE SET stamp = excluded.stamp, why = excluded.why";
        self.write("note unread files", |transaction| {
            transaction.post(remove, &values![others.to_vec()])?;
            unread.iter().try_for_each(|file| transaction.post(insert, &values![&file.path, &file.stamp, &file.why]))
        })
    }

    fn vault_size(&self) -> Stored<(u64, u64)> {
        let sql = "SELECT (SELECT count(*) FROM vault_documents WHERE space = $1), \
                   (SELECT count(*) FROM vault_chunks WHERE space = $1)";
        self.read("count the vault", |connection| {
            let row = connection.one(sql, &[])?;
            Ok((row.number(0)?, row.number(1)?))
        })
    }
}

/// Makes a change of the vault seen in its change token.
fn changed(transaction: &Transaction<'_>) -> Sql<()> {
    transaction.post("UPDATE spaces SET vault = vault + 1 WHERE space = $1", &[])
}

fn document(row: &Row) -> Sql<VaultDocument> {
    Ok(VaultDocument {
        id: VaultId::new(row.text(0)?),
        path: row.text(1)?,
        root: row.text(2)?,
        collection: row.parsed(3)?,
        title: row.text(4)?,
        hash: ContentHash::stored(row.text(5)?),
        stamp: row.text(6)?,
        bytes: row.number(7)?,
        updated_at: row.time(8)?,
        chunks: row.number(9)?,
    })
}

/// The passages of these numbers, in this order; what is gone by now is left out.
pub(crate) fn passages(connection: &Connection, ranked: &[(i64, f64)]) -> Sql<Vec<(Passage, f64)>> {
    let sql = "SELECT c.id, c.titles, c.page, c.first_line, c.last_line, c.content, d.path, d.title, d.id, \
               d.collection, d.updated_at, c.number FROM vault_chunks c \
               JOIN vault_documents d ON d.space = $1 AND d.number = c.document WHERE c.space = $1 AND c.number = ANY($2)";
    let numbers: Vec<i64> = ranked.iter().map(|(number, _)| *number).collect();
    let found = connection.all(sql, &values![numbers], |row| Ok((row.int(11)?, passage(row)?)))?;
    let mut found: HashMap<i64, Passage> = found.into_iter().collect();
    Ok(ranked.iter().filter_map(|(number, score)| Some((found.remove(number)?, *score))).collect())
}

/// From the first six columns.
fn chunk(row: &Row) -> Sql<Chunk> {
    let place = match row.maybe_int(2)? {
        Some(_) => Place::Page { page: row.number(2)? },
        None => Place::Lines { first_line: row.number(3)?, last_line: row.number(4)? },
    };
    Ok(Chunk { id: EntryId::new(row.text(0)?), titles: row.texts(1)?, place, content: row.text(5)? })
}

fn passage(row: &Row) -> Sql<Passage> {
    Ok(Passage {
        chunk: chunk(row)?,
        path: row.text(6)?,
        title: row.text(7)?,
        document: VaultId::new(row.text(8)?),
        collection: row.parsed(9)?,
        updated_at: row.time(10)?,
    })
}

fn replace(transaction: &Transaction<'_>, document: &VaultDocument, chunks: &[Chunk]) -> Sql<()> {
    let number = put_document(transaction, document)?;
    let sql = "SELECT id, number FROM vault_chunks WHERE space = $1 AND document = $2";
    let known = transaction.all(sql, &values![number], |row| Ok((row.text(0)?, row.int(1)?)))?;
    let mut known: HashMap<String, i64> = known.into_iter().collect();
    for (nth, chunk) in chunks.iter().enumerate() {
        let kept = known.remove(chunk.id.as_str());
        put_chunk(transaction, kept, (number, nth), document, chunk)?;
    }
    let gone: Vec<(i64, String)> = known.into_iter().map(|(id, number)| (number, id)).collect();
    remove_chunks(transaction, &gone)
}

/// Gives the number of the document.
fn put_document(transaction: &Transaction<'_>, document: &VaultDocument) -> Sql<i64> {
    let sql = "INSERT INTO vault_documents (space, number, id, path, root, collection, title, hash, stamp, bytes, updated_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
               ON CONFLICT (space, id) DO UPDATE SET root = excluded.root, collection = excluded.collection, \
                 title = excluded.title, hash = excluded.hash, stamp = excluded.stamp, bytes = excluded.bytes, \
                 updated_at = excluded.updated_at RETURNING number";
    let bound = values![
        transaction.next(Counter::Row),
        document.id.as_str(),
        &document.path,
        &document.root,
        document.collection.as_str(),
        &document.title,
        document.hash.as_str(),
        &document.stamp,
        document.bytes,
        document.updated_at,
    ];
    transaction.one(sql, &bound)?.int(0)
}

/// Writes a chunk in its old place, if it has one: its text is the same, and so its vectors stay.
fn put_chunk(
    transaction: &Transaction<'_>,
    kept: Option<i64>,
    (document_number, nth): (i64, usize),
    document: &VaultDocument,
    chunk: &Chunk,
) -> Sql<()> {
    let sql = match kept {
        Some(_) => {
            "UPDATE vault_chunks SET id = $3, document = $4, nth = $5, titles = $6, page = $7, first_line = $8, \
             last_line = $9, content = $10, terms = $11 WHERE space = $1 AND number = $2"
        }
        None => {
            "INSERT INTO vault_chunks \
               (space, number, id, document, nth, titles, page, first_line, last_line, content, terms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
        }
    };
    let (page, first, last) = match chunk.place {
        Place::Page { page } => (Some(page), None, None),
        Place::Lines { first_line, last_line } => (None, Some(first_line), Some(last_line)),
    };
    let terms = analysis::index_text(&searched(&chunk.titles, &chunk.content, &document.path, &document.title));
    let number = kept.unwrap_or_else(|| transaction.next(Counter::Chunk));
    let bound = values![
        number,
        chunk.id.as_str(),
        document_number,
        nth,
        chunk.titles.clone(),
        page,
        first,
        last,
        &chunk.content,
        terms,
    ];
    transaction.post(sql, &bound)?;
    transaction.changed(Collection::Chunks, number);
    Ok(())
}

fn remove_chunks(transaction: &Transaction<'_>, chunks: &[(i64, String)]) -> Sql<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let (numbers, ids): (Vec<i64>, Vec<String>) = chunks.iter().cloned().unzip();
    vectors::forget_chunks(transaction, &numbers)?;
    transaction.post("DELETE FROM uses WHERE space = $1 AND id = ANY($2)", &values![ids])?;
    let sql = "DELETE FROM vault_chunks WHERE space = $1 AND number = ANY($2) RETURNING number";
    transaction.remove(Collection::Chunks, sql, &values![numbers]).map(drop)
}

fn remove(transaction: &Transaction<'_>, id: &VaultId) -> Sql<u64> {
    let sql = "SELECT c.number, c.id FROM vault_chunks c JOIN vault_documents d ON d.space = $1 AND d.number = c.document \
               WHERE c.space = $1 AND d.id = $2";
    let chunks = transaction.all(sql, &values![id.as_str()], |row| Ok((row.int(0)?, row.text(1)?)))?;
    remove_chunks(transaction, &chunks)?;
    transaction.execute("DELETE FROM vault_documents WHERE space = $1 AND id = $2", &values![id.as_str()])
}

/// Chunks after a number, with their analysed text.
pub(crate) fn texts(connection: &Connection, after: i64, limit: i64) -> Sql<Vec<(i64, String)>> {
    let sql = "SELECT c.number, c.titles, c.content, d.path, d.title FROM vault_chunks c \
               JOIN vault_documents d ON d.space = $1 AND d.number = c.document \
               WHERE c.space = $1 AND c.number > $2 ORDER BY c.number LIMIT $3";
    connection.all(sql, &values![after, limit], |row| {
        let searched = searched(&row.texts(1)?, &row.text(2)?, &row.text(3)?, &row.text(4)?);
        Ok((row.int(0)?, analysis::index_text(&searched)))
    })
}
