//! The log of jobs, the pulse, and what was done day by day.

use jiff::SignedDuration;
use throughline_core::model::{RecallId, Verb};
use throughline_core::ports::{Doings, Job, Op, Pulse, Run, RunOutcome};
use throughline_core::recall::{AskedBy, RecallRecord};

use super::{Check, Make, apply, checks, entry, minute, turn};

pub(super) const CHECKS: &[Check] = checks![
    of_each_job_the_last_fifty_runs_are_kept,
    every_change_is_felt_in_the_pulse,
    doings_are_counted_between_the_times_that_are_given,
    use_is_seen_where_the_own_clock_was_read,
];

fn run(job: Job, at: i64) -> Run {
    let what = format!("run {at}");
    Run { job, started_at: minute(at), ended_at: minute(at + 1), outcome: RunOutcome::Done, what }
}

fn of_each_job_the_last_fifty_runs_are_kept(make: Make<'_>) {
    let store = make();
    let failed = Run { outcome: RunOutcome::Failed, ..run(Job::Backup, 0) };
    store.note_run(&failed).unwrap();
    (1..=60).for_each(|at| store.note_run(&run(Job::Retention, at)).unwrap());
    assert_eq!(store.runs(Job::Backup, 100).unwrap(), [failed]);
    let kept: Vec<Run> = (11..=60).rev().map(|at| run(Job::Retention, at)).collect();
    assert_eq!(store.runs(Job::Retention, 100).unwrap(), kept);
    assert_eq!(store.runs(Job::Retention, 2).unwrap(), kept[..2]);
    assert_eq!(store.runs(Job::Embedding, 100).unwrap(), []);
}

fn every_change_is_felt_in_the_pulse(make: Make<'_>) {
    let store = make();
    let mut last = store.pulse().unwrap();
    assert_eq!((last.since(&Pulse::default()), store.pulse().unwrap()), (Vec::new(), last.clone()));
    let mut felt = |what: &[&str]| {
        let now = store.pulse().unwrap();
        assert_eq!(now.since(&last), what);
        last = now;
    };
    let change = apply(&*store, Verb::Remember, &[Op::Insert(entry("a", "likes tea"))]).unwrap();
    felt(&["memories"]);
    store.append(&[turn("one", "cli:main", 1)]).unwrap();
    felt(&["sessions"]);
    store.end_session(&"cli:main".parse().unwrap(), minute(5)).unwrap();
    felt(&["sessions"]);
    store.note_run(&run(Job::Backup, 1)).unwrap();
    felt(&["jobs"]);
    store.stats().unwrap();
    felt(&[]);
    let _ = change;
}

fn doings_are_counted_between_the_times_that_are_given(make: Make<'_>) {
    let store = make();
    let old = throughline_core::model::Entry { created_at: minute(-5), ..entry("old", "too old") };
    apply(&*store, Verb::Remember, &[Op::Insert(old), Op::Insert(entry("a", "likes tea"))]).unwrap();
    store.append(&[turn("one", "cli:main", 0), turn("two", "cli:main", 9), turn("three", "cli:main", 10)]).unwrap();
    store.note(RecallRecord {
        id: RecallId::new("r"),
        at: minute(12),
        query: "tea".to_owned(),
        session: None,
        asked_by: AskedBy::Person,
        hits: Vec::new(),
    });
    let days = store.doings(&[minute(0), minute(10)]).unwrap();
    let [first, second] = days[..] else { panic!("{days:?}") };
    assert_eq!((first.remembered, first.turns, first.recalls), (1, 2, 0));
    assert_eq!(second, Doings { remembered: 0, turns: 1, recalls: 1, changes: second.changes });
    assert_eq!(first.changes + second.changes, 1);
    assert_eq!(store.doings(&[]).unwrap(), []);
}

fn use_is_seen_where_the_own_clock_was_read(make: Make<'_>) {
    let store = make();
    store.append(&[turn("one", "cli:main", 30)]).unwrap();
    assert!(!store.was_in_use(minute(0), minute(60)).unwrap(), "a host says when a turn was said");
    store.note_run(&run(Job::Backup, 30)).unwrap();
    assert!(store.was_in_use(minute(31), minute(31)).unwrap());
    let a_second = SignedDuration::from_secs(1);
    assert!(!store.was_in_use(minute(0), minute(31) - a_second).unwrap());
    assert!(!store.was_in_use(minute(31) + a_second, minute(60)).unwrap());
}
