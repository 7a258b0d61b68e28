//! Time that stands still until it is told otherwise, ids that can be foreseen, and an engine over them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Name, Source};
use throughline_core::ports::{Clock, Documents, Ids, Store};

use crate::MemoryDocuments;

/// A clock that only moves when told to.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// Stands still at this time.
    pub fn at(time: Timestamp) -> Self {
        Self(AtomicI64::new(time.as_millisecond()))
    }

    /// Moves on.
    pub fn advance(&self, by: SignedDuration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// Ids that count: `aaaaab0000000000`, `aaaaac0000000000`; their first six characters differ.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl Ids for SequentialIds {
    fn next(&self) -> String {
        let mut n = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        let mut letters = [b'a'; 6];
        for letter in letters.iter_mut().rev() {
            *letter = b'a' + (n % 26) as u8;
            n /= 26;
        }
        format!("{}2222222222", String::from_utf8(letters.to_vec()).unwrap())
    }
}

/// A store of your choice with everything around it fixed.
pub struct World {
    /// The engine, in the hands of a person with the namespace `user`.
    pub engine: Engine,
    /// Its clock: 2026-03-01T12:00:00Z until it is advanced.
    pub clock: Arc<FixedClock>,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// Its documents, in memory.
    pub documents: Arc<dyn Documents>,
}

impl World {
    /// A world around a store, with documents in memory.
    pub fn around(store: Arc<dyn Store>) -> Self {
        Self::build(store, Arc::new(MemoryDocuments::default()), |_| {})
    }

    /// A world with its parts and settings chosen.
    pub fn build(store: Arc<dyn Store>, documents: Arc<dyn Documents>, adjust: impl FnOnce(&mut Settings)) -> Self {
        let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
        let mut settings = Settings { namespace: Some(Name::user_namespace("user").unwrap()), ..Settings::default() };
        adjust(&mut settings);
        let engine = Engine::new(
            Arc::clone(&store),
            Arc::clone(&documents),
            Arc::clone(&clock) as Arc<dyn Clock>,
            Arc::new(SequentialIds::default()),
            settings,
            Actor::new(Source::User, "test"),
        );
        Self { engine, clock, store, documents }
    }
}
