//! What was done when.

use super::*;

#[test]
fn doings_are_counted_between_the_times_that_are_given() {
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

#[test]
fn use_is_seen_where_the_own_clock_was_read() {
    let store = make();
    done(store.append(&[Turn { at: minute(30), ..turn("one", "cli:main", "hello") }]));
    assert!(!done(store.was_in_use(minute(0), minute(60))), "a host says when a turn was said");
    done(store.note_run(&run(Job::Backup, 30)));
    assert!(done(store.was_in_use(minute(31), minute(31))));
    let a_second = SignedDuration::from_secs(1);
    assert!(!done(store.was_in_use(minute(0), minute(31) - a_second)));
    assert!(!done(store.was_in_use(minute(31) + a_second, minute(60))));
}
