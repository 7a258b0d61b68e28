//! When each job runs next: a pure function of what it did, what the memory needs, the settings and the time.

use jiff::{SignedDuration, Timestamp};
use throughline_core::ports::{ChangeTokens, Job, Run, RunOutcome, Watched};

/// How often the timeline is looked through for what it no longer needs.
const RETENTION_EVERY: SignedDuration = SignedDuration::from_hours(24);

/// A run that failed is tried again after a minute, then after twice as long each time, up to an hour.
const FIRST_WAIT: SignedDuration = SignedDuration::from_mins(1);
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(1);

/// A run that failed although each conversation rests by itself after a failure: others are not kept waiting for long.
const SHORT_WAIT: SignedDuration = SignedDuration::from_secs(10);

/// How often jobs run that follow the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Hours between automatic backups; 0 makes none.
    pub backup_every_hours: u32,
    /// Whether anything is ever retired.
    pub retains: bool,
}

impl Rhythm {
    /// How often a job runs that follows the clock, in hours; nothing for one that follows the memory.
    pub(crate) fn every_hours(&self, job: Job) -> Option<u32> {
        match job {
            Job::Backup => Some(self.backup_every_hours),
            Job::Retention if self.retains => u32::try_from(RETENTION_EVERY.as_hours()).ok(),
            Job::Retention => Some(0),
            Job::Consolidation | Job::Reflection | Job::Embedding => None,
        }
    }
}

/// When a job runs next; nothing where it has no reason to. A time that has passed means now: what was slept through is
/// caught up, once.
///
/// `runs` are its latest, newest first; `needed` is when the memory has something for it to do.
pub(crate) fn next_run(
    job: Job,
    runs: &[Run],
    needed: Option<Timestamp>,
    rhythm: &Rhythm,
    now: Timestamp,
) -> Option<Timestamp> {
    let done = runs.iter().find(|run| run.outcome == RunOutcome::Done);
    let wanted = match rhythm.every_hours(job) {
        Some(0) => return None,
        Some(hours) => done.map_or(now, |run| after(run.ended_at, SignedDuration::from_hours(i64::from(hours)), now)),
        None => needed?,
    };
    let failures = runs.iter().take_while(|run| run.outcome == RunOutcome::Failed).count();
    let wait = match runs.first().map(|run| run.outcome) {
        Some(RunOutcome::Failed) if job == Job::Consolidation => SHORT_WAIT,
        Some(RunOutcome::Failed) => {
            let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
            FIRST_WAIT.checked_mul(2_i32.saturating_pow(doublings)).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)
        }
        Some(RunOutcome::Waiting) => LONGEST_WAIT,
        Some(RunOutcome::Done) | None => return Some(wanted),
    };
    let again = runs.first().map_or(wanted, |run| after(run.ended_at, wait, now));
    Some(wanted.max(again))
}

/// Whether what changed can give a job something to do. Jobs that follow the clock do not care; neither does any for
/// recalls, or for runs of another.
pub(crate) fn concerns(job: Job, now: &ChangeTokens, before: &ChangeTokens) -> bool {
    let kinds: &[Watched] = match job {
        Job::Consolidation => &[Watched::Turns, Watched::SessionsBegun, Watched::SessionsEnded],
        Job::Reflection => &[Watched::SessionsBegun, Watched::Projects, Watched::Reflections],
        Job::Embedding => &[Watched::Memories, Watched::Documents, Watched::Turns, Watched::Vault],
        Job::Retention | Job::Backup => &[],
    };
    kinds.iter().any(|kind| now.differ(before, *kind))
}

