//! Bare BM25 equals a scan of every row, order and scores, after any sequence of writes, upkeep, erasures and crashes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;
use throughline_core::model::{Entry, EntryId, Verb};
use throughline_core::ports::{Eraser as _, Erasure, Health as _, Op};
use throughline_core::recall::{Filter, Projects};
use throughline_index::{
    SCORE_UNIT, SegmentReader as _, Statistics, Tail, TailDocument, contribution, length_code, merge, replace,
    statistics,
};
use throughline_testkit::Random;
use throughline_testkit::stores::{apply, entry, inactive, minute, update};

use super::segments::{Segments, Set};
use super::upkeep::{self, Step};
use super::{Collection, Rows, Worker, begin_again, purge, searched};
use crate::open::{self, Make};
use crate::{Durability, SqliteStore};

const ENTRIES: Collection = Collection::Entries;

/// What somebody does to a memory, or what becomes of it.
#[derive(Debug, Clone)]
enum Act {
    Insert {
        count: usize,
        seed: u64,
    },
    Update {
        seed: u64,
    },
    MakeInactive {
        seed: u64,
    },
    Erase {
        seed: u64,
    },
    Seal,
    /// Merges all segments; somebody may write in the meantime.
    Merge {
        meanwhile: Option<u64>,
    },
    Settle,
    BuildAnew,
    Crash(Halfway),
}

/// What is under way when the machine stops.
#[derive(Debug, Clone, Copy)]
enum Halfway {
    /// Nothing in the file: a merge was computed, and never written.
    Computing,
    Writing,
    Sealing,
    Merging,
    Erasing,
    Building,
}

fn act() -> impl Strategy<Value = Act> {
    let halfway = prop::sample::select(vec![
        Halfway::Computing,
        Halfway::Writing,
        Halfway::Sealing,
        Halfway::Merging,
        Halfway::Erasing,
        Halfway::Building,
    ]);
    prop_oneof![
        3 => (1usize..5, any::<u64>()).prop_map(|(count, seed)| Act::Insert { count, seed }),
        3 => (150usize..400, any::<u64>()).prop_map(|(count, seed)| Act::Insert { count, seed }),
        4 => any::<u64>().prop_map(|seed| Act::Update { seed }),
        1 => any::<u64>().prop_map(|seed| Act::MakeInactive { seed }),
        2 => any::<u64>().prop_map(|seed| Act::Erase { seed }),
        3 => Just(Act::Seal),
        3 => prop::option::of(any::<u64>()).prop_map(|meanwhile| Act::Merge { meanwhile }),
        1 => Just(Act::Settle),
        1 => Just(Act::BuildAnew),
        4 => halfway.prop_map(Act::Crash),
    ]
}

/// A few words are common.
fn word(random: &mut Random) -> String {
    format!("w{}", random.below(300).min(random.below(300)).min(random.below(300)))
}

fn made_up(id: &str, random: &mut Random) -> Entry {
    let words: Vec<String> = (0..1 + random.below(9)).map(|_| word(random)).collect();
    Entry {
        project: random.one_in(3).then(|| "apollo".to_owned()),
        created_at: minute(random.below(100) as i64),
        ..entry(id, &words.join(" "))
    }
}

/// A memory, and what must be in it.
struct World {
    home: TempDir,
    store: SqliteStore,
    model: BTreeMap<String, Entry>,
    made: usize,
}

/// What was found: the number of its row, and its score.
type Ranked = Vec<(i64, f64)>;

