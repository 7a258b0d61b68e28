//! Turns: their order, their positions, pages.

use super::*;

#[test]
fn turns_keep_their_order() {
    let store = make();
    let said = [
        Turn { at: minute(5), ..turn("z", "cli:a", "first") },
        turn("y", "cli:b", "elsewhere"),
        Turn { role: Role::Assistant, speaker: Some("Bot".to_owned()), ..turn("a", "cli:a", "second\n用户 \0") },
    ];
    done(store.append(&said[..2]));
    done(store.append(&said[2..]));
    done(store.append(&[]));
    assert_eq!(said_in(&*store, &"cli:a".parse().unwrap()), [said[0].clone(), said[2].clone()], "as they were said");
    assert_eq!(said_in(&*store, &"cli:b".parse().unwrap()), [said[1].clone()]);
    assert_eq!(said_in(&*store, &"cli:c".parse().unwrap()), []);
}

#[test]
fn a_turn_is_said_once() {
    let store = make();
    done(store.append(&[turn("t", "cli:a", "hello")]));
    done(store.append(&[turn("t", "cli:a", "hello"), turn("u", "cli:a", "again")]));
    let ids: Vec<String> = said_in(&*store, &"cli:a".parse().unwrap()).iter().map(|turn| turn.id.to_string()).collect();
    assert_eq!(ids, ["t", "u"]);
}

#[test]
fn turns_come_page_by_page() {
    let store = make();
    done(store.append(&[turn("other", "cli:b", "elsewhere")]));
    say(&*store, 3);
    let page = |after: Option<&str>, limit: usize| {
        let after = after.map(TurnId::new);
        let turns = done(store.turn_page(&session(), after.as_ref(), limit));
        turns.map(|turns| turns.into_iter().map(|turn| turn.id.to_string()).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(page(None, usize::MAX).as_deref(), Some("t0 t1 t2"));
    assert_eq!(page(None, 2).as_deref(), Some("t0 t1"));
    assert_eq!(page(None, 0).as_deref(), Some(""));
    assert_eq!(page(Some("t0"), 1).as_deref(), Some("t1"));
    assert_eq!(page(Some("t2"), 9).as_deref(), Some(""));
    for unsaid in ["nothing", "other"] {
        assert_eq!(page(Some(unsaid), 9), None, "{unsaid}");
    }
}

#[test]
fn turns_are_read_after_a_position() {
    let store = make();
    done(store.append(&[turn("other", "cli:b", "elsewhere")]));
    let positions = say(&*store, 3);
    assert!(positions.is_sorted_by(|a, b| a < b), "{positions:?}");
    let after = |position| -> Vec<String> {
        done(store.turns_after(&session(), position)).into_iter().map(|(_, turn)| turn.id.to_string()).collect()
    };
    assert_eq!(after(Position::default()), ["t0", "t1", "t2"]);
    assert_eq!(after(positions[0]), ["t1", "t2"]);
    assert_eq!(after(positions[2]), [""; 0]);
}

#[test]
fn a_place_is_never_given_twice() {
    let store = make();
    let last = say(&*store, 2)[1];
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), last, last, None)]));
    done(store.erase(&Erasure { turns: vec![TurnId::new("t1")], ..Erasure::default() }));
    done(store.append(&[turn("next", "cli:a", "said after the erasing")]));
    let waiting = done(store.turns_after(&session(), state(&*store).consolidated));
    let ids: Vec<&str> = waiting.iter().map(|(_, turn)| turn.id.as_str()).collect();
    assert_eq!(ids, ["next"], "what is new is not taken for what was done");
}
