//! Entries, turns, changes and other things to test stores with. The tests that every store must pass are in
//! `suites/stores`.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use throughline_core::model::{
    Actor, Change, ChangeId, ContentHash, DocumentName, Entry, EntryId, Importance, Kind, Layer, Namespace, Role,
    Source, Status, Turn, TurnId, Verb,
};
use throughline_core::ports::{Holder, Op, Page, Store, StoreError};
use throughline_core::recall::Filter;

/// A worker of a process on the host `test`; `name` tells it from others.
pub fn holder(name: &str) -> Holder {
    Holder { host: "test".to_owned(), process: 1, started: name.to_owned(), worker: 0 }
}

/// An active piece of knowledge in `user/facts`, said by the person.
pub fn entry(id: &str, content: &str) -> Entry {
    Entry {
        id: EntryId::new(id),
        kind: Kind::Entry,
        namespace: address("user/facts"),
        layer: Layer::Knowledge,
        key: None,
        content: content.to_owned(),
        source: Source::User,
        status: Status::Active,
        importance: Importance::default(),
        tags: Vec::new(),
        session: None,
        task: None,
        project: None,
        created_at: minute(0),
        updated_at: minute(0),
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    }
}

/// The same with a key.
pub fn keyed(id: &str, key: &str, content: &str) -> Entry {
    Entry { key: Some(key.to_owned()), ..entry(id, content) }
}

/// An entry with every field filled.
pub fn full_entry(id: &str) -> Entry {
    Entry {
        layer: Layer::Archive,
        source: Source::Agent,
        importance: Importance::new(0.1).unwrap(),
        tags: vec!["red".to_owned(), "50%".to_owned()],
        session: Some("cli:main".parse().unwrap()),
        task: Some("t1".to_owned()),
        project: Some("apollo".to_owned()),
        updated_at: minute(5),
        expires_at: Some(minute(900)),
        supersedes: vec![EntryId::new("earlier"), EntryId::new("before")],
        provenance: vec![TurnId::new("said")],
        ..keyed(id, "full", "every field\nis filled 用户 👩‍💻")
    }
}

/// A line of a document.
pub fn bullet(document: &str, id: &str, content: &str) -> Entry {
    Entry { kind: Kind::Bullet, namespace: address(document), ..entry(id, content) }
}

/// Something the person said on minute 0.
pub fn turn(id: &str, session: &str, content: &str) -> Turn {
    Turn {
        id: TurnId::new(id),
        session: session.parse().unwrap(),
        role: Role::User,
        speaker: None,
        content: content.to_owned(),
        at: minute(0),
    }
}

/// A change that nobody made before, by the person at a test.
pub fn change(verb: Verb) -> Change {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let id = ChangeId::new(format!("change-{}", COUNT.fetch_add(1, Ordering::SeqCst)));
    Change { id, actor: Actor::new(Source::User, "test"), verb, at: minute(0), undoes: None }
}

/// So many minutes after 2026-03-01T12:00:00Z.
pub fn minute(n: i64) -> Timestamp {
    let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    start.checked_add(SignedDuration::from_mins(n)).unwrap()
}

/// An address of memory.
pub fn address(text: &str) -> Namespace {
    text.parse().unwrap()
}

/// Applies operations as one change.
pub fn apply(store: &dyn Store, verb: Verb, ops: &[Op]) -> Result<Vec<Entry>, StoreError> {
    store.apply(&change(verb), ops, &mut || true)
}

/// Stores an entry; gives it as it now is.
pub fn insert(store: &dyn Store, entry: Entry) -> Entry {
    done(apply(store, Verb::Remember, &[Op::Insert(entry)])).remove(0)
}

/// Stores the next version of an entry; gives it as it now is.
pub fn update(store: &dyn Store, entry: Entry) -> Entry {
    done(apply(store, Verb::Edit, &[Op::Update(entry)])).remove(0)
}

/// The entry as the store has it.
pub fn stored(store: &dyn Store, id: &str) -> Option<Entry> {
    done(store.memory(&EntryId::new(id))).map(|memory| memory.entry)
}

/// The ids of everything that passes the filter, newest first.
pub fn listed(store: &dyn Store, filter: &Filter) -> Vec<String> {
    let listing = done(store.list(filter, &Page { limit: usize::MAX, cursor: None }));
    assert_eq!(listing.cursor, None, "a page that holds everything has no next one");
    listing.memories.into_iter().map(|memory| memory.entry.id.to_string()).collect()
}

/// The entry, inactive.
pub fn inactive(entry: &Entry) -> Entry {
    Entry { status: Status::Inactive, ..entry.clone() }
}

/// What a store gave; a panic where it failed.
pub fn done<T, E: Debug>(outcome: Result<T, E>) -> T {
    outcome.unwrap_or_else(|error| panic!("the store failed: {error:?}"))
}

/// Panics unless the outcome is a conflict.
pub fn conflicts<T: Debug>(outcome: Result<T, StoreError>, what: &str) {
    assert!(
        matches!(outcome, Err(StoreError::Conflict { .. } | StoreError::KeyTaken { .. })),
        "{what} should conflict, and gave {outcome:?}"
    );
}

/// Everything that an observer can see of a store.
pub fn everything(store: &dyn Store) -> impl PartialEq + Debug + use<> {
    (
        done(store.bundle()),
        done(store.changes(usize::MAX)),
        done(store.known_documents()),
        done(store.undoable()),
        (done(store.tasks()), done(store.projects())),
        done(store.recalls(None, usize::MAX)),
        done(store.exports()),
    )
}

/// Indexes these lines of a document, which gets a first version if it has none.
pub fn index(store: &dyn Store, name: &DocumentName, stamp: Option<&str>, lines: &[Entry]) {
    let known = done(store.known_documents()).into_iter().find(|document| document.name == *name);
    let hash = known.map(|document| document.hash).unwrap_or_else(|| {
        done(apply(store, Verb::Write, &[Op::document(name.clone(), Some("lines".to_owned()))]));
        ContentHash::of("lines")
    });
    done(store.replace_bullets(name, &hash, stamp, lines));
}
