//! Statements that were taken back.

use throughline_core::lineage::{digested, normalised};

use super::*;

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

fn from_turn(id: &str, content: &str, turn: &str) -> Entry {
    Entry { session: Some(session()), provenance: vec![TurnId::new(turn)], ..entry(id, content) }
}

/// What was taken back of these conversations and turns: the text, and why.
fn withdrawn(store: &dyn Store, turns: &[&str], sessions: &[SessionId]) -> Vec<(String, Withdrawal)> {
    let turns: Vec<TurnId> = turns.iter().map(|id| TurnId::new(*id)).collect();
    let found = done(store.withdrawn(&turns, sessions));
    found.into_iter().flatten().map(|found| (found.content.unwrap_or_default(), found.why)).collect()
}

/// Why the very words were taken back, if they were.
fn why(store: &dyn Store, statement: &str) -> Option<Withdrawal> {
    done(store.withdrawals_of(&[normalised(statement).unwrap()])).remove(0).map(|found| found.why)
}

#[test]
fn what_is_forgotten_is_known_by_turn_session_and_words() {
    let store = make();
    let lisbon = insert(&*store, from_turn("a", "I live in Lisbon", "t1"));
    assert_eq!(why(&*store, "I live in Lisbon"), None);
    done(apply(&*store, Verb::Forget, &[Op::Update(inactive(&lisbon))]));
    let expected = [("I live in Lisbon".to_owned(), Withdrawal::Forgotten)];
    assert_eq!(withdrawn(&*store, &["t1"], &[]), expected);
    assert_eq!(withdrawn(&*store, &[], &[session()]), expected);
    assert_eq!(withdrawn(&*store, &["t2"], &["cli:other".parse().unwrap()]), []);
    assert_eq!(why(&*store, "i live in LISBON!"), Some(Withdrawal::Forgotten));
    assert_eq!(why(&*store, "I live in Porto"), None);
    insert(&*store, entry("b", "I live in Lisbon."));
    assert_eq!(why(&*store, "I live in Lisbon"), None, "it was said again");
    assert_eq!(withdrawn(&*store, &["t1"], &[]), []);
}

#[test]
fn a_statement_that_was_taken_back_is_known_in_other_words() {
    let known =
        |store: &dyn Store, text: &str| done(store.withdrawals_of(&digested(text))).into_iter().any(|w| w.is_some());
    let store = make();
    let porto = insert(&*store, from_turn("a", "I live in Porto", "t1"));
    let deploy = insert(&*store, from_turn("b", "We deploy on Fridays", "t2"));
    done(apply(&*store, Verb::Forget, &[Op::Update(inactive(&deploy))]));
    done(store.erase(&Erasure { memories: vec![porto.id], ..Erasure::default() }));
    for text in ["I'm living in Porto", "Porto is my home", "On Fridays we deploy"] {
        assert!(known(&*store, text), "{text}");
    }
    for text in
        ["I live in Faro", "My sister lives in Porto", "We don't deploy on Fridays", "I live in Porto and work at Acme"]
    {
        assert!(!known(&*store, text), "{text}");
    }
    insert(&*store, entry("c", "I'm living in Porto"));
    assert!(!known(&*store, "Porto is my home"), "it was said again");
}

#[test]
fn what_is_corrected_names_its_successor_and_an_undo_ends_it() {
    let store = make();
    let wrong = insert(&*store, from_turn("a", "My manager is Tom", "t1"));
    let right = Entry { supersedes: vec![wrong.id.clone()], ..entry("b", "My manager is Ines") };
    done(apply(&*store, Verb::Correct, &[Op::Update(inactive(&wrong)), Op::Insert(right)]));
    let found = done(store.withdrawn(&[TurnId::new("t1")], &[])).unwrap().remove(0);
    assert_eq!((found.why, found.by, found.at), (Withdrawal::Superseded, Some(EntryId::new("b")), minute(0)));
    let undone = done(store.undoable()).unwrap().change;
    let undo = Change { undoes: Some(undone.id), ..change(Verb::Undo) };
    done(store.apply(&undo, &[], &mut || true));
    assert_eq!(withdrawn(&*store, &["t1"], &[]), []);
}

