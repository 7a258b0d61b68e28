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
fn turns_are_found_by_the_beginning_of_their_ids() {
    let store = make();
    done(store.append(&[
        turn("abcdef1", "cli:b", "one"),
        turn("abcdef", "cli:a", "two"),
        turn("abcdeg_%", "cli:a", "three"),
    ]));
    let named = |reference: &str, limit: usize| -> Vec<String> {
        done(store.turns_named(reference, limit)).into_iter().map(|turn| turn.id.to_string()).collect()
    };
    assert_eq!(named("abcdef", 9), ["abcdef", "abcdef1"]);
    assert_eq!(named("abcdef", 1), ["abcdef"]);
    assert_eq!(named("abcdef1", 9), ["abcdef1"]);
    assert_eq!(named("abcdeg_", 9), ["abcdeg_%"]);
    for unsaid in ["abcdef12", "abcde_", "abcde%", "zz"] {
        assert_eq!(named(unsaid, 9), Vec::<String>::new(), "{unsaid}");
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

#[test]
fn what_was_said_after_a_mark_is_found_by_project() {
    let store = make();
    let open = |id: &str, project: Option<&str>| NewSession {
        id: id.parse().unwrap(),
        title: None,
        project: project.map(str::to_owned),
        task: None,
        person: None,
        base_prompt: None,
        at: minute(0),
    };
    done(store.open_session(&open("cli:a", None)));
    done(store.open_session(&open("cli:b", Some("stall"))));
    let turn = |id: &str, session: &str, role, at| Turn {
        id: TurnId::new(id),
        session: session.parse().unwrap(),
        role,
        speaker: None,
        content: id.to_owned(),
        at: minute(at),
    };
    done(store.append(&[
        turn("t1", "cli:a", Role::User, 1),
        turn("t2", "cli:b", Role::User, 2),
        turn("t3", "cli:b", Role::Tool, 3),
        turn("t4", "cli:b", Role::Assistant, 4),
        turn("t5", "cli:b", Role::User, 5),
    ]));
    let said = |of: &TurnsOf, after: &TurnMark, since, limit| -> (Vec<String>, TurnMark) {
        let (turns, mark) = done(store.said_after(of, after, minute(since), limit));
        (turns.into_iter().map(|turn| turn.content).collect(), mark)
    };
    let (none, stall, start) = (TurnsOf::NoProject, TurnsOf::Project("stall".to_owned()), TurnMark::default());
    let (all, end) = said(&stall, &start, 0, 9);
    assert_eq!(all, ["t2", "t4", "t5"], "what was said, and no tool's output");
    assert_eq!(said(&none, &start, 0, 9).0, ["t1"]);
    assert_eq!(said(&stall, &end, 0, 9), (Vec::new(), end.clone()), "nothing was said since");
    assert_eq!(said(&stall, &start, 4, 9).0, ["t4", "t5"]);
    assert_eq!(said(&stall, &start, 0, 2), (vec!["t4".to_owned(), "t5".to_owned()], end.clone()), "the latest");
    done(store.append(&[turn("t6", "cli:a", Role::User, 6), turn("t7", "cli:b", Role::User, 0)]));
    assert_eq!(said(&stall, &end, 0, 9).0, ["t7"], "what was stored since, whenever it was said");
    assert!(store.said_after(&none, &TurnMark::new("of another store"), minute(0), 9).is_err());
}

#[test]
fn turn_mark_survives_erasing_its_turn() {
    let store = make();
    say(&*store, 2);
    let (_, end) = done(store.said_after(&TurnsOf::NoProject, &TurnMark::default(), minute(0), 9));
    done(store.erase(&Erasure { turns: vec![TurnId::new("t1")], ..Erasure::default() }));
    done(store.append(&[turn("next", "cli:a", "said after the erasing")]));
    let (turns, _) = done(store.said_after(&TurnsOf::NoProject, &end, minute(0), 9));
    assert_eq!(turns.iter().map(|turn| turn.id.as_str()).collect::<Vec<_>>(), ["next"]);
}

#[test]
fn positions_count_the_turns_of_a_session() {
    let store = make();
    for nth in 0..3 {
        for session in ["cli:a", "cli:b"] {
            done(store.append(&[turn(&format!("{session}{nth}"), session, "hello")]));
        }
        done(store.append(&[turn("cli:a0", "cli:a", "said already")]));
    }
    for session in ["cli:a", "cli:b"] {
        assert_eq!(positions(&*store, session), [1, 2, 3], "one that was said already takes no position");
    }
    done(store.erase(&Erasure { turns: ["cli:a1", "cli:a2"].map(TurnId::new).to_vec(), ..Erasure::default() }));
    done(store.append(&[turn("next", "cli:a", "hello")]));
    assert_eq!(positions(&*store, "cli:a"), [1, 4], "those of erased turns are not given again");
}

fn positions(store: &dyn Store, session: &str) -> Vec<i64> {
    let turns = done(store.turns_after(&session.parse().unwrap(), Position::default()));
    turns.into_iter().map(|(at, _)| at.number()).collect()
}

/// Appenders at once, and turns that each appends.
const APPENDERS: usize = 8;
const EACH: usize = 25;

/// Appends to one session from several handles at once; `watch` is called again and again meanwhile, and once afterwards.
fn append_at_once(store: &Fresh, mut watch: impl FnMut()) {
    std::thread::scope(|scope| {
        let appending: Vec<_> = (0..APPENDERS)
            .map(|by| {
                let handle = store.again();
                scope.spawn(move || {
                    (0..EACH).for_each(|nth| {
                        done(handle.append(&[turn(&format!("{by}-{nth}"), "cli:a", &format!("{by} {nth}"))]));
                    });
                })
            })
            .collect();
        while !appending.iter().all(|thread| thread.is_finished()) {
            watch();
        }
    });
    watch();
}

#[test]
fn positions_are_gap_free_under_concurrent_appends() {
    let store = make();
    let (mut pointer, mut seen) = (Position::default(), Vec::new());
    append_at_once(&store, || {
        for (at, turn) in done(store.turns_after(&session(), pointer)) {
            assert_eq!(at.number(), pointer.number() + 1, "a turn that is not visible yet was passed");
            (pointer, _) = (at, seen.push(turn.id));
        }
    });
    assert_eq!(seen.len(), APPENDERS * EACH);
    assert_eq!(positions(&*store, "cli:a"), (1..=seen.len() as i64).collect::<Vec<_>>());
}

#[test]
fn turn_mark_skips_no_turn_under_concurrent_appends() {
    let store = make();
    let (mut mark, mut seen) = (TurnMark::default(), std::collections::BTreeSet::new());
    append_at_once(&store, || {
        let (turns, end) = done(store.said_after(&TurnsOf::NoProject, &mark, minute(0), usize::MAX));
        seen.extend(turns.into_iter().map(|turn| turn.id.to_string()));
        mark = end;
    });
    assert_eq!(seen.len(), APPENDERS * EACH);
}

#[test]
fn old_turns_go_that_no_memory_needs() {
    let store = make();
    let old = |at: i64| done(store.remove_old(minute(at), minute(0), 100));
    let left = || -> Vec<String> {
        let turns = done(store.turns_after(&session(), Position::default()));
        turns.into_iter().map(|(_, turn)| turn.content).collect()
    };
    let say = |id: &str, at: i64| {
        let turn =
            Turn { id: TurnId::new(id), content: id.to_owned(), at: minute(at), ..turn(id, session().as_str(), id) };
        done(store.append(&[turn]));
    };
    for (id, at) in [("a", 1), ("b", 2), ("c", 3), ("d", 9)] {
        say(id, at);
    }
    assert_eq!(old(8), 0, "nothing is consolidated yet");
    assert_eq!(done(store.remove_old(minute(2), minute(5), 100)), 0, "all of it is still sent");
    let to = Position::new(4);
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), to, Position::new(3), None)]));
    let fact = Entry { provenance: vec![TurnId::new("b")], ..entry("fact", "likes tea") };
    insert(&*store, fact.clone());
    let summary = Entry { layer: Layer::Archive, provenance: vec![TurnId::new("a")], ..entry("summary", "they spoke") };
    insert(&*store, summary);
    assert_eq!(done(store.remove_old(minute(8), minute(0), 1)), 1, "as many as are asked for");
    assert_eq!(left(), ["b", "c", "d"], "a summary needs no evidence");
    assert_eq!((old(8), left()), (1, vec!["b".to_owned(), "d".to_owned()]), "a fact does");
    done(apply(&*store, Verb::Forget, &[Op::Update(Entry { status: Status::Inactive, ..fact })]));
    assert_eq!((old(8), left()), (1, vec!["d".to_owned()]), "until it is forgotten");
    assert_eq!((old(99), left()), (1, Vec::new()), "nobody went on with it");
    say("e", 100);
    assert_eq!(left(), ["e"], "what is said next is new");
}

#[test]
fn the_first_message_of_a_person_is_known() {
    let store = make();
    let other: SessionId = "cli:other".parse().unwrap();
    let said = |id: &str, role| Turn { role, ..turn(id, session().as_str(), id) };
    done(store.append(&[said("greeting", Role::Assistant), said("question", Role::User), said("more", Role::User)]));
    let first = done(store.first_messages(&[other, session()]));
    assert_eq!(first, [None, Some("question".to_owned())], "in the order of the sessions");
}
