//! Everything out and in again, and erasing.

use throughline_core::model::{DocumentName, Layer};
use throughline_core::ports::{Adopted, Bundle, Erased, Erasure, Op, Search};
use throughline_core::recall::Terms;

use super::*;

pub(super) const CHECKS: &[Check] = checks![
    an_empty_store_adopts_an_equal_bundle,
    adopting_twice_changes_nothing,
    adopting_can_be_taken_back,
    an_adopted_memory_whose_key_is_taken_is_inactive,
    an_adopted_memory_without_history_gets_its_first,
    undoing_an_import_makes_its_memories_inactive,
    undoing_an_import_leaves_what_was_there,
    an_import_that_was_undone_comes_back,
    what_was_forgotten_stays_so_when_it_is_imported,
    a_change_that_came_with_an_import_does_not_go_on,
    exports_are_remembered_once,
    an_erased_memory_is_nowhere,
    erasing_a_line_takes_it_out_of_every_version,
    erasing_leaves_everything_else,
    erasing_a_turn_takes_its_question_too,
];

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
    store.note(logs::recall("r1", "tea", 4, &["a", "p1"]));
    store.note(logs::recall("r2", "tea", 6, &["a"]));
}

fn furnished(make: Make<'_>) -> Arc<dyn Store> {
    let store = make();
    furnish(&*store);
    store
}

fn adopt(store: &dyn Store, bundle: &Bundle) -> Adopted {
    done(store.adopt(&change(Verb::Import), bundle, &mut |_| true))
}

fn sound(store: &dyn Store) {
    assert_eq!(done(store.check()), Vec::<String>::new());
}

