//! Export and import.

use super::*;

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

fn write(store: &dyn Store, text: &str) {
    done(apply(store, Verb::Write, &[Op::document(profile(), Some(text.to_owned()))]));
}

/// A store with something of every sort.
fn furnish(store: &dyn Store) {
    let first = insert(store, keyed("a", "drink", "tea"));
    let second = update(store, Entry { content: "coffee".to_owned(), updated_at: minute(3), ..first });
    update(store, Entry { tags: vec!["hot".to_owned()], ..second });
    insert(store, Entry { created_at: minute(2), ..full_entry("b") });
    let forgotten = insert(store, keyed("c", "editor", "vim"));
    update(store, inactive(&forgotten));
    insert(store, keyed("d", "editor", "emacs"));
    write(store, "- Ada\n");
    write(store, "- Ada\n- Lisbon\n");
    let lines = [bullet("user/profile", "p1", "Ada"), bullet("user/profile", "p2", "Lisbon")]
        .map(|line| Entry { layer: Layer::Identity, ..line });
    index(store, &profile(), Some("stamp"), &lines);
    let said = Turn { speaker: Some("Ada".to_owned()), at: minute(8), ..turn("said", "cli:main", "every field") };
    done(store.append(&[said, Turn { at: minute(1), ..turn("t2", "web:x", "hello") }]));
    store.note(recall("r1", "tea", 4, &["a", "p1"]));
    store.note(recall("r2", "tea", 6, &["a"]));
}

pub(super) fn furnished() -> Fresh {
    let store = make();
    furnish(&*store);
    store
}

fn adopt(store: &dyn Store, bundle: &Bundle) -> Adopted {
    done(store.adopt(&change(Verb::Import), bundle, &ErasureMark::default(), &mut |_| true))
}

