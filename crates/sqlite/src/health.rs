//! Counts and integrity checks.

use rusqlite::Connection;
use throughline_core::ports::{Health, StoreStats};

use crate::words::fts5;
use crate::{SqliteStore, Stored, hindrance};

impl Health for SqliteStore {
    fn stats(&self) -> Stored<StoreStats> {
        self.bookkeeper.flush();
        self.read(stats, "count")
    }

    fn ending(&self) {
        self.pool.ending();
        self.words.keep_little();
    }

    fn trim(&self) {
        self.pool.trim();
        self.words.trim();
    }

    fn hindrances(&self) -> Vec<String> {
        hindrance::found(&self.pool)
    }

    fn tidy(&self) -> Stored<Vec<String>> {
        self.bookkeeper.flush();
        let _held = self.worker.hold();
        hindrance::removed(&self.pool)
    }

    fn check(&self) -> Stored<Vec<String>> {
        self.bookkeeper.flush();
        self.read(check, "check the database")
    }
}

pub(crate) fn stats(connection: &Connection) -> rusqlite::Result<StoreStats> {
    const SQL: &str = "SELECT \
        (SELECT count(*) FROM entries WHERE kind = 'entry' AND status = 'active' AND layer = 'knowledge'), \
        (SELECT count(*) FROM entries WHERE kind = 'entry' AND status = 'active' AND layer = 'archive'), \
        (SELECT count(*) FROM entries WHERE kind = 'bullet'), \
        (SELECT count(*) FROM entries WHERE status = 'inactive'), \
        (SELECT count(*) FROM sessions), (SELECT count(*) FROM turns), (SELECT count(*) FROM changes), \
        (SELECT count(*) FROM recalls), \
        (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)";
    connection.query_row(SQL, [], |row| {
        Ok(StoreStats {
            knowledge: row.get(0)?,
            archive: row.get(1)?,
            bullets: row.get(2)?,
            inactive: row.get(3)?,
            sessions: row.get(4)?,
            turns: row.get(5)?,
            changes: row.get(6)?,
            recalls: row.get(7)?,
            bytes: row.get(8)?,
        })
    })
}

/// What is wrong with the structure of the file; indexes of words aside, which can be made anew.
pub(crate) fn damage(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA quick_check")?;
    let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok" && !line.contains("inverted index")).collect())
}

pub(crate) fn check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems: Vec<String> = connection
        .prepare("PRAGMA integrity_check")?
        .query_map([], |row| row.get::<_, String>(0))?
        .filter(|line| line.as_ref().map_or(true, |line| line != "ok"))
        .collect::<rusqlite::Result<_>>()?;
    let dangling: i64 = connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?;
    if dangling > 0 {
        problems.push(format!("{dangling} rows point to rows that are gone"));
    }
    for index in fts5::tables(connection)? {
        let sql = format!("INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)");
        if let Err(error) = connection.execute_batch(&sql) {
            problems
                .push(format!("the index {index} does not agree with its rows ({error}): run `throughline reindex`"));
        }
    }
    problems.extend(crate::words::check(connection)?);
    if crate::erase::is_unswept(connection)? {
        problems.push(
            "something was erased, and its traces are still in the file: close other programs that read it".to_owned(),
        );
    }
    let unversioned = "SELECT count(*) FROM entries e WHERE kind = 'entry' AND NOT EXISTS \
        (SELECT 1 FROM entry_versions v WHERE v.entry = e.id AND v.version = e.version)";
    let unversioned: i64 = connection.query_row(unversioned, [], |row| row.get(0))?;
    if unversioned > 0 {
        problems.push(format!("{unversioned} memories have no history"));
    }
    Ok(problems)
}
