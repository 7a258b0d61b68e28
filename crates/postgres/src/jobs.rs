//! The log of background jobs.

use throughline_core::ports::{Job, Jobs, KEPT_RUNS, Run};

use crate::error::Sql;
use crate::transaction::Counter;
use crate::values::{Row, values};
use crate::{PostgresStore, Stored};

impl Jobs for PostgresStore {
    fn note_run(&self, run: &Run) -> Stored<()> {
        let sql = "INSERT INTO job_runs (space, number, job, started_at, ended_at, outcome, what) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let old = "DELETE FROM job_runs WHERE space = $1 AND job = $2 AND number NOT IN \
                   (SELECT number FROM job_runs WHERE space = $1 AND job = $2 ORDER BY number DESC LIMIT $3)";
        self.write("keep a run", |transaction| {
            let number = transaction.next(Counter::Row);
            let (job, outcome) = (run.job.as_str(), run.outcome.as_str());
            let bound = values![number, job, run.started_at, run.ended_at, outcome, &run.what];
            transaction.post(sql, &bound)?;
            transaction.post(old, &values![job, KEPT_RUNS])
        })
    }

    fn runs(&self, job: Job, limit: usize) -> Stored<Vec<Run>> {
        let sql = "SELECT job, started_at, ended_at, outcome, what FROM job_runs WHERE space = $1 AND job = $2 \
                   ORDER BY number DESC LIMIT $3";
        self.read("read the log of jobs", |connection| connection.all(sql, &values![job.as_str(), limit], run))
    }
}

fn run(row: &Row) -> Sql<Run> {
    Ok(Run {
        job: row.parsed(0)?,
        started_at: row.time(1)?,
        ended_at: row.time(2)?,
        outcome: row.parsed(3)?,
        what: row.text(4)?,
    })
}
