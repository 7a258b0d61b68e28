//! What only a store on a server has to do: keep people apart, tell versions apart, outlive connections, rank as SQLite does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throughline_core::engine::{NewMemory, Worker};
use throughline_core::model::{Actor, Change, ChangeId, EntryId, Kind, Source, Turn, TurnId, Verb};
use throughline_core::ports::{
    Changes as _, Health as _, History as _, Op, Page, Search, Store, StoreError, Turns as _, Withdrawals as _,
};
use throughline_core::recall::{Filter, RecallRequest, Terms};
use throughline_postgres::{Address, PostgresStore};
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::stores::{entry, holder, minute, turn};
use throughline_testkit::{FakeEmbedder, FakeEmbedders, StoreFixture as _, World};

use fixture::{fixture, server};

fn open(url: &str, space: &str) -> PostgresStore {
    PostgresStore::open(Address::parse(url).unwrap().with_space(space).unwrap()).unwrap()
}

fn remember(store: &dyn Store, id: &str, content: &str) -> Result<(), StoreError> {
    let change = Change {
        id: ChangeId::new(format!("change of {id}")),
        actor: Actor::new(Source::User, "test"),
        verb: Verb::Remember,
        at: minute(0),
        undoes: None,
    };
    store.apply(&change, &[Op::Insert(entry(id, content))], &mut || true).map(drop)
}

fn contents(store: &dyn Store) -> Vec<String> {
    let listed = store.list(&Filter::default(), &Page { limit: 10_000, cursor: None }).unwrap();
    let mut contents: Vec<String> = listed.memories.into_iter().map(|memory| memory.entry.content).collect();
    contents.sort();
    contents
}

#[test]
fn spaces_see_nothing_of_each_other() {
    let url = server().url();
    let (ada, bob) = (open(&url, "ada"), open(&url, "bob"));
    remember(&ada, "same-id", "likes tea").unwrap();
    remember(&bob, "same-id", "likes coffee").unwrap();
    ada.append(&[turn("t", "cli:main", "hello")]).unwrap();
    assert_eq!(contents(&ada), ["likes tea"]);
    assert_eq!(contents(&bob), ["likes coffee"]);
    assert_eq!(bob.turns_after(&"cli:main".parse().unwrap(), Default::default()).unwrap(), []);
}

#[test]
fn row_security_hides_every_table_from_whoever_names_no_space() {
    let store = open(&server().url(), "hidden");
    remember(&store, "secret", "likes tea").unwrap();
    let tables = server().run("SELECT tablename FROM pg_tables WHERE schemaname = 'throughline' AND rowsecurity");
    let all = server().run(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'throughline' AND tablename NOT IN ('schema_version', 'refused')",
    );
    assert_eq!(tables.lines().count().to_string(), all, "every table has it");
    for table in tables.lines() {
        let count = |before: &str| {
            let sql = format!("{before} SELECT count(*) FROM throughline.{table}");
            server().run_as("throughline", "throughline", &sql).unwrap()
        };
        assert_eq!(count(""), "0", "{table}");
        assert_eq!(count("SET throughline.space = 'nobody';"), "0", "{table}");
    }
    let own = "SET throughline.space = 'hidden'; SELECT content FROM throughline.entries";
    assert_eq!(server().run_as("throughline", "throughline", own).unwrap(), "likes tea");
    let foreign = "SET throughline.space = 'nobody'; UPDATE throughline.entries SET space = 'nobody'; \
                   DELETE FROM throughline.entries; INSERT INTO throughline.exports VALUES ('hidden', 'x')";
    let refused = server().run_as("throughline", "throughline", foreign).unwrap_err();
    assert!(refused.contains("row-level security"), "{refused}");
    assert_eq!(contents(&store), ["likes tea"]);
}

#[test]
fn a_role_without_rights_sees_nothing() {
    drop(open(&server().url(), "walled"));
    server().run("CREATE ROLE stranger LOGIN");
    let refused = server().run_as("stranger", "throughline", "SELECT * FROM throughline.entries").unwrap_err();
    assert!(refused.contains("permission denied"), "{refused}");
}

#[test]
fn a_newer_schema_is_told_apart() {
    let url = server().create_database("newer");
    drop(open(&url, "main"));
    server().run_as("postgres", "newer", "UPDATE throughline.schema_version SET version = 999").unwrap();
    let refused = PostgresStore::open(Address::parse(&url).unwrap()).err().unwrap();
    assert!(matches!(refused, StoreError::TooNew { found: 999, .. }), "{refused:?}");
}

#[test]
fn many_begin_a_database_at_once() {
    let url = server().create_database("begun");
    std::thread::scope(|scope| {
        for nth in 0..8 {
            let url = &url;
            scope.spawn(move || remember(&open(url, "main"), &format!("id-{nth}"), &format!("fact {nth}")).unwrap());
        }
    });
    assert_eq!(contents(&open(&url, "main")).len(), 8);
}

/// Ends every connection to a database.
fn end_connections(database: &str) {
    let sql = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{database}'");
    server().run_as("postgres", "postgres", &sql).unwrap();
}

