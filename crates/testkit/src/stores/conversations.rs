//! Sessions that are picked up again, the pointer, and what consolidation keeps about its own work.

use throughline_core::model::{Position, SessionId, SessionState};
use throughline_core::ports::{Breaker, Erasure, Lease, NewSession, Purpose, SessionPage, Spent};

use super::logs::said_in;
use super::*;

pub(super) const CHECKS: &[Check] = checks![
    what_is_not_given_of_a_session_stays,
    the_first_opening_wins,
    a_reset_forgets_what_a_session_was_given,
    a_session_that_ended_goes_on_when_more_is_said,
    a_new_session_is_opened_once,
    sessions_come_page_by_page_and_none_twice,
    turns_are_read_after_a_position,
    turns_come_page_by_page,
    the_pointer_moves_and_the_summary_becomes_a_turn,
    the_pointer_moves_only_from_where_it_stands,
    the_pointer_and_all_else_move_together_or_not_at_all,
    a_conversation_is_searched_from_where_the_search_stands,
    a_place_is_never_given_twice,
    failures_add_up_until_a_consolidation,
    what_was_injected_is_known_while_it_is_in_view,
    a_lease_has_one_holder,
    whoever_holds_a_lease_holds_it_on,
    a_lease_that_ran_out_or_lost_its_holder_is_free,
    a_lease_is_given_back_by_its_holder_alone,
    the_ledger_adds_up,
    how_a_provider_fares_is_kept,
];

fn session() -> SessionId {
    "cli:a".parse().unwrap()
}

fn new(at: i64) -> NewSession {
    NewSession { id: session(), project: None, task: None, base_prompt: None, at: minute(at) }
}

fn state(store: &dyn Store) -> SessionState {
    done(store.session(&session())).unwrap()
}

/// Appends turns `t0`, `t1`, …; gives the positions behind them.
fn say(store: &dyn Store, count: usize) -> Vec<Position> {
    let turns: Vec<Turn> = (0..count).map(|n| turn(&format!("t{n}"), "cli:a", &format!("word{n}"))).collect();
    done(store.append(&turns));
    done(store.turns_after(&session(), Position::default())).into_iter().map(|(at, _)| at).collect()
}

fn consolidated(from: Position, to: Position, kept_from: Position, summary: Option<&str>) -> Op {
    let turn = |text| Turn { role: Role::Summary, at: minute(7), ..turn("summary", "cli:a", text) };
    Op::Consolidated { session: session(), from, to, kept_from, summary: summary.map(turn) }
}

fn what_is_not_given_of_a_session_stays(make: Make<'_>) {
    let store = make();
    assert_eq!(done(store.session(&session())), None);
    let first = done(store.open_session(&new(1)));
    assert_eq!((first.session.created_at, first.session.project.as_deref()), (minute(1), None));
    assert_eq!((first.base_prompt.as_str(), &first.opening, first.failures), ("", &None, 0));
    assert_eq!((first.consolidated, first.kept_from), (Position::default(), Position::default()));
    let told = NewSession {
        project: Some("apollo".to_owned()),
        task: Some("t1".to_owned()),
        base_prompt: Some("Be kind.".to_owned()),
        ..new(2)
    };
    let told = done(store.open_session(&told));
    assert_eq!(told.session.created_at, minute(1));
    assert_eq!(done(store.open_session(&new(3))), told, "what is not given stays");
    let moved = done(store.open_session(&NewSession { project: Some("zeus".to_owned()), ..new(4) }));
    assert_eq!(moved.session.project.as_deref(), Some("zeus"));
    assert_eq!((moved.session.task, moved.base_prompt), (told.session.task, told.base_prompt));
    assert_eq!(done(store.sessions()), [state(&*store)]);
}

fn a_new_session_is_opened_once(make: Make<'_>) {
    let store = make();
    let told = NewSession { project: Some("apollo".to_owned()), ..new(1) };
    let asked = || done(store.open_new_session(&told));
    let opened = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(asked)).collect();
        asking.into_iter().filter_map(|asked| asked.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(opened, [state(&*store)]);
    done(store.end_session(&session(), minute(2)));
    assert_eq!(done(store.open_new_session(&NewSession { project: None, ..new(3) })), None);
    assert_eq!(state(&*store).session.ended_at, Some(minute(2)), "whoever comes too late changes nothing");
}

