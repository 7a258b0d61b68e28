//! Many writers at once: nothing is lost, and nobody meets an error.

use std::sync::{Arc, Barrier};

use throughline_core::engine::{Engine, NewMemory, Outcome, Settings};
use throughline_core::model::{Actor, Source};
use throughline_core::ports::{Clock, Ids, Store};
use throughline_testkit::{FixedClock, Fresh, MemoryDocuments, SequentialIds, StoreFixture as _, stores};

const THREADS: usize = 8;
const WRITES: usize = 50;
const KEYS: usize = 7;

fn engine(store: Arc<dyn Store>, ids: &Arc<SequentialIds>) -> Engine {
    Engine::new(
        store,
        Arc::new(MemoryDocuments::default()),
        Arc::new(FixedClock::at(stores::minute(0))) as Arc<dyn Clock>,
        Arc::clone(ids) as Arc<dyn Ids>,
        Settings::default(),
        Actor::new(Source::User, "test"),
    )
}

/// Every thread writes under keys of its own and under keys that all share.
fn write_all(store_of: &(dyn Fn() -> Arc<dyn Store> + Sync)) {
    let (ids, start) = (Arc::new(SequentialIds::default()), Barrier::new(THREADS));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (ids, start) = (&ids, &start);
            scope.spawn(move || {
                start.wait();
                let engine = engine(store_of(), ids);
                for n in 0..WRITES {
                    let remember = |key: String| {
                        let new = NewMemory { key: Some(key), ..NewMemory::fact(format!("{thread} says {n}")) };
                        engine.memories().remember(&new).unwrap()
                    };
                    assert_eq!(remember(format!("own {thread} {n}")).outcome, Outcome::Created);
                    remember(format!("shared {}", n % KEYS));
                }
            });
        }
    });
}

fn nothing_is_lost(store: &dyn Store) {
    let bundle = store.bundle().unwrap();
    let of = |prefix: &str| {
        let named = |key: &Option<String>| key.as_ref().is_some_and(|key| key.starts_with(prefix));
        let now = bundle.memories.iter().filter(|memory| named(&memory.entry.key)).count();
        let ever = bundle.history.iter().filter(|version| named(&version.entry.key)).count();
        (now, ever)
    };
    assert_eq!(of("own"), (THREADS * WRITES, THREADS * WRITES));
    assert_eq!(of("shared"), (KEYS, THREADS * WRITES), "every write under a shared key is a version of it");
    assert_eq!(store.changes(usize::MAX).unwrap().len(), 2 * THREADS * WRITES);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn threads_that_share_a_handle_lose_nothing() {
    let fresh = Fresh::new(crate::fixture());
    write_all(&|| fresh.store());
    nothing_is_lost(&*fresh);
}

/// The store does not exist yet when all of them open it.
#[test]
fn handles_that_share_a_store_lose_nothing() {
    let fixture = crate::fixture();
    write_all(&|| fixture.open());
    nothing_is_lost(&*fixture.open());
}
