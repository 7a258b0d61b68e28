//! The pulse.

use super::*;

#[test]
fn every_change_is_felt_in_the_pulse() {
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