#[test]
fn connections_that_the_server_ends_are_replaced() {
    let store = open(&server().create_database("ended"), "main");
    for nth in 0..5 {
        remember(&store, &format!("id-{nth}"), &format!("fact {nth}")).unwrap();
        end_connections("ended");
        assert_eq!(contents(&store).len(), nth + 1);
        end_connections("ended");
    }
}

#[test]
fn whatever_ends_under_load_is_done_once() {
    let url = server().create_database("loaded");
    let store = open(&url, "main");
    let is_calm = AtomicBool::new(false);
    let mut writes = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for nth in 0..12 {
                // Now and then in the middle of something, whatever that is.
                std::thread::sleep(Duration::from_millis(200 + 37 * nth));
                end_connections("loaded");
            }
            is_calm.store(true, Ordering::Relaxed);
        });
        while !is_calm.load(Ordering::Relaxed) {
            remember(&store, &format!("id-{writes}"), &format!("fact number {writes}")).unwrap();
            let said = Turn { id: TurnId::new(format!("turn-{writes}")), ..turn("t", "cli:main", "hello") };
            assert_eq!(store.append(&[said]).unwrap(), 1, "new, and told so");
            writes += 1;
        }
    });
    let store = open(&url, "main");
    assert_eq!(contents(&store).len(), writes);
    assert_eq!(store.changes(usize::MAX).unwrap().len(), writes);
    assert_eq!(store.entry_versions(&EntryId::new("id-0")).unwrap().len(), 1);
    let turns = store.turns_after(&"cli:main".parse().unwrap(), Default::default()).unwrap();
    let positions: Vec<i64> = turns.iter().map(|(position, _)| position.number()).collect();
    assert_eq!(positions, (1..=writes as i64).collect::<Vec<_>>());
}

/// Words that are said again and again, in texts that differ.
fn text(nth: usize) -> String {
    const WORDS: [&str; 12] = [
        "deploy", "Friday", "garden", "tomatoes", "Lisbon", "chess", "parser", "invoice", "train", "coffee", "review",
        "piano",
    ];
    let word = |n: usize| WORDS[n % WORDS.len()];
    format!("note {nth}: {} {} {}", word(nth), word(nth * 7 + 3), word(nth / 5)) + &" and more".repeat(nth % 4)
}

fn ids(store: &dyn Store, query: &str) -> Vec<String> {
    let kinds = vec![Kind::Entry, Kind::Bullet, Kind::Turn];
    let filter = Filter { kinds, ..Filter::default() };
    let terms = Terms::of_query(query).as_slice().to_vec();
    let pool = store.search(&Search { terms, also: Vec::new(), filter, limit: 25, turns: 25 }).unwrap();
    let marks: Vec<_> = pool.candidates.iter().map(|candidate| candidate.mark).collect();
    let found = store.fetch(&marks).unwrap().into_iter().flatten();
    found.map(|found| found.memory.entry.id.to_string()).collect()
}

#[test]
fn both_stores_find_the_same_in_the_same_order() {
    let home = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    let postgres = fixture().open();
    let stores: [&dyn Store; 2] = [&sqlite, &*postgres];
    for store in stores {
        for nth in 0..400 {
            remember(store, &format!("id-{nth:03}"), &text(nth)).unwrap();
        }
        let turns: Vec<Turn> =
            (0..300).map(|nth| turn(&format!("turn-{nth:03}"), &format!("cli:{}", nth % 3), &text(nth * 3))).collect();
        store.append(&turns).unwrap();
        store.keep_up().unwrap();
        remember(store, "late", "deploy the piano in Lisbon on Friday").unwrap();
    }
    for query in ["deploy on Friday", "tomatoes in the garden", "piano", "chess and coffee in Lisbon", "invoice 17"] {
        let [expected, found] = stores.map(|store| ids(store, query));
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(found, expected, "{query}");
    }
}

/// Connections are kept, so that the same one is asked every time.
#[test]
fn statement_takes_one_round_trip_however_often_it_comes() {
    let store = open(&server().url(), "counted");
    let count = |work: &dyn Fn()| {
        let before = store.round_trips();
        work();
        store.round_trips() - before
    };
    let stats = || assert!(store.stats().is_ok());
    assert_eq!([count(&stats), count(&stats), count(&stats), count(&stats)], [1, 1, 1, 1]);
    // A snapshot is begun and ended without waiting for it.
    let withdrawn = || drop(store.withdrawn(&[], &[]).unwrap());
    assert_eq!([count(&withdrawn), count(&withdrawn), count(&withdrawn)], [2, 2, 2]);
}

