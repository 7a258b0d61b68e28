//! What only a store on a server has to do: keep people apart, tell versions apart, outlive connections, rank as SQLite does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throughline_core::model::{Actor, Change, ChangeId, EntryId, Kind, Source, Turn, TurnId, Verb};
use throughline_core::ports::{
    Changes as _, Health as _, History as _, Op, Page, Search, Store, StoreError, Turns as _, Withdrawals as _,
};
use throughline_core::recall::{Filter, Terms};
use throughline_postgres::{Address, PostgresStore};
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::StoreFixture as _;
use throughline_testkit::stores::{entry, minute, turn};

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
