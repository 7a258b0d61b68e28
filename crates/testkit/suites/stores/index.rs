//! The index: lines of documents, and rebuilding.

use super::candidates::{by_letters, found, search};
use super::*;

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

#[test]
fn lines_of_a_document_are_found() {
    let store = make();
    let lines = [bullet("user/profile", "a", "likes tea"), bullet("user/profile", "b", "lives in Lisbon")];
    index(&*store, &profile(), None, &lines);
    insert(&*store, entry("c", "likes tea"));
    assert_eq!(found(&*store, "tea"), ["a", "c"]);
    assert_eq!(by_letters(&*store, "isbo"), ["b"]);
    let only = Filter { kinds: vec![Kind::Bullet], ..Filter::default() };
    assert_eq!(search(&*store, "tea", only, 9), ["a"]);
    assert_eq!(stored(&*store, "a"), Some(lines[0].clone()));
    assert_eq!(done(store.changes(9)).len(), 2, "the document and the entry; a derived line is no change");
}

#[test]
fn a_known_line_keeps_its_source_and_dates() {
    let store = make();
    let first = Entry { source: Source::Agent, ..bullet("user/profile", "a", "likes tea") };
    index(&*store, &profile(), None, std::slice::from_ref(&first));
    let weight = Importance::new(1.0).unwrap();
    let later = Entry { source: Source::User, created_at: minute(9), updated_at: minute(9), ..first.clone() };
    let weighty = Entry { importance: weight, ..later.clone() };
    index(&*store, &profile(), None, &[later.clone(), Entry { id: EntryId::new("b"), ..later }]);
    assert_eq!(stored(&*store, "a"), Some(first.clone()));
    assert_eq!(stored(&*store, "b").unwrap().created_at, minute(9), "a new one has its own");
    index(&*store, &profile(), None, &[weighty]);
    let now = stored(&*store, "a").unwrap();
    assert_eq!((now.importance, now.source, now.created_at), (weight, Source::Agent, minute(0)));
}

#[test]
fn a_line_that_is_gone_is_not_found() {
    let store = make();
    let working: DocumentName = "user/working".parse().unwrap();
    index(&*store, &profile(), None, &[bullet("user/profile", "a", "likes tea")]);
    index(&*store, &working, None, &[bullet("user/working", "w", "making tea")]);
    index(&*store, &profile(), None, &[bullet("user/profile", "b", "likes milk")]);
    assert_eq!(found(&*store, "tea"), ["w"], "and the other document is left alone");
    assert_eq!(stored(&*store, "a"), None);
    index(&*store, &profile(), None, &[]);
    assert!(found(&*store, "milk").is_empty());
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn the_stamp_of_a_document_is_kept_until_it_changes() {
    let store = make();
    let stamp = || done(store.known_documents())[0].stamp.clone();
    let write = |text: &str| {
        let op = Op::document(profile(), Some(text.to_owned()));
        done(apply(&*store, Verb::Write, &[op]));
    };
    write("one");
    assert_eq!(stamp(), None);
    index(&*store, &profile(), Some("s1"), &[]);
    assert_eq!(stamp().as_deref(), Some("s1"));
    write("two");
    assert_eq!(stamp(), None, "its lines are yet to be read");
}

#[test]
fn a_rebuilt_index_finds_the_same() {
    let store = make();
    insert(&*store, keyed("a", "drink", "tea"));
    index(&*store, &profile(), None, &[bullet("user/profile", "b", "likes tea")]);
    done(store.append(&[turn("t", "cli:a", "tea?")]));
    let mut reports = Vec::new();
    assert_eq!(done(store.rebuild(&mut |at, of| reports.push((at, of)))), 3);
    assert_eq!(reports.last(), Some(&(3, 3)));
    assert_eq!(found(&*store, "tea"), ["a", "b", "t"]);
    let turns = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
    assert_eq!(search(&*store, "tea", turns, 9), ["t"]);
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn stamps_are_kept_per_machine() {
    let store = make();
    let there = store.on_machine("there");
    let stamps = || {
        let stamp = |store: &dyn Store| done(store.known_documents()).remove(0).stamp;
        (stamp(&*store), stamp(&*there))
    };
    let some = |stamp: &str| Some(stamp.to_owned());
    index(&*store, &profile(), Some("s1"), &[bullet("user/profile", "a", "Ada")]);
    assert_eq!(stamps(), (some("s1"), None), "the other one has yet to look at its file");
    index(&*there, &profile(), Some("t1"), &[bullet("user/profile", "a", "Ada")]);
    assert_eq!(stamps(), (some("s1"), some("t1")));
    done(apply(&*there, Verb::Write, &[Op::document(profile(), Some("- Eve\n".to_owned()))]));
    assert_eq!(stamps(), (None, None), "a new text is read by all of them");
    index(&*store, &profile(), Some("s2"), &[]);
    index(&*there, &profile(), Some("t2"), &[]);
    done(store.rebuild(&mut |_, _| {}));
    assert_eq!(stamps(), (None, None));
}
