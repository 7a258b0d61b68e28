//! An edit that makes a memory say what another says already: the edited one stands alone.

use serde_json::json;
use throughline_core::engine::{Edit, Outcome};
use throughline_core::ports::Page;

use super::*;

/// Every active statement, sorted.
fn statements(world: &World) -> Vec<String> {
    let page = Page { limit: usize::MAX, cursor: None };
    let filter = Filter::recallable(world.engine.now());
    let all = world.engine.memories().list(&filter, &page).unwrap().memories;
    let mut all: Vec<String> = all.into_iter().map(|memory| memory.entry.content).collect();
    all.sort();
    all
}

fn saying(content: &str) -> Edit {
    Edit { content: Some(content.to_owned()), ..Edit::default() }
}

fn id_of(world: &World, content: &str) -> String {
    let hits = recall(world, content).into_iter().map(|hit| hit.memory.entry);
    hits.filter(|entry| entry.content == content).map(|entry| entry.id.to_string()).next().unwrap()
}

#[test]
fn an_edited_entry_supersedes_what_says_the_same_and_takes_its_key() {
    let world = place();
    let known = remember_as(&world, "deploy", "We deploy on Fridays");
    let other = remember(&world, "The office is in Porto");
    let edited = world.engine.memories().edit(&other, &saying("We deploy on Fridays.")).unwrap();
    assert_eq!((edited.outcome, edited.memory.entry.id.as_str()), (Outcome::Updated, other.as_str()));
    assert_eq!(edited.superseded.iter().map(ToString::to_string).collect::<Vec<_>>(), [known.as_str()]);
    assert_eq!(edited.memory.entry.key.as_deref(), Some("deploy"), "the key goes on naming it");
    assert_eq!(statements(&world), ["We deploy on Fridays."]);
    world.engine.history().undo().unwrap();
    assert_eq!(statements(&world), ["The office is in Porto", "We deploy on Fridays"], "one change, one undo");
    assert_eq!(world.engine.memories().show("deploy").unwrap().entry.id.as_str(), known);
}

#[test]
fn an_edited_line_supersedes_entries_and_lines_that_say_the_same() {
    let world = place();
    save(&world, "user/profile", "- I live in Porto\n- My cat is called Miso\n");
    save(&world, "user/notes", "- My dog is called Rex\n- buy milk\n");
    remember(&world, "We deploy on Fridays");
    let before = statements(&world);
    let edit = |from: &str, to: &str| world.engine.memories().edit(&id_of(&world, from), &saying(to)).unwrap();
    assert_eq!(edit("My cat is called Miso", "We deploy on Fridays").superseded.len(), 1);
    assert_eq!(statements(&world), ["I live in Porto", "My dog is called Rex", "We deploy on Fridays", "buy milk"]);
    world.engine.history().undo().unwrap();
    assert_eq!(statements(&world), before);
    let edited = edit("buy milk", "I'm living in Porto");
    assert_eq!((edited.superseded.len(), edited.memory.entry.content.as_str()), (1, "I'm living in Porto"));
    assert_eq!(text_of(&world, "user/profile").unwrap(), "- My cat is called Miso\n", "the other line is gone");
    world.engine.history().undo().unwrap();
    assert_eq!(statements(&world), before, "both files are one change");
    edit("My cat is called Miso", "I live in Porto");
    assert_eq!(text_of(&world, "user/profile").unwrap(), "- I live in Porto\n", "twice in one file is once");
}

#[test]
fn an_edit_leaves_other_projects_other_keys_and_taken_keys_alone() {
    let world = place();
    let in_project =
        |text: &str, project: &str| NewMemory { project: Some(project.to_owned()), ..NewMemory::fact(text) };
    world.engine.memories().remember(&in_project("We use pnpm", "apollo")).unwrap();
    remember_as(&world, "tool", "We use pnpm everywhere");
    let named = remember_as(&world, "other", "We use npm everywhere");
    world.engine.memories().edit(&named, &saying("We use pnpm everywhere")).unwrap();
    let other = remember(&world, "We use yarn");
    world.engine.memories().edit(&other, &saying("We use pnpm")).unwrap();
    let expected = ["We use pnpm", "We use pnpm", "We use pnpm everywhere", "We use pnpm everywhere"];
    assert_eq!(statements(&world), expected, "another project's, and two keys");
    let third = remember(&world, "We use bun everywhere");
    let edited = world.engine.memories().edit(&third, &saying("We use pnpm everywhere")).unwrap();
    assert_eq!(edited.superseded.len(), 1, "one key is taken over, the other goes on naming its memory");
    assert!(["tool", "other"].iter().all(|key| world.engine.memories().show(key).is_ok()));
    let taken = Edit { key: Some(Some("tool".to_owned())), ..Edit::default() };
    let refused = world.engine.memories().edit(&other, &taken).unwrap_err();
    assert!(refused.to_string().contains("tool"), "{refused}");
}

#[test]
fn an_assistant_that_rewords_a_line_of_identity_leaves_no_copy() {
    let world = place();
    let session = "chat:one".parse().unwrap();
    world.engine.sessions().start(&throughline_core::engine::StartSession::new("chat:one".parse().unwrap())).unwrap();
    save(&world, "user/profile", "- My cat is called Miso\n");
    remember(&world, "I live in Porto");
    let arguments = json!({ "action": "update", "layer": "L0", "target_id": id_of(&world, "My cat is called Miso"),
                            "content": "I'm living in Porto" });
    let call = throughline_core::ports::ToolCall {
        id: "1".to_owned(),
        name: "memory_write".to_owned(),
        arguments: arguments.to_string(),
    };
    let answer = world.engine.tools().call(&session, &call);
    assert!(!answer.is_error, "{}", answer.content);
    assert_eq!(statements(&world), ["I'm living in Porto"]);
    world.engine.history().undo().unwrap();
    assert_eq!(statements(&world), ["I live in Porto", "My cat is called Miso"]);
}

#[test]
fn a_muted_line_that_is_edited_stays_muted() {
    let world = place();
    save(&world, "user/profile", "- I live in Porto\n- My cat is called Miso\n");
    let id = id_of(&world, "I live in Porto");
    world.engine.memories().mute(&id, None).unwrap();
    let edited = world.engine.memories().edit(&id, &saying("I live in the old town of Porto")).unwrap();
    let shown = world.engine.memories().show(edited.memory.entry.id.as_str()).unwrap();
    assert!(shown.muted, "an edit is the same line");
    world.engine.history().undo().unwrap();
    assert!(world.engine.memories().show(&id).unwrap().muted, "and so does what an undo brings back");
    save(&world, "user/profile", "- I'm living in Porto\n- My cat is called Miso\n");
    let reworded = id_of(&world, "I'm living in Porto");
    assert!(world.engine.memories().show(&reworded).unwrap().muted, "the same in other words, by hand");
    save(&world, "user/profile", "- I live in Faro\n- My cat is called Miso\n");
    let other = id_of(&world, "I live in Faro");
    assert!(!world.engine.memories().show(&other).unwrap().muted, "another value is another statement");
}
