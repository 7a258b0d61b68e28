//! Documents as rows, for every machine of a space. A write that a change makes last is part of that change's transaction: the
//! text and its version are there together, or neither is.

use std::sync::Arc;

use throughline_core::model::{ContentHash, Document, DocumentName, Name, clash, copied_from, copy_name};
use throughline_core::ports::{DocumentError, Documents, Stamped};

use crate::connection::Connection;
use crate::error::Sql;
use crate::joined;
use crate::pool::{Effort, Pool};
use crate::rows::document_address;
use crate::values::values;
use crate::{PostgresStore, Stored};

/// Documents are short and read whole.
const MAX_BYTES: usize = 1024 * 1024;

/// Copies of one document that one second may bring.
const MOST_COPIES: usize = 1000;

/// The documents of a space.
pub struct PostgresDocuments {
    pool: Arc<Pool>,
}

impl PostgresStore {
    /// The documents that are kept in this memory. A change to one and its version are one transaction.
    pub fn documents(&self) -> PostgresDocuments {
        PostgresDocuments { pool: Arc::clone(&self.pool) }
    }
}

/// What became of a write.
enum Wrote {
    Done,
    Conflict,
    Clash(String),
}

impl Wrote {
    fn of(self, name: &DocumentName) -> Result<(), DocumentError> {
        match self {
            Self::Done => Ok(()),
            Self::Conflict => Err(DocumentError::Conflict { name: name.clone() }),
            Self::Clash(existing) => Err(DocumentError::Clash { name: name.clone(), existing }),
        }
    }
}

impl PostgresDocuments {
    fn read_rows<T>(&self, doing: &'static str, work: impl Fn(&Connection) -> Sql<T>) -> Stored<T> {
        match joined::with(self.pool.address(), |connection, _| work(connection)) {
            Some(outcome) => outcome.map_err(|error| error.while_doing(doing)),
            None => self.pool.read(doing, work),
        }
    }

    /// Writes in the transaction that this thread is about to commit, else in one of its own. Either holds the lock of the space.
    fn write_rows<T>(&self, doing: &'static str, work: impl Fn(&Connection, i64) -> Sql<T>) -> Stored<T> {
        match joined::with(self.pool.address(), &work) {
            Some(outcome) => outcome.map_err(|error| error.while_doing(doing)),
            None => {
                let written =
                    self.pool.write(doing, Effort::Confirmed, |transaction| work(transaction, transaction.number()))?;
                Ok(written.value)
            }
        }
    }
}

fn text_of(connection: &Connection, name: &DocumentName) -> Sql<Option<String>> {
    let sql = "SELECT text FROM document_texts WHERE space = $1 AND name = $2";
    connection.maybe(sql, &values![document_address(name)])?.map(|row| row.text(0)).transpose()
}

fn hash_of(connection: &Connection, name: &DocumentName) -> Sql<ContentHash> {
    let sql = "SELECT hash FROM document_texts WHERE space = $1 AND name = $2";
    let row = connection.maybe(sql, &values![document_address(name)])?;
    row.map_or_else(|| Ok(ContentHash::missing()), |row| row.text(0).map(ContentHash::stored))
}

fn names(connection: &Connection) -> Sql<Vec<DocumentName>> {
    connection.all("SELECT name FROM document_texts WHERE space = $1 ORDER BY name", &[], |row| row.parsed(0))
}

fn put(connection: &Connection, written: i64, name: &DocumentName, text: &str, expected: &ContentHash) -> Sql<Wrote> {
    let (here, hash) = (hash_of(connection, name)?, ContentHash::of(text));
    if here == ContentHash::missing()
        && let Some(existing) = clash(name, &names(connection)?)
    {
        return Ok(Wrote::Clash(existing));
    }
    if here != *expected {
        return Ok(Wrote::Conflict);
    }
    if here != hash {
        let sql = "INSERT INTO document_texts (space, name, written, hash, text) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (space, name) DO UPDATE SET written = excluded.written, hash = excluded.hash, text = excluded.text";
        connection.post(sql, &values![document_address(name), written, hash.as_str(), text])?;
    }
    Ok(Wrote::Done)
}

