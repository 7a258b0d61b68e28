//! Sessions that are picked up again, and their pointers.

use super::*;

#[test]
fn what_is_not_given_of_a_session_stays() {
    let store = make();
    assert_eq!(done(store.session(&session())), None);
    let first = done(store.open_session(&new(1)));
    assert_eq!((first.session.created_at, first.session.project.as_deref()), (minute(1), None));
    assert_eq!((first.base_prompt.as_str(), &first.opening, first.failures), ("", &None, 0));
    assert_eq!((first.consolidated, first.kept_from), (Position::default(), Position::default()));
    let told = NewSession {
        title: Some("Trip to Oslo".to_owned()),
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

#[test]
fn a_new_session_is_opened_once() {
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

#[test]
fn sessions_come_page_by_page_and_none_twice() {
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

#[test]
fn the_first_opening_wins() {
    let store = make();
    done(store.open_session(&new(0)));
    assert_eq!(
        done(store.set_opening(&session(), "", &ErasureMark::default())),
        "",
        "computed and empty is not uncomputed"
    );
    assert_eq!(done(store.set_opening(&session(), "later", &ErasureMark::default())), "");
    assert_eq!(state(&*store).opening.as_deref(), Some(""));
    assert!(store.set_opening(&"cli:nobody".parse().unwrap(), "x", &ErasureMark::default()).is_err());
}

#[test]
fn a_reset_forgets_what_a_session_was_given() {
    let store = make();
    done(store.open_session(&NewSession { base_prompt: Some("Be kind.".to_owned()), ..new(0) }));
    let positions = say(&*store, 2);
    done(store.set_opening(&session(), "Ada", &ErasureMark::default()));
    done(store.note_injected(&session(), &[EntryId::new("a")]));
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), positions[0], positions[0], None)]));
    done(store.reset_session(&session()));
    let after = state(&*store);
    assert_eq!((after.opening, after.base_prompt.as_str()), (None, "Be kind."));
    assert_eq!(after.consolidated, positions[0], "what is consolidated stays so");
    assert_eq!(done(store.injected(&session())), []);
    assert_eq!(said_in(&*store, &session()).len(), 2);
    assert_eq!(done(store.set_opening(&session(), "Eve", &ErasureMark::default())), "Eve");
}

#[test]
fn a_session_that_ended_goes_on_when_more_is_said() {
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

#[test]
fn the_pointer_moves_and_the_summary_becomes_a_turn() {
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

#[test]
fn the_pointer_moves_only_from_where_it_stands() {
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

#[test]
fn the_pointer_and_all_else_move_together_or_not_at_all() {
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

#[test]
fn who_the_person_is_stays_unless_it_is_told() {
    let store = make();
    let person = |name: &str| Op::Person { session: session(), name: name.to_owned() };
    let settle = |name: &str| {
        done(apply(&*store, Verb::Consolidate, &[person(name)]));
        state(&*store).session.person
    };
    assert_eq!(done(store.open_session(&new(1))).session.person, None);
    assert_eq!(settle("Ada").as_deref(), Some("Ada"));
    assert_eq!(settle("Grace").as_deref(), Some("Ada"), "what is known stays");
    let told = NewSession { person: Some("Grace".to_owned()), ..new(2) };
    assert_eq!(done(store.open_session(&told)).session.person.as_deref(), Some("Grace"));
    assert_eq!(done(store.open_session(&new(3))).session.person.as_deref(), Some("Grace"), "what is not given stays");
    assert_eq!(done(store.changes(9)), [], "no change of memory");
    let bundle = done(store.bundle());
    let other = make();
    done(other.adopt(&change(Verb::Import), &bundle, &ErasureMark::default(), &mut |_| true));
    assert_eq!(state(&*other).session.person.as_deref(), Some("Grace"), "it comes along with an export");
}

#[test]
fn failures_add_up_until_a_consolidation() {
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

#[test]
fn the_latest_session_comes_first() {
    let store = make();
    let at = |n, id: &str, session: &str| Turn { at: minute(n), ..turn(id, session, "hello") };
    done(store.append(&[at(1, "t1", "cli:a"), at(2, "t2", "cli:b"), at(5, "t3", "cli:a"), at(4, "t4", "cli:a")]));
    let session = |id: &str, from, to| Session {
        id: id.parse().unwrap(),
        title: None,
        project: None,
        task: None,
        person: None,
        created_at: minute(from),
        updated_at: minute(to),
        ended_at: None,
    };
    let sessions: Vec<_> = done(store.sessions()).into_iter().map(|state| state.session).collect();
    assert_eq!(sessions, [session("cli:a", 1, 5), session("cli:b", 2, 2)]);
}
