//! Erasing leaves no byte: not in rows, history, index, logs, the write-ahead log or a backup.

use std::path::Path;
use std::sync::Arc;

use throughline_core::embedding::Baseline;
use throughline_core::engine::{Edit, NewMemory};
use throughline_core::model::{Entry, EntryId, Layer, Task, TaskId, TaskStatus, TurnId, Verb};
use throughline_core::ports::{Backups as _, Eraser as _, Erasure, MadeBy, Op, Store};
use throughline_core::recall::{Filter, RecallRequest, analysis};
use throughline_core::vault::Packed;
use throughline_sqlite::{SqliteBackups, SqliteStore};
use throughline_testkit::World;

use super::{files, home, open, stores};

/// A word that nothing else contains, and whose stem differs from it.
const MARKER: &str = "qzvxwobblings";

/// The marker, its stem, and enough of its end to be seen where an index shares beginnings.
fn traces() -> Vec<String> {
    let mut traces: Vec<String> = analysis::index_text(MARKER).split(' ').map(str::to_owned).collect();
    assert!(traces.len() > 1, "the stem differs");
    traces.push(MARKER[3..10].to_owned());
    traces
}

fn holds(bytes: &[u8], text: &str) -> bool {
    let lower = bytes.to_ascii_lowercase();
    lower.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Where a trace is left, in any file of the directory.
fn left_in(directory: &Path) -> Vec<String> {
    let left = |(path, bytes): (std::path::PathBuf, Vec<u8>)| {
        let found: Vec<String> = traces().into_iter().filter(|trace| holds(&bytes, trace)).collect();
        (!found.is_empty()).then(|| format!("{}: {found:?}", path.file_name().unwrap().to_string_lossy()))
    };
    files(directory).into_iter().filter_map(left).collect()
}

/// How many are found, those included that say the same as another.
fn recall(world: &World, query: &str) -> usize {
    let request = RecallRequest { query: query.to_owned(), limit: 100, filter: Filter::default() };
    let hits = world.engine.recall().recall(&request).unwrap().hits;
    hits.iter().map(|hit| 1 + hit.evidence.len()).sum()
}

/// Other memories, whose keys and texts sort around the marker.
fn crowd(store: &dyn Store, from: usize, to: usize) {
    for n in from..to {
        let letter = char::from(b'a' + (n * 7 % 26) as u8);
        let text = format!("{letter}{} filler text {}", n * 7919 % 1009, "lorem ipsum ".repeat(n % 9));
        let tags = vec![format!("{letter}-tag-{n}")];
        let id = format!("{letter}{:05}22", n * 7919 % 99_991);
        stores::insert(store, Entry { tags, ..stores::keyed(&id, &format!("{letter} key {n}"), &text) });
    }
}

/// Gives what holds the marker a vector whose signs and numbers spell it.
fn embed(store: &dyn Store) {
    let by = MadeBy { provider: "p".to_owned(), model: "m".to_owned(), base_url: None };
    let set = store.begin_memory_set(&by, &Baseline { mean: vec![0.0; 64], deviation: 1.0 }).unwrap();
    let bytes: Vec<u8> = MARKER.bytes().cycle().take(64).collect();
    let vector = Packed { bits: MARKER.as_bytes()[3..11].to_vec(), scale: 1.0, bytes };
    let marked = store.unembedded_memories(2000).unwrap().into_iter().filter(|memory| memory.text.contains(MARKER));
    let made: Vec<_> = marked.map(|memory| (memory, Ok(vector.clone()))).collect();
    assert_eq!(made.len(), 3);
    store.keep_memory_vectors(&set.id, &made).unwrap();
}

/// Puts the marker everywhere: content, key, tags, history, a line of the profile, recalls, a turn, vectors.
fn plant(world: &World) -> Erasure {
    let store = &*world.store;
    store.append(&[stores::turn("source", "cli:main", &format!("I say {MARKER}"))]).unwrap();
    let first = Entry {
        tags: vec![format!("{MARKER}-tag")],
        provenance: vec![TurnId::new("source")],
        ..stores::keyed("qzsecret22222222", &format!("{MARKER}-key"), &format!("first {MARKER}"))
    };
    stores::insert(store, first);
    let edits = [
        Edit { content: Some(format!("second {MARKER} {}", MARKER.repeat(400))), ..Edit::default() },
        Edit { tags: Some(vec![format!("other-{MARKER}")]), ..Edit::default() },
        Edit { content: Some(format!("third {MARKER}")), ..Edit::default() },
    ];
    for edit in edits {
        world.engine.memories().edit("qzsecret22222222", &edit).unwrap();
    }
    let identity = NewMemory { layer: Layer::Identity, ..NewMemory::fact(format!("plays {MARKER} at night")) };
    let line = world.engine.memories().remember(&identity).unwrap().memory.entry;
    world.engine.memories().remember(&NewMemory { content: "lives in Lisbon".to_owned(), ..identity }).unwrap();
    assert_eq!(recall(world, &format!("who knows {MARKER}?")), 3, "two memories and a turn");
    embed(store);
    Erasure {
        memories: vec![EntryId::new("qzsecret22222222"), line.id],
        turns: vec![TurnId::new("source")],
        bullets: vec![("user/profile".parse().unwrap(), line.content)],
        ..Erasure::default()
    }
}

fn erase(world: &World, erasure: &Erasure) {
    let erase = |memory: &EntryId| world.engine.memories().erase(memory.as_str(), true).unwrap().erased.unreached;
    let unreached: Vec<Vec<String>> = erasure.memories.iter().map(erase).collect();
    // What is erased later is named before.
    assert_eq!(unreached.last(), Some(&Vec::new()));
    assert_eq!(recall(world, "wobblings"), 0);
}

fn store_in(path: &Path) -> Arc<dyn Store> {
    Arc::new(open(path).unwrap())
}

#[test]
fn no_byte_of_an_erased_memory_is_left() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    let erasure = plant(&world);
    erase(&world, &erasure);
    assert_eq!(world.store.check().unwrap(), Vec::<String>::new());
    let profile = world.engine.documents().profile().unwrap().unwrap().0;
    assert_eq!(profile, "- lives in Lisbon\n");
    drop(world);
    assert_eq!(left_in(home.path()), Vec::<String>::new());
}