/// So much later than `at`. What lies ahead was noted by a clock that was wrong: it must not put anything off for years.
fn after(at: Timestamp, by: SignedDuration, now: Timestamp) -> Timestamp {
    if now.duration_since(at).abs() >= by {
        return now.min(at.saturating_add(by).unwrap_or(now));
    }
    at.min(now).saturating_add(by).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use throughline_core::ports::ChangeToken;

    use super::*;

    const RHYTHM: Rhythm = Rhythm { backup_every_hours: 24, retains: true };

    fn at(text: &str) -> Timestamp {
        format!("2026-{text}:00Z").parse().unwrap()
    }

    fn run(job: Job, ended: &str, outcome: RunOutcome) -> Run {
        let at = at(ended);
        Run { job, started_at: at, ended_at: at, outcome, what: String::new() }
    }

    #[test]
    fn jobs_that_follow_the_clock() {
        use RunOutcome::{Done, Failed, Waiting};
        type Row<'a> = (&'a str, &'a [(&'a str, RunOutcome)], &'a str, &'a str);
        let table: [Row<'_>; 10] = [
            ("the first is made at once", &[], "03-01T12:00", "03-01T12:00"),
            ("a day later", &[("03-01T12:00", Done)], "03-01T13:00", "03-02T12:00"),
            ("caught up after a sleep, once", &[("03-01T12:00", Done)], "03-09T13:00", "03-02T12:00"),
            ("a clock that was wrong", &[("12-31T00:00", Done)], "03-01T12:00", "03-01T12:00"),
            ("a clock that was a little wrong", &[("03-01T18:00", Done)], "03-01T12:00", "03-02T12:00"),
            ("failed a moment ago", &[("03-01T12:00", Failed)], "03-01T12:00", "03-01T12:01"),
            ("failed three times", &[("03-01T12:00", Failed); 3], "03-01T12:00", "03-01T12:04"),
            ("failed a hundred times", &[("03-01T12:00", Failed); 100], "03-01T12:00", "03-01T13:00"),
            (
                "failed after it was done",
                &[("03-02T12:00", Failed), ("03-01T12:00", Done)],
                "03-02T12:00",
                "03-02T12:01",
            ),
            ("waits for the clock", &[("03-02T12:00", Waiting), ("03-01T12:00", Done)], "03-02T12:10", "03-02T13:00"),
        ];
        for (what, runs, now, expected) in table {
            for job in [Job::Backup, Job::Retention] {
                let runs: Vec<Run> = runs.iter().map(|(ended, outcome)| run(job, ended, *outcome)).collect();
                assert_eq!(next_run(job, &runs, None, &RHYTHM, at(now)), Some(at(expected)), "{what}");
            }
        }
        let off = Rhythm { backup_every_hours: 0, retains: false };
        for job in [Job::Backup, Job::Retention] {
            assert_eq!(next_run(job, &[], None, &off, at("03-01T12:00")), None, "{job} is off");
        }
    }

    #[test]
    fn jobs_that_follow_the_memory() {
        use RunOutcome::{Done, Failed};
        let (noon, later) = (at("03-01T12:00"), at("03-01T15:00"));
        for job in [Job::Consolidation, Job::Reflection, Job::Embedding] {
            let next = |runs: &[Run], needed| next_run(job, runs, needed, &RHYTHM, noon);
            assert_eq!(next(&[], None), None, "nothing to do");
            assert_eq!(next(&[], Some(noon)), Some(noon));
            assert_eq!(next(&[run(job, "03-01T12:00", Done)], Some(noon)), Some(noon), "as often as there is work");
            assert_eq!(next(&[], Some(later)), Some(later), "told beforehand");
            let again = match job {
                Job::Consolidation => noon + SHORT_WAIT,
                _ => at("03-01T12:01"),
            };
            assert_eq!(next(&[run(job, "03-01T12:00", Failed)], Some(noon)), Some(again), "not at once");
            assert_eq!(next(&[run(job, "03-01T11:00", Failed)], Some(noon)), Some(noon), "waited long enough");
        }
    }

    #[test]
    fn a_job_is_looked_at_for_what_can_give_it_work_and_for_nothing_else() {
        use Watched::{
            Documents, Jobs, Memories, Projects, Recalls, Reflections, SessionsBegun, SessionsEnded, Tasks, Turns,
            Vault,
        };
        let tokens = |changed: &[Watched]| -> ChangeTokens {
            let token = |kind: Watched| (kind, ChangeToken::new(if changed.contains(&kind) { "later" } else { "" }));
            Watched::ALL.into_iter().map(token).collect()
        };
        let before = tokens(&[]);
        let table: [(&[Watched], &[Job]); 9] = [
            (&[Recalls, Jobs, Tasks], &[]),
            (&[Memories], &[Job::Embedding]),
            (&[Documents], &[Job::Embedding]),
            (&[Turns], &[Job::Consolidation, Job::Embedding]),
            (&[Turns, SessionsBegun], &[Job::Consolidation, Job::Reflection, Job::Embedding]),
            (&[SessionsEnded], &[Job::Consolidation]),
            (&[Projects], &[Job::Reflection]),
            (&[Reflections], &[Job::Reflection]),
            (&[Vault], &[Job::Embedding]),
        ];
        for (changed, expected) in table {
            let now = tokens(changed);
            let concerned: Vec<Job> = Job::ALL.into_iter().filter(|job| concerns(*job, &now, &before)).collect();
            assert_eq!(concerned, expected, "{changed:?}");
        }
    }
}
