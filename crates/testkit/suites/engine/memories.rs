//! Remember, edit, forget, and secrets.

use throughline_core::engine::{Edit, EngineError, NewMemory, Outcome};
use throughline_core::model::{Importance, Layer, Namespace, Significance, Source, Status};

use super::*;

#[test]
fn storing_again_under_a_key_updates_it() {
    let world = place();
    let first = world.engine.memories().remember(&keyed("editor", "vim")).unwrap();
    assert_eq!(first.outcome, Outcome::Created);
    assert_eq!(world.engine.memories().remember(&keyed("editor", "vim")).unwrap().outcome, Outcome::Unchanged);
    let second = world.engine.memories().remember(&keyed(" editor ", "emacs")).unwrap();
    assert_eq!((second.outcome, &second.memory.entry.id), (Outcome::Updated, &first.memory.entry.id));
    assert_eq!((second.memory.entry.content.as_str(), second.memory.entry.version), ("emacs", 2));
}

#[test]
fn weight_and_labels_stay_where_none_are_given() {
    let world = place();
    let weight = Importance::new(0.9).unwrap();
    let new =
        NewMemory { importance: Some(weight), tags: vec!["tool".into(), "task:t1".into()], ..keyed("editor", "vim") };
    world.engine.memories().remember(&new).unwrap();
    let entry = world.engine.memories().remember(&keyed("editor", "emacs")).unwrap().memory.entry;
    assert_eq!((entry.importance, entry.tags, entry.task), (weight, vec!["tool".to_owned()], Some("t1".to_owned())));
}

#[test]
fn a_key_belongs_to_its_project() {
    let world = place();
    let here = remember_as(&world, "editor", "vim");
    let new = |text: &str| NewMemory { project: Some("apollo".to_owned()), ..keyed("editor", text) };
    let there = world.engine.memories().remember(&new("ed")).unwrap();
    assert_eq!(there.outcome, Outcome::Created);
    let tagged = NewMemory { tags: vec!["project:apollo".to_owned()], ..keyed("editor", "sam") };
    let again = world.engine.memories().remember(&tagged).unwrap();
    assert_eq!((again.outcome, &again.memory.entry.id), (Outcome::Updated, &there.memory.entry.id));
    assert_eq!(world.engine.memories().show(&here).unwrap().entry.content, "vim");
    let error = world.engine.memories().show("editor").unwrap_err();
    assert!(matches!(&error, EngineError::Ambiguous { ids, .. } if ids.len() == 2), "{error:?}");
}

#[test]
fn a_forgotten_key_can_be_stored_again() {
    let world = place();
    let first = remember_as(&world, "editor", "vim");
    world.engine.memories().forget("editor").unwrap();
    let second = remember_as(&world, "editor", "vim");
    assert_ne!(first, second);
    assert_eq!(world.engine.memories().show("editor").unwrap().entry.id.as_str(), second, "the active one is meant");
    assert_eq!(world.engine.memories().show(&first).unwrap().entry.status, Status::Inactive);
}

#[test]
fn the_same_fact_twice_is_one_memory() {
    let world = place();
    let first = remember(&world, "likes tea");
    let again = world.engine.memories().remember(&NewMemory::fact("  likes tea\n")).unwrap();
    assert_eq!((again.outcome, again.memory.entry.id.as_str()), (Outcome::Unchanged, first.as_str()));
    assert_eq!(world.engine.history().changes(9).unwrap().len(), 1);
}

#[test]
fn the_exact_importance_is_kept_and_shown_in_five_steps() {
    let world = place();
    let default = world.engine.memories().remember(&NewMemory::fact("default")).unwrap().memory;
    assert_eq!((default.entry.importance.value(), default.significance.value()), (0.5, 3));
    for (importance, significance) in
        [(0.0, 1), (0.12, 1), (0.13, 2), (0.37, 2), (0.38, 3), (0.1 + 0.2, 2), (0.9, 5), (1.0, 5)]
    {
        let new = NewMemory { importance: Some(Importance::new(importance).unwrap()), ..keyed("weight", "x") };
        let memory = world.engine.memories().remember(&new).unwrap().memory;
        assert_eq!((memory.entry.importance.value(), memory.significance.value()), (importance, significance));
    }
    let given = Importance::from(Significance::new(4).unwrap());
    let edit = Edit { importance: Some(given), ..Edit::default() };
    assert_eq!(world.engine.memories().edit("weight", &edit).unwrap().memory.significance.value(), 4);
}

#[test]
fn a_forgotten_memory_is_kept_for_audit_and_never_recalled() {
    let world = place();
    let id = remember_as(&world, "drink", "likes tea");
    assert!(!world.engine.memories().forget(&id[..6]).unwrap().already);
    assert!(world.engine.memories().forget(&id).unwrap().already);
    for query in ["tea", "drink", "ike"] {
        assert_eq!(recalled(&world, query), Vec::<String>::new(), "{query}");
    }
    let export = world.engine.transfer().export().unwrap();
    let [kept] = export.bundle.memories.as_slice() else { panic!("{export:?}") };
    assert_eq!((kept.entry.status, kept.entry.content.as_str()), (Status::Inactive, "likes tea"));
    assert_eq!(export.bundle.history.len(), 2);
    assert!(export.to_markdown().contains("likes tea"));
}