fn sessions_come_page_by_page_and_none_twice(make: Make<'_>) {
    let store = make();
    let say =
        |id: &str, session: &str, at: i64| done(store.append(&[Turn { at: minute(at), ..turn(id, session, id) }]));
    // Two of the same time, to be told apart by their order alone.
    for (nth, (session, at)) in
        [("cli:a", 1), ("cli:b", 2), ("web:c", 3), ("cli:d", 3), ("cli:e:f", 4)].iter().enumerate()
    {
        say(&format!("t{nth}"), session, *at);
    }
    say("more", "cli:a", 1);
    let page = |channel: Option<&str>, limit: usize, cursor: Option<&str>| {
        let SessionPage { sessions, cursor } =
            done(store.session_page(channel, &Page { limit, cursor: cursor.map(str::to_owned) }));
        let ids = sessions.iter().map(|(state, turns)| format!("{} {turns}", state.session.id)).collect::<Vec<_>>();
        (ids, cursor)
    };
    let all = ["cli:e:f 1", "cli:d 1", "web:c 1", "cli:b 1", "cli:a 2"];
    assert_eq!(page(None, usize::MAX, None), (all.map(str::to_owned).to_vec(), None));
    assert_eq!(page(None, 5, None).1, None);
    let (first, cursor) = page(None, 2, None);
    assert_eq!(first, all[..2]);
    say("later", "cli:d", 9);
    let (second, cursor) = page(None, 2, cursor.as_deref());
    assert_eq!(second, all[2..4], "one that goes on does not move the next page");
    assert_eq!(page(None, 2, cursor.as_deref()), (vec![all[4].to_owned()], None));
    assert_eq!(page(None, 1, None).0, ["cli:d 2"]);
    assert_eq!(page(Some("web"), 9, None), (vec!["web:c 1".to_owned()], None));
    assert_eq!(page(Some("cli:e"), 9, None), (Vec::new(), None), "that is no channel");
    for cursor in ["", "cli:a", "1", "1.", ".1", "1.x"] {
        let cursor = Some(cursor.to_owned());
        assert!(store.session_page(None, &Page { limit: 1, cursor }).is_err());
    }
}

fn turns_come_page_by_page(make: Make<'_>) {
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

fn the_first_opening_wins(make: Make<'_>) {
    let store = make();
    done(store.open_session(&new(0)));
    assert_eq!(done(store.set_opening(&session(), "")), "", "computed and empty is not uncomputed");
    assert_eq!(done(store.set_opening(&session(), "later")), "");
    assert_eq!(state(&*store).opening.as_deref(), Some(""));
    assert!(store.set_opening(&"cli:nobody".parse().unwrap(), "x").is_err());
}

fn a_reset_forgets_what_a_session_was_given(make: Make<'_>) {
    let store = make();
    done(store.open_session(&NewSession { base_prompt: Some("Be kind.".to_owned()), ..new(0) }));
    let positions = say(&*store, 2);
    done(store.set_opening(&session(), "Ada"));
    done(store.note_injected(&session(), &[EntryId::new("a")]));
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), positions[0], positions[0], None)]));
    done(store.reset_session(&session()));
    let after = state(&*store);
    assert_eq!((after.opening, after.base_prompt.as_str()), (None, "Be kind."));
    assert_eq!(after.consolidated, positions[0], "what is consolidated stays so");
    assert_eq!(done(store.injected(&session())), []);
    assert_eq!(said_in(&*store, &session()).len(), 2);
    assert_eq!(done(store.set_opening(&session(), "Eve")), "Eve");
}

