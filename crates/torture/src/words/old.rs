//! Memories of the schema before the word index, and how far the migration to it is.

use std::path::{Path, PathBuf};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use crate::Failure;

/// What says that a database is ours.
const APPLICATION_ID: i64 = 0x5468_724C;

/// A memory of the schema before the word index, with so many entries of so many words.
pub(super) fn memory(path: &Path, entries: u64, words: u64) -> Result<(), Failure> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = OFF;")?;
    // Migrations name them; over rows that are not there, they do nothing.
    for (name, arguments) in
        [("text_digest", 4), ("estimated_tokens", 1), ("statement_digest", 2), ("distinct_words", 1)]
    {
        connection.create_scalar_function(name, arguments, FunctionFlags::SQLITE_UTF8, |_| Ok("".to_owned()))?;
    }
    let mut version = 0;
    for file in migrations()? {
        let step = std::fs::read_to_string(file)?;
        if step.contains("TABLE word_indexes") {
            break;
        }
        connection.execute_batch(&step)?;
        version += 1;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", version)?;
    let rows = "
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO entries (id, kind, namespace, layer, source, status, importance, tags, created_at, updated_at,
            provenance, version, content, terms, twin)
          SELECT 'm' || n, 'bullet', 'user/profile', 'identity', 'user', 'active', 0.5, '[]', 0, 0, '[]', 1,
            'm' || n || ' w' || (n % ?2) || ' w' || (n * 7 % ?2), 'm' || n || ' w' || (n % ?2) || ' w' || (n * 7 % ?2), ''
          FROM n";
    connection.execute(rows, [entries, words])?;
    Ok(())
}

fn migrations() -> Result<Vec<PathBuf>, Failure> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sqlite/src/migrations");
    let paths = std::fs::read_dir(directory)?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>, Failure>>()?;
    let mut files: Vec<PathBuf> =
        paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "sql")).collect();
    files.sort();
    Ok(files)
}

/// Whether every index is complete, and how many segments there are. A memory that was not migrated yet has none.
pub(super) fn progress(path: &Path) -> Result<(bool, usize), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let sql = "SELECT (SELECT min(is_ready AND built = until) FROM word_indexes), (SELECT count(*) FROM word_segments)";
    match connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))) {
        Err(error) if error.to_string().contains("no such table") => Ok((false, 0)),
        outcome => Ok(outcome?),
    }
}
