//! The log of background jobs.

use rusqlite::{Connection, Row, params};
use throughline_core::ports::{Job, Jobs, KEPT_RUNS, Run};

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