pub(super) fn sound(store: &dyn Store) {
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn an_empty_store_adopts_an_equal_bundle() {
    let bundle = done(furnished().bundle());
    assert_eq!((bundle.memories.len(), bundle.history.len(), bundle.document_history.len()), (6, 7, 2));
    assert_eq!((bundle.sessions.len(), bundle.turns.len()), (2, 2));
    let other = make();
    assert_eq!(adopt(&*other, &bundle), Adopted { added: 4, turns: 2, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    let found = done(other.search(&searching("coffee", Filter::default(), 9)));
    assert_eq!(found.candidates.len(), 1, "and it is found");
    sound(&*other);
}

#[test]
fn adopting_twice_changes_nothing() {
    let bundle = done(furnished().bundle());
    let other = make();
    adopt(&*other, &bundle);
    let (first, known) = (done(other.undoable()), done(other.known_documents()));
    assert_eq!(adopt(&*other, &bundle), Adopted { kept: 4, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    assert_eq!(done(other.known_documents()), known);
    assert_eq!(done(other.undoable()), first, "there is nothing in the second import to undo");
    sound(&*other);
}

#[test]
fn adopting_can_be_taken_back() {
    let bundle = done(furnished().bundle());
    let other = make();
    insert(&*other, entry("mine", "mine"));
    let before = everything(&*other);
    let mut receipt = None;
    let outcome = other.adopt(&change(Verb::Import), &bundle, &ErasureMark::default(), &mut |adopted| {
        receipt = Some(adopted.clone());
        false
    });
    assert!(matches!(outcome, Err(StoreError::TakenBack)), "{outcome:?}");
    assert_eq!(everything(&*other), before);
    assert_eq!(receipt, Some(adopt(&*other, &bundle)), "a dry run tells what the import does");
}

#[test]
fn an_adopted_memory_whose_key_is_taken_is_inactive() {
    let bundle = done(furnished().bundle());
    let other = make();
    let mine = insert(&*other, keyed("mine", "drink", "water"));
    let adopted = adopt(&*other, &bundle);
    assert_eq!(adopted, Adopted { added: 4, inactive: vec![EntryId::new("a")], turns: 2, ..Adopted::default() });
    let theirs = stored(&*other, "a").unwrap();
    assert_eq!((theirs.status, theirs.content.as_str()), (Status::Inactive, "coffee"));
    assert_eq!(done(other.keyed(&mine.namespace, None, "drink")), Some(mine));
    assert_eq!(done(other.entry_versions(&theirs.id)).last().map(|version| version.entry.clone()), Some(theirs));
    sound(&*other);
    assert_eq!(adopt(&*other, &bundle), Adopted { kept: 4, ..Adopted::default() });
}

#[test]
fn an_adopted_memory_without_history_gets_its_first() {
    let whole = done(furnished().bundle());
    let bundle = Bundle { memories: whole.memories, ..Bundle::default() };
    let other = make();
    assert_eq!(adopt(&*other, &bundle).added, 4);
    assert_eq!(done(other.entry_versions(&EntryId::new("a"))).len(), 1);
    sound(&*other);
}

/// Does what an engine does to undo an import.
fn undo(store: &dyn Store) {
    let undoable = done(store.undoable()).unwrap();
    assert!(undoable.entries.iter().all(|(_, before)| before.is_none()), "{undoable:?}");
    let entries = undoable.entries.iter().map(|(now, _)| Op::Update(inactive(now)));
    let documents = undoable.documents.iter().map(|(name, ..)| Op::document(name.clone(), None));
    let tasks = undoable.tasks.iter().map(|(now, _)| Op::Task(removed(now)));
    let projects = undoable.projects.iter().map(|(now, _)| Op::Project(retired(now)));
    let ops: Vec<Op> = entries.chain(documents).chain(tasks).chain(projects).collect();
    let undoing = Change { undoes: Some(undoable.change.id), ..change(Verb::Undo) };
    done(store.apply(&undoing, &ops, &mut || true));
}

#[test]
fn undoing_an_import_makes_its_memories_inactive() {
    let bundle = done(furnished().bundle());
    let other = make();
    let import = change(Verb::Import);
    done(other.adopt(&import, &bundle, &ErasureMark::default(), &mut |_| true));
    assert_eq!(done(other.undoable()).map(|undoable| undoable.change), Some(import), "the import as a whole");
    undo(&*other);
    let active = Filter { kinds: vec![Kind::Entry], status: Some(Status::Active), ..Filter::default() };
    assert_eq!(listed(&*other, &active), Vec::<String>::new());
    assert_eq!(done(other.known_documents())[0].hash, throughline_core::model::ContentHash::missing());
    assert_eq!(done(other.undoable()), None, "what was made elsewhere is not undone here");
    sound(&*other);
}

#[test]
fn undoing_an_import_leaves_what_was_there() {
    let bundle = done(furnished().bundle());
    let other = make();
    let mine = insert(&*other, keyed("mine", "drink", "water"));
    adopt(&*other, &bundle);
    undo(&*other);
    let active = Filter { kinds: vec![Kind::Entry], status: Some(Status::Active), ..Filter::default() };
    assert_eq!(listed(&*other, &active), ["mine"]);
    assert_eq!(stored(&*other, "mine"), Some(mine));
    sound(&*other);
}

/// The entries that are active, oldest first, without their versions.
fn active(store: &dyn Store) -> Vec<Entry> {
    let memories = done(store.bundle()).memories.into_iter().map(|memory| Entry { version: 0, ..memory.entry });
    memories.filter(|entry| entry.kind == Kind::Entry && entry.status == Status::Active).collect()
}

#[test]
fn an_import_that_was_undone_comes_back() {
    let from = furnished();
    let bundle = done(from.bundle());
    let other = make();
    adopt(&*other, &bundle);
    for _ in 0..2 {
        undo_all(&*other);
        assert_eq!(active(&*other), []);
        let again = change(Verb::Import);
        let adopted = done(other.adopt(&again, &bundle, &ErasureMark::default(), &mut |_| true));
        assert_eq!((adopted.added, adopted.kept), (3, 1), "what was forgotten there stays so");
        assert_eq!(active(&*other), active(&*from));
        assert_eq!(done(other.undoable()).map(|undoable| undoable.change), Some(again), "and can be undone again");
        sound(&*other);
    }
    assert_eq!(adopt(&*other, &bundle), Adopted { kept: 4, ..Adopted::default() }, "what is back is here");
}

/// Puts every entry of the last change back to what it was.
fn undo_all(store: &dyn Store) {
    let undoable = done(store.undoable()).unwrap();
    let back = |(now, before): &(Entry, Option<Entry>)| match before {
        Some(before) => Op::Update(Entry { version: now.version, ..before.clone() }),
        None => Op::Update(inactive(now)),
    };
    let ops: Vec<Op> = undoable.entries.iter().map(back).collect();
    let undoing = Change { undoes: Some(undoable.change.id), ..change(Verb::Undo) };
    done(store.apply(&undoing, &ops, &mut || true));
}

#[test]
fn what_was_forgotten_stays_so_when_it_is_imported() {
    let store = make();
    let first = insert(&*store, keyed("a", "drink", "tea"));
    let bundle = done(store.bundle());
    let forgotten = update(&*store, inactive(&first));
    assert_eq!(adopt(&*store, &bundle), Adopted { kept: 1, ..Adopted::default() });
    assert_eq!(stored(&*store, "a"), Some(forgotten.clone()));
    update(&*store, Entry { content: "milk".to_owned(), ..forgotten.clone() });
    undo_all(&*store);
    assert_eq!(adopt(&*store, &bundle), Adopted { kept: 1, ..Adopted::default() }, "undoing an edit forgets nothing");
    assert_eq!(stored(&*store, "a").map(|entry| entry.status), Some(Status::Inactive));
}

#[test]
fn a_change_that_came_with_an_import_does_not_go_on() {
    let from = make();
    let theirs = change(Verb::Remember);
    done(from.apply(&theirs, &[Op::Insert(entry("a", "tea"))], &mut || true));
    let other = make();
    adopt(&*other, &done(from.bundle()));
    let before = everything(&*other);
    let outcome = other.apply(&theirs, &[Op::Insert(entry("b", "milk"))], &mut || true);
    assert!(matches!(&outcome, Err(StoreError::Conflict { what }) if *what == theirs.id.as_str()), "{outcome:?}");
    assert_eq!(everything(&*other), before);
}

#[test]
fn exports_are_remembered_once() {
    let store = make();
    for path in ["/b.json", "/a.json", "/b.json"] {
        done(store.note_export(path));
    }
    assert_eq!(done(store.exports()), ["/a.json", "/b.json"]);
}

#[test]
fn adopted_duplicates_are_kept() {
    let from = make();
    insert(&*from, entry("theirs", "likes tea"));
    let other = make();
    let mine = insert(&*other, entry("mine", "likes tea"));
    assert_eq!(adopt(&*other, &done(from.bundle())), Adopted { added: 1, ..Adopted::default() });
    assert_eq!(stored(&*other, "theirs").map(|entry| entry.status), Some(Status::Active));
    assert_eq!(insert(&*other, entry("third", "likes tea")), mine);
    sound(&*other);
}