/// Engines that distribute by the space need it first, everywhere.
#[test]
fn every_key_leads_with_the_space() {
    drop(open(&server().url(), "keyed"));
    let keys = "SELECT i.indexrelid::regclass || ' ' || a.attname FROM pg_index i \
                JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] \
                WHERE n.nspname = 'throughline' AND c.relname <> 'schema_version'";
    let keys = server().run(keys);
    assert!(keys.lines().count() > 50, "{keys}");
    for key in keys.lines() {
        assert!(key.ends_with(" space"), "{key}");
    }
    let tables = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                  WHERE n.nspname = 'throughline' AND c.relkind = 'r' AND c.relname <> 'schema_version' AND NOT EXISTS \
                  (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)";
    assert_eq!(server().run(tables), "", "every table has a primary key");
}

#[test]
fn a_serialisation_failure_is_repeated() {
    let url = server().create_database("serial");
    let store = open(&url, "main");
    let failing = "CREATE SEQUENCE throughline.tries; GRANT USAGE ON throughline.tries TO throughline;
        CREATE FUNCTION throughline.fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('throughline.tries') = 1 THEN
            RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001';
          END IF;
          RETURN NULL;
        END $$;
        CREATE TRIGGER fail_once AFTER INSERT ON throughline.changes FOR EACH ROW EXECUTE FUNCTION throughline.fail_once()";
    server().run_as("postgres", "serial", failing).unwrap();
    remember(&store, "id", "likes tea").unwrap();
    assert_eq!(contents(&store), ["likes tea"]);
    let tries = server().run_as("postgres", "serial", "SELECT last_value FROM throughline.tries").unwrap();
    assert_eq!(tries, "2", "it failed, and was done again");
}

const MIGRATIONS: [&str; 3] = [
    include_str!("../src/migrations/0001_memory.sql"),
    include_str!("../src/migrations/0002_row_security.sql"),
    include_str!("../src/migrations/0003_documents.sql"),
];

/// All that a database says of its tables.
fn schema(database: &str) -> String {
    let sql = "SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
        SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS line
          FROM information_schema.columns WHERE table_schema = 'throughline'
        UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'throughline'
        UNION ALL SELECT format('%s %s %s %s', tablename, policyname, qual, with_check) FROM pg_policies
        UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(c.oid)) FROM pg_constraint c
          JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = 'throughline') lines";
    server().run_as("postgres", database, sql).unwrap()
}

#[test]
fn older_schemas_become_the_newest() {
    drop(open(&server().create_database("fresh"), "main"));
    for until in 1..=MIGRATIONS.len() {
        let database = format!("older{until}");
        let url = server().create_database(&database);
        let begin = "CREATE SCHEMA throughline; SET search_path = throughline;
            CREATE TABLE schema_version (one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL);";
        let memory = "INSERT INTO spaces (space, secret, writes) VALUES ('main', '\\x01', 7);
            INSERT INTO word_indexes (space, collection, built, until, tail) VALUES
              ('main', 1, 0, 0, 0), ('main', 2, 0, 0, 0), ('main', 3, 0, 0, 0)";
        let steps = MIGRATIONS[..until].join("\n");
        let sql = format!(
            "{begin} {steps} INSERT INTO schema_version VALUES (1, {until}); SET throughline.space = 'main'; {memory}"
        );
        server().run_as("throughline", &database, &sql).unwrap();
        let store = open(&url, "main");
        assert_eq!(schema(&database), schema("fresh"), "from {until}");
        let told = "SELECT version || ' ' || writes FROM throughline.schema_version, throughline.spaces";
        assert_eq!(server().run_as("postgres", &database, told).unwrap(), "4 7", "what was there is there");
        remember(&store, "id", "likes tea").unwrap();
        assert_eq!(contents(&store), ["likes tea"]);
    }
}

/// By words and by meaning, over entries that have vectors.
#[test]
fn both_stores_recall_the_same_with_vectors() {
    let home = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(sqlite), fixture().open()];
    let embedder = Arc::new(FakeEmbedder::new("m"));
    let engines = stores.map(|store| {
        let world = World::around(store);
        let told = ["the automobile is in the garage", "the physician is called Ada"].map(str::to_owned);
        let facts: Vec<NewMemory> = (0..198).map(text).chain(told).map(NewMemory::fact).collect();
        world.engine.memories().remember_all(&facts).unwrap();
        let worker = Worker { holder: holder("one"), is_gone: &|_| false };
        let embedding = world.engine.embedding();
        let done = embedding.embed_missing(&*embedder, &worker, u64::MAX, &mut |_, _| true).unwrap().unwrap();
        assert_eq!((done.embedded, done.missing), (200, 0));
        world.engine.with_embedders(Arc::new(FakeEmbedders(vec![Arc::clone(&embedder)])))
    });
    for query in
        ["deploy on Friday", "tomatoes in the garden", "the piano is out of tune", "where is my car?", "invoice 17"]
    {
        let [expected, found] = engines.each_ref().map(|engine| {
            let filter = Filter::recallable(engine.now());
            let recalled =
                engine.recall().recall(&RecallRequest { query: query.to_owned(), limit: 20, filter }).unwrap();
            recalled.hits.iter().map(|hit| (hit.memory.entry.id.clone(), hit.score)).collect::<Vec<_>>()
        });
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(found, expected, "{query}");
    }
}
