//! What was done when.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use throughline_core::ports::{Activity, Doings};

use crate::{SqliteStore, Stored};

impl Activity for SqliteStore {
    fn doings(&self, starts: &[Timestamp]) -> Stored<Vec<Doings>> {
        self.bookkeeper.flush();
        self.snapshot(|connection| doings(connection, starts), "count what was done")
    }

    fn was_in_use(&self, from: Timestamp, until: Timestamp) -> Stored<bool> {
        self.read(|connection| was_in_use(connection, from, until), "look when it was used")
    }
}

/// One pass over each table; the days are counted here, because SQLite knows no time zones.
fn doings(connection: &Connection, starts: &[Timestamp]) -> rusqlite::Result<Vec<Doings>> {
    type Count = fn(&mut Doings) -> &mut u64;
    const TABLES: [(&str, Count); 4] = [
        ("SELECT created_at FROM entries WHERE kind = 'entry' AND created_at >= ?", |day| &mut day.remembered),
        ("SELECT at FROM turns WHERE role <> 'summary' AND at >= ?", |day| &mut day.turns),
        ("SELECT at FROM recalls WHERE at >= ?", |day| &mut day.recalls),
        ("SELECT at FROM changes WHERE at >= ?", |day| &mut day.changes),
    ];
    let starts: Vec<i64> = starts.iter().map(|at| at.as_millisecond()).collect();
    let mut days = vec![Doings::default(); starts.len()];
    let Some(first) = starts.first() else { return Ok(days) };
    for (sql, count) in TABLES {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([first])?;
        while let Some(row) = rows.next()? {
            let at: i64 = row.get(0)?;
            let nth = starts.partition_point(|start| *start <= at);
            if let Some(day) = nth.checked_sub(1).and_then(|nth| days.get_mut(nth)) {
                *count(day) += 1;
            }
        }
    }
    Ok(days)
}

/// Turns do not count: a host may say when they were said. Neither do changes that an import brought along.
fn was_in_use(connection: &Connection, from: Timestamp, until: Timestamp) -> rusqlite::Result<bool> {
    const SQL: &str = "SELECT \
        EXISTS (SELECT 1 FROM changes WHERE adopted_by IS NULL AND at BETWEEN ?1 AND ?2) \
        OR EXISTS (SELECT 1 FROM recalls WHERE at BETWEEN ?1 AND ?2) \
        OR EXISTS (SELECT 1 FROM job_runs WHERE ended_at BETWEEN ?1 AND ?2)";
    let values = params![from.as_millisecond(), until.as_millisecond()];
    connection.prepare_cached(SQL)?.query_row(values, |row| row.get(0))
}
