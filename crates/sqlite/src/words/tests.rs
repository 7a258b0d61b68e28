//! The index follows its rows: through upkeep, migration, rebuilding, several writers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use throughline_core::model::{Entry, EntryId, Kind};
use throughline_core::ports::{Candidates as _, Eraser as _, Erasure, Health as _, Index as _, Search, Turns as _};
use throughline_core::recall::{Candidate, CandidateMark, Filter, FoundBy, Projects, Retrieved, Sketch};
use throughline_testkit::stores::{entry, inactive, insert, minute, turn, update};

use super::segments::Set;
use super::upkeep::{self, Step};
use super::{Collection, Worker, fts5, is_ready};
use crate::error::while_doing;
use crate::open::{self, MIGRATIONS, Make, migrate};
use crate::pool::Pool;
use crate::{Durability, SqliteStore};

fn store_at(home: &Path) -> SqliteStore {
    SqliteStore::open(&home.join("memory.db"), home, Durability::Process).unwrap()
}

/// Does all upkeep that is due.
fn settle(store: &SqliteStore) {
    while upkeep::step(&store.pool).unwrap() != Step::Nothing {}
}

fn found(store: &SqliteStore, terms: &[&str], filter: &Filter) -> BTreeSet<String> {
    let terms = terms.iter().map(|term| (*term).to_owned()).collect();
    let search = Search { terms, also: Vec::new(), filter: filter.clone(), limit: 100_000, turns: 100_000 };
    let pool = store.search(&search).unwrap();
    let by_words: Vec<Candidate> =
        pool.candidates.into_iter().filter(|candidate| candidate.found_by == FoundBy::Words).collect();
    let marks: Vec<CandidateMark> = by_words.iter().map(|candidate| candidate.mark).collect();
    let retrieved = store.fetch(&marks).unwrap();
    by_words.iter().zip(retrieved).map(|(candidate, found)| agreed(store, candidate, found.unwrap())).collect()
}

/// What the index keeps of a row is what its row says, whatever upkeep did. Gives its id.
fn agreed(store: &SqliteStore, candidate: &Candidate, Retrieved { memory, .. }: Retrieved) -> String {
    let entry = memory.entry;
    if entry.kind != Kind::Turn {
        let sql = "SELECT terms FROM entries WHERE id = ?";
        let terms = |connection: &Connection| connection.query_row(sql, [entry.id.as_str()], |row| row.get(0));
        let sketch = Sketch::encode(&entry, &store.read::<String>(terms, "read").unwrap());
        let range = 0..sketch.len();
        let sketch = Sketch::decode(sketch.into(), range).unwrap();
        assert_eq!(sketch, candidate.sketch, "{entry:?}");
    }
    entry.id.to_string()
}

fn count(store: &SqliteStore, sql: &str) -> i64 {
    store.read(|connection| connection.query_row(sql, [], |row| row.get(0)), "count").unwrap()
}

fn erasure(id: EntryId) -> Erasure {
    Erasure {
        memories: vec![id],
        turns: Vec::new(),
        bullets: Vec::new(),
        texts: Vec::new(),
        topic: None,
        scope: None,
        at: minute(0),
    }
}

