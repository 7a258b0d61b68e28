//! What was done when.

use jiff::Timestamp;
use throughline_core::ports::{Activity, Doings};

use crate::connection::Connection;
use crate::error::Sql;
use crate::values::values;
use crate::{PostgresStore, Stored};

impl Activity for PostgresStore {
    fn doings(&self, starts: &[Timestamp]) -> Stored<Vec<Doings>> {
        self.bookkeeper.flush();
        self.snapshot("count what was done", |connection| doings(connection, starts))
    }

    /// Turns do not count: a host may say when they were said. Neither do changes that an import brought along.
    fn was_in_use(&self, from: Timestamp, until: Timestamp) -> Stored<bool> {
        let sql = "SELECT \
            EXISTS (SELECT 1 FROM changes WHERE space = $1 AND adopted_by IS NULL AND at BETWEEN $2 AND $3) \
            OR EXISTS (SELECT 1 FROM recalls WHERE space = $1 AND at BETWEEN $2 AND $3) \
            OR EXISTS (SELECT 1 FROM job_runs WHERE space = $1 AND ended_at BETWEEN $2 AND $3)";
        self.read("look when it was used", |connection| connection.one(sql, &values![from, until])?.flag(0))
    }
}

/// One pass over each table; the days are counted here, because their bounds may be any times.
fn doings(connection: &Connection, starts: &[Timestamp]) -> Sql<Vec<Doings>> {
    type Count = fn(&mut Doings) -> &mut u64;
    const TABLES: [(&str, Count); 4] = [
        ("SELECT created_at FROM entries WHERE space = $1 AND kind = 'entry' AND created_at >= $2", |day| {
            &mut day.remembered
        }),
        ("SELECT at FROM turns WHERE space = $1 AND role <> 'summary' AND at >= $2", |day| &mut day.turns),
        ("SELECT at FROM recalls WHERE space = $1 AND at >= $2", |day| &mut day.recalls),
        ("SELECT at FROM changes WHERE space = $1 AND at >= $2", |day| &mut day.changes),
    ];
    let starts: Vec<i64> = starts.iter().map(|at| at.as_millisecond()).collect();
    let mut days = vec![Doings::default(); starts.len()];
    let Some(first) = starts.first() else { return Ok(days) };
    for (sql, count) in TABLES {
        for row in connection.rows(sql, &values![*first])? {
            let at = row.int(0)?;
            let nth = starts.partition_point(|start| *start <= at);
            if let Some(day) = nth.checked_sub(1).and_then(|nth| days.get_mut(nth)) {
                *count(day) += 1;
            }
        }
    }
    Ok(days)
}
