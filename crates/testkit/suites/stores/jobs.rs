//! The log of background jobs.

use super::*;

#[test]
fn of_each_job_the_last_fifty_runs_are_kept() {
    let store = make();
    let failed = Run { outcome: RunOutcome::Failed, ..run(Job::Backup, 0) };
    done(store.note_run(&failed));
    (1..=60).for_each(|at| done(store.note_run(&run(Job::Retention, at))));
    assert_eq!(done(store.runs(Job::Backup, 100)), [failed]);
    let kept: Vec<Run> = (11..=60).rev().map(|at| run(Job::Retention, at)).collect();
    assert_eq!(done(store.runs(Job::Retention, 100)), kept);
    assert_eq!(done(store.runs(Job::Retention, 2)), kept[..2]);
    assert_eq!(done(store.runs(Job::Embedding, 100)), []);
}
