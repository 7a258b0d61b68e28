//! Changes: undone, continued, and what they touched.

use super::*;

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

fn write(store: &dyn Store, text: Option<&str>) -> Change {
    let change = change(Verb::Write);
    let op = Op::document(profile(), text.map(str::to_owned));
    assert_eq!(done(store.apply(&change, &[op], &mut || true)), []);
    change
}

/// Does what an engine does to undo.
fn undo(store: &dyn Store, undoable: &Undoable) -> Result<Vec<Entry>, StoreError> {
    let entries = undoable.entries.iter().map(|(now, before)| match before {
        Some(before) => Op::Update(Entry { version: now.version, ..before.clone() }),
        None => Op::Update(inactive(now)),
    });
    let documents = undoable.documents.iter().map(|(name, _, before)| Op::document(name.clone(), before.clone()));
    let ops: Vec<Op> = entries.chain(documents).collect();
    let undoing = Change { undoes: Some(undoable.change.id.clone()), ..change(Verb::Undo) };
    store.apply(&undoing, &ops, &mut || true)
}

/// A change that touched entries and nothing else.
fn of_entries(change: Change, entries: Vec<(Entry, Option<Entry>)>) -> Undoable {
    Undoable { change, entries, documents: Vec::new(), tasks: Vec::new(), threads: Vec::new(), projects: Vec::new() }
}

