//! What a daemon asks about its own work and about everybody else's: the log of jobs, change tokens, the days.

use std::time::Duration;

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::health::HealthService;
use crate::ports::{ChangeTokens, Doings, Job, Run};

/// As far back as activity is told, in days.
const MOST_DAYS: u32 = 3660;

/// What was done on one of the person's days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DayActivity {
    /// The day, where the person is.
    pub day: Date,
    /// The counts, at the same level.
    #[serde(flatten)]
    pub doings: Doings,
}

impl HealthService<'_> {
    /// Keeps a run of a job.
    pub fn note_run(&self, run: &Run) -> Done<()> {
        Ok(self.jobs.note_run(run)?)
    }

    /// The newest runs of a job first.
    pub fn runs(&self, job: Job, limit: usize) -> Done<Vec<Run>> {
        Ok(self.jobs.runs(job, limit)?)
    }

    /// Tokens that differ once something in the store changed. A change of a document counts once it was noticed.
    pub fn pulse(&self) -> Done<ChangeTokens> {
        Ok(self.tokens.change_tokens()?)
    }

    /// As [`pulse`](Self::pulse), documents that somebody else is editing included.
    pub fn pulse_of_all(&self) -> Done<ChangeTokens> {
        self.documents.notice_all()?;
        self.pulse()
    }

    /// Waits until something in the store may have changed: `usual` where nobody tells, `longest` at most.
    pub fn wait_for_change(&self, usual: Duration, longest: Duration) -> Done<()> {
        Ok(self.tokens.wait_for_change(usual, longest)?)
    }

    /// What was done on each of the last days, today included, oldest first.
    pub fn activity(&self, days: u32, zone: &TimeZone) -> Done<Vec<DayActivity>> {
        if days == 0 || days > MOST_DAYS {
            return Err(EngineError::invalid("the number of days", "is not between 1 and 3660"));
        }
        let today = self.kernel.now.to_zoned(zone.clone()).date();
        let first = today.checked_sub(i64::from(days - 1).days()).unwrap_or(Date::MIN);
        let dates: Vec<Date> = first.series(1.day()).take(days as usize).collect();
        let starts = dates.iter().map(|day| day.to_zoned(zone.clone()).map(|at| at.timestamp()));
        let starts = starts.collect::<Result<Vec<_>, _>>();
        let starts = starts.map_err(|_| EngineError::invalid("the number of days", "goes beyond the calendar"))?;
        let doings = self.activity.doings(&starts)?;
        Ok(dates.into_iter().zip(doings).map(|(day, doings)| DayActivity { day, doings }).collect())
    }
}