fn open_at(home: &Path) -> SqliteStore {
    let mut store = SqliteStore::open(&home.join("memory.db"), home, Durability::Process).unwrap();
    // All upkeep is what a test asks for.
    store.worker = Arc::new(Worker::idle(Arc::clone(&store.pool)));
    store
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = open_at(home.path());
        Self { home, store, model: BTreeMap::new(), made: 0 }
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("memory.db")
    }

    fn one(&self, random: &mut Random) -> Option<Entry> {
        self.model.values().nth(random.below(self.model.len())).cloned()
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Insert { count, seed } => self.insert(*count, &mut Random::new(*seed)),
            Act::Update { seed } => self.update(*seed),
            Act::MakeInactive { seed } => {
                if let Some(old) = self.one(&mut Random::new(*seed)) {
                    self.keep(update(&self.store, inactive(&old)));
                }
            }
            Act::Erase { seed } => {
                if let Some(old) = self.one(&mut Random::new(*seed)) {
                    self.model.remove(old.id.as_str());
                    self.store.erase(&erasure(old.id)).unwrap();
                }
            }
            Act::Seal => {
                if let Some(sealing) = upkeep::sealing_of(&self.store.pool, ENTRIES).unwrap() {
                    assert_eq!(upkeep::put_sealed(&self.store.pool, ENTRIES, &sealing).unwrap(), Step::Done);
                }
            }
            Act::Merge { meanwhile } => self.merge(*meanwhile),
            Act::Settle => while upkeep::step(&self.store.pool).unwrap() != Step::Nothing {},
            Act::BuildAnew => {
                let begin =
                    |connection: &Connection| begin_again(connection).map_err(crate::error::while_doing("begin"));
                self.store.write("begin", |transaction| begin(transaction)).unwrap();
                if let Some(building) = upkeep::building_of(&self.store.pool, ENTRIES).unwrap() {
                    upkeep::put_built(&self.store.pool, ENTRIES, &building).unwrap();
                }
            }
            Act::Crash(halfway) => self.crash(*halfway),
        }
    }

    fn keep(&mut self, entry: Entry) {
        self.model.insert(entry.id.to_string(), entry);
    }

    fn insert(&mut self, count: usize, random: &mut Random) {
        let ops: Vec<Op> =
            (self.made..self.made + count).map(|nth| Op::Insert(made_up(&format!("m{nth}"), random))).collect();
        self.made += count;
        let written = apply(&self.store, Verb::Remember, &ops).unwrap();
        written.into_iter().for_each(|entry| self.keep(entry));
    }

    fn update(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        if let Some(old) = self.one(&mut random) {
            let changed = Entry { version: old.version, ..made_up(old.id.as_str(), &mut random) };
            self.keep(update(&self.store, changed));
        }
    }

    fn merge(&mut self, meanwhile: Option<u64>) {
        let merging =
            self.store.read(|connection| Ok(upkeep::merge_all(connection, ENTRIES).unwrap()), "merge").unwrap();
        if let Some(seed) = meanwhile {
            self.update(seed);
            self.insert(300, &mut Random::new(seed));
            self.act(&Act::Seal);
        }
        upkeep::put_merged(&self.store.pool, ENTRIES, Set::Served, &merging).unwrap();
    }

    /// The file and its log as they are at this moment are all that is left.
    fn crash(&mut self, halfway: Halfway) {
        let mut connection = open::connect(&self.path(), Durability::Process, Make::Nothing).unwrap();
        crate::functions::register(&connection).unwrap();
        // Pages of a transaction reach the log before it ends.
        connection.execute_batch("PRAGMA cache_size = 2; PRAGMA cache_spill = 1").unwrap();
        let transaction = connection.transaction().unwrap();
        start(&transaction, halfway);
        let home = tempfile::tempdir().unwrap();
        for name in ["memory.db", "memory.db-wal"] {
            let from = self.home.path().join(name);
            if from.is_file() {
                std::fs::copy(from, home.path().join(name)).unwrap();
            }
        }
        drop(transaction);
        drop(connection);
        self.store = open_at(home.path());
        self.home = home;
    }

    fn ranked(&self, terms: &[String], limit: usize, filter: &Filter) -> Ranked {
        let search = |connection: &Connection| {
            let rows = Rows { connection, collection: ENTRIES };
            let searched = searched(&rows, &self.store.words, filter)?;
            Ok(searched.search(terms, limit).unwrap().expect("the index is complete"))
        };
        self.store.read(search, "search").unwrap()
    }

    /// Scores every row; checks that they are those that there must be.
    fn scan(&self, terms: &[String], limit: usize, filter: &Filter) -> Ranked {
        let read = |connection: &Connection| {
            let statistics = counted(connection, terms);
            let mut statement = connection.prepare("SELECT row, id, terms, content FROM entries ORDER BY row")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
            Ok((statistics, rows.collect::<Result<Vec<(i64, String, String, String)>, _>>()?))
        };
        let (statistics, rows) = self.store.read(read, "scan").unwrap();
        assert_eq!(rows.len(), self.model.len());
        let mut ranked: Vec<(i64, u32)> = Vec::new();
        for (row, id, words, content) in &rows {
            let entry = &self.model[id];
            assert_eq!(content, &entry.content);
            let score = score(&statistics, terms, words);
            if score > 0 && filter.admits(entry) {
                ranked.push((*row, score));
            }
        }
        ranked.sort_by_key(|(row, score)| (std::cmp::Reverse(*score), *row));
        ranked.truncate(limit);
        ranked.into_iter().map(|(row, score)| (row, f64::from(score) / SCORE_UNIT)).collect()
    }

    fn check(&self, random: &mut Random) {
        let filters = [
            Filter::default(),
            Filter::recallable(minute(50)),
            Filter { projects: Projects::Only("apollo".to_owned()), ..Filter::default() },
            Filter { since: Some(minute(20)), until: Some(minute(60)), ..Filter::recallable(minute(0)) },
        ];
        let terms: Vec<String> = (0..1 + random.below(5)).map(|_| word(random)).collect();
        for filter in &filters {
            let limit = [1, 10, 100_000][random.below(3)];
            assert_eq!(self.ranked(&terms, limit, filter), self.scan(&terms, limit, filter), "{terms:?} {filter:?}");
        }
    }
}