/// How a stamp of a row begins. It is the same on every machine.
const STAMP: &str = "row:";

/// Whether a stamp is that of a row, and no machine's own.
pub(crate) fn is_row_stamp(stamp: &str) -> bool {
    stamp.starts_with(STAMP)
}

impl Documents for PostgresDocuments {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        let text = self.read_rows("read a document", |connection| text_of(connection, name))?;
        Ok(text.map(|text| Document::new(name.clone(), text)))
    }

    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        if text.len() > MAX_BYTES {
            return Err(DocumentError::NotText { name: name.clone(), why: "it is larger than 1 MiB" });
        }
        self.write_rows("write a document", |connection, number| put(connection, number, name, text, expected))?
            .of(name)
    }

    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        let sql = "DELETE FROM document_texts WHERE space = $1 AND name = $2 AND hash = $3";
        let bound = values![document_address(name), expected.as_str()];
        let removed = self.write_rows("remove a document", |connection, _| connection.execute(sql, &bound))?;
        if removed == 1 { Ok(()) } else { Wrote::Conflict.of(name) }
    }

    /// A copy is a row of its own, which is read by its name and is no document.
    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        let address = document_address(name);
        let sql = "INSERT INTO document_texts (space, name, written, hash, text) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT DO NOTHING";
        let kept = self.write_rows("keep a copy of a document", |connection, number| {
            for nth in 1..=MOST_COPIES {
                let copy = copy_name(&address, stamp, nth);
                let bound = values![&copy, number, ContentHash::of(text).as_str().to_owned(), text];
                if connection.execute(sql, &bound)? == 1 {
                    return Ok(Some(copy));
                }
            }
            Ok(None)
        })?;
        kept.map(|copy| file_of(&copy)).ok_or_else(|| DocumentError::Conflict { name: name.clone() })
    }

    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        let address = document_address(name);
        let sql = "SELECT name FROM document_texts WHERE space = $1 AND starts_with(name, $2) ORDER BY name || '.md'";
        let kept: Vec<String> = self.read_rows("look for copies of a document", |connection| {
            connection.all(sql, &values![&address], |row| row.text(0))
        })?;
        let is_copy = |kept: &&String| copied_from(kept) == Some(address.as_str());
        Ok(kept.iter().filter(is_copy).map(|copy| file_of(copy)).collect())
    }

    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        Ok(self.stamps(namespace)?.into_iter().map(|(name, _)| name).collect())
    }

    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        let sql = "SELECT written FROM document_texts WHERE space = $1 AND name = $2";
        let written = self.read_rows("look at a document", |connection| {
            connection.maybe(sql, &values![document_address(name)])?.map(|row| row.int(0)).transpose()
        })?;
        Ok(written.map(|written| format!("{STAMP}{written}")))
    }

    fn stamps(&self, namespace: &Name) -> Result<Vec<Stamped>, DocumentError> {
        let sql = "SELECT name, written FROM document_texts WHERE space = $1 AND starts_with(name, $2)";
        let below = format!("{namespace}/");
        let mut found: Vec<(DocumentName, i64)> = self.read_rows("list the documents", |connection| {
            connection.all(sql, &values![&below], |row| Ok((row.parsed(0)?, row.int(1)?)))
        })?;
        found.retain(|(name, _)| !name.is_copy());
        found.sort();
        Ok(found.into_iter().map(|(name, written)| (name, Ok(Some(format!("{STAMP}{written}"))))).collect())
    }
}

/// What a copy is called where it stands.
fn file_of(copy: &str) -> String {
    format!("{}.md", copy.rsplit('/').next().unwrap_or(copy))
}
