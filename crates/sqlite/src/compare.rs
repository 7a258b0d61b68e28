//! What a memory's own index is compared with: a plain FTS5 table of the same words, as a benchmark makes it beside a memory.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::Stored;
use crate::error::while_doing;

/// FTS5 over the memories and turns of a memory.
pub struct PlainFts5 {
    connection: Connection,
}

impl PlainFts5 {
    /// Makes one at `path`, which must be new, of the memory in another file.
    pub fn of(memory: &Path, path: &Path) -> Stored<Self> {
        let make = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            // As the program has it where it reads.
            connection.execute_batch("PRAGMA cache_size = -16384; PRAGMA synchronous = OFF; PRAGMA mmap_size = 0;")?;
            connection.execute("ATTACH ? AS memory", [memory.to_string_lossy()])?;
            let sql = "CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', tokenize = 'ascii');
                BEGIN;
                INSERT INTO words (rowid, terms) SELECT 2 * row, terms FROM memory.entries;
                INSERT INTO words (rowid, terms) SELECT 2 * row + 1, terms FROM memory.turns;
                COMMIT;
                DETACH memory";
            connection.execute_batch(sql)?;
            Ok(connection)
        };
        Ok(Self { connection: make().map_err(while_doing("make an FTS5 table"))? })
    }

    /// How many have any of these terms, of the best `limit`.
    pub fn search(&self, terms: &[String], limit: usize) -> Stored<usize> {
        let search = || -> rusqlite::Result<usize> {
            let matching: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
            let sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?";
            let mut statement = self.connection.prepare_cached(sql)?;
            let found =
                statement.query_map(params![matching.join(" OR "), limit as i64], |row| row.get::<_, i64>(0))?;
            Ok(found.collect::<Result<Vec<_>, _>>()?.len())
        };
        search().map_err(while_doing("search an FTS5 table"))
    }
}

/// How many bytes the word index of a memory takes.
pub fn index_bytes(memory: &Path) -> Stored<u64> {
    let read = || -> rusqlite::Result<i64> {
        let sql = "SELECT ifnull(sum(length(bytes)), 0) FROM word_parts";
        Connection::open(memory)?.query_row(sql, [], |row| row.get(0))
    };
    Ok(read().map_err(while_doing("measure the word index"))?.unsigned_abs())
}
