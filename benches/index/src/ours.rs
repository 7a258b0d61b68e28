//! The word index: in memory, and as rows of an SQLite file, sealed and merged as a store does it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_index::{
    Document, IndexError, Limits, MemoryStore, Part, Query, SegmentId, SegmentReader, SegmentStore, Tail, TailDocument,
    add, build, choose, info, merge, replace, search,
};

use crate::corpus::{Corpus, Question};
use crate::timing::timed;
use crate::{Engine, Failure, HITS, fts5};

/// Documents in a segment when it is sealed, and in the tail that is searched.
const SEALED: usize = 256;
const TAIL: usize = 128;

/// As the program merges.
const LIMITS: Limits = Limits { fan: 4, postings: 4_000_000 };

/// Which parts a process that lives on keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cached {
    Everything,
    /// As much as the program keeps.
    Some,
    Nothing,
}

/// Bytes that the program keeps at most, in two ages.
const KEPT: usize = 64 << 20;

#[derive(Default)]
struct Kept {
    young: HashMap<(SegmentId, Part), Arc<[u8]>>,
    bytes: usize,
    old: HashMap<(SegmentId, Part), Arc<[u8]>>,
}

impl Kept {
    fn get(&mut self, key: (SegmentId, Part), most: usize) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.young.get(&key) {
            return Some(Arc::clone(bytes));
        }
        let bytes = self.old.remove(&key)?;
        self.keep(key, Arc::clone(&bytes), most);
        Some(bytes)
    }

    fn keep(&mut self, key: (SegmentId, Part), bytes: Arc<[u8]>, most: usize) {
        self.bytes += bytes.len();
        self.young.insert(key, bytes);
        if self.bytes > most / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
    }
}

fn failed(error: rusqlite::Error) -> IndexError {
    IndexError::Store(error.into())
}

/// Rows of one table.
struct Rows {
    connection: Connection,
    cached: Cached,
    cache: RefCell<Kept>,
}

impl Rows {
    fn open(path: &Path, cached: Cached) -> Result<Self, Failure> {
        let connection = fts5::connect(path)?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS segments (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;
             CREATE TABLE IF NOT EXISTS parts (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;",
        )?;
        Ok(Self { connection, cached, cache: RefCell::default() })
    }

    fn fetch(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        let sql = "SELECT bytes FROM parts WHERE key = ?";
        let read = |row: &rusqlite::Row<'_>| Ok(Arc::from(row.get_ref(0)?.as_blob()?));
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        statement.query_row([key(segment, part)], read).optional().map_err(failed)
    }
}

fn key(segment: SegmentId, part: Part) -> i64 {
    i64::from(segment.0) << 32 | i64::from(part.0)
}

impl SegmentReader for Rows {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM segments").map_err(failed)?;
        let found = statement.query_map([], |row| row.get(0).map(SegmentId)).map_err(failed)?;
        found.collect::<Result<_, _>>().map_err(failed)
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        if self.cached == Cached::Nothing || !part.is_immutable() {
            return self.fetch(segment, part);
        }
        let most = if self.cached == Cached::Some { KEPT } else { usize::MAX };
        if let Some(bytes) = self.cache.borrow_mut().get((segment, part), most) {
            return Ok(Some(bytes));
        }
        let bytes = self.fetch(segment, part)?;
        Ok(bytes.inspect(|bytes| self.cache.borrow_mut().keep((segment, part), Arc::clone(bytes), most)))
    }
}

impl SegmentStore for Rows {
    fn fresh(&mut self) -> Result<SegmentId, IndexError> {
        self.connection.execute("INSERT INTO segments DEFAULT VALUES", []).map_err(failed)?;
        Ok(SegmentId(self.connection.last_insert_rowid() as u32))
    }

    fn put(&mut self, segment: SegmentId, part: Part, bytes: &[u8]) -> Result<(), IndexError> {
        let sql = "INSERT INTO parts (key, bytes) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET bytes = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        statement.execute(params![key(segment, part), bytes]).map(drop).map_err(failed)
    }

    fn delete(&mut self, segment: SegmentId) -> Result<(), IndexError> {
        let (first, last) = (key(segment, Part(0)), key(segment, Part(u32::MAX)));
        let parts = "DELETE FROM parts WHERE key BETWEEN ? AND ?";
        self.connection.execute(parts, [first, last]).map_err(failed)?;
        self.connection.execute("DELETE FROM segments WHERE id = ?", [segment.0]).map(drop).map_err(failed)
    }
}

/// What keeping the index took.
#[derive(Clone, Copy, Default)]
pub(crate) struct Upkeep {
    /// CPU milliseconds of making and merging segments, without writing them.
    pub(crate) all: f64,
    pub(crate) merges: u32,
    pub(crate) longest_merge: f64,
}