#[test]
fn merging_importing_and_the_archive_withdraw_nothing() {
    let store = make();
    for (nth, verb) in [Verb::Merge, Verb::Reflect, Verb::Undo, Verb::Import].into_iter().enumerate() {
        let known = insert(&*store, from_turn(&format!("id{nth}"), &format!("statement number {nth}"), "t1"));
        done(apply(&*store, verb, &[Op::Update(inactive(&known))]));
    }
    let summary = insert(&*store, Entry { layer: Layer::Archive, ..from_turn("s", "They spoke about tea", "t1") });
    done(apply(&*store, Verb::Forget, &[Op::Update(inactive(&summary))]));
    assert_eq!(withdrawn(&*store, &["t1"], &[session()]), []);
}

#[test]
fn lines_that_leave_a_document_are_withdrawn_unless_they_move() {
    let store = make();
    let line = |id: &str, content: &str| Entry {
        kind: Kind::Bullet,
        namespace: address("user/profile"),
        ..entry(id, content)
    };
    let write = |text: &str, lines: &[Entry]| {
        let op = match Op::document(profile(), Some(text.to_owned())) {
            Op::Document { name, text, hash, .. } => Op::Document { name, text, hash, bullets: Some(lines.to_vec()) },
            other => other,
        };
        done(apply(&*store, Verb::Edit, &[op]));
    };
    write("one", &[line("l1", "I live in Lisbon"), line("l2", "I like tea")]);
    write("two", &[line("l3", "I live in Porto"), line("l2", "I like tea")]);
    let found = done(store.withdrawn(&[], &[])).unwrap().remove(0);
    assert_eq!((found.content.as_deref(), found.by), (Some("I live in Lisbon"), Some(EntryId::new("l3"))));
    write("three", &[line("l3", "I live in Porto"), line("l4", "i like tea")]);
    assert_eq!(why(&*store, "I like tea"), None, "it only looks different");
    write("four", &[line("l4", "i like tea")]);
    assert_eq!(why(&*store, "I live in Porto"), Some(Withdrawal::Forgotten));
}

#[test]
fn an_erased_statement_leaves_a_digest_and_no_text() {
    let store = make();
    let said = throughline_testkit::stores::turn("t1", session().as_str(), "By the way, I live in Lisbon. I like tea.");
    done(store.append(&[said]));
    insert(&*store, from_turn("a", "I live in Lisbon", "t1"));
    let erasure = Erasure { memories: vec![EntryId::new("a")], at: minute(5), ..Erasure::default() };
    done(store.erase(&erasure));
    assert_eq!(withdrawn(&*store, &["t1"], &[session()]), [], "there is no text to compare with");
    for statement in ["I live in Lisbon", "By the way, I live in Lisbon."] {
        assert_eq!(why(&*store, statement), Some(Withdrawal::Erased), "{statement}");
    }
    assert_eq!(why(&*store, "I like tea."), None);
    let erasure = Erasure { turns: vec![TurnId::new("t1")], at: minute(5), ..Erasure::default() };
    assert!(done(store.erased_turns(&[TurnId::new("t1")])).is_empty());
    done(store.erase(&erasure));
    assert_eq!(done(store.erased_turns(&[TurnId::new("t1"), TurnId::new("t2")])), [TurnId::new("t1")].into());
}

#[test]
fn a_conversation_is_erased_with_its_turns_and_entries() {
    let store = make();
    for (id, session, content) in [("t1", "cli:one", "My doctor is Quibble."), ("t2", "cli:two", "I like tea.")] {
        done(store.append(&[throughline_testkit::stores::turn(id, session, content)]));
        let of = Entry { session: Some(session.parse().unwrap()), ..from_turn(&format!("e-{id}"), content, id) };
        insert(&*store, of);
    }
    let one: SessionId = "cli:one".parse().unwrap();
    let erasure = Erasure { scope: Some(ErasureScope::Session(one.clone())), at: minute(5), ..Erasure::default() };
    assert_eq!(done(store.erase(&erasure)).turns, 1);
    assert_eq!((done(store.session(&one)), stored(&*store, "e-t1")), (None, None));
    assert!(stored(&*store, "e-t2").is_some());
    assert_eq!(why(&*store, "My doctor is Quibble"), Some(Withdrawal::Erased));
    assert_eq!(done(store.erased_turns(&[TurnId::new("t1"), TurnId::new("t2")])), [TurnId::new("t1")].into());
    let everything = Erasure { scope: Some(ErasureScope::Everything), at: minute(6), ..Erasure::default() };
    done(store.erase(&everything));
    let bundle = done(store.bundle());
    assert_eq!((bundle.memories, bundle.turns, bundle.sessions), (Vec::new(), Vec::new(), Vec::new()));
    assert_eq!(why(&*store, "My doctor is Quibble"), None, "an empty memory may begin with an export");
    assert_eq!(done(store.check()), Vec::<String>::new());
}