fn an_empty_store_adopts_an_equal_bundle(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    assert_eq!((bundle.memories.len(), bundle.history.len(), bundle.document_history.len()), (6, 7, 2));
    assert_eq!((bundle.sessions.len(), bundle.turns.len()), (2, 2));
    let other = make();
    assert_eq!(adopt(&*other, &bundle), Adopted { added: 4, turns: 2, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    let query = Search { terms: Terms::of_query("coffee"), filter: Filter::default(), limit: 9 };
    assert_eq!(done(other.search(&query)).len(), 1, "and it is found");
    sound(&*other);
}

fn adopting_twice_changes_nothing(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    let other = make();
    adopt(&*other, &bundle);
    let (first, known) = (done(other.undoable()), done(other.known_documents()));
    assert_eq!(adopt(&*other, &bundle), Adopted { kept: 4, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    assert_eq!(done(other.known_documents()), known);
    assert_eq!(done(other.undoable()), first, "there is nothing in the second import to undo");
    sound(&*other);
}

fn adopting_can_be_taken_back(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    let other = make();
    insert(&*other, entry("mine", "mine"));
    let before = everything(&*other);
    let mut receipt = None;
    let outcome = other.adopt(&change(Verb::Import), &bundle, &mut |adopted| {
        receipt = Some(adopted.clone());
        false
    });
    assert!(matches!(outcome, Err(StoreError::TakenBack)), "{outcome:?}");
    assert_eq!(everything(&*other), before);
    assert_eq!(receipt, Some(adopt(&*other, &bundle)), "a dry run tells what the import does");
}

fn an_adopted_memory_whose_key_is_taken_is_inactive(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
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

fn an_adopted_memory_without_history_gets_its_first(make: Make<'_>) {
    let whole = done(furnished(make).bundle());
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
    let tasks = undoable.tasks.iter().map(|(now, _)| Op::Task(work::removed(now)));
    let projects = undoable.projects.iter().map(|(now, _)| Op::Project(work::retired(now)));
    let ops: Vec<Op> = entries.chain(documents).chain(tasks).chain(projects).collect();
    let undoing = Change { undoes: Some(undoable.change.id), ..change(Verb::Undo) };
    done(store.apply(&undoing, &ops, &mut || true));
}

fn undoing_an_import_makes_its_memories_inactive(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    let other = make();
    let import = change(Verb::Import);
    done(other.adopt(&import, &bundle, &mut |_| true));
    assert_eq!(done(other.undoable()).map(|undoable| undoable.change), Some(import), "the import as a whole");
    undo(&*other);
    let active = Filter { kinds: vec![Kind::Entry], status: Some(Status::Active), ..Filter::default() };
    assert_eq!(listed(&*other, &active), Vec::<String>::new());
    assert_eq!(done(other.known_documents())[0].hash, throughline_core::model::ContentHash::missing());
    assert_eq!(done(other.undoable()), None, "what was made elsewhere is not undone here");
    sound(&*other);
}

fn undoing_an_import_leaves_what_was_there(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
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

fn an_import_that_was_undone_comes_back(make: Make<'_>) {
    let from = furnished(make);
    let bundle = done(from.bundle());
    let other = make();
    adopt(&*other, &bundle);
    for _ in 0..2 {
        undo_all(&*other);
        assert_eq!(active(&*other), []);
        let again = change(Verb::Import);
        let adopted = done(other.adopt(&again, &bundle, &mut |_| true));
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

fn what_was_forgotten_stays_so_when_it_is_imported(make: Make<'_>) {
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

fn a_change_that_came_with_an_import_does_not_go_on(make: Make<'_>) {
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

fn exports_are_remembered_once(make: Make<'_>) {
    let store = make();
    for path in ["/b.json", "/a.json", "/b.json"] {
        done(store.note_export(path));
    }
    assert_eq!(done(store.exports()), ["/a.json", "/b.json"]);
}

const MARKER: &str = "xylophonist";

fn an_erased_memory_is_nowhere(make: Make<'_>) {
    let store = furnished(make);
    let first = insert(&*store, keyed("secret", &format!("{MARKER}-key"), MARKER));
    let tags = vec![format!("{MARKER}-tag")];
    update(&*store, Entry { tags, content: format!("no longer {MARKER}"), ..first });
    done(store.append(&[turn("source", "cli:main", MARKER)]));
    store.note(logs::recall("returned", MARKER, 1, &["a", "secret"]));
    let erasure =
        Erasure { memories: vec![EntryId::new("secret")], turns: vec![TurnId::new("source")], ..Erasure::default() };
    let erased = done(store.erase(&erasure));
    assert_eq!(erased, Erased { versions: 2, recalls: 1, turns: 1, unreached: Vec::new() });
    let surfaces = format!("{:?}", everything(&*store));
    assert!(!surfaces.contains(MARKER), "{surfaces}");
    let filter = Filter { kinds: vec![Kind::Entry, Kind::Bullet, Kind::Turn], ..Filter::default() };
    let search = Search { terms: Terms::of_query(MARKER), filter: filter.clone(), limit: 9 };
    assert_eq!(done(store.search(&search)), []);
    assert_eq!(done(store.contains(&[MARKER.to_owned()], &filter, 9)), []);
    assert_eq!(done(store.resolve("secret")), []);
    sound(&*store);
    assert_eq!(done(store.erase(&erasure)), Erased::default(), "there is nothing left to erase");
}

fn erasing_a_line_takes_it_out_of_every_version(make: Make<'_>) {
    let store = make();
    let texts = ["- Ada\n", "- Ada\n- xylophonist\n", "# Me\n\n- xylophonist\n- Lisbon\n", "- Lisbon\n"];
    texts.iter().for_each(|text| write(&*store, text));
    let erasure = Erasure { bullets: vec![(profile(), MARKER.to_owned())], ..Erasure::default() };
    assert_eq!(done(store.erase(&erasure)).versions, 2);
    let versions = done(store.document_versions(&profile()));
    let kept: Vec<_> = versions.iter().map(|version| version.text.as_deref().unwrap()).collect();
    assert_eq!(kept, ["- Ada\n", "- Ada\n", "# Me\n\n- Lisbon\n", "- Lisbon\n"]);
    let hashes_fit = |version: &throughline_core::model::DocumentVersion| {
        version.hash == throughline_core::model::ContentHash::of(version.text.as_deref().unwrap())
    };
    assert!(versions.iter().all(hashes_fit));
}

fn erasing_leaves_everything_else(make: Make<'_>) {
    let (store, expected) = (furnished(make), done(furnished(make).bundle()));
    insert(&*store, entry("secret", "nothing like it"));
    done(store.erase(&Erasure { memories: vec![EntryId::new("secret")], ..Erasure::default() }));
    let bundle = done(store.bundle());
    assert_eq!(
        (bundle.memories, bundle.turns, bundle.sessions),
        (expected.memories, expected.turns, expected.sessions)
    );
    assert_eq!(done(store.recalls(None, 9)).len(), 2, "recalls that did not return it stay");
    assert_eq!(done(store.undoable()).unwrap().documents.len(), 1, "an erased change is not undone");
    sound(&*store);
}

fn erasing_a_turn_takes_its_question_too(make: Make<'_>) {
    let store = make();
    done(store.append(&[turn("t1", "cli:a", MARKER), turn("t2", "cli:b", "hello")]));
    let asked = |id: &str, session: &str, query: &str| throughline_core::recall::RecallRecord {
        session: Some(session.parse().unwrap()),
        ..logs::recall(id, query, 1, &[])
    };
    for recall in [asked("r1", "cli:a", MARKER), asked("r2", "cli:a", "other"), asked("r3", "cli:b", "hello")] {
        store.note(recall);
    }
    let erased = done(store.erase(&Erasure { turns: vec![TurnId::new("t1")], ..Erasure::default() }));
    assert_eq!((erased.turns, erased.recalls), (1, 1));
    let left: Vec<_> = done(store.recalls(None, 9)).into_iter().map(|recall| recall.recall_id.to_string()).collect();
    assert_eq!(left, ["r3", "r2"]);
}
