//! What another process does in the middle of a verb: what it erases does not come back with what was made of it, and what it
//! writes is not taken for ours.

use std::sync::Mutex;

use throughline_core::engine::{ContextRequest, EngineError, NewTask, Said, TaskEdit, Visibility};
use throughline_core::model::{Layer, Position, Role, SessionId};
use throughline_core::ports::{ErasureScope, StoreError};
use throughline_core::text::bullets;
use throughline_core::transfer::formats::{Found, FoundMemory};
use throughline_testkit::simulated::{Around, SimulatedStore};

use super::*;

const WORD: &str = "Brimblewick";

type Act = Box<dyn FnOnce(&Engine) + Send>;

/// Another process acts right before the first call of this name.
struct Before {
    call: &'static str,
    other: Engine,
    act: Mutex<Option<Act>>,
}

impl Around for Before {
    fn before(&self, call: &'static str) -> Result<(), StoreError> {
        let act = if call == self.call { self.act.lock().unwrap().take() } else { None };
        if let Some(act) = act {
            act(&self.other);
        }
        Ok(())
    }

    fn after(&self, _: &'static str) -> Result<(), StoreError> {
        Ok(())
    }

    fn before_write(&self) {}
}

/// An engine over the same memory, to which another one is faster at that call; says afterwards whether it was.
fn outrun(place: &Place, call: &'static str, act: impl FnOnce(&Engine) + Send + 'static) -> (Engine, Arc<Before>) {
    let around = Arc::new(Before { call, other: place.engine.clone(), act: Mutex::new(Some(Box::new(act) as Act)) });
    let store = SimulatedStore::new(Arc::clone(&place.store), Arc::clone(&around) as Arc<dyn Around>, None);
    let settings = Settings { namespace: Some("user".parse().unwrap()), ..Settings::default() };
    let (documents, clock, ids) = (Arc::clone(&place.documents), place.clock.clone(), Arc::new(OtherIds::default()));
    let actor = Actor::new(Source::User, "slower");
    (Engine::new(Arc::new(store), documents, clock, ids, settings, actor), around)
}

#[track_caller]
fn is_gone(place: &Place, around: &Before) {
    assert!(around.act.lock().unwrap().is_none(), "`{}` was never called", around.call);
    let stored = format!("{:?}", place.store.bundle().unwrap());
    assert!(!stored.contains(WORD), "{stored}");
    let sessions = format!("{:?}", place.store.sessions().unwrap());
    assert!(!sessions.contains(WORD), "{sessions}");
    let known = place.store.known_documents().unwrap();
    let texts = known.iter().filter_map(|known| place.documents.read(&known.name).unwrap());
    texts.for_each(|document| assert!(!document.text.contains(WORD), "{document:?}"));
}

fn erase(id: &str) -> impl FnOnce(&Engine) + Send + use<> {
    let id = id.to_owned();
    move |engine| drop(engine.memories().erase(&id, true).unwrap())
}

/// Erases a line that may no longer stand in its document.
fn erase_line(place: &Place, line: &str) -> impl FnOnce(&Engine) + Send + use<> {
    let versions = place.store.document_versions(&document("user/profile")).unwrap();
    let texts = versions.iter().filter_map(|version| version.text.as_deref());
    let mut lines = texts.flat_map(|text| bullets::parse(&document("user/profile"), text));
    erase(lines.find(|found| found.content == line).unwrap().id.as_str())
}

#[test]
fn an_import_does_not_bring_back_what_was_erased_meanwhile() {
    let place = place();
    let id = remember(&place, "My dentist is Doctor Brimblewick");
    remember(&place, "likes tea");
    let export = place.engine.transfer().export().unwrap();
    let (engine, around) = outrun(&place, "adopt", erase(&id));
    let imported = engine.transfer().import(&export).unwrap();
    assert_eq!((imported.withheld, imported.adopted.kept, imported.adopted.added), (1, 1, 0));
    is_gone(&place, &around);
}

#[test]
fn a_preview_of_an_import_tells_what_was_erased_meanwhile() {
    let place = place();
    let id = remember(&place, "My dentist is Doctor Brimblewick");
    let export = place.engine.transfer().export().unwrap();
    let (engine, around) = outrun(&place, "adopt", erase(&id));
    let preview = engine.transfer().preview_import(&export).unwrap();
    assert_eq!((preview.imported.withheld, preview.imported.adopted.added), (1, 0));
    is_gone(&place, &around);
}

#[test]
fn turns_that_were_erased_meanwhile_do_not_come_with_an_import() {
    let place = place();
    let session: SessionId = "cli:main".parse().unwrap();
    let said = format!("Doctor {WORD} moved to Porto.");
    place.engine.sessions().observe(&session, &[Said::now(Role::User, said)]).unwrap();
    let export = place.engine.transfer().export().unwrap();
    let erased = session.clone();
    let (engine, around) = outrun(&place, "adopt", move |engine| {
        drop(engine.memories().erase_scope(&ErasureScope::Session(erased)).unwrap());
    });
    engine.transfer().import(&export).unwrap();
    is_gone(&place, &around);
    assert_eq!(place.store.turns_after(&session, Position::default()).unwrap(), []);
}

