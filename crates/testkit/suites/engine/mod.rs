//! The verbs of the engine, over any store.

mod concurrency;
mod conflicts;
mod context;
mod copies;
mod corrections;
mod disagreements;
mod documents;
mod embedding;
mod finding;
mod meanwhile;
mod memories;
mod round_trip;
mod slow_writer;
mod tools;
mod transfer;
mod undo;
mod vault;
mod ways_in;
mod work;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use throughline_core::engine::{Engine, NewMemory, Settings};
use throughline_core::model::{Actor, ContentHash, DocumentName, Kind, Name, Source, Status};
use throughline_core::ports::{Documents, Ids};
use throughline_core::recall::{Filter, Hit, RecallRequest};
use throughline_documents::FileDocuments;
use throughline_testkit::{FixedClock, Fresh, MemoryDocuments, SequentialIds, World};

/// A world, the place of its store, and a directory for files. Dereferences to the world.
struct Place {
    world: World,
    fresh: Fresh,
    dir: TempDir,
}

impl Deref for Place {
    type Target = World;
    fn deref(&self) -> &World {
        &self.world
    }
}

fn place() -> Place {
    place_set(|_| {})
}

/// A place with settings of its own.
fn place_set(adjust: impl FnOnce(&mut Settings)) -> Place {
    let (fresh, dir) = empty();
    let documents = fresh.documents_or(|| Arc::new(MemoryDocuments::default()));
    Place { world: World::build(fresh.store(), documents, adjust), fresh, dir }
}

fn place_with(documents: Arc<dyn Documents>, adjust: impl FnOnce(&mut Settings)) -> Place {
    let (fresh, dir) = empty();
    Place { world: World::build(fresh.store(), documents, adjust), fresh, dir }
}

/// A place whose documents are files, below `data` or in the directories of projects; `wrap` gets them and the place's
/// directory.
fn place_with_files(wrap: impl FnOnce(FileDocuments, &Path) -> Arc<dyn Documents>) -> Place {
    let (fresh, dir) = empty();
    let register = fresh.store();
    let places = move |name: &Name| {
        let project = register.project(name).ok().flatten().filter(|project| project.status == Status::Active)?;
        project.dir.map(PathBuf::from)
    };
    let files = FileDocuments::open(&dir.path().join("data")).unwrap().with_projects(places);
    let documents = wrap(files, dir.path());
    Place { world: World::build(fresh.store(), documents, |_| {}), fresh, dir }
}

fn empty() -> (Fresh, TempDir) {
    (Fresh::new(crate::fixture()), tempfile::tempdir().unwrap())
}

/// A place on another machine: its ids are never those of [`place`].
fn elsewhere() -> Place {
    let (fresh, dir) = empty();
    let (store, documents) = (fresh.store(), fresh.documents_or(|| Arc::new(MemoryDocuments::default())));
    let clock = Arc::new(FixedClock::at("2026-04-01T09:00:00Z".parse().unwrap()));
    let settings = Settings { namespace: Some("user".parse().unwrap()), ..Settings::default() };
    let actor = Actor::new(Source::User, "elsewhere");
    let ids = Arc::new(OtherIds::default());
    let engine = Engine::new(Arc::clone(&store), Arc::clone(&documents), clock.clone(), ids, settings, actor);
    Place { world: World { engine, clock, store, documents }, fresh, dir }
}

#[derive(Default)]
struct OtherIds(SequentialIds);

impl Ids for OtherIds {
    fn next(&self) -> String {
        self.0.next().replacen('a', "z", 1)
    }
}

fn remember(world: &World, text: &str) -> String {
    world.engine.memories().remember(&NewMemory::fact(text)).unwrap().memory.entry.id.to_string()
}

fn remember_as(world: &World, key: &str, text: &str) -> String {
    world.engine.memories().remember(&keyed(key, text)).unwrap().memory.entry.id.to_string()
}

fn keyed(key: &str, text: &str) -> NewMemory {
    NewMemory { key: Some(key.to_owned()), ..NewMemory::fact(text) }
}

fn asking(world: &World, query: &str) -> RecallRequest {
    RecallRequest { query: query.to_owned(), limit: 10, filter: Filter::recallable(world.engine.now()) }
}

fn recall(world: &World, query: &str) -> Vec<Hit> {
    world.engine.recall().recall(&asking(world, query)).unwrap().hits
}

fn recalled(world: &World, query: &str) -> Vec<String> {
    recall(world, query).into_iter().map(|hit| hit.memory.entry.content).collect()
}

/// The same without what was said in conversations.
fn remembered(world: &World, query: &str) -> Vec<String> {
    let hits = recall(world, query).into_iter().filter(|hit| hit.memory.entry.kind != Kind::Turn);
    hits.map(|hit| hit.memory.entry.content).collect()
}

fn document(name: &str) -> DocumentName {
    name.parse().unwrap()
}

fn text_of(world: &World, name: &str) -> Option<String> {
    world.documents.read(&document(name)).unwrap().map(|document| document.text)
}

/// A person saves the file with an editor of their own.
fn save(world: &World, name: &str, text: &str) {
    let before = world.documents.read(&document(name)).unwrap().map_or_else(ContentHash::missing, |found| found.hash);
    world.documents.write(&document(name), text, &before).unwrap();
}

fn agent(world: &World) -> Engine {
    world.engine.acting(Actor::new(Source::Agent, "mcp"))
}

fn days(n: i64) -> jiff::SignedDuration {
    jiff::SignedDuration::from_hours(24 * n)
}