fn healthy(store: &SqliteStore) {
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

/// A number that looks like chance.
fn roll(seed: u64) -> u64 {
    (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 16
}

fn made_up(id: &str, seed: u64) -> Entry {
    let words: Vec<String> = (0..1 + roll(seed) % 6).map(|nth| format!("w{}", roll(seed * 31 + nth) % 40)).collect();
    Entry {
        project: roll(seed + 7).is_multiple_of(3).then(|| "apollo".to_owned()),
        created_at: minute((roll(seed + 9) % 100) as i64),
        ..entry(id, &format!("{} {id}", words.join(" ")))
    }
}

#[test]
fn searches_equal_a_scan_whatever_upkeep_did() {
    let home = tempfile::tempdir().unwrap();
    let store = store_at(home.path());
    let mut model: Vec<Entry> = Vec::new();
    let filters = [
        Filter::default(),
        Filter::recallable(minute(50)),
        Filter { projects: Projects::Only("apollo".to_owned()), ..Filter::default() },
        Filter { since: Some(minute(20)), until: Some(minute(60)), ..Filter::recallable(minute(0)) },
    ];
    for seed in 0..1500 {
        let at = roll(seed + 3) as usize % model.len().max(1);
        match roll(seed + 5) % 10 {
            0 if !model.is_empty() => {
                let changed = Entry { version: model[at].version, ..made_up(model[at].id.as_str(), seed) };
                model[at] = update(&store, changed);
            }
            1 if !model.is_empty() => {
                model[at] = update(&store, inactive(&model[at]));
            }
            2 if seed % 90 == 0 && !model.is_empty() => {
                let gone = model.swap_remove(at);
                store.erase(&erasure(gone.id)).unwrap();
            }
            _ => model.push(insert(&store, made_up(&format!("m{seed}"), seed))),
        }
        if seed % 400 == 399 {
            settle(&store);
        }
        if seed % 700 == 699 {
            store.rebuild(&mut |_, _| {}).unwrap();
        }
        if seed % 25 == 0 {
            let filter = &filters[seed as usize / 25 % filters.len()];
            let terms = [format!("w{}", seed % 40), format!("w{}", seed % 7)];
            let fits = |of: &&Entry| {
                let words: Vec<&str> = of.content.split(' ').collect();
                filter.admits(of) && terms.iter().any(|term| words.contains(&term.as_str()))
            };
            let expected: BTreeSet<String> = model.iter().filter(fits).map(|of| of.id.to_string()).collect();
            assert_eq!(found(&store, &terms.each_ref().map(String::as_str), filter), expected, "at {seed}");
        }
    }
    settle(&store);
    assert!(count(&store, "SELECT count(*) FROM word_segments") > 0);
    assert!(count(&store, "SELECT count(*) FROM entry_tail") < 256);
    healthy(&store);
}

/// A memory of the schema before, with entries and turns.
fn old_memory(home: &Path) {
    let mut connection = open::connect(&home.join("memory.db"), Durability::Process, Make::New).unwrap();
    let before = MIGRATIONS.iter().position(|migration| migration.contains("TABLE word_indexes")).unwrap();
    migrate(&mut connection, &MIGRATIONS[..before], None).unwrap();
    let rows = "
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 9000)
        INSERT INTO entries (id, kind, namespace, layer, source, status, importance, tags, created_at, updated_at,
            provenance, version, content, terms, twin)
          SELECT 'm' || n, 'bullet', 'user/profile', 'identity', 'user', 'active', 0.5, '[]', 0, 0, '[]', 1, 'text ' || n,
            'text w' || (n % 900), '' FROM n;
        INSERT INTO sessions (id, created_at, updated_at, last_position) VALUES ('cli:a', 0, 0, 300);
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
        INSERT INTO turns (id, session, role, at, content, terms, position)
          SELECT 't' || n, 1, 'user', 0, 'text ' || n, 'text w' || (n % 30), n FROM n;";
    connection.execute_batch(rows).unwrap();
}

#[test]
fn an_old_memory_is_searched_by_fts5_until_its_index_is_complete() {
    let home = tempfile::tempdir().unwrap();
    old_memory(home.path());
    let mut connection = open::connect(&home.path().join("memory.db"), Durability::Process, Make::Nothing).unwrap();
    migrate(&mut connection, &MIGRATIONS, None).unwrap();
    assert!(!is_ready(&connection, Collection::Entries).unwrap() && is_ready(&connection, Collection::Chunks).unwrap());
    assert_eq!(fts5::tables(&connection).unwrap().len(), 3);
    drop(connection);
    let store = store_at(home.path());
    let expected = found(&store, &["w7"], &Filter::default());
    assert_eq!(expected.len(), 10 + 10, "every 900th bullet, every 30th turn");
    insert(&store, entry("new", "w7"));
    done_with_building(&store);
    let now = found(&store, &["w7"], &Filter::default());
    assert_eq!(now.difference(&expected).collect::<Vec<_>>(), ["new"]);
    assert_eq!(now.len(), expected.len() + 1);
    let fts5 = "SELECT count(*) FROM sqlite_master WHERE name GLOB '*_words*' AND name NOT GLOB 'task_words*'";
    assert_eq!(count(&store, fts5), 0, "and FTS5 is gone");
    let triggers = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND sql GLOB '*[nt]_words*'";
    assert_eq!(count(&store, triggers), 0);
    store.append(&[turn("t", "cli:a", "w7")]).unwrap();
    assert_eq!(found(&store, &["w7"], &Filter::default()).len(), expected.len() + 2);
}

/// How many rows are left of each table of FTS5.
fn left_of_fts5(connection: &Connection) -> BTreeMap<String, i64> {
    let sql = "SELECT name FROM sqlite_master WHERE name GLOB 'retired_*'";
    let mut statement = connection.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let count = |name: &str| connection.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0));
    names.map(|name| (name.clone(), count(&name).unwrap())).collect()
}

