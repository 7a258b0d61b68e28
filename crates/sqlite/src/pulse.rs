//! The pulse: whether anything changed.

use rusqlite::Connection;
use throughline_core::model::ChangeId;
use throughline_core::ports::{Pulse, Pulses};

use crate::{SqliteStore, Stored};

impl Pulses for SqliteStore {
    fn pulse(&self) -> Stored<Pulse> {
        self.read(pulse, "take the pulse")
    }
}

/// Each of these is the end of an index, or the one row of a small table: no more than a few pages are read.
fn pulse(connection: &Connection) -> rusqlite::Result<Pulse> {
    const SQL: &str = "SELECT (SELECT id FROM changes ORDER BY row DESC LIMIT 1), \
        (SELECT ifnull(max(row), 0) FROM entry_versions), (SELECT ifnull(max(row), 0) FROM document_versions), \
        (SELECT ifnull(max(row), 0) FROM turns), (SELECT ifnull(max(row), 0) FROM sessions), \
        (SELECT ifnull(max(ended_at), 0) FROM sessions WHERE ended_at IS NOT NULL), \
        (SELECT ifnull(max(row), 0) FROM task_versions), (SELECT ifnull(max(row), 0) FROM project_versions), \
        (SELECT ifnull(max(row), 0) FROM recalls), (SELECT ifnull(max(row), 0) FROM passes), \
        (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'vault_chunks'), \
        (SELECT ifnull(max(row), 0) FROM job_runs)";
    connection.prepare_cached(SQL)?.query_row([], |row| {
        Ok(Pulse {
            change: row.get::<_, Option<String>>(0)?.map(ChangeId::new),
            memories: row.get(1)?,
            documents: row.get(2)?,
            sessions: (row.get(3)?, row.get(4)?, row.get(5)?),
            tasks: row.get(6)?,
            projects: row.get(7)?,
            recalls: row.get(8)?,
            reflections: row.get(9)?,
            vault: row.get(10)?,
            jobs: row.get(11)?,
        })
    })
}
