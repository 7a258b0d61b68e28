//! The log of jobs, the pulse of everything, and what was done day by day.

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use throughline_core::model::ChangeId;
use throughline_core::ports::{Doings, Job, Jobs, KEPT_RUNS, Pulse, Run};

use crate::error::while_doing;
use crate::rows::{parsed, time};
use crate::{SqliteStore, Stored};

impl Jobs for SqliteStore {
    fn note_run(&self, run: &Run) -> Stored<()> {
        self.write("keep a run", |transaction| insert(transaction, run).map_err(while_doing("keep a run")))
    }

    fn runs(&self, job: Job, limit: usize) -> Stored<Vec<Run>> {
        let sql = "SELECT job, started_at, ended_at, outcome, what FROM job_runs WHERE job = ?1 \
                   ORDER BY row DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map(params![job.as_str(), limit], run)?.collect(),
            "read the log of jobs",
        )
    }
}

fn insert(connection: &Connection, run: &Run) -> rusqlite::Result<()> {
    let sql = "INSERT INTO job_runs (job, started_at, ended_at, outcome, what) VALUES (?1, ?2, ?3, ?4, ?5)";
    let (started, ended) = (run.started_at.as_millisecond(), run.ended_at.as_millisecond());
    let values = params![run.job.as_str(), started, ended, run.outcome.as_str(), run.what];
    connection.prepare_cached(sql)?.execute(values)?;
    let old = "DELETE FROM job_runs WHERE job = ?1 AND row NOT IN \
               (SELECT row FROM job_runs WHERE job = ?1 ORDER BY row DESC LIMIT ?2)";
    connection.prepare_cached(old)?.execute(params![run.job.as_str(), KEPT_RUNS as i64]).map(drop)
}

fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        job: parsed(row, 0)?,
        started_at: time(row.get(1)?)?,
        ended_at: time(row.get(2)?)?,
        outcome: parsed(row, 3)?,
        what: row.get(4)?,
    })
}

/// Each of these is the end of an index, or the one row of a small table: no more than a few pages are read.
pub(crate) fn pulse(connection: &Connection) -> rusqlite::Result<Pulse> {
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

/// One pass over each table; the days are counted here, because SQLite knows no time zones.
pub(crate) fn doings(connection: &Connection, starts: &[Timestamp]) -> rusqlite::Result<Vec<Doings>> {
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
pub(crate) fn was_in_use(connection: &Connection, from: Timestamp, until: Timestamp) -> rusqlite::Result<bool> {
    const SQL: &str = "SELECT \
        EXISTS (SELECT 1 FROM changes WHERE adopted_by IS NULL AND at BETWEEN ?1 AND ?2) \
        OR EXISTS (SELECT 1 FROM recalls WHERE at BETWEEN ?1 AND ?2) \
        OR EXISTS (SELECT 1 FROM job_runs WHERE ended_at BETWEEN ?1 AND ?2)";
    let values = params![from.as_millisecond(), until.as_millisecond()];
    connection.prepare_cached(SQL)?.query_row(values, |row| row.get(0))
}
