//! Documents that are rows: they behave as files do, on every machine, and are written with the change that they belong to.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;

use std::sync::Arc;

use throughline_core::model::{Actor, Change, ChangeId, ContentHash, DocumentName, Source, Verb};
use throughline_core::ports::{Changes as _, Documents, History as _, Op, StoreError};
use throughline_postgres::PostgresStore;
use throughline_testkit::documents::conformance;
use throughline_testkit::stores::minute;
use throughline_testkit::{StoreFixture as _, World};

use fixture::{PostgresFixture, fixture};

fn open(fixture: &PostgresFixture) -> PostgresStore {
    PostgresStore::open(fixture.address.clone()).unwrap()
}

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

/// The profile, and how many versions of it are known.
fn seen(store: &PostgresStore) -> (Option<String>, usize) {
    let text = store.documents().read(&profile()).unwrap().map(|document| document.text);
    (text, store.document_versions(&profile()).unwrap().len())
}

/// Writes the profile with its version as one change; `then` comes after the text was written.
fn write(store: &PostgresStore, documents: &dyn Documents, text: &str, then: bool) -> Result<(), StoreError> {
    let (actor, id) = (Actor::new(Source::User, "test"), ChangeId::new(format!("change to {text}")));
    let change = Change { id, actor, verb: Verb::Write, at: minute(0), undoes: None };
    let mut last = || {
        let before = documents.read(&profile()).unwrap().map_or_else(ContentHash::missing, |found| found.hash);
        documents.write(&profile(), text, &before).unwrap();
        assert_eq!(documents.read(&profile()).unwrap().unwrap().text, text, "the change sees its own text");
        then
    };
    store.apply(&change, &[Op::document(profile(), Some(text.to_owned()))], &mut last).map(drop)
}

#[test]
fn rows_behave_as_files_do() {
    conformance(&|| Box::new(open(&fixture()).documents()));
}

#[test]
fn a_text_and_its_version_are_there_together_or_neither_is() {
    let fixture = fixture();
    let (here, elsewhere) = (open(&fixture), open(&fixture));
    write(&here, &here.documents(), "one", true).unwrap();
    assert_eq!(seen(&elsewhere), (Some("one".to_owned()), 1));
    assert!(matches!(write(&here, &here.documents(), "two", false), Err(StoreError::TakenBack)));
    assert_eq!(seen(&elsewhere), (Some("one".to_owned()), 1), "given up by the change");
    fixture.refuse_commits();
    write(&here, &here.documents(), "three", true).unwrap_err();
    fixture.allow_commits();
    assert_eq!(seen(&elsewhere), (Some("one".to_owned()), 1), "refused by the server");
}

#[test]
fn another_handle_of_the_same_thread_does_not_wait_for_the_lock_that_it_holds() {
    let fixture = fixture();
    let (store, other) = (open(&fixture), open(&fixture).documents());
    write(&store, &other, "one", true).unwrap();
    assert_eq!(seen(&store), (Some("one".to_owned()), 1));
}

#[test]
fn what_one_machine_writes_is_no_edit_on_another() {
    let fixture = fixture();
    let on = |machine: &str| {
        let store = open(&fixture).on_machine(throughline_core::model::MachineId::new(machine));
        let documents = Arc::new(store.documents());
        World::build(Arc::new(store), documents, |_| {})
    };
    let (laptop, desktop) = (on("laptop"), on("desktop"));
    laptop.engine.documents().write(&profile(), "- likes tea\n", None).unwrap();
    for world in [&desktop, &laptop, &desktop] {
        let text = world.engine.documents().read(&"user/profile".parse().unwrap()).unwrap();
        assert_eq!(text.as_deref(), Some("- likes tea\n"));
    }
    let changes = desktop.engine.history().changes(10).unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
}