#[test]
fn who_changed_what_is_recorded() {
    let world = place();
    let id = remember(&world, "likes tea");
    agent(&world).memories().edit(&id, &Edit { content: Some("likes coffee".to_owned()), ..Edit::default() }).unwrap();
    let actors: Vec<_> = world.engine.history().changes(9).unwrap().into_iter().map(|change| change.actor).collect();
    assert_eq!(actors, [Actor::new(Source::Agent, "mcp"), Actor::new(Source::User, "test")]);
}

#[test]
fn an_unknown_reference_is_named() {
    let world = place();
    for error in [
        world.engine.memories().show("nobody").unwrap_err(),
        world.engine.memories().forget("nobody").unwrap_err(),
        world.engine.memories().edit("nobody", &Edit::default()).unwrap_err(),
        world.engine.memories().erase("nobody", true).unwrap_err(),
        world.engine.history().restore("nobody", 1).unwrap_err(),
    ] {
        assert!(error.to_string().contains("`nobody`") && error.is_not_found(), "{error}");
    }
}

#[test]
fn facts_go_to_global_where_no_namespace_is_set() {
    let world = place_set(|settings| settings.namespace = None);
    let entry = world.engine.memories().remember(&NewMemory::fact("likes tea")).unwrap().memory.entry;
    assert_eq!(entry.namespace, Namespace::Global);
    assert_eq!(recalled(&world, "tea"), ["likes tea"]);
    assert_eq!(world.engine.documents().read(&Namespace::Global).unwrap().unwrap(), "# global\n\n- likes tea\n");
    let set = place();
    let entry = set.engine.memories().remember(&NewMemory::fact("likes tea")).unwrap().memory.entry;
    assert_eq!(entry.namespace.to_string(), "user/facts");
}

#[test]
fn secrets_never_reach_the_store() {
    let world = place();
    let secret = "AKIAIOSFODNN7EXAMPLE";
    let new = NewMemory {
        tags: vec![format!("uses {secret}")],
        ..keyed(&format!("key {secret}"), &format!("s3 is {secret}"))
    };
    let remembered = world.engine.memories().remember(&new).unwrap();
    assert_eq!(remembered.redacted, ["aws-key"]);
    assert_eq!(remembered.memory.entry.content, "s3 is [redacted:aws-key]");
    let edit = Edit { content: Some(format!("or {secret}")), ..Edit::default() };
    world.engine.memories().edit(remembered.memory.entry.id.as_str(), &edit).unwrap();
    let identity =
        NewMemory { layer: throughline_core::model::Layer::Identity, ..NewMemory::fact(format!("has {secret}")) };
    world.engine.memories().remember(&identity).unwrap();
    let written = world.engine.documents().write(&document("user/notes"), &format!("- {secret}\n"), None).unwrap();
    assert_eq!((written.redacted, written.document.text.as_str()), (vec!["aws-key"], "- [redacted:aws-key]\n"));
    world.engine.documents().write(&document("user/working"), &format!("using {secret}"), None).unwrap();
    recall(&world, &format!("what is {secret}?"));
    assert_eq!(world.engine.recall().log(1).unwrap()[0].query, "what is [redacted:aws-key]?");
    let export = world.engine.transfer().export().unwrap();
    let everything = format!("{export:?}{:?}", world.engine.recall().log(9).unwrap());
    assert!(!everything.contains(secret), "{everything}");
}

#[test]
fn the_same_text_again_adds_the_weight_and_labels_that_are_given() {
    let world = place();
    let first = world.engine.memories().remember(&NewMemory::fact("likes tea")).unwrap();
    let importance = Some(Importance::new(1.0).unwrap());
    let again = NewMemory { importance, tags: vec!["drink".to_owned()], ..NewMemory::fact("likes tea") };
    let second = world.engine.memories().remember(&again).unwrap();
    assert_eq!(second.memory.entry.id, first.memory.entry.id);
    assert_eq!((second.memory.significance.value(), second.memory.entry.tags), (5, vec!["drink".to_owned()]));
    assert_eq!(world.engine.memories().remember(&again).unwrap().outcome, Outcome::Unchanged);
}

#[test]
fn an_edit_of_what_somebody_else_changed_meanwhile_is_a_conflict() {
    let world = place();
    let id = world.engine.memories().remember(&NewMemory::fact("one")).unwrap().memory.entry.id;
    let edit = |text: &str| Edit { content: Some(text.to_owned()), expected_version: Some(1), ..Edit::default() };
    world.engine.memories().edit(id.as_str(), &edit("two")).unwrap();
    assert!(matches!(world.engine.memories().edit(id.as_str(), &edit("three")), Err(EngineError::Store(_))));
    assert_eq!(world.engine.memories().show(id.as_str()).unwrap().entry.content, "two");
}

#[test]
fn what_cannot_stand_as_a_line_of_the_profile_is_refused_before_it_is_written() {
    let world = place();
    let identity = |text: &str| NewMemory { layer: Layer::Identity, ..NewMemory::fact(text) };
    assert!(matches!(world.engine.memories().remember(&identity("---")), Err(EngineError::Invalid { .. })));
    assert_eq!(world.engine.documents().profile().unwrap(), None);
    let weighty = world.engine.memories().remember(&identity("[sig:5] likes tea")).unwrap();
    assert_eq!((weighty.memory.significance.value(), weighty.memory.entry.content.as_str()), (5, "likes tea"));
}
