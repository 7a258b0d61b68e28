//! The engine over the SQLite store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "engine/conflicts.rs"]
mod conflicts;
#[path = "engine/context.rs"]
mod context;
#[path = "engine/corrections.rs"]
mod corrections;
#[path = "engine/disagreements.rs"]
mod disagreements;
#[path = "engine/documents.rs"]
mod documents;
#[path = "engine/finding.rs"]
mod finding;
#[path = "engine/memories.rs"]
mod memories;
#[path = "engine/round_trip.rs"]
mod round_trip;
#[path = "engine/tools.rs"]
mod tools;
#[path = "engine/transfer.rs"]
mod transfer;
#[path = "engine/undo.rs"]
mod undo;
#[path = "engine/vault.rs"]
mod vault;
#[path = "engine/work.rs"]
mod work;

use std::ops::Deref;
use std::sync::Arc;

use tempfile::TempDir;
use throughline_core::engine::{Engine, NewMemory, Settings};
use throughline_core::model::{Actor, ContentHash, DocumentName, Source};
use throughline_core::ports::{Documents, Ids, Store};
use throughline_core::recall::{Filter, Hit, RecallRequest};
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::{FixedClock, MemoryDocuments, SequentialIds, World};

/// A world and the directory that its database stands in.
struct Place {
    world: World,
    _home: TempDir,
}

impl Deref for Place {
    type Target = World;
    fn deref(&self) -> &World {
        &self.world
    }
}

fn place() -> Place {
    place_with(Arc::new(MemoryDocuments::default()), |_| {})
}

fn place_with(documents: Arc<dyn Documents>, adjust: impl FnOnce(&mut Settings)) -> Place {
    let home = tempfile::tempdir().unwrap();
    Place { world: World::build(store_in(&home), documents, adjust), _home: home }
}

/// A place on another machine: its ids are never those of [`place`].
fn elsewhere() -> Place {
    let home = tempfile::tempdir().unwrap();
    let (store, documents) = (store_in(&home), Arc::new(MemoryDocuments::default()) as Arc<dyn Documents>);
    let clock = Arc::new(FixedClock::at("2026-04-01T09:00:00Z".parse().unwrap()));
    let settings = Settings { namespace: Some("user".parse().unwrap()), ..Settings::default() };
    let actor = Actor::new(Source::User, "elsewhere");
    let ids = Arc::new(OtherIds::default());
    let engine = Engine::new(Arc::clone(&store), Arc::clone(&documents), clock.clone(), ids, settings, actor);
    Place { world: World { engine, clock, store, documents }, _home: home }
}

#[derive(Default)]
struct OtherIds(SequentialIds);

impl Ids for OtherIds {
    fn next(&self) -> String {
        self.0.next().replacen('a', "z", 1)
    }
}

fn store_in(home: &TempDir) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap())
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
