//! Undo and restore, of everything that can be changed.

use throughline_core::engine::{Edit, EngineError, HistoryOf, Outcome};
use throughline_core::model::{Status, Verb};

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
    let restored = world.engine.restore(&id, 1).unwrap();
    assert_eq!((restored.outcome, restored.memory.entry.version), (Outcome::Updated, 4));
    assert_eq!(restored.memory.entry.content, "one");
    assert_eq!(world.engine.restore(&id, 1).unwrap().outcome, Outcome::Unchanged);
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
    world.engine.restore_document(&notes, 1).unwrap();
    assert_eq!(text_of(&world, "user/notes").as_deref(), Some("one"));
    let HistoryOf::Document { versions } = world.engine.history("user/notes").unwrap() else { panic!("a document") };
    assert_eq!(versions.len(), 3);
}
