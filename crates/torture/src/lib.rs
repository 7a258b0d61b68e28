//! Many processes on one memory, some of them killed in the middle of whatever they do.
//!
//! Goes in: a seed, how many workers, how many operations, how many kills. Comes out: what was acknowledged, and every
//! promise that the memory then fails to keep. Never happens: a check that trusts what the workers believe; all of them
//! look at what is stored.
//!
//! - [`said`]: what a worker prints, one line for each write that was acknowledged
//! - [`hammer`]: one worker; random verbs through the real engine
//! - [`siege`]: eight of them at once, and the killing
//! - [`verdict`]: what has to be true afterwards
//! - [`talk`]: the same for conversations that are consolidated
//! - [`words`]: the word index while it is merged, built and migrated to
//! - [`vanish`]: a database that disappears under a daemon with many clients
//! - [`crashes`]: every way in, killed, without power and on broken disks
//! - [`machines`]: two machines with the memory on a server, whose clients are killed, whose server restarts, whose network is cut
//! - [`daemon`]: the real program and its daemon, as processes

#[cfg(target_os = "linux")]
pub mod crashes;
pub mod daemon;
pub mod hammer;
#[cfg(target_os = "linux")]
pub mod machines;
pub mod said;
pub mod siege;
pub mod talk;
pub mod vanish;
pub mod verdict;
pub mod words;

use std::path::Path;
use std::sync::Arc;

use throughline::world::{Durability, RandomIds, WorldClock, store_at};
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Name, Source};
use throughline_core::ports::Store;
use throughline_documents::FileDocuments;

/// Whatever went wrong, with all that led to it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The person whose memory it is.
pub fn person() -> Result<Name, Failure> {
    Ok(Name::user_namespace("user")?)
}

/// The memory in this directory, wired as the program itself wires it, and its store.
pub fn open(home: &Path) -> Result<(Engine, Arc<dyn Store>), Failure> {
    let store = store_at(&home.join("memory.db"), Durability::Full)?;
    let documents = Arc::new(FileDocuments::open(home)?);
    let clock = Arc::new(WorldClock::from_environment()?);
    let settings = Settings { namespace: Some(person()?), ..Settings::default() };
    let actor = Actor::new(Source::User, "torture");
    let engine = Engine::new(Arc::clone(&store), documents, clock, Arc::new(RandomIds), settings, actor);
    Ok((engine, store))
}

/// An error with its sources, in one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