#[test]
fn files_of_others_do_not_bring_back_what_was_erased_meanwhile() {
    let place = place();
    let text = "My dentist is Doctor Brimblewick";
    let new = NewMemory { project: Some("apollo".to_owned()), ..NewMemory::fact(text) };
    let id = place.engine.memories().remember(&new).unwrap().memory.entry.id.to_string();
    let (engine, around) = outrun(&place, "apply", erase(&id));
    let found = Found { memories: vec![found(text), found("likes tea")], ..Found::default() };
    let report = engine.transfer().import_found(&found, false, &mut |_, _| {}).unwrap();
    assert_eq!((report.knowledge.forgotten, report.knowledge.added), (1, 1), "{report:?}");
    is_gone(&place, &around);
}

#[test]
fn an_undo_does_not_write_a_line_that_was_erased_meanwhile() {
    let place = place();
    let profile = document("user/profile");
    place.engine.documents().write(&profile, "- Doctor Brimblewick\n- tea\n", None).unwrap();
    place.engine.documents().write(&profile, "- tea\n", None).unwrap();
    let (engine, around) = outrun(&place, "apply", erase_line(&place, "Doctor Brimblewick"));
    let error = engine.history().undo().unwrap_err();
    assert!(matches!(error, EngineError::WasErased), "{error:?}");
    is_gone(&place, &around);
}

#[test]
fn a_document_is_restored_without_a_line_that_was_erased_meanwhile() {
    let place = place();
    let profile = document("user/profile");
    place.engine.documents().write(&profile, "- Doctor Brimblewick\n- tea\n", None).unwrap();
    place.engine.documents().write(&profile, "- coffee\n", None).unwrap();
    let (engine, around) = outrun(&place, "apply", erase_line(&place, "Doctor Brimblewick"));
    let restored = engine.history().restore_document(profile, 1).unwrap();
    assert_eq!(restored.text, "- tea\n");
    is_gone(&place, &around);
}

#[test]
fn a_task_is_restored_without_what_was_erased_meanwhile() {
    let place = place();
    let tasks = place.engine.tasks();
    let state = format!("Ask Doctor {WORD} about the bill.");
    let task = tasks.add(&NewTask { title: "dentist".to_owned(), state, project: None }).unwrap();
    let archived = tasks.finish(task.id.as_str(), None).unwrap().archived.unwrap().entry.id.to_string();
    let cleared = TaskEdit { state: Some(String::new()), ..TaskEdit::default() };
    tasks.update(task.id.as_str(), &cleared).unwrap();
    let (engine, around) = outrun(&place, "apply", erase(&archived));
    engine.history().restore(task.id.as_str(), 1).unwrap();
    is_gone(&place, &around);
}

#[test]
fn what_a_session_begins_with_is_not_kept_with_what_was_erased_meanwhile() {
    let place = place();
    place.engine.documents().write(&document("user/profile"), "- Doctor Brimblewick\n- tea\n", None).unwrap();
    let session: SessionId = "cli:main".parse().unwrap();
    let (engine, around) = outrun(&place, "note_given", erase_line(&place, "Doctor Brimblewick"));
    let request = ContextRequest::message(&session, "hello");
    engine.context().give_for(&request, Visibility::Stays).unwrap();
    is_gone(&place, &around);
    let next = engine.context().give_for(&request, Visibility::Stays).unwrap();
    assert!(next.system_prompt.contains("tea") && !next.system_prompt.contains(WORD), "{}", next.system_prompt);
}

#[test]
fn a_receipt_tells_what_was_written_and_not_what_another_wrote_since() {
    let place = place();
    let keyed = |text: &str| NewMemory { key: Some("dentist".to_owned()), ..NewMemory::fact(text) };
    place.engine.memories().remember(&keyed("the dentist is Doctor Ames")).unwrap();
    let later = keyed("the dentist is Doctor Croft");
    let (engine, around) = outrun(&place, "memory", move |engine| drop(engine.memories().remember(&later).unwrap()));
    let receipt = engine.memories().remember(&keyed("the dentist is Doctor Bell")).unwrap();
    assert!(around.act.lock().unwrap().is_none(), "no other process was faster");
    assert_eq!(receipt.memory.entry.content, "the dentist is Doctor Bell");
    let now = place.store.memory(&receipt.memory.entry.id).unwrap().unwrap();
    assert_eq!(now.entry.content, "the dentist is Doctor Croft");
}

fn found(text: &str) -> FoundMemory {
    FoundMemory {
        id: format!("found{}", text.len()),
        place: "a line".to_owned(),
        content: text.to_owned(),
        key: None,
        layer: Layer::Knowledge,
        source: Source::User,
        importance: None,
        tags: Vec::new(),
        project: None,
        created_at: None,
        updated_at: None,
    }
}
