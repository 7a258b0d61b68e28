//! Whatever a memory holds, an export of it comes back identical in an empty one.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use throughline_core::engine::{
    Correction, Edit, EngineError, Export, Imported, NewMemory, NewTask, SetAside, TaskEdit,
};
use throughline_core::model::{Entry, Importance, Kind, Layer, Project, Status, Task, TaskStatus};
use throughline_core::ports::StoreError;
use throughline_core::text::redact::redact;
use throughline_testkit::stores;

use super::*;

const CASES: u32 = 24;
const ACTS: usize = 40;
const KEYS: [&str; 3] = ["drink", "editor", "team/owner"];
const TEXTS: [&str; 6] =
    ["likes tea", "likes coffee", "用户 👩‍💻\nhappened", "key AKIAIOSFODNN7EXAMPLE", "  spaced  ", "- a list\n- of two"];
const DOCUMENTS: [&str; 4] = ["user/profile", "user/working", "user/notes/travel", "user/notes"];
const SESSIONS: [&str; 2] = ["cli:main", "web:x"];

/// Something that somebody does; numbers pick among what is there.
#[derive(Debug, Clone)]
enum Act {
    Remember { text: Index, key: Option<Index>, layer: bool, weight: f64 },
    Edit { which: Index, text: Index },
    Forget { which: Index },
    Restore { which: Index, version: u32 },
    Correct { which: Index, text: Index },
    Merge { first: Index, second: Index },
    Write { name: Index, text: Index },
    Remove { name: Index },
    Say { session: Index, text: Index },
    AddTask { text: Index },
    ChangeTask { which: Index, text: Index, status: Option<bool> },
    FinishTask { which: Index, conclusion: Option<Index> },
    AddProject { name: bool, dir: bool },
    RemoveProject { name: bool },
    Recall { text: Index },
    Undo,
}

fn index() -> impl Strategy<Value = Index> {
    any::<Index>()
}

fn acts() -> impl Strategy<Value = Act> {
    let (flag, maybe) = (proptest::bool::ANY, || option::of(index()));
    prop_oneof![
        4 => (index(), maybe(), flag, 0.0..1.0).prop_map(|(text, key, layer, weight)| Act::Remember { text, key, layer, weight }),
        2 => (index(), index()).prop_map(|(which, text)| Act::Edit { which, text }),
        2 => index().prop_map(|which| Act::Forget { which }),
        1 => (index(), 1..4_u32).prop_map(|(which, version)| Act::Restore { which, version }),
        2 => (index(), index()).prop_map(|(which, text)| Act::Correct { which, text }),
        2 => (index(), index()).prop_map(|(first, second)| Act::Merge { first, second }),
        2 => (index(), index()).prop_map(|(name, text)| Act::Write { name, text }),
        1 => index().prop_map(|name| Act::Remove { name }),
        2 => (index(), index()).prop_map(|(session, text)| Act::Say { session, text }),
        2 => index().prop_map(|text| Act::AddTask { text }),
        2 => (index(), index(), option::of(flag)).prop_map(|(which, text, status)| Act::ChangeTask { which, text, status }),
        2 => (index(), maybe()).prop_map(|(which, conclusion)| Act::FinishTask { which, conclusion }),
        1 => (flag, flag).prop_map(|(name, dir)| Act::AddProject { name, dir }),
        1 => flag.prop_map(|name| Act::RemoveProject { name }),
        1 => index().prop_map(|text| Act::Recall { text }),
        3 => Just(Act::Undo),
    ]
}

fn one_memory(world: &World, which: Index) -> String {
    let memories = world.store.bundle().unwrap().memories;
    if memories.is_empty() { "nobody".to_owned() } else { which.get(&memories).entry.id.to_string() }
}

fn one_task(world: &World, which: Index) -> String {
    let tasks = world.engine.tasks().list(None, None).unwrap();
    if tasks.is_empty() { "nobody".to_owned() } else { which.get(&tasks).id.to_string() }
}

fn name(of: bool) -> &'static str {
    if of { "apollo" } else { "zeus" }
}

/// Does one thing. What cannot be done here is not the point.
fn act(world: &World, nth: usize, act: &Act) {
    world.clock.advance(jiff::SignedDuration::from_millis(1234));
    let text = |index: &Index| (*index.get(&TEXTS)).to_owned();
    let done = match act {
        Act::Remember { text: at, key, layer, weight } => {
            world.engine.memories().remember(&remembered(&text(at), *key, *layer, *weight)).map(drop)
        }
        Act::Edit { which, text: at } => {
            let tags = Some(vec!["hot".to_owned(), "task:t1".to_owned()]);
            let edit = Edit { content: Some(text(at)), tags, ..Edit::default() };
            world.engine.memories().edit(&one_memory(world, *which), &edit).map(drop)
        }
        Act::Forget { which } => world.engine.memories().forget(&one_memory(world, *which)).map(drop),
        Act::Restore { which, version } => {
            world.engine.history().restore(&one_memory(world, *which), *version).map(drop)
        }
        Act::Correct { which, text: at } => {
            world.engine.memories().correct(&one_memory(world, *which), &Correction::by_person(text(at))).map(drop)
        }
        Act::Merge { first, second } => {
            world.engine.memories().merge(&[one_memory(world, *first), one_memory(world, *second)], None).map(drop)
        }
        Act::Write { name, text: at } => {
            save(world, DOCUMENTS[name.index(DOCUMENTS.len())], &format!("# Notes\n\n- [sig:4] {}\r\n", text(at)));
            world.engine.transfer().export().map(drop)
        }
        Act::Remove { name } => remove(world, DOCUMENTS[name.index(DOCUMENTS.len())]),
        Act::Say { session, text: at } => {
            let said =
                stores::turn(&format!("turn{nth}"), SESSIONS[session.index(SESSIONS.len())], &redact(&text(at)).text);
            world.store.append(&[said]).unwrap();
            Ok(())
        }
        Act::AddTask { text: at } => {
            let (title, project) = (format!("task {nth}"), Some("apollo".to_owned()));
            world.engine.tasks().add(&NewTask { title, state: text(at), project }).map(drop)
        }
        Act::ChangeTask { which, text: at, status } => {
            let status = status.map(|open| if open { TaskStatus::Open } else { TaskStatus::Removed });
            let edit = TaskEdit { state: Some(text(at)), status, ..TaskEdit::default() };
            world.engine.tasks().update(&one_task(world, *which), &edit).map(drop)
        }
        Act::FinishTask { which, conclusion } => {
            world.engine.tasks().finish(&one_task(world, *which), conclusion.as_ref().map(text).as_deref()).map(drop)
        }
        Act::AddProject { name: of, dir } => {
            world.engine.projects().add(name(*of), dir.then_some("/home/ada/a project 用户")).map(drop)
        }
        Act::RemoveProject { name: of } => world.engine.projects().remove(name(*of)).map(drop),
        Act::Recall { text: at } => {
            recall(world, &text(at));
            Ok(())
        }
        Act::Undo => world.engine.history().undo().map(drop),
    };
    assert!(done.as_ref().map_or_else(is_a_refusal, |()| true), "{act:?} failed: {done:?}");
}

