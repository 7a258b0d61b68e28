//! A message that needs no memory gets none, and a question finds its memory in other words.
//!
//! Both are measured against a thousand ordinary memories with the built-in embedder, on lists that are committed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use throughline::world::{Home, World};
use throughline_core::context::ContextRequest;
use throughline_core::memories::NewMemory;
use throughline_core::model::SessionId;
use throughline_core::ports::Clock;
use throughline_testkit::{FixedClock, retrieval};

/// A home with these memories and their vectors.
fn home(directory: &Path, memories: &[&str]) -> World {
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::at("2026-05-01T12:00:00Z".parse().unwrap()));
    let world = World::open_at(Home::at(directory.to_owned()), clock).unwrap();
    for memory in memories {
        world.engine.memories().remember(&NewMemory::fact(*memory)).unwrap();
    }
    let done = Command::new(env!("CARGO_BIN_EXE_throughline"))
        .args(["reindex", "--vectors"])
        .env("THROUGHLINE_HOME", directory)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    world
}

/// The lines of memory that come with a message in a new conversation.
fn given(world: &World, message: &str) -> Vec<String> {
    let session = SessionId::on_channel("test", "new").unwrap();
    let block = world.engine.context().prepare(&ContextRequest::message(&session, message)).unwrap().block;
    block.iter().flat_map(|block| block.lines()).filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

#[test]
fn everyday_messages_get_nothing_and_paraphrases_get_their_memory() {
    let directory = tempfile::tempdir().unwrap();
    let pairs = retrieval::paraphrases();
    let hidden = pairs.iter().map(|pair| pair.memory.as_str());
    let world = home(directory.path(), &retrieval::ordinary().into_iter().chain(hidden).collect::<Vec<_>>());

    let everyday = retrieval::everyday();
    let noisy: Vec<&str> = everyday.iter().copied().filter(|message| !given(&world, message).is_empty()).collect();
    println!(
        "nothing given for {} of {} everyday messages; something for {noisy:?}",
        everyday.len() - noisy.len(),
        everyday.len()
    );
    assert!(everyday.len() - noisy.len() >= 90, "{noisy:?}");

    let is_found = |pair: &&retrieval::Paraphrase| {
        given(&world, &pair.question).iter().take(3).any(|line| line.contains(&pair.memory))
    };
    let (english, other): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| pair.language == "en");
    let found = english.iter().copied().filter(is_found).count();
    let found_other = other.iter().copied().filter(is_found).count();
    println!(
        "in the first three, in other words: {found} of {} English, {found_other} of {} others",
        english.len(),
        other.len()
    );
    assert!(found * 100 >= english.len() * 60, "{found} of {}", english.len());
}
