//! Memories of the schema before the word index, and how far the migration to it is.

use std::path::{Path, PathBuf};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use crate::Failure;

/// What says that a database is ours.
const APPLICATION_ID: i64 = 0x5468_724C;

/// Turns of one conversation.
const LONG: u64 = 50;

/// A memory of the schema before the word index, with so many entries and turns of so many words.
pub(super) fn memory(path: &Path, (entries, turns): (u64, u64), words: u64) -> Result<(), Failure> {
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
    let sessions = "
        WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 / ?2)
        INSERT INTO sessions (row, id, created_at, updated_at, last_position)
          SELECT n + 1, 'cli:' || n, 0, 0, ?2 FROM n";
    connection.execute(sessions, [turns, LONG])?;
    let rows = "
        WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?1)
        INSERT INTO turns (id, session, role, at, content, terms, position)
          SELECT 't' || n, n / ?3 + 1, 'user', 0,
            't' || n || ' w' || (n % ?2) || ' w' || (n * 11 % ?2), 't' || n || ' w' || (n % ?2) || ' w' || (n * 11 % ?2),
            n % ?3 + 1
          FROM n WHERE ?1 > 0";
    connection.execute(rows, [turns, words, LONG])?;
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

/// How far a migration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The schema is as it was.
    Before,
    /// The index is built, beside the old one.
    Building,
    /// The index is complete, and the old one is removed.
    Removing,
    /// Nothing of the old one is left.
    Done,
}

/// How far a migration is, and how many segments there are.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) phase: Phase,
    pub(super) segments: usize,
}

/// Looks at a memory that others may be using.
pub(super) fn progress(path: &Path) -> Result<Progress, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let sql = "SELECT (SELECT min(is_ready AND built = until) FROM word_indexes), (SELECT count(*) FROM word_segments),
        EXISTS (SELECT 1 FROM sqlite_schema WHERE sql LIKE '%USING fts5%' OR name GLOB 'retired_*_words_*')";
    let seen = connection
        .query_row(sql, [], |row| Ok((row.get::<_, bool>(0)?, row.get::<_, usize>(1)?, row.get::<_, bool>(2)?)));
    let (is_ready, segments, has_old) = match seen {
        Err(error) if error.to_string().contains("no such table") => (None, 0, true),
        outcome => outcome.map(|(is_ready, segments, has_old)| (Some(is_ready), segments, has_old))?,
    };
    let phase = match (is_ready, has_old) {
        (None, _) => Phase::Before,
        (Some(false), _) => Phase::Building,
        (Some(true), true) => Phase::Removing,
        (Some(true), false) => Phase::Done,
    };
    Ok(Progress { phase, segments })
}