/// What the files hold as soon as erasing has returned, read by another process: a read here would drop SQLite's locks.
#[cfg(unix)]
#[test]
fn no_byte_is_left_even_while_the_store_is_open() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    let erasure = plant(&world);
    crowd(&*world.store, 0, 50);
    erase(&world, &erasure);
    let copy = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("cp").arg("-r").arg(home.path()).arg(copy.path()).status().unwrap();
    assert!(status.success());
    let copied = copy.path().join(home.path().file_name().unwrap());
    assert!(copied.join("memory.db").exists());
    assert_eq!(left_in(&copied), Vec::<String>::new());
    drop(world);
}

/// Rows and index pages move as a table grows; what they leave behind in a page must go too.
#[test]
fn no_byte_is_left_where_pages_were_split_and_merged() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    crowd(&*world.store, 0, 300);
    let erasure = plant(&world);
    crowd(&*world.store, 300, 900);
    erase(&world, &erasure);
    assert_eq!(world.store.check().unwrap(), Vec::<String>::new());
    drop(world);
    assert_eq!(left_in(home.path()), Vec::<String>::new());
}

#[test]
fn no_byte_is_left_after_the_index_was_rebuilt() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    crowd(&*world.store, 0, 50);
    let erasure = plant(&world);
    world.engine.health().reindex(&mut |_, _| {}).unwrap();
    erase(&world, &erasure);
    drop(world);
    assert_eq!(left_in(home.path()), Vec::<String>::new());
}

#[test]
fn a_line_that_stands_twice_is_erased_whole() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    let profile = "user/profile".parse().unwrap();
    let text = format!("- {MARKER}\n- Lisbon\n- {MARKER}\n");
    world.engine.documents().write(&profile, &text, None).unwrap();
    let listing = world
        .engine
        .memories()
        .list(&Filter::default(), &throughline_core::ports::Page { limit: 9, cursor: None })
        .unwrap();
    let line = listing.memories.iter().find(|memory| memory.entry.content == MARKER).unwrap();
    world.engine.memories().erase(line.entry.id.as_str(), false).unwrap();
    assert_eq!(world.documents.read(&profile).unwrap().unwrap().text, "- Lisbon\n");
    drop(world);
    assert_eq!(left_in(home.path()), Vec::<String>::new());
}

