//! Where the engine once did something else than a plain model of it.

use throughline_core::engine::{Correction, NewTask, Outcome, TaskEdit};
use throughline_core::model::{Status, Task, TaskStatus};
use throughline_core::recall::CORRECTION_TAG;

use super::*;

fn done_twice(world: &World, state: &str, between: impl FnOnce(&Task)) -> Task {
    let task =
        world.engine.tasks().add(&NewTask { title: "parser".to_owned(), state: state.to_owned(), project: None });
    let task = world.engine.tasks().finish(task.unwrap().id.as_str(), None).unwrap().task;
    between(&task);
    let again = TaskEdit { status: Some(TaskStatus::Open), state: Some("again".to_owned()), ..TaskEdit::default() };
    world.engine.tasks().update(task.id.as_str(), &again).unwrap();
    world.engine.tasks().finish(task.id.as_str(), None).unwrap().task
}

#[test]
fn a_memory_that_is_merged_with_what_replaced_it_does_not_replace_itself() {
    let world = place();
    let wrong = remember(&world, "the office is in Porto");
    let right = world
        .engine
        .memories()
        .correct(&wrong, &Correction::by_person("the office is in Lisbon"))
        .unwrap()
        .memory
        .entry;
    world.engine.history().restore(&wrong, 1).unwrap();
    let merged = world.engine.memories().merge(&[wrong, right.id.to_string()], None).unwrap();
    assert_eq!(merged.memory.entry.supersedes, [right.id]);
}

#[test]
fn what_is_right_and_known_already_is_linked_to_what_it_replaces() {
    let world = place();
    let known = remember(&world, "the office is in Lisbon");
    let wrong = remember(&world, "the office is in Porto");
    let replaced = world.engine.memories().correct(&wrong, &Correction::by_person("the office is in Lisbon")).unwrap();
    let entry = replaced.memory.entry;
    assert_eq!((entry.id.as_str(), replaced.outcome), (known.as_str(), Outcome::Updated));
    assert_eq!(entry.supersedes.iter().map(ToString::to_string).collect::<Vec<_>>(), [wrong.as_str()]);
    assert!(entry.tags.iter().any(|tag| tag == CORRECTION_TAG));
    world.engine.history().undo().unwrap();
    let now = |id: &str| world.engine.memories().show(id).unwrap().entry;
    assert_eq!((now(&wrong).status, now(&known).supersedes.len()), (Status::Active, 0), "one change, one undo");
}

#[test]
fn a_task_whose_archive_was_corrected_can_be_done_again() {
    let world = place();
    let mut right = String::new();
    let task = done_twice(&world, "half", |task| {
        let wrong = task.archive.as_ref().unwrap().as_str();
        right = world
            .engine
            .memories()
            .correct(wrong, &Correction::by_person("what is right"))
            .unwrap()
            .memory
            .entry
            .id
            .to_string();
    });
    assert_eq!(task.archive.unwrap().as_str(), right, "what is right goes on");
    assert!(world.engine.memories().show(&right).unwrap().entry.content.starts_with("what is right\n\n["));
    assert_eq!(recalled(&world, "half"), Vec::<String>::new(), "what was wrong is not back");
}

#[test]
fn an_archive_that_was_forgotten_stays_so_when_the_task_is_done_again() {
    let world = place();
    let task = done_twice(&world, "half", |task| {
        world.engine.memories().forget(task.archive.as_ref().unwrap().as_str()).unwrap();
    });
    assert_eq!(recalled(&world, "half"), Vec::<String>::new());
    assert_eq!(recalled(&world, "again").len(), 1);
    assert_eq!(world.store.task_versions(&task.id).unwrap().len(), 4);
}

#[test]
fn an_archive_that_grew_too_long_keeps_the_latest_and_can_be_imported() {
    let world = place();
    let task = done_twice(&world, &"é ".repeat(21_840), |_| {});
    let archive = world.engine.memories().show(task.archive.unwrap().as_str()).unwrap().entry;
    assert!(archive.content.len() <= 64 * 1024 && archive.content.ends_with("again"));
    elsewhere().engine.transfer().import(&world.engine.transfer().export().unwrap()).unwrap();
}