/// An old memory whose index is complete, and of whose old index so many pieces were removed.
fn old_memory_without(home: &Path, pieces: usize) -> Pool {
    old_memory(home);
    let pool = Pool::open(&home.join("memory.db"), home, Durability::Process).unwrap();
    let is_retired = || pool.read(fts5::is_retired, "look").unwrap();
    while !is_retired() {
        assert_eq!(upkeep::step(&pool).unwrap(), Step::Done);
    }
    for _ in 0..pieces {
        assert_eq!(upkeep::step(&pool).unwrap(), Step::Done);
    }
    pool
}

#[test]
fn fts5_is_removed_a_piece_at_a_time_whoever_is_killed() {
    let home = tempfile::tempdir().unwrap();
    let mut pool = old_memory_without(home.path(), 1);
    let left = |pool: &Pool| pool.read(|connection| Ok(left_of_fts5(connection)), "look").unwrap();
    let mut before = left(&pool);
    assert_eq!(before.len(), 9, "{before:?}");
    assert_eq!(before["retired_entry_words_docsize"], 9000);
    let (mut steps, mut copies) = (0, 0);
    while !before.is_empty() {
        // Nothing is kept but what is in the file.
        pool = Pool::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
        let problems = pool.read(crate::health::check, "check").unwrap();
        assert_eq!(problems, Vec::<String>::new(), "{before:?}");
        if steps % 4 == 0 {
            let copy = home.path().join(format!("copy{copies}.db"));
            let made = |connection: &Connection| Ok(crate::backup::copy(connection, &copy, &mut |_, _| true));
            pool.read(made, "copy").unwrap().unwrap();
            assert_eq!(crate::backup::drill(&copy).unwrap().problems, Vec::<String>::new(), "{before:?}");
            copies += 1;
        }
        assert_eq!(upkeep::step(&pool).unwrap(), Step::Done);
        let now = left(&pool);
        let removed: i64 = before.iter().map(|(name, rows)| rows - now.get(name).unwrap_or(&0)).sum();
        assert!(removed <= 8192, "{removed} rows at once");
        assert!(now.values().sum::<i64>() < before.values().sum() || now.len() < before.len(), "{now:?}");
        (before, steps) = (now, steps + 1);
    }
    assert!(steps > before.len() && copies > 1, "{steps} steps");
    assert_eq!(upkeep::step(&pool).unwrap(), Step::Nothing);
    drop(pool);
    assert_eq!(found(&store_at(home.path()), &["w7"], &Filter::default()).len(), 20);
}

#[test]
fn an_erasure_leaves_nothing_of_an_index_that_is_being_removed() {
    let home = tempfile::tempdir().unwrap();
    drop(old_memory_without(home.path(), 2));
    let path = home.path().join("memory.db");
    let connection = open::connect(&path, Durability::Process, Make::Nothing).unwrap();
    assert!(!left_of_fts5(&connection).is_empty());
    connection.execute("DELETE FROM entries WHERE id = 'm7'", []).unwrap();
    super::purge(&connection).unwrap();
    assert_eq!(left_of_fts5(&connection), BTreeMap::new());
    assert_eq!(fts5::tables(&connection).unwrap(), [""; 0]);
    drop(connection);
    healthy(&store_at(home.path()));
}

fn done_with_building(store: &SqliteStore) {
    super::build_on(&store.pool, &mut |_| {}).unwrap();
    settle(store);
    for collection in Collection::ALL {
        assert!(store.read(|connection| is_ready(connection, collection), "look").unwrap());
    }
}

