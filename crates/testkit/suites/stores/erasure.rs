//! Erasing.

use super::transfer::{furnished, sound};
use super::*;

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

fn write(store: &dyn Store, text: &str) {
    done(apply(store, Verb::Write, &[Op::document(profile(), Some(text.to_owned()))]));
}

const MARKER: &str = "xylophonist";

#[test]
fn an_erased_memory_is_nowhere() {
    let store = furnished();
    let first = insert(&*store, keyed("secret", &format!("{MARKER}-key"), MARKER));
    let tags = vec![format!("{MARKER}-tag")];
    update(&*store, Entry { tags, content: format!("no longer {MARKER}"), ..first });
    done(store.append(&[turn("source", "cli:main", MARKER)]));
    store.note(recall("returned", MARKER, 1, &["a", "secret"]));
    let erasure =
        Erasure { memories: vec![EntryId::new("secret")], turns: vec![TurnId::new("source")], ..Erasure::default() };
    let erased = done(store.erase(&erasure));
    assert_eq!(erased, Erased { versions: 2, recalls: 1, turns: 1, unreached: store.beyond_erasing() });
    let surfaces = format!("{:?}", everything(&*store));
    assert!(!surfaces.contains(MARKER), "{surfaces}");
    let filter = Filter { kinds: vec![Kind::Entry, Kind::Bullet, Kind::Turn], ..Filter::default() };
    assert_eq!(done(store.search(&searching(MARKER, filter.clone(), 9))), Pool::default());
    assert_eq!(done(store.contains(&[MARKER.to_owned()], &filter, 9)), []);
    assert_eq!(done(store.resolve("secret")), []);
    sound(&*store);
    let nothing = Erased { unreached: store.beyond_erasing(), ..Erased::default() };
    assert_eq!(done(store.erase(&erasure)), nothing, "there is nothing left to erase");
}

