//! The log of jobs, the pulse, and what was done day by day.

use jiff::SignedDuration;
use throughline_core::model::{Entry, RecallId, Turn, Verb};
use throughline_core::ports::{Doings, Job, Op, Pulse, Run, RunOutcome};
use throughline_core::recall::{AskedBy, RecallRecord};

use super::{Check, Make, apply, checks, done, entry, insert, minute, turn};

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
    done(store.note_run(&failed));
    (1..=60).for_each(|at| done(store.note_run(&run(Job::Retention, at))));
    assert_eq!(done(store.runs(Job::Backup, 100)), [failed]);
    let kept: Vec<Run> = (11..=60).rev().map(|at| run(Job::Retention, at)).collect();
    assert_eq!(done(store.runs(Job::Retention, 100)), kept);
    assert_eq!(done(store.runs(Job::Retention, 2)), kept[..2]);
    assert_eq!(done(store.runs(Job::Embedding, 100)), []);
}

fn every_change_is_felt_in_the_pulse(make: Make<'_>) {
    let store = make();
    let mut last = done(store.pulse());
    assert_eq!((last.since(&Pulse::default()), done(store.pulse())), (Vec::new(), last.clone()));
    let mut felt = |what: &[&str]| {
        let now = done(store.pulse());
        assert_eq!(now.since(&last), what);
        last = now;
    };
    insert(&*store, entry("a", "likes tea"));
    felt(&["memories"]);
    done(store.append(&[turn("one", "cli:main", "hello")]));
    felt(&["sessions"]);
    done(store.end_session(&"cli:main".parse().unwrap(), minute(5)));
    felt(&["sessions"]);
    done(store.note_run(&run(Job::Backup, 1)));
    felt(&["jobs"]);
    done(store.stats());
    felt(&[]);
}

fn doings_are_counted_between_the_times_that_are_given(make: Make<'_>) {
    let store = make();
    let old = Entry { created_at: minute(-5), ..entry("old", "too old") };
    done(apply(&*store, Verb::Remember, &[Op::Insert(old), Op::Insert(entry("a", "likes tea"))]));
    let said = |id: &str, at| Turn { at: minute(at), ..turn(id, "cli:main", "hello") };
    done(store.append(&[said("one", 0), said("two", 9), said("three", 10)]));
    store.note(RecallRecord {
        recall_id: RecallId::new("r"),
        at: minute(12),
        session: None,
        by: AskedBy::Person,
        query: "tea".to_owned(),
        hits: Vec::new(),
    });
    let first = Doings { remembered: 1, turns: 2, recalls: 0, changes: 1 };
    let second = Doings { remembered: 0, turns: 1, recalls: 1, changes: 0 };
    assert_eq!(done(store.doings(&[minute(0), minute(10)])), [first, second]);
    assert_eq!(done(store.doings(&[])), []);
}

fn use_is_seen_where_the_own_clock_was_read(make: Make<'_>) {
    let store = make();
    done(store.append(&[Turn { at: minute(30), ..turn("one", "cli:main", "hello") }]));
    assert!(!done(store.was_in_use(minute(0), minute(60))), "a host says when a turn was said");
    done(store.note_run(&run(Job::Backup, 30)));
    assert!(done(store.was_in_use(minute(31), minute(31))));
    let a_second = SignedDuration::from_secs(1);
    assert!(!done(store.was_in_use(minute(0), minute(31) - a_second)));
    assert!(!done(store.was_in_use(minute(31) + a_second, minute(60))));
}