#[test]
fn what_is_searched_stays_while_an_index_is_built_anew() {
    let home = tempfile::tempdir().unwrap();
    let store = store_at(home.path());
    for n in 0..600 {
        insert(&store, entry(&format!("m{n}"), &format!("tea w{n}")));
    }
    settle(&store);
    let begin = |connection: &Connection| super::begin_again(connection).map_err(while_doing("begin again"));
    store.write("begin again", |transaction| begin(transaction)).unwrap();
    assert_eq!(found(&store, &["tea"], &Filter::default()).len(), 600);
    update(&store, entry("m5", "milk"));
    store.erase(&erasure(EntryId::new("m6"))).unwrap();
    assert_eq!(found(&store, &["tea"], &Filter::default()).len(), 598);
    done_with_building(&store);
    assert_eq!(found(&store, &["tea"], &Filter::default()).len(), 598);
    assert_eq!(found(&store, &["milk"], &Filter::default()).len(), 1);
    healthy(&store);
}

#[test]
fn what_was_read_before_an_erasure_is_not_written() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store_at(home.path());
    // Its thread must not be faster.
    store.worker = Arc::new(Worker::idle(Arc::clone(&store.pool)));
    for n in 0..300 {
        insert(&store, entry(&format!("m{n}"), &format!("{}{n}", if n < 3 { "xyzzy" } else { "tea" })));
    }
    let (pool, entries) = (Arc::clone(&store.pool), Collection::Entries);
    let erase = |n: usize| store.erase(&erasure(EntryId::new(format!("m{n}")))).unwrap();
    let held = "SELECT count(*) FROM word_parts WHERE instr(hex(bytes), hex('yzzy')) > 0";
    let sealing = upkeep::sealing_of(&pool, entries).unwrap().unwrap();
    erase(0);
    assert_eq!(upkeep::put_sealed(&pool, entries, &sealing).unwrap(), Step::Overtaken);
    settle(&store);
    assert_eq!(count(&store, held), 1, "the two that are left");
    let merging = store.read(|connection| Ok(upkeep::merge_all(connection, entries).unwrap()), "merge").unwrap();
    erase(1);
    assert_eq!(upkeep::put_merged(&pool, entries, Set::Served, &merging).unwrap(), Step::Overtaken);
    let begin = |connection: &Connection| super::begin_again(connection).map_err(while_doing("begin again"));
    store.write("begin again", |transaction| begin(transaction)).unwrap();
    let building = upkeep::building_of(&pool, entries).unwrap().unwrap();
    erase(2);
    assert_eq!(upkeep::put_built(&pool, entries, &building).unwrap(), Step::Overtaken);
    settle(&store);
    assert_eq!(count(&store, held), 0);
    assert_eq!(count(&store, "SELECT count(*) FROM word_segments"), 1);
    healthy(&store);
}

#[test]
fn several_stores_write_and_keep_one_index() {
    let home = tempfile::tempdir().unwrap();
    let first = store_at(home.path());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = home.path();
            scope.spawn(move || {
                let store = store_at(path);
                for n in 0..300 {
                    insert(&store, entry(&format!("m{writer}-{n}"), &format!("tea w{writer} x{n}")));
                    if n % 50 == 0 {
                        settle(&store);
                    }
                }
            });
        }
    });
    assert_eq!(found(&first, &["tea"], &Filter::default()).len(), 1200);
    settle(&first);
    assert_eq!(found(&first, &["tea"], &Filter::default()).len(), 1200);
    assert_eq!(found(&first, &["w3"], &Filter::default()).len(), 300);
    healthy(&first);
}

#[test]
fn a_damaged_segment_is_named_and_made_anew() {
    let home = tempfile::tempdir().unwrap();
    let store = store_at(home.path());
    for n in 0..300 {
        insert(&store, entry(&format!("m{n}"), &format!("tea w{n}")));
    }
    settle(&store);
    let damage = "UPDATE word_parts SET bytes = zeroblob(length(bytes))";
    store.write("damage", |transaction| transaction.execute_batch(damage).map_err(while_doing("damage"))).unwrap();
    store.words.clear();
    let search =
        Search { terms: vec!["tea".to_owned()], also: Vec::new(), filter: Filter::default(), limit: 10, turns: 10 };
    assert!(store.search(&search).is_err());
    let problems = store.check().unwrap();
    assert!(problems.len() == 1 && problems[0].contains("run `throughline reindex`"), "{problems:?}");
    store.erase(&erasure(EntryId::new("m7"))).unwrap();
    store.rebuild(&mut |_, _| {}).unwrap();
    assert_eq!(found(&store, &["tea"], &Filter::default()).len(), 299);
    healthy(&store);
}
