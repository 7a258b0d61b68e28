//! Pauses, and turns that were not kept.

use super::*;

#[test]
fn a_pause_ends_where_the_next_begins_or_where_it_is_ended() {
    let store = make();
    let pause = |since, until: Option<i64>| Pause { since: minute(since), until: until.map(minute) };
    assert_eq!(done(store.pauses()), []);
    done(store.begin_pause(&pause(1, Some(5))));
    done(store.begin_pause(&pause(2, None)));
    assert_eq!(done(store.pauses()), [pause(1, Some(2)), pause(2, None)]);
    done(store.end_pauses(minute(7)));
    done(store.end_pauses(minute(9)));
    assert_eq!(done(store.pauses()), [pause(1, Some(2)), pause(2, Some(7))], "what has ended stays as it was");
    done(store.begin_pause(&pause(2, Some(3))));
    assert_eq!(done(store.pauses()), [pause(1, Some(2)), pause(2, Some(3))], "begun in the same moment");
}

#[test]
fn turns_that_are_not_kept_are_known_by_their_ids() {
    let store = make();
    let turns = |ids: &[&str]| -> Vec<TurnId> { ids.iter().map(|id| TurnId::new(*id)).collect() };
    let other = "cli:other".parse().unwrap();
    done(store.note_unkept(&session(), &turns(&["b", "a"]), true));
    done(store.note_unkept(&session(), &turns(&["a"]), true));
    assert_eq!(done(store.unkept(&session())), turns(&["a", "b"]));
    assert_eq!(done(store.unkept(&other)), []);
    assert!(done(store.is_latest_unkept(&session())) && !done(store.is_latest_unkept(&other)));
    done(store.note_unkept(&session(), &[], false));
    assert!(!done(store.is_latest_unkept(&session())));
    assert_eq!(done(store.session(&session())), None, "no session begins with it");
}

#[test]
fn a_turn_that_is_kept_is_never_noted_as_one_that_is_not() {
    let store = make();
    say(&*store, 1);
    let kept = done(store.turns_after(&session(), Position::default())).remove(0).1.id;
    done(store.note_unkept(&session(), &[kept], false));
    assert_eq!(done(store.unkept(&session())), []);
}
