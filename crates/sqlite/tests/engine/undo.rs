//! Undo and restore, of everything that can be changed.

use throughline_core::engine::{Edit, EngineError, HistoryOf, NewMemory, Outcome, Restored};
use throughline_core::model::{ContentHash, Importance, Status, Verb};
use throughline_core::ports::Page;

use super::*;

#[test]
fn a_memory_is_undone_step_by_step() {
    let world = place();
    let id = remember_as(&world, "drink", "likes tea");
    world.engine.edit("drink", &Edit { content: Some("likes coffee".to_owned()), ..Edit::default() }).unwrap();
    world.engine.forget("drink").unwrap();
    let now = || {
        let entry = world.engine.show(&id).unwrap().entry;
        (entry.content, entry.status)
    };
    let undone = |verb: Verb| {
        let undone = world.engine.undo().unwrap();
        assert_eq!(undone.undone.verb, verb);
        assert_eq!(undone.memories.len(), 1);
    };
    undone(Verb::Forget);
    assert_eq!(now(), ("likes coffee".to_owned(), Status::Active));
    assert_eq!(recalled(&world, "coffee"), ["likes coffee"]);
    undone(Verb::Edit);
    assert_eq!(now(), ("likes tea".to_owned(), Status::Active));
    undone(Verb::Remember);
    assert_eq!(now(), ("likes tea".to_owned(), Status::Inactive));
    assert_eq!(recalled(&world, "tea"), Vec::<String>::new());
    let error = world.engine.undo().unwrap_err();
    assert!(matches!(error, EngineError::NothingToUndo) && error.hint().is_some());
}

#[test]
fn a_document_is_undone_step_by_step() {
    let world = place();
    let profile = document("user/profile");
    world.engine.write(&profile, "- Ada\n", None).unwrap();
    world.engine.write(&profile, "- Grace\n", None).unwrap();
    assert_eq!(world.engine.undo().unwrap().documents, [profile]);
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- Ada\n"));
    assert_eq!(recalled(&world, "Ada Grace"), ["Ada"]);
    world.engine.undo().unwrap();
    assert_eq!(text_of(&world, "user/profile"), None);
    assert_eq!(recalled(&world, "Ada Grace"), Vec::<String>::new());
}

#[test]
fn a_forgotten_line_comes_back_where_it_was() {
    let world = place();
    let text = "# Me\n\n- Ada\n- [sig:5] Lisbon\n\nplain words\n";
    save(&world, "user/profile", text);
    let line = recall(&world, "Lisbon").remove(0).memory.entry.id;
    world.engine.forget(line.as_str()).unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("# Me\n\n- Ada\n\nplain words\n"));
    world.engine.undo().unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some(text));
    assert_eq!(recalled(&world, "Lisbon"), ["Lisbon"]);
}

#[test]
fn an_earlier_version_comes_back_as_the_newest() {
    let world = place();
    let id = remember(&world, "one");
    for text in ["two", "three"] {
        world.engine.edit(&id, &Edit { content: Some(text.to_owned()), ..Edit::default() }).unwrap();
    }
    let Restored::Memory(restored) = world.engine.restore(&id, 1).unwrap() else { panic!("a memory") };
    assert_eq!((restored.outcome, restored.memory.entry.version), (Outcome::Updated, 4));
    assert_eq!(restored.memory.entry.content, "one");
    let Restored::Memory(again) = world.engine.restore(&id, 1).unwrap() else { panic!("a memory") };
    assert_eq!(again.outcome, Outcome::Unchanged);
    assert!(world.engine.restore(&id, 9).unwrap_err().is_not_found());
    let HistoryOf::Entry { versions } = world.engine.history(&id).unwrap() else { panic!("an entry") };
    let texts: Vec<_> = versions.iter().map(|version| version.entry.content.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three", "one"]);
}

#[test]
fn an_earlier_version_of_a_document_comes_back() {
    let world = place();
    let notes = document("user/notes");
    world.engine.write(&notes, "one", None).unwrap();
    world.engine.write(&notes, "two", None).unwrap();
    world.engine.restore("user/notes", 1).unwrap();
    assert_eq!(text_of(&world, "user/notes").as_deref(), Some("one"));
    let HistoryOf::Document { versions } = world.engine.history("user/notes").unwrap() else { panic!("a document") };
    assert_eq!(versions.len(), 3);
}

#[test]
fn a_key_that_looks_like_an_address_is_a_key() {
    let world = place();
    let new = NewMemory { key: Some("team/owner".to_owned()), ..NewMemory::fact("Ada owns the team") };
    world.engine.remember(&new).unwrap();
    let HistoryOf::Entry { versions } = world.engine.history("team/owner").unwrap() else { panic!("an entry") };
    assert_eq!(versions.len(), 1);
    assert!(matches!(world.engine.restore("team/owner", 1), Ok(Restored::Memory(_))));
}

/// What was left out of the history must not come back as `[redacted:…]` over the person's own words.
#[test]
fn a_secret_in_a_persons_file_is_never_overwritten_by_its_redaction() {
    let world = place();
    let profile = document("user/profile");
    let by_hand = "- key AKIAIOSFODNN7EXAMPLE\n- likes tea\n";
    world.documents.write(&profile, by_hand, &ContentHash::missing()).unwrap();
    let list =
        |world: &World| world.engine.list(&Filter::default(), &Page { limit: 9, cursor: None }).unwrap().memories;
    let secret = list(&world).into_iter().find(|memory| memory.entry.content.contains("redacted")).unwrap();
    let heavier = Edit { importance: Some(Importance::new(1.0).unwrap()), ..Edit::default() };
    world.engine.edit(secret.entry.id.as_str(), &heavier).unwrap();
    let text = || world.documents.read(&profile).unwrap().unwrap().text;
    assert_eq!(text(), "- [sig:5] key AKIAIOSFODNN7EXAMPLE\n- likes tea\n");
    assert!(matches!(world.engine.undo(), Err(EngineError::LeftOut { .. })));
    assert!(matches!(world.engine.restore("user/profile", 1), Err(EngineError::LeftOut { .. })));
    assert!(text().contains("AKIAIOSFODNN7EXAMPLE"), "the person's own file is as it was");
    world.engine.skip_undo().unwrap();
    world.engine.skip_undo().unwrap();
    assert!(matches!(world.engine.undo(), Err(EngineError::NothingToUndo)), "what is left alone blocks nothing");
    world.engine.erase(secret.entry.id.as_str(), false).unwrap();
    assert_eq!(text(), "- likes tea\n");
}
