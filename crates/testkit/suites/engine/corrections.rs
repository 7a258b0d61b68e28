//! Corrections and merges: what is right outranks, what was wrong is kept for audit and never comes again.

use throughline_core::context::Context;
use throughline_core::engine::Visibility;
use throughline_core::engine::{ContextRequest, Correction, HistoryOf, Outcome, StartSession};
use throughline_core::model::{EntryId, Importance, Layer, SessionId, Status};
use throughline_core::ports::{Page, ToolCall};

use super::*;

fn of(source: Source, text: &str) -> NewMemory {
    NewMemory { source, ..NewMemory::fact(text) }
}

fn correct(world: &World, wrong: &str, right: &str) -> String {
    let replaced = world.engine.memories().correct(wrong, &Correction::by_person(right)).unwrap();
    assert_eq!(replaced.outcome, Outcome::Created);
    replaced.memory.entry.id.to_string()
}

fn contents(world: &World, status: Option<Status>) -> Vec<String> {
    let filter = Filter { status, ..Filter::default() };
    let listing = world.engine.memories().list(&filter, &Page { limit: usize::MAX, cursor: None }).unwrap();
    listing.memories.into_iter().map(|memory| memory.entry.content).collect()
}

/// What every surface gives for a message, in one text.
fn all_surfaces(world: &World, message: &str) -> Vec<(&'static str, String)> {
    let session: SessionId = "chat:new".parse().unwrap();
    world.engine.sessions().start(&StartSession::new(session.clone())).unwrap();
    let request = ContextRequest { message: Some(message.to_owned()), ..ContextRequest::default() };
    let shown = |context: Context| format!("{}\n{}", context.system_prompt, context.message.unwrap_or_default());
    let tool = |name: &str, arguments: serde_json::Value| {
        let call = ToolCall { id: String::new(), name: name.to_owned(), arguments: arguments.to_string() };
        world.engine.tools().call(&session, &call).text()
    };
    vec![
        ("recall", recalled(world, message).join("\n")),
        ("preview", shown(world.engine.context().prepare(&request).unwrap().context)),
        ("context", shown(world.engine.context().give(&session, message, Visibility::Stays).unwrap())),
        ("memory_recall", tool("memory_recall", serde_json::json!({ "query": message }))),
        ("memory_context", tool("memory_context", serde_json::json!({ "message": message }))),
        ("proposals", format!("{:?}", world.engine.memories().wrong_about(message).unwrap())),
    ]
}

#[test]
fn of_the_same_words_the_person_stands_before_the_assistant_before_the_program() {
    let world = place();
    // Their order in time does not decide: all are of one moment, and the least trusted is the newest.
    for (source, project) in [(Source::User, "a"), (Source::Agent, "b"), (Source::System, "c")] {
        let new = NewMemory { project: Some(project.to_owned()), ..of(source, "the deploy runs on friday") };
        world.engine.memories().remember(&new).unwrap();
    }
    assert_eq!(super::finding::sources_of(&world, "deploy"), [Source::User, Source::Agent, Source::System]);
}

#[test]
fn what_is_superseded_or_inactive_comes_by_no_surface_and_is_still_exported() {
    let world = place();
    let wrong = remember(&world, "the deploy runs on friday");
    let forgotten = remember(&world, "the deploy runs by hand");
    world.engine.memories().forget(&forgotten).unwrap();
    let right = correct(&world, &wrong, "the deploy runs on thursday");
    for (surface, text) in all_surfaces(&world, "when and how is the deploy, on friday by hand?") {
        assert!(text.contains("thursday"), "{surface}: {text}");
        assert!(!text.contains("runs on friday") && !text.contains("runs by hand"), "{surface}: {text}");
    }
    assert_eq!(contents(&world, Some(Status::Inactive)), ["the deploy runs by hand", "the deploy runs on friday"]);
    let export = serde_json::to_string(&world.engine.transfer().export().unwrap()).unwrap();
    for kept in [&wrong, &forgotten, &right, "the deploy runs on friday", "the deploy runs by hand"] {
        assert!(export.contains(kept), "{kept} is exported");
    }
}

#[test]
fn a_correction_stands_before_whatever_else_is_on_its_subject() {
    let world = place();
    let important = NewMemory {
        importance: Some(Importance::new(1.0).unwrap()),
        ..of(Source::User, "the deploy runs on friday at noon")
    };
    world.engine.memories().remember(&important).unwrap();
    let wrong =
        world.engine.memories().remember(&of(Source::System, "the deploy runs at night")).unwrap().memory.entry.id;
    world.clock.advance(days(300));
    let right = Correction { source: Source::Agent, ..Correction::by_person("the deploy runs on thursday") };
    world.engine.memories().correct(wrong.as_str(), &right).unwrap();
    world.clock.advance(days(300));
    remember(&world, "the deploy runs on friday evening");
    let found = recalled(&world, "does the deploy run on friday at noon?");
    assert_eq!(found[0], "the deploy runs on thursday", "{found:?}");
    assert_eq!(found.len(), 3);
}