#[test]
fn the_last_change_can_be_undone_and_then_the_one_before() {
    let store = make();
    assert_eq!(done(store.undoable()), None);
    let (telling, editing) = (change(Verb::Remember), change(Verb::Edit));
    let first = done(store.apply(&telling, &[Op::Insert(entry("a", "tea"))], &mut || true)).remove(0);
    let next = Op::Update(Entry { content: "coffee".to_owned(), ..first.clone() });
    let second = done(store.apply(&editing, &[next], &mut || true)).remove(0);

    let last = done(store.undoable()).unwrap();
    let expected = of_entries(editing, vec![(second, Some(first))]);
    assert_eq!(last, expected);
    let back = done(undo(&*store, &last)).remove(0);
    assert_eq!((back.version, back.content.as_str()), (3, "tea"));

    let last = done(store.undoable()).unwrap();
    let expected = of_entries(telling, vec![(back, None)]);
    assert_eq!(last, expected, "an undo is not undone, nor what it undid");
    assert_eq!(done(undo(&*store, &last)).remove(0).status, Status::Inactive);
    assert_eq!(done(store.undoable()), None);
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn a_change_is_undone_once() {
    let store = make();
    insert(&*store, entry("a", "tea"));
    let last = done(store.undoable()).unwrap();
    done(undo(&*store, &last));
    let before = everything(&*store);
    conflicts(undo(&*store, &last), "undoing again");
    let renewed = Undoable { entries: Vec::new(), ..last };
    conflicts(undo(&*store, &renewed), "undoing again without touching anything");
    let unknown = Undoable { change: change(Verb::Edit), ..renewed };
    conflicts(undo(&*store, &unknown), "undoing what never was");
    assert_eq!(everything(&*store), before);
}

#[test]
fn a_change_knows_everything_that_it_touched() {
    let store = make();
    let old = insert(&*store, entry("a", "tea"));
    let ops = [
        Op::Update(Entry { content: "coffee".to_owned(), ..old.clone() }),
        Op::Insert(entry("b", "new")),
        Op::document(profile(), Some("- Ada\n".to_owned())),
        Op::Update(Entry { content: "milk".to_owned(), version: 2, ..old.clone() }),
    ];
    done(apply(&*store, Verb::Import, &ops));
    let last = done(store.undoable()).unwrap();
    let now = |id| stored(&*store, id).unwrap();
    assert_eq!(last.entries, [(now("a"), Some(old)), (now("b"), None)]);
    assert_eq!(last.documents, [(profile(), ContentHash::of("- Ada\n"), None)]);
    done(undo(&*store, &last));
    assert_eq!((now("a").content.as_str(), now("b").status), ("tea", Status::Inactive));
    assert_eq!(done(store.known_documents())[0].hash, ContentHash::missing());
}

#[test]
fn a_document_knows_what_it_was_before() {
    let store = make();
    write(&*store, Some("one"));
    write(&*store, Some("two"));
    let last = done(store.undoable()).unwrap();
    assert_eq!(last.documents, [(profile(), ContentHash::of("two"), Some("one".to_owned()))]);
    done(undo(&*store, &last));
    write(&*store, None);
    let last = done(store.undoable()).unwrap();
    assert_eq!(last.documents, [(profile(), ContentHash::missing(), Some("one".to_owned()))]);
}

#[test]
fn a_change_goes_on_in_several_transactions() {
    let store = make();
    let old = insert(&*store, entry("a", "tea"));
    write(&*store, Some("one"));
    let long = change(Verb::Import);
    let go_on = |ops: &[Op]| done(store.apply(&long, ops, &mut || true));
    let coffee = go_on(&[
        Op::Update(Entry { content: "coffee".to_owned(), ..old.clone() }),
        Op::document(profile(), Some("two".to_owned())),
    ])
    .remove(0);
    let milk = go_on(&[
        Op::Update(Entry { content: "milk".to_owned(), ..coffee }),
        Op::Insert(entry("b", "new")),
        Op::document(profile(), Some("three".to_owned())),
    ])
    .remove(0);
    assert_eq!(done(store.changes(9)).len(), 3, "it is one change");
    let last = done(store.undoable()).unwrap();
    let expected = Undoable {
        documents: vec![(profile(), ContentHash::of("three"), Some("one".to_owned()))],
        ..of_entries(long.clone(), vec![(milk, Some(old)), (stored(&*store, "b").unwrap(), None)])
    };
    assert_eq!(last, expected, "everything as it is now, and as it was before the first touch");
    let made: Vec<Change> =
        done(store.entry_versions(&EntryId::new("a"))).into_iter().map(|version| version.change).collect();
    assert_eq!(made[1..], [long.clone(), long]);
    done(undo(&*store, &last));
    assert_eq!(stored(&*store, "a").unwrap().content, "tea");
    assert_eq!(done(store.known_documents())[0].hash, ContentHash::of("one"));
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn a_change_that_was_undone_does_not_go_on() {
    let store = make();
    let long = change(Verb::Import);
    done(store.apply(&long, &[Op::Insert(entry("a", "tea"))], &mut || true));
    done(undo(&*store, &done(store.undoable()).unwrap()));
    let before = everything(&*store);
    let outcome = store.apply(&long, &[Op::Insert(entry("b", "milk"))], &mut || true);
    assert!(matches!(&outcome, Err(StoreError::Conflict { what }) if *what == long.id.as_str()), "{outcome:?}");
    assert_eq!(everything(&*store), before);
}

#[test]
fn an_undo_goes_on_too() {
    let store = make();
    let ops = [entry("a", "tea"), entry("b", "milk")].map(Op::Insert);
    let entries = done(apply(&*store, Verb::Import, &ops));
    let undone = done(store.undoable()).unwrap().change.id;
    let undoing = Change { undoes: Some(undone), ..change(Verb::Undo) };
    for entry in &entries {
        done(store.apply(&undoing, &[Op::Update(inactive(entry))], &mut || true));
    }
    assert_eq!(done(store.undoable()), None);
    assert_eq!(done(store.changes(9)).len(), 2);
}

#[test]
fn confirmed_changes_survive_reopening() {
    let store = make();
    insert(&*store, full_entry("a"));
    write(&*store, Some("- Ada\n"));
    say(&*store, 2);
    put_task(&*store, &full_task("t"));
    store.note(recall("r", "tea", 1, &["a"]));
    let before = everything(&*store);
    let store = store.reopen();
    assert_eq!(everything(&*store), before);
    assert_eq!(done(store.check()), Vec::<String>::new());
}