#[test]
fn erasing_a_line_takes_it_out_of_every_version() {
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

#[test]
fn erasing_leaves_everything_else() {
    let (store, expected) = (furnished(), done(furnished().bundle()));
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

#[test]
fn erasing_a_turn_takes_its_question_too() {
    let store = make();
    done(store.append(&[turn("t1", "cli:a", MARKER), turn("t2", "cli:b", "hello")]));
    let asked = |id: &str, session: &str, query: &str| throughline_core::recall::RecallRecord {
        session: Some(session.parse().unwrap()),
        ..recall(id, query, 1, &[])
    };
    for recall in [asked("r1", "cli:a", MARKER), asked("r2", "cli:a", "other"), asked("r3", "cli:b", "hello")] {
        store.note(recall);
    }
    let erased = done(store.erase(&Erasure { turns: vec![TurnId::new("t1")], ..Erasure::default() }));
    assert_eq!((erased.turns, erased.recalls), (1, 1));
    let left: Vec<_> = done(store.recalls(None, 9)).into_iter().map(|recall| recall.recall_id.to_string()).collect();
    assert_eq!(left, ["r3", "r2"]);
}

/// A task with a working state that went to the archive, and the task before that.
fn finished(store: &dyn Store) -> (Task, Task) {
    let first = put_task(store, &Task { state: "xylophonist".to_owned(), ..task("a", "first") });
    let open = put_task(store, &Task { state: "xylophonist, twice".to_owned(), ..first });
    let archive = Some(EntryId::new("archived"));
    let closed = Task { status: TaskStatus::Done, state: String::new(), archive, ..open.clone() };
    done(apply(store, Verb::Done, &[Op::Insert(entry("archived", "xylophonist")), Op::Task(closed)]));
    (done(store.task(&open.id)).unwrap(), open)
}

#[test]
fn erasing_an_archive_blanks_the_task_that_it_came_from() {
    let store = make();
    let (closed, _) = finished(&*store);
    let other = put_task(&*store, &Task { state: "another's".to_owned(), ..task("b", "other") });
    put_task(&*store, &Task { state: String::new(), ..other });
    let erasure = Erasure { memories: vec![EntryId::new("archived")], ..Erasure::default() };
    assert_eq!(
        done(store.erase(&erasure)),
        Erased { versions: 3, unreached: store.beyond_erasing(), ..Erased::default() }
    );
    let surfaces = format!("{:?}", everything(&*store));
    assert!(!surfaces.contains("xylophonist"), "{surfaces}");
    let versions = done(store.task_versions(&closed.id));
    assert_eq!(versions.iter().map(|version| version.task.version).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(done(store.task(&closed.id)), Some(closed), "its link may lead nowhere");
    assert_eq!(done(store.task_versions(&TaskId::new("b")))[0].task.state, "another's");
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn erasing_an_archive_leaves_the_task_that_is_open_again() {
    let store = make();
    let (closed, open) = finished(&*store);
    let again = put_task(&*store, &Task { version: closed.version, ..open });
    assert_eq!((again.archive.as_ref(), again.version), (None, 4));
    let erasure = Erasure { memories: vec![EntryId::new("archived")], ..Erasure::default() };
    let erased = done(store.erase(&erasure));
    let unreached = erased.unreached.len() - store.beyond_erasing().len();
    assert_eq!((erased.versions, unreached), (3, 1), "{erased:?}");
    let states: Vec<String> =
        done(store.task_versions(&again.id)).into_iter().map(|version| version.task.state).collect();
    assert_eq!(states, ["", "", "", "xylophonist, twice"], "what stands there is the person's to change");
    assert_eq!(done(store.task(&again.id)), Some(again));
}

/// What was decided before an erasure may be made of what it erased.
#[test]
fn what_was_decided_before_an_erasure_is_refused() {
    let (store, bundle) = (furnished(), done(furnished().bundle()));
    let before = done(store.erasure_mark());
    assert_eq!(before, ErasureMark::default(), "nothing was erased yet");
    done(store.erase(&Erasure { memories: vec![EntryId::new("a")], ..Erasure::default() }));
    let made_of_it = [Op::Insert(entry("later", MARKER)), Op::Unerased(before.clone())];
    assert!(matches!(apply(&*store, Verb::Restore, &made_of_it), Err(StoreError::Erased)));
    let adopted = store.adopt(&change(Verb::Import), &bundle, &before, &mut |_| true);
    assert!(matches!(adopted, Err(StoreError::Erased)), "{adopted:?}");
    let session = "cli:main".parse().unwrap();
    done(store.append(&[turn("said", "cli:main", "hello")]));
    assert!(matches!(store.set_opening(&session, MARKER, &before), Err(StoreError::Erased)));
    let surfaces = format!("{:?}", everything(&*store));
    assert!(!surfaces.contains(MARKER) && done(store.memory(&EntryId::new("a"))).is_none(), "{surfaces}");
    let now = done(store.erasure_mark());
    assert_ne!(now, before);
    done(apply(&*store, Verb::Remember, &[Op::Insert(entry("later", "tea")), Op::Unerased(now.clone())]));
    assert_eq!(done(store.erasure_mark()), now, "only erasing moves it");
}

/// A host that still has the words may send them again: a transcript, the history of a proxied request, an export.
#[test]
fn an_erased_turn_is_not_appended_again() {
    let store = make();
    let said = [turn("secret", "cli:main", MARKER), turn("other", "cli:main", "hello")];
    done(store.append(&said));
    done(store.erase(&Erasure { turns: vec![TurnId::new("secret")], ..Erasure::default() }));
    assert_eq!(done(store.append(&said)), 0);
    assert_eq!(done(store.append_imported(&[], &said)), 0);
    assert_eq!(done(store.append(&[turn("secret", "cli:else", MARKER)])), 0);
    assert!(done(store.session(&"cli:else".parse().unwrap())).is_none(), "nothing was said there");
    assert!(!format!("{:?}", everything(&*store)).contains(MARKER));
}