#[test]
fn a_correction_is_linked_to_what_it_replaced_and_can_be_undone() {
    let world = place();
    let wrong = remember_as(&world, "deploy", "the deploy runs on friday");
    let right = correct(&world, "deploy", "the deploy runs on thursday");
    let (right, wrong) =
        (world.engine.memories().show(&right).unwrap().entry, world.engine.memories().show(&wrong).unwrap().entry);
    assert_eq!((right.supersedes, right.key, wrong.status), (vec![wrong.id.clone()], wrong.key, Status::Inactive));
    let HistoryOf::Entry { versions } = world.engine.history().of(wrong.id.as_str()).unwrap() else {
        panic!("an entry")
    };
    assert_eq!(versions.len(), 2);
    world.engine.history().undo().unwrap();
    assert_eq!(recalled(&world, "deploy"), ["the deploy runs on friday"]);
    assert_eq!(world.engine.memories().show("deploy").unwrap().entry.id, wrong.id);
}

#[test]
fn to_say_the_same_is_no_correction() {
    let world = place();
    let id = remember(&world, "the deploy runs on friday");
    let same = world.engine.memories().correct(&id, &Correction::by_person(" the deploy runs on friday ")).unwrap();
    assert_eq!((same.outcome, same.superseded), (Outcome::Unchanged, Vec::new()));
    assert_eq!(contents(&world, None).len(), 1);
}

#[test]
fn what_was_corrected_is_not_corrected_again_in_its_grave() {
    for key in [None, Some("deploy".to_owned())] {
        let world = place();
        let wrong = NewMemory { key, ..NewMemory::fact("the deploy runs on friday") };
        let wrong = world.engine.memories().remember(&wrong).unwrap().memory.entry.id.to_string();
        correct(&world, &wrong, "the deploy runs on thursday");
        let error =
            world.engine.memories().correct(&wrong, &Correction::by_person("the deploy runs on monday")).unwrap_err();
        assert!(error.to_string().contains("not active") && error.to_string().contains(&wrong), "{error}");
        assert_eq!(recalled(&world, "deploy"), ["the deploy runs on thursday"], "there is one truth");
    }
}

#[test]
fn a_line_of_a_document_is_corrected_where_it_stands() {
    let world = place();
    save(&world, "user/profile", "# Me\n\n- lives in Porto\n- likes tea\n");
    let id = recall(&world, "Porto").remove(0).memory.entry.id;
    world.engine.memories().correct(id.as_str(), &Correction::by_person("lives in Lisbon")).unwrap();
    assert_eq!(text_of(&world, "user/profile").unwrap(), "# Me\n\n- lives in Lisbon\n- likes tea\n");
}

#[test]
fn a_correction_to_what_is_known_already_leaves_one_memory() {
    let world = place();
    let wrong = remember(&world, "the deploy runs on friday");
    let known = remember(&world, "the deploy runs on thursday");
    let replaced =
        world.engine.memories().correct(&wrong, &Correction::by_person("the deploy runs on thursday")).unwrap();
    assert_eq!(replaced.memory.entry.id.as_str(), known);
    assert_eq!(contents(&world, Some(Status::Active)), ["the deploy runs on thursday"]);
}

#[test]
fn merging_keeps_the_first_with_all_that_the_others_add() {
    let world = place();
    let tagged = |text: &str, tag: &str, weight: f64| NewMemory {
        tags: vec![tag.to_owned()],
        importance: Some(Importance::new(weight).unwrap()),
        ..NewMemory::fact(text)
    };
    let ids: Vec<String> = [("likes tea", "drink", 0.5), ("tea comes first", "hot", 1.0), ("tea!", "drink", 0.0)]
        .map(|(text, tag, weight)| {
            world.engine.memories().remember(&tagged(text, tag, weight)).unwrap().memory.entry.id.to_string()
        })
        .to_vec();
    let merged = world.engine.memories().merge(&ids, Some("loves tea above all")).unwrap();
    let entry = &merged.memory.entry;
    assert_eq!((entry.id.as_str(), entry.content.as_str()), (ids[0].as_str(), "loves tea above all"));
    assert_eq!(
        (entry.tags.as_slice(), entry.importance.value()),
        (["drink".to_owned(), "hot".to_owned()].as_slice(), 1.0)
    );
    assert_eq!(entry.supersedes, [EntryId::new(ids[1].as_str()), EntryId::new(ids[2].as_str())]);
    assert_eq!(recalled(&world, "tea"), ["loves tea above all"]);
    world.engine.history().undo().unwrap();
    assert_eq!(recalled(&world, "tea").len(), 3, "undone as a whole");
}

#[test]
fn what_cannot_be_merged_is_left_as_it_is() {
    let world = place();
    save(&world, "user/profile", "- likes tea\n");
    let line = recall(&world, "tea").remove(0).memory.entry.id.to_string();
    let (one, gone) = (remember(&world, "likes cocoa"), remember(&world, "likes milk"));
    world.engine.memories().forget(&gone).unwrap();
    let new =
        |layer, project: Option<&str>| NewMemory { layer, project: project.map(str::to_owned), ..NewMemory::fact("x") };
    let other = |new: NewMemory| world.engine.memories().remember(&new).unwrap().memory.entry.id.to_string();
    let (archived, elsewhere) = (other(new(Layer::Archive, None)), other(new(Layer::Knowledge, Some("apollo"))));
    let before = contents(&world, None);
    let table: [(&str, &str); 6] = [
        (&line, "line of a document"),
        (&gone, "not active"),
        (&archived, "another layer"),
        (&elsewhere, "project"),
        (&one, "two different"),
        ("nobody", "nobody"),
    ];
    for (with, says) in table {
        let error = world.engine.memories().merge(&[one.clone(), with.to_owned()], None).unwrap_err().to_string();
        assert!(error.contains(says), "{with}: {error}");
    }
    assert_eq!(contents(&world, None), before);
}