fn a_session_that_ended_goes_on_when_more_is_said(make: Make<'_>) {
    let store = make();
    let positions = say(&*store, 1);
    done(store.end_session(&session(), minute(3)));
    assert_eq!(state(&*store).session.ended_at, Some(minute(3)));
    done(store.append(&[turn("t0", "cli:a", "word0")]));
    assert_eq!(state(&*store).session.ended_at, Some(minute(3)), "nothing new was said");
    let op = consolidated(Position::default(), positions[0], positions[0], Some("in short"));
    done(apply(&*store, Verb::Consolidate, &[op]));
    assert_eq!(state(&*store).session.ended_at, Some(minute(3)), "a summary is nothing that was said");
    done(store.append(&[turn("more", "cli:a", "one more thing")]));
    assert_eq!(state(&*store).session.ended_at, None);
    done(store.end_session(&session(), minute(5)));
    assert_eq!(done(store.open_session(&new(6))).session.ended_at, None);
}

fn turns_are_read_after_a_position(make: Make<'_>) {
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

fn the_pointer_moves_and_the_summary_becomes_a_turn(make: Make<'_>) {
    let store = make();
    let positions = say(&*store, 3);
    let op = consolidated(Position::default(), positions[1], positions[0], Some("in short"));
    assert_eq!(done(apply(&*store, Verb::Consolidate, &[op])), []);
    let after = state(&*store);
    assert_eq!((after.consolidated, after.kept_from), (positions[1], positions[0]));
    let turns = said_in(&*store, &session());
    let shape: Vec<_> = turns.iter().map(|turn| (turn.role, turn.content.as_str())).collect();
    let said = [(Role::User, "word0"), (Role::User, "word1"), (Role::User, "word2"), (Role::Summary, "in short")];
    assert_eq!(shape, said, "every turn is still there");
    assert_eq!(turns[3].at, minute(7));
    assert_eq!(done(store.changes(9)), [], "a pointer alone is no change of memory");
}

fn the_pointer_moves_only_from_where_it_stands(make: Make<'_>) {
    let store = make();
    let positions = say(&*store, 3);
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), positions[0], positions[0], None)]));
    let before = (state(&*store), said_in(&*store, &session()));
    for from in [Position::default(), positions[1]] {
        let op = consolidated(from, positions[2], positions[2], Some("late"));
        conflicts(apply(&*store, Verb::Consolidate, &[op]), "a pointer that stands elsewhere");
    }
    let nobody = Op::Consolidated {
        session: "cli:nobody".parse().unwrap(),
        from: Position::default(),
        to: positions[2],
        kept_from: positions[2],
        summary: None,
    };
    conflicts(apply(&*store, Verb::Consolidate, &[nobody]), "a session that is not there");
    assert_eq!((state(&*store), said_in(&*store, &session())), before);
}

