//! How often a verb waits for the server, besides connecting, in a process that has just begun and knows nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use throughline_core::engine::{ContextRequest, Engine, NewMemory, Said, Settings, Visibility};
use throughline_core::model::{Actor, MachineId, Name, RecallId, Role, SessionId, Source};
use throughline_core::ports::{Clock, Ids, Index as _, Recalls as _, Store};
use throughline_core::recall::{Filter, RecallRequest};
use throughline_postgres::PostgresStore;
use throughline_testkit::FixedClock;

use fixture::{PostgresFixture, fixture};

/// Ids that no other process of this test gives.
struct CountingIds;

impl Ids for CountingIds {
    fn next(&self) -> String {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        format!("n{:015}", GIVEN.fetch_add(1, Ordering::Relaxed))
    }
}

/// A process of its own, with one connection and nothing in memory.
struct Process {
    store: Arc<PostgresStore>,
    engine: Engine,
}

impl Process {
    fn begin(fixture: &PostgresFixture, minute: i64) -> Self {
        let store = PostgresStore::open(fixture.address.clone()).unwrap().on_machine(MachineId::new("here"));
        let documents = Arc::new(store.documents());
        let store = Arc::new(store);
        let now = "2026-03-01T12:00:00Z".parse::<jiff::Timestamp>().unwrap() + jiff::SignedDuration::from_mins(minute);
        let settings = Settings { namespace: Some(Name::user_namespace("user").unwrap()), ..Settings::default() };
        let clock: Arc<dyn Clock> = Arc::new(FixedClock::at(now));
        let actor = Actor::new(Source::User, "test");
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        Self { store, engine: Engine::new(shared, documents, clock, Arc::new(CountingIds), settings, actor) }
    }
}

/// How often somebody waited for the server: until the answer was there, and until the process has nothing left to do. The log of
/// recalls is written by a thread, at the same time.
fn trips(fixture: &PostgresFixture, minute: i64, verb: impl FnOnce(&Engine)) -> (u64, u64) {
    let process = Process::begin(fixture, minute);
    let before = PostgresStore::round_trips_here();
    verb(&process.engine);
    let answered = PostgresStore::round_trips_here() - before;
    // Waits for the log, and asks once.
    process.store.recall_record(&RecallId::new("none")).unwrap();
    (answered, process.store.round_trips() - 1)
}

fn session() -> SessionId {
    "claude-code:1".parse().unwrap()
}

/// A dozen facts, a profile, a conversation: some of it sealed in segments, some new.
fn filled() -> PostgresFixture {
    let fixture = fixture();
    let process = Process::begin(&fixture, 0);
    let facts = [
        "The deploy of the shop runs on Fridays at noon",
        "Clara is allergic to hazelnuts",
        "The invoices are kept in the blue folder",
        "Our database is Postgres 15 on the small server",
        "The garden gets watered every second evening",
        "The chess club meets on Tuesdays in Lisbon",
        "The parser of the billing tool is written in Rust",
        "The train to Porto leaves at 8:40",
    ];
    for fact in facts {
        process.engine.memories().remember(&NewMemory::fact(fact)).unwrap();
    }
    process.store.rebuild(&mut |_, _| {}).unwrap();
    process.engine.memories().remember(&NewMemory::fact("The staging host is called heron")).unwrap();
    let profile = "# Profile\n\n- I am a nurse in Lisbon\n";
    process.engine.documents().write(&"user/profile".parse().unwrap(), profile, None).unwrap();
    let said = [Said::now(Role::User, "We moved the standup to ten"), Said::now(Role::Assistant, "Noted: ten o'clock")];
    process.engine.sessions().observe(&"cli:yesterday".parse().unwrap(), &said).unwrap();
    // Documents that changed are noticed.
    process.engine.recall().recall(&asking("nothing of that kind")).unwrap();
    fixture
}

fn asking(query: &str) -> RecallRequest {
    RecallRequest { query: query.to_owned(), limit: 10, filter: Filter::default() }
}

/// A hook for a message of a client that keeps a transcript: what fits is given, and what was given is noted.
fn give(engine: &Engine, message: &str) {
    let _reading = engine.reading(Some(&session()), Some(message));
    let request = ContextRequest::message(&session(), message);
    let prepared = engine.context().prepare(&request).unwrap();
    assert!(prepared.block.is_some(), "{message}");
    engine.context().note_given(&prepared, Visibility::Stays).unwrap();
}

/// The same of any other client: the message is kept, too.
fn prompt(engine: &Engine, message: &str) {
    let _reading = engine.reading(Some(&session()), Some(message));
    give(engine, message);
    engine.sessions().observe(&session(), &[Said::now(Role::User, message)]).unwrap();
}

#[test]
fn verbs_wait_for_the_server_a_few_times() {
    let fixture = filled();
    let mut all = Vec::new();
    let mut count = |what: &'static str, most: (u64, u64), minute: i64, verb: &dyn Fn(&Engine)| {
        all.push((what, trips(&fixture, minute, verb), most));
    };
    count("context", (2, 2), 1, &|engine| {
        let request = ContextRequest::message(&session(), "When is the deploy of the shop?");
        assert!(engine.context().prepare(&request).unwrap().block.is_some());
    });
    count("the first hook for a message", (6, 9), 2, &|engine| prompt(engine, "When is the deploy of the shop?"));
    count("another hook for a message", (6, 9), 3, &|engine| prompt(engine, "What is Clara allergic to?"));
    count("a hook without the message", (4, 7), 4, &|engine| give(engine, "Where are the invoices?"));
    count("recall", (2, 5), 4, &|engine| {
        assert!(!engine.recall().recall(&asking("staging host")).unwrap().hits.is_empty());
    });
    count("remember", (3, 3), 5, &|engine| {
        engine.memories().remember(&NewMemory::fact("The piano is tuned in May")).unwrap();
    });
    count("observe", (3, 3), 6, &|engine| {
        engine.sessions().observe(&session(), &[Said::now(Role::Assistant, "In May, then")]).unwrap();
    });
    for (what, found, most) in all {
        assert!(found.0 <= most.0 && found.1 <= most.1, "{what}: {found:?} round trips, more than {most:?}");
    }
}