/// Does a part of something, in a transaction that never ends.
fn start(connection: &Connection, halfway: Halfway) {
    let all = Segments::new(connection, ENTRIES, Set::Served);
    let merged = merge(&all, &all.list().unwrap()).unwrap();
    match halfway {
        Halfway::Computing => {}
        Halfway::Writing => {
            let sql = "UPDATE entries SET terms = terms || ' w0 w1'; DELETE FROM entry_tail WHERE row % 2";
            connection.execute_batch(sql).unwrap();
        }
        Halfway::Sealing => connection.execute_batch("DELETE FROM entry_tail").unwrap(),
        Halfway::Merging => {
            replace(&mut Segments::new(connection, ENTRIES, Set::Served), &merged).unwrap();
        }
        Halfway::Erasing => {
            connection.execute_batch("DELETE FROM entries WHERE row % 2").unwrap();
            purge(connection).unwrap();
        }
        Halfway::Building => {
            all.become_part_of(Set::Retired).unwrap();
            begin_again(connection).unwrap();
        }
    }
}

fn erasure(id: EntryId) -> Erasure {
    let (memories, at) = (vec![id], minute(0));
    Erasure { memories, turns: Vec::new(), bullets: Vec::new(), texts: Vec::new(), topic: None, scope: None, at }
}

/// What the index knows of some terms.
fn counted(connection: &Connection, terms: &[String]) -> Statistics {
    let sql = "SELECT DISTINCT t.item, e.terms FROM entry_tail t LEFT JOIN entries e ON e.row = t.item";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let changed: Vec<(i64, Option<String>)> = rows.map(Result::unwrap).collect();
    let there = changed.iter().filter_map(|(number, terms)| {
        Some(TailDocument { number: *number, terms: terms.as_deref()?, is_admitted: true })
    });
    let gone: Vec<i64> = changed.iter().filter(|(_, terms)| terms.is_none()).map(|(number, _)| *number).collect();
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    statistics(&Segments::new(connection, ENTRIES, Set::Served), &Tail::new(there.collect(), &gone), &terms).unwrap()
}

fn score(statistics: &Statistics, terms: &[String], text: &str) -> u32 {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let of = |(nth, term): (usize, &String)| match words.iter().filter(|word| *word == term).count() as u32 {
        0 => 0,
        count => contribution(statistics, nth, count, length_code(words.len() as u32)),
    };
    terms.iter().enumerate().map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_scores_equal_a_scan_after_writes_upkeep_erasures_and_crashes(
        acts in prop::collection::vec(act(), 1..30),
        seed in any::<u64>(),
    ) {
        let mut world = World::new();
        let mut random = Random::new(seed);
        world.insert(300, &mut random);
        for act in &acts {
            world.act(act);
            world.check(&mut random);
        }
        prop_assert_eq!(world.store.check().unwrap(), Vec::<String>::new());
        // Without tombstones, the statistics are those of what is there.
        world.act(&Act::Settle);
        world.act(&Act::Merge { meanwhile: None });
        world.check(&mut random);
        let terms = vec!["w0".to_owned(), "w7".to_owned()];
        let counted = world.store.read(|connection| Ok(counted(connection, &terms)), "count").unwrap();
        let of = |term: &String| world.model.values().filter(|of| of.content.split(' ').any(|word| word == term)).count();
        if world.store.read(|connection| connection.query_row("SELECT count(*) FROM entry_tail", [], |row| row.get::<_, i64>(0)), "count").unwrap() == 0 {
            prop_assert_eq!(counted.documents, world.model.len() as u64);
            prop_assert_eq!(counted.frequencies, terms.iter().map(|term| of(term) as u64).collect::<Vec<_>>());
        }
    }
}
