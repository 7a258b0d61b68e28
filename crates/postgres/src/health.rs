//! Counts and integrity checks.

use throughline_core::ports::{Health, StoreStats};

use crate::connection::Connection;
use crate::error::Sql;
use crate::{PostgresStore, Stored, words};

impl Health for PostgresStore {
    fn stats(&self) -> Stored<StoreStats> {
        self.bookkeeper.flush();
        self.read("count", stats)
    }

    fn check(&self) -> Stored<Vec<String>> {
        self.bookkeeper.flush();
        self.snapshot("check the database", check)
    }

    fn hindrances(&self) -> Vec<String> {
        Vec::new()
    }

    /// The server tidies by itself.
    fn tidy(&self) -> Stored<Vec<String>> {
        Ok(Vec::new())
    }

    /// Closing does nothing that takes long.
    fn ending(&self) {}

    fn trim(&self) {
        self.words.trim();
    }
}

fn stats(connection: &Connection) -> Sql<StoreStats> {
    // How much of a table belongs to one space, nobody counts: the size is that of the database.
    let sql = "SELECT \
        (SELECT count(*) FROM entries WHERE space = $1 AND kind = 'entry' AND status = 'active' AND layer = 'knowledge'), \
        (SELECT count(*) FROM entries WHERE space = $1 AND kind = 'entry' AND status = 'active' AND layer = 'archive'), \
        (SELECT count(*) FROM entries WHERE space = $1 AND kind = 'bullet'), \
        (SELECT count(*) FROM entries WHERE space = $1 AND status = 'inactive'), \
        (SELECT count(*) FROM sessions WHERE space = $1), (SELECT count(*) FROM turns WHERE space = $1), \
        (SELECT count(*) FROM changes WHERE space = $1), (SELECT count(*) FROM recalls WHERE space = $1), \
        pg_database_size(current_database())";
    let row = connection.one(sql, &[])?;
    Ok(StoreStats {
        knowledge: row.number(0)?,
        archive: row.number(1)?,
        bullets: row.number(2)?,
        inactive: row.number(3)?,
        sessions: row.number(4)?,
        turns: row.number(5)?,
        changes: row.number(6)?,
        recalls: row.number(7)?,
        bytes: row.number(8)?,
    })
}

/// The server checks its own files; here is checked what follows from other rows.
fn check(connection: &Connection) -> Sql<Vec<String>> {
    let mut problems = words::check(connection)?;
    let unversioned = "SELECT count(*) FROM entries e WHERE e.space = $1 AND e.kind = 'entry' AND NOT EXISTS \
        (SELECT 1 FROM entry_versions v WHERE v.space = $1 AND v.entry = e.id AND v.version = e.version)";
    let unversioned = connection.one(unversioned, &[])?.int(0)?;
    if unversioned > 0 {
        problems.push(format!("{unversioned} memories have no history"));
    }
    Ok(problems)
}