fn the_pointer_and_all_else_move_together_or_not_at_all(make: Make<'_>) {
    let store = make();
    let positions = say(&*store, 2);
    let before = (state(&*store), said_in(&*store, &session()));
    let right = || consolidated(Position::default(), positions[1], positions[1], Some("in short"));
    let wrong = || consolidated(positions[0], positions[1], positions[1], Some("in short"));
    let entry = || Op::Insert(keyed("a", "ctx_cli:a_1", "what happened"));
    let document = || Op::document("user/working".parse().unwrap(), Some("- parser\n".to_owned()));
    conflicts(apply(&*store, Verb::Consolidate, &[entry(), document(), wrong()]), "a pointer that stands elsewhere");
    let taken_back = store.apply(&change(Verb::Consolidate), &[entry(), right(), document()], &mut || false);
    assert!(matches!(taken_back, Err(StoreError::TakenBack)), "{taken_back:?}");
    done(apply(&*store, Verb::Remember, &[Op::Insert(keyed("b", "taken", "mine"))]));
    let clash = Op::Insert(keyed("c", "taken", "yours"));
    conflicts(apply(&*store, Verb::Consolidate, &[right(), clash]), "a key that is taken");
    assert_eq!((state(&*store), said_in(&*store, &session())), before);
    assert_eq!(stored(&*store, "a"), None);
    assert_eq!(done(store.known_documents()), []);
    let entries = done(apply(&*store, Verb::Consolidate, &[entry(), right(), document()]));
    assert_eq!(entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(state(&*store).consolidated, positions[1]);
    assert_eq!(done(store.changes(9)).len(), 2);
}

fn a_conversation_is_searched_from_where_the_search_stands(make: Make<'_>) {
    let store = make();
    let positions = say(&*store, 3);
    assert_eq!(state(&*store).filled, Position::default());
    let filled = |from, to| Op::Filled { session: session(), from, to };
    assert_eq!(done(apply(&*store, Verb::Fill, &[filled(Position::default(), positions[1])])), []);
    let after = state(&*store);
    assert_eq!((after.filled, after.consolidated), (positions[1], Position::default()), "two pointers");
    for from in [Position::default(), positions[0]] {
        let ops = [Op::Insert(entry("a", "tea")), filled(from, positions[2])];
        let outcome = apply(&*store, Verb::Fill, &ops);
        assert!(matches!(&outcome, Err(StoreError::Conflict { what }) if what == "cli:a"), "{outcome:?}");
    }
    let nobody = Op::Filled { session: "cli:nobody".parse().unwrap(), from: Position::default(), to: positions[2] };
    conflicts(apply(&*store, Verb::Fill, &[nobody]), "a session that is not there");
    assert_eq!((state(&*store), stored(&*store, "a")), (after, None));
    assert_eq!(done(store.changes(9)), [], "a pointer alone is no change of memory");
}

fn a_place_is_never_given_twice(make: Make<'_>) {
    let store = make();
    let last = say(&*store, 2)[1];
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), last, last, None)]));
    done(store.erase(&Erasure { turns: vec![TurnId::new("t1")], ..Erasure::default() }));
    done(store.append(&[turn("next", "cli:a", "said after the erasing")]));
    let waiting = done(store.turns_after(&session(), state(&*store).consolidated));
    let ids: Vec<&str> = waiting.iter().map(|(_, turn)| turn.id.as_str()).collect();
    assert_eq!(ids, ["next"], "what is new is not taken for what was done");
}

fn failures_add_up_until_a_consolidation(make: Make<'_>) {
    let store = make();
    let positions = say(&*store, 1);
    assert_eq!(done(store.note_failure(&session())), 1);
    assert_eq!(done(store.note_failure(&session())), 2);
    assert_eq!(state(&*store).failures, 2);
    assert!(store.note_failure(&"cli:nobody".parse().unwrap()).is_err());
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), positions[0], positions[0], None)]));
    assert_eq!(state(&*store).failures, 0);
    assert_eq!(done(store.note_failure(&session())), 1);
}

fn what_was_injected_is_known_while_it_is_in_view(make: Make<'_>) {
    let store = make();
    let ids = |names: &[&str]| -> Vec<EntryId> { names.iter().map(|name| EntryId::new(*name)).collect() };
    let injected = || done(store.injected(&session()));
    done(store.open_session(&new(0)));
    done(store.note_injected(&session(), &ids(&["a"])));
    let first = say(&*store, 1)[0];
    done(store.note_injected(&session(), &ids(&["b", "c"])));
    let second = say(&*store, 2)[1];
    assert_eq!(injected(), ids(&["a", "b", "c"]));
    assert_eq!(done(store.injected(&"cli:b".parse().unwrap())), []);
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), second, first, None)]));
    assert_eq!(injected(), ids(&["b", "c"]), "they stand in front of the second message, which is still sent");
    done(store.note_injected(&session(), &ids(&["b"])));
    done(apply(&*store, Verb::Consolidate, &[consolidated(second, second, second, None)]));
    assert_eq!(injected(), ids(&["b"]), "given again, it stands further down");
}

fn lease(holder: &str, until: i64) -> Lease {
    Lease { name: "consolidate user".to_owned(), holder: holder.to_owned(), until: minute(until) }
}

fn a_lease_has_one_holder(make: Make<'_>) {
    let store = make();
    let alive = |_: &str| false;
    assert!(done(store.acquire(&lease("one", 10), minute(0), &alive)));
    assert!(!done(store.acquire(&lease("two", 10), minute(0), &alive)));
    assert!(!done(store.acquire(&lease("two", 99), minute(9), &alive)), "not before it has run out");
    let other = Lease { name: "something else".to_owned(), ..lease("two", 10) };
    assert!(done(store.acquire(&other, minute(0), &alive)), "another name is another lease");
}