pub(crate) struct OursInSqlite {
    path: PathBuf,
    rows: Rows,
    pub(crate) upkeep: Upkeep,
    tail: Arc<Vec<Document>>,
    segments: usize,
}

impl OursInSqlite {
    /// The last documents stay in the tail.
    pub(crate) fn build(path: &Path, corpus: &Corpus) -> Result<Self, Failure> {
        let mut rows = Rows::open(path, Cached::Nothing)?;
        let (mut waiting, mut upkeep): (Vec<Document>, Upkeep) = Default::default();
        corpus.each(|documents| {
            rows.connection.execute_batch("BEGIN")?;
            waiting.extend(documents.iter().map(|(number, terms)| document(*number, terms)));
            while waiting.len() >= SEALED + TAIL {
                let rest = waiting.split_off(SEALED);
                seal(&mut rows, &waiting, &mut upkeep)?;
                waiting = rest;
            }
            Ok(rows.connection.execute_batch("COMMIT")?)
        })?;
        let split = waiting.len().saturating_sub(TAIL);
        let last = waiting.split_off(split);
        seal(&mut rows, &waiting, &mut upkeep)?;
        rows.connection.execute_batch("VACUUM")?;
        let segments = rows.list()?.len();
        Ok(Self { path: path.to_owned(), rows, upkeep, tail: Arc::new(last), segments })
    }

    pub(crate) fn reader(&self, cached: Cached) -> Result<Self, Failure> {
        let rows = Rows::open(&self.path, cached)?;
        let (path, tail) = (self.path.clone(), Arc::clone(&self.tail));
        Ok(Self { path, rows, upkeep: self.upkeep, tail, segments: self.segments })
    }
}

fn document(number: i64, terms: &str) -> Document {
    // About what a store says of a memory: some classes, a time each.
    let class = format!("knowledge active user project-{}", number % 7).into_bytes();
    Document { number, terms: terms.to_owned(), class, time: 1_700_000_000_000 + number * 61_003, expires: i64::MAX, payload: Vec::new() }
}

fn seal(rows: &mut Rows, documents: &[Document], upkeep: &mut Upkeep) -> Result<(), Failure> {
    let (built, took) = timed(|| build(documents));
    upkeep.all += took;
    if let Some(built) = built {
        add(rows, &built)?;
    }
    loop {
        let infos = rows.list()?.into_iter().map(|id| info(rows, id)).collect::<Result<Vec<_>, _>>()?;
        let Some(chosen) = choose(&infos, LIMITS) else { return Ok(()) };
        let (merged, took) = timed(|| merge(rows, &chosen));
        upkeep.all += took;
        upkeep.merges += 1;
        upkeep.longest_merge = upkeep.longest_merge.max(took);
        replace(rows, &merged?)?;
    }
}

fn best(store: &dyn SegmentReader, tail: &[Document], question: &Question) -> Result<Vec<i64>, Failure> {
    let last =
        tail.iter().map(|document| TailDocument { number: document.number, terms: &document.terms, is_admitted: true });
    let tail = &Tail::new(last.collect(), &[]);
    let terms: Vec<&str> = question.content.iter().map(String::as_str).collect();
    let hits = search(store, tail, &Query::new(&terms, HITS))?;
    Ok(hits.into_iter().map(|hit| hit.number).collect())
}

impl Engine for OursInSqlite {
    fn name(&self) -> String {
        let cached = match self.rows.cached {
            Cached::Everything => "all parts kept by the process",
            Cached::Some => "64 MB of parts kept",
            Cached::Nothing => "nothing kept",
        };
        format!("ours, rows in SQLite, {cached} ({} segments and a tail of {TAIL})", self.segments)
    }

    fn search(&self, question: &Question) -> Result<Vec<i64>, Failure> {
        best(&self.rows, &self.tail, question)
    }

    fn bytes(&self) -> Result<u64, Failure> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        Ok(self.rows.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }
}

pub(crate) struct OursInMemory {
    store: MemoryStore,
    tail: Arc<Vec<Document>>,
}

impl OursInMemory {
    pub(crate) fn of(rows: &OursInSqlite) -> Result<Self, Failure> {
        let mut store = MemoryStore::default();
        let mut statement = rows.rows.connection.prepare("SELECT key, bytes FROM parts")?;
        let parts = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
        for part in parts {
            let (key, bytes) = part?;
            store.put(SegmentId((key >> 32) as u32), Part(key as u32), &bytes)?;
        }
        Ok(Self { store, tail: Arc::clone(&rows.tail) })
    }
}

impl Engine for OursInMemory {
    fn name(&self) -> String {
        "ours, in memory".to_owned()
    }

    fn search(&self, question: &Question) -> Result<Vec<i64>, Failure> {
        best(&self.store, &self.tail, question)
    }

    fn bytes(&self) -> Result<u64, Failure> {
        Ok(self.store.bytes() as u64)
    }
}