fn remembered(text: &str, key: Option<Index>, archive: bool, weight: f64) -> NewMemory {
    NewMemory {
        key: key.map(|key| (*key.get(&KEYS)).to_owned()),
        layer: if archive { Layer::Archive } else { Layer::Knowledge },
        importance: Some(Importance::new(weight).unwrap()),
        tags: vec!["red".to_owned(), format!("project:{}", name(weight < 0.5))],
        session: archive.then(|| SESSIONS[0].parse().unwrap()),
        ..NewMemory::fact(text)
    }
}

fn remove(world: &World, name: &str) -> Result<(), EngineError> {
    if let Some(there) = world.documents.read(&document(name)).unwrap() {
        world.documents.remove(&document(name), &there.hash).unwrap();
    }
    world.engine.transfer().export().map(drop)
}

/// Refusals that a person would understand; anything else is a failure.
fn is_a_refusal(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::NotFound { .. }
            | EngineError::NoTask { .. }
            | EngineError::NoProject { .. }
            | EngineError::NoVersion { .. }
            | EngineError::Invalid { .. }
            | EngineError::NothingToUndo
            | EngineError::LeftOut { .. }
            | EngineError::Store(StoreError::KeyTaken { .. })
    )
}

/// An export whose time of making is always the same.
fn export(world: &World) -> Export {
    Export { exported_at: jiff::Timestamp::UNIX_EPOCH, ..world.engine.transfer().export().unwrap() }
}

/// What of an export is in use, without the counts of its changes.
fn in_use(export: &Export) -> impl PartialEq + std::fmt::Debug + use<> {
    let entries = export.bundle.memories.iter().map(|memory| Entry { version: 0, ..memory.entry.clone() });
    let entries = entries.filter(|entry| entry.kind == Kind::Entry && entry.status == Status::Active);
    let tasks = export.bundle.tasks.iter().filter(|task| task.status != TaskStatus::Removed);
    let projects = export.bundle.projects.iter().filter(|project| project.status == Status::Active);
    (
        entries.collect::<Vec<_>>(),
        tasks.map(|task| Task { version: 0, ..task.clone() }).collect::<Vec<_>>(),
        projects.map(|project| Project { version: 0, ..project.clone() }).collect::<Vec<_>>(),
        export.documents.clone(),
    )
}

/// Imports, and holds the dry run to what came of it.
fn import_as_foretold(world: &World, export: &Export) -> Imported {
    let foretold = world.engine.transfer().preview_import(export).unwrap();
    let imported = world.engine.transfer().import(export).unwrap();
    assert_eq!((foretold.dry_run, foretold.imported), (true, imported.clone()));
    imported
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_memory_comes_back_identical_and_again_after_undo(acts in vec(acts(), ACTS)) {
        let from = place();
        acts.iter().enumerate().for_each(|(nth, what)| act(&from, nth, what));
        let there = export(&from);
        let json = serde_json::to_string(&there).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Export>(&json).unwrap(), &there);
        let to = elsewhere();
        import_as_foretold(&to, &there);
        prop_assert_eq!(&export(&to), &there);
        let Imported { adopted, documents, set_aside, left_out, withheld } = import_as_foretold(&to, &there);
        prop_assert_eq!((left_out, withheld), (Vec::<DocumentName>::new(), 0));
        prop_assert_eq!((adopted.added, adopted.turns, adopted.tasks, adopted.projects), (0, 0, 0, 0));
        prop_assert_eq!((documents, set_aside), (Vec::<DocumentName>::new(), Vec::<SetAside>::new()));
        prop_assert_eq!(&export(&to), &there, "a second time changes nothing");
        let empty = Export { documents: Vec::new(), bundle: Default::default(), ..there.clone() };
        for _ in 0..2 {
            match to.engine.history().undo() {
                // Conversations stay, and a text whose secret was left out is never taken away.
                Err(EngineError::NothingToUndo | EngineError::LeftOut { .. }) => break,
                undone => drop(undone.unwrap()),
            }
            prop_assert_eq!(in_use(&export(&to)), in_use(&empty));
            import_as_foretold(&to, &there);
            prop_assert_eq!(in_use(&export(&to)), in_use(&there), "what was undone is back");
        }
        prop_assert_eq!(to.store.check().unwrap(), Vec::<String>::new());
    }
}