fn whoever_holds_a_lease_holds_it_on(make: Make<'_>) {
    let store = make();
    let alive = |_: &str| false;
    assert!(done(store.acquire(&lease("one", 10), minute(0), &alive)));
    assert!(done(store.acquire(&lease("one", 20), minute(5), &alive)));
    assert!(!done(store.acquire(&lease("two", 30), minute(15), &alive)), "it was renewed until later");
    assert!(done(store.acquire(&lease("two", 30), minute(20), &alive)));
    assert!(!done(store.acquire(&lease("one", 40), minute(21), &alive)), "and what ran out is lost");
}

fn a_lease_that_ran_out_or_lost_its_holder_is_free(make: Make<'_>) {
    let store = make();
    assert!(done(store.acquire(&lease("one", 10), minute(0), &|_| true)));
    assert!(done(store.acquire(&lease("two", 20), minute(10), &|_| false)), "it ran out");
    let asked = std::cell::RefCell::new(Vec::new());
    let gone = |holder: &str| {
        asked.borrow_mut().push(holder.to_owned());
        true
    };
    assert!(done(store.acquire(&lease("three", 20), minute(11), &gone)), "its holder is gone");
    assert_eq!(asked.into_inner(), ["two"]);
    assert!(!done(store.acquire(&lease("one", 30), minute(12), &|holder| holder == "two")));
}

fn a_lease_is_given_back_by_its_holder_alone(make: Make<'_>) {
    let store = make();
    let take = |holder: &str| done(store.acquire(&lease(holder, 10), minute(0), &|_| false));
    assert!(take("one"));
    done(store.release(&lease("two", 10)));
    assert!(!take("two"));
    done(store.release(&lease("one", 10)));
    assert!(take("two"));
    done(store.release(&lease("one", 10)));
    assert!(!take("one"), "what was given back is no longer one's own");
}

fn the_ledger_adds_up(make: Make<'_>) {
    let store = make();
    let spent = |day: &str, purpose, calls, failures| Spent {
        day: day.to_owned(),
        provider: "ollama".to_owned(),
        model: "small".to_owned(),
        purpose,
        calls,
        failures,
        tokens_in: 10 * calls,
        tokens_out: calls,
    };
    assert_eq!(done(store.spending("")), []);
    for row in [
        spent("2026-03-01", Purpose::Summary, 1, 0),
        spent("2026-03-02", Purpose::Summary, 1, 0),
        spent("2026-03-02", Purpose::Summary, 2, 1),
        spent("2026-03-02", Purpose::Chat, 0, 1),
        Spent { model: "large".to_owned(), ..spent("2026-03-02", Purpose::Chat, 1, 0) },
    ] {
        done(store.spend(&row));
    }
    let today = [
        Spent { model: "large".to_owned(), ..spent("2026-03-02", Purpose::Chat, 1, 0) },
        spent("2026-03-02", Purpose::Chat, 0, 1),
        spent("2026-03-02", Purpose::Summary, 3, 1),
    ];
    assert_eq!(done(store.spending("2026-03-02")), today);
    let all = done(store.spending("2026-03-01"));
    assert_eq!(all[..3], today, "the newest first");
    assert_eq!(all[3..], [spent("2026-03-01", Purpose::Summary, 1, 0)]);
}

fn how_a_provider_fares_is_kept(make: Make<'_>) {
    let store = make();
    assert_eq!(done(store.breaker("ollama")), None);
    let resting = Breaker { failures: 5, open_until: Some(minute(3)) };
    done(store.keep_breaker("ollama", &resting));
    done(store.keep_breaker("openai", &Breaker::default()));
    assert_eq!(done(store.breaker("ollama")), Some(resting));
    assert_eq!(done(store.breaker("openai")), Some(Breaker::default()));
    done(store.keep_breaker("ollama", &Breaker::default()));
    assert_eq!(done(store.breaker("ollama")), Some(Breaker::default()));
}