#[test]
fn a_backup_is_erased_too() {
    let (home, path) = home();
    let store = Arc::new(open(&path).unwrap());
    let world = World::around(Arc::clone(&store) as Arc<dyn Store>);
    crowd(&*store, 0, 100);
    let erasure = plant(&world);
    let backup = home.path().join("backup.db");
    store.backup(&backup, &mut |_, _| true).unwrap();
    erase(&world, &erasure);
    drop(world);
    drop(store);
    assert_eq!(left_in(home.path()).len(), 1, "the backup still has it");
    let erased = SqliteBackups::new(&path, home.path()).erase_in_copy(&backup, &erasure).unwrap();
    assert_eq!((erased.turns, erased.recalls), (1, 1));
    assert_eq!(left_in(home.path()), Vec::<String>::new());
    let restored = SqliteStore::open(&backup, home.path(), throughline_sqlite::Durability::Process).unwrap();
    assert_eq!(throughline_core::ports::Health::check(&restored).unwrap(), Vec::<String>::new());
    assert_eq!(stores::listed(&restored, &Filter::default()).len(), 101, "and everything else is still there");
}

/// The archive's text came from the working state of a task, whose earlier versions are kept.
#[test]
fn no_byte_is_left_of_the_working_state_that_was_archived() {
    let (home, path) = home();
    let store = open(&path).unwrap();
    let at = stores::minute(0);
    let mut task = Task {
        id: TaskId::new("task222222"),
        title: "write the parser".to_owned(),
        status: TaskStatus::Open,
        state: format!("half {MARKER}"),
        project: None,
        created_at: at,
        updated_at: at,
        done_at: None,
        archive: None,
        version: 0,
    };
    stores::apply(&store, Verb::Task, &[Op::Task(task.clone())]).unwrap();
    crowd(&store, 0, 100);
    let archived = stores::entry("archived22", &format!("done: {MARKER}"));
    task =
        Task { status: TaskStatus::Done, state: String::new(), archive: Some(archived.id.clone()), version: 1, ..task };
    stores::apply(&store, Verb::Done, &[Op::Insert(archived.clone()), Op::Task(task)]).unwrap();
    let erased = store.erase(&Erasure { memories: vec![archived.id], ..Erasure::default() }).unwrap();
    assert_eq!((erased.versions, erased.unreached), (2, Vec::new()));
    drop(store);
    assert_eq!(left_in(home.path()), Vec::<String>::new());
}

/// Rows that move while pages are balanced leave copies between the rows of a page: only a file that is written anew has
/// none of them.
#[test]
fn no_byte_is_left_of_small_rows_that_moved() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    crowd(&*world.store, 0, 400);
    let tag = |n: usize| format!("Qm{n}zx");
    let ids: Vec<_> =
        (0..40).map(|n| world.engine.memories().remember(&NewMemory::fact(tag(n))).unwrap().memory.entry.id).collect();
    crowd(&*world.store, 400, 500);
    for (n, id) in ids.iter().enumerate().step_by(7) {
        let edit = Edit { content: Some(format!("{} again", tag(n))), ..Edit::default() };
        world.engine.memories().edit(id.as_str(), &edit).unwrap();
        world.engine.memories().erase(id.as_str(), false).unwrap();
        let bytes = std::fs::read(copy_of(home.path(), "memory.db")).unwrap();
        let mark = tag(n);
        assert!(!bytes.windows(mark.len()).any(|window| window == mark.as_bytes()), "{mark} is still there");
    }
}

/// A copy made by another process: this one must not read the live file itself.
fn copy_of(home: &std::path::Path, name: &str) -> std::path::PathBuf {
    let copy = home.join("copy-for-reading");
    let status = std::process::Command::new("cp").arg(home.join(name)).arg(&copy).status().unwrap();
    assert!(status.success());
    copy
}

/// A recall waits a moment before it is written: what another process erases meanwhile must not be written after it.
#[test]
fn a_recall_that_another_store_has_not_written_yet_is_not_written_after_an_erasure() {
    let (home, path) = home();
    let world = World::around(store_in(&path));
    let erasure = plant(&world);
    let daemon = open(&path).unwrap();
    let busy = World::around(Arc::new(daemon) as Arc<dyn Store>);
    for _ in 0..3 {
        recall(&busy, &format!("who knows {MARKER}?"));
        recall(&busy, &format!("{MARKER} {MARKER}"));
    }
    erase(&world, &erasure);
    // Whoever closes a store writes what it noted.
    drop(busy);
    assert!(world.store.recalls(None, 100).unwrap().iter().all(|noted| !noted.query.contains(MARKER)));
    drop(world);
    drop(open(&path).unwrap());
    assert_eq!(left_in(home.path()), Vec::<String>::new());
}
