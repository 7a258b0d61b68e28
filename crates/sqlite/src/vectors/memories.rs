//! Vectors of memories. What goes with a memory that goes, or whose text changes, is in the triggers of migration 15.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::embedding::{Baseline, EMBEDDED_CHARS};
use throughline_core::model::{EntryId, Kind};
use throughline_core::ports::{MadeBy, MemorySet, MemoryVector, MemoryVectors, UnembeddedMemory, VectorSetId};
use throughline_core::recall::{CandidateMark, Filter};
use throughline_core::vault::Sought;
use throughline_stores::marks::TURNS;

use super::{blocks, nearest};
use crate::error::while_doing;
use crate::{SqliteStore, Stored};

/// So many bits of the key of a vector are the item.
const ITEM_BITS: u32 = 42;

/// Within so many rows, the older ones are embedded first: keys that only ever descend leave pages half empty.
const GROUP: i64 = 256;

/// The key of a vector.
pub(super) fn key(set: i64, item: i64) -> i64 {
    (set << ITEM_BITS) + item
}

impl MemoryVectors for SqliteStore {
    fn memory_sets(&self) -> Stored<Vec<MemorySet>> {
        self.read(
            |connection| {
                let sql = format!("{SELECT_SETS} ORDER BY row");
                connection.prepare_cached(&sql)?.query_map([], set)?.collect()
            },
            "list the vectors of memories",
        )
    }

    fn begin_memory_set(&self, by: &MadeBy, baseline: &Baseline) -> Stored<MemorySet> {
        self.write_alone("begin vectors of memories", |transaction| {
            begin(transaction, by, baseline).map_err(while_doing("begin vectors of memories"))
        })
    }

    fn unembedded_memories(&self, limit: usize) -> Stored<Vec<UnembeddedMemory>> {
        self.snapshot(|connection| unembedded(connection, limit), "look for memories without vectors")
    }

    fn count_unembedded_memories(&self) -> Stored<u64> {
        let sql = "SELECT count(*) FROM memory_vector_queue";
        self.read(
            |connection| connection.prepare_cached(sql)?.query_row([], |row| row.get(0)),
            "count memories without vectors",
        )
    }

    fn keep_memory_vectors(&self, set: &VectorSetId, made: &[MemoryVector]) -> Stored<()> {
        self.write_alone("keep vectors of memories", |transaction| {
            keep(transaction, set, made).map_err(while_doing("keep vectors of memories"))
        })
    }

    fn finish_memory_set(&self, set: &VectorSetId) -> Stored<bool> {
        self.write_alone("finish vectors of memories", |transaction| {
            finish(transaction, set).map_err(while_doing("finish vectors of memories"))
        })
    }

    fn count_memory_vectors(&self, set: &VectorSetId) -> Stored<(u64, u64)> {
        self.snapshot(
            |connection| {
                let Some((set, _)) = known(connection, set)? else { return Ok((0, 0)) };
                let sql = "SELECT count(*) FROM memory_vector_refusals WHERE key >= ? AND key < ?";
                let range = [key(set, 0), key(set + 1, 0)];
                let refused = connection.prepare_cached(sql)?.query_row(range, |row| row.get(0))?;
                Ok((blocks::count(connection, &blocks::MEMORIES, set)?, refused))
            },
            "count vectors of memories",
        )
    }

    fn nearest_memories(
        &self,
        set: &VectorSetId,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Stored<Vec<(EntryId, Kind, f64)>> {
        self.snapshot(
            |connection| match known(connection, set)? {
                Some((set, dimension)) if dimension == query.len() && limit > 0 => {
                    nearest::nearest(connection, set, &Sought::of(query), filter, limit)
                }
                _ => Ok(Vec::new()),
            },
            "search memories by vectors",
        )
    }

    fn cosines(&self, set: &VectorSetId, query: &[f32], marks: &[CandidateMark]) -> Stored<Vec<Option<f64>>> {
        self.snapshot(
            |connection| match known(connection, set)? {
                Some((set, dimension)) if dimension == query.len() => {
                    nearest::cosines(connection, set, &Sought::of(query), marks)
                }
                _ => Ok(vec![None; marks.len()]),
            },
            "compare memories by vectors",
        )
    }
}

const SELECT_SETS: &str = "SELECT row, provider, model, base_url, mean, deviation, working FROM memory_vector_sets";

fn set(row: &Row<'_>) -> rusqlite::Result<MemorySet> {
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let mean = row.get_ref(4)?.as_blob()?.chunks_exact(4).map(number).collect();
    Ok(MemorySet {
        id: VectorSetId::new(row.get::<_, i64>(0)?.to_string()),
        by: MadeBy { provider: row.get(1)?, model: row.get(2)?, base_url: row.get(3)? },
        baseline: Baseline { mean, deviation: row.get(5)? },
        is_working: row.get(6)?,
    })
}

/// The row and the dimension of a set.
fn known(connection: &Connection, set: &VectorSetId) -> rusqlite::Result<Option<(i64, usize)>> {
    let sql = "SELECT row, dimension FROM memory_vector_sets WHERE row = ?";
    connection.prepare_cached(sql)?.query_row([set.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn begin(connection: &Connection, by: &MadeBy, baseline: &Baseline) -> rusqlite::Result<MemorySet> {
    let mean: Vec<u8> = baseline.mean.iter().flat_map(|number| number.to_le_bytes()).collect();
    let sql = "INSERT INTO memory_vector_sets (provider, model, dimension, base_url, mean, deviation, working) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0) \
               ON CONFLICT (provider, model, dimension) DO UPDATE SET base_url = ?4 RETURNING row, working";
    let values = params![by.provider, by.model, baseline.mean.len(), by.base_url, mean, baseline.deviation];
    let (row, is_working): (i64, bool) =
        connection.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    if !is_working {
        connection.execute("UPDATE memory_vector_sets SET working = (row = ?)", [row])?;
        others(connection, row)?.into_iter().skip(1).try_for_each(|set| remove(connection, set))?;
        queue_again(connection)?;
    }
    connection.prepare_cached(&format!("{SELECT_SETS} WHERE row = ?"))?.query_row([row], set)
}

/// The other sets, the one with the most vectors first.
fn others(connection: &Connection, set: i64) -> rusqlite::Result<Vec<i64>> {
    let sets: Vec<i64> = connection
        .prepare_cached("SELECT row FROM memory_vector_sets WHERE row <> ?")?
        .query_map([set], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut counted = Vec::with_capacity(sets.len());
    for set in sets {
        counted.push((blocks::count(connection, &blocks::MEMORIES, set)?, set));
    }
    counted.sort_unstable_by(|a, b| b.cmp(a));
    Ok(counted.into_iter().map(|(_, set)| set).collect())
}

/// Removes a set. Blocks go first: then nothing is left for the trigger to overwrite.
fn remove(connection: &Connection, set: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM memory_vector_blocks WHERE key >= ?1 << 36 AND key < (?1 + 1) << 36";
    connection.execute(sql, [set])?;
    for table in ["memory_vectors", "memory_vector_refusals"] {
        let sql = format!("DELETE FROM {table} WHERE key >= ? AND key < ?");
        connection.execute(&sql, [key(set, 0), key(set + 1, 0)])?;
    }
    connection.execute("DELETE FROM memory_vector_sets WHERE row = ?", [set]).map(drop)
}

/// Fills the queue anew: every item without a vector in the working set that was not refused.
pub(crate) fn queue_again(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT row FROM memory_vector_sets WHERE working = 1";
    let working: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    connection.execute("DELETE FROM memory_vector_queue", [])?;
    let sql = "INSERT INTO memory_vector_queue (item) \
               SELECT item FROM (SELECT row AS item FROM entries UNION ALL \
                 SELECT row + ?2 FROM turns WHERE role IN ('user', 'assistant') AND content <> '') \
               WHERE NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.key = ?1 + item) \
                 AND NOT EXISTS (SELECT 1 FROM memory_vector_refusals r WHERE r.key = ?1 + item)";
    connection.execute(sql, params![working.map(|set| key(set, 0)), TURNS]).map(drop)
}

/// Entries and bullets are few and say much: they come before turns.
fn unembedded(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<UnembeddedMemory>> {
    let entries = "SELECT e.id, substr(e.content, 1, ?1) FROM memory_vector_queue q JOIN entries e ON e.row = q.item \
                   WHERE q.item >= ?2 AND q.item < ?3 ORDER BY q.item LIMIT ?4";
    let turns = "SELECT t.id, substr(t.content, 1, ?1) FROM memory_vector_queue q \
                 JOIN turns t ON t.row = q.item - 1099511627776 \
                 WHERE q.item >= ?2 AND q.item < ?3 ORDER BY q.item LIMIT ?4";
    let memory = |row: &Row<'_>| Ok(UnembeddedMemory { id: EntryId::new(row.get::<_, String>(0)?), text: row.get(1)? });
    let mut found: Vec<UnembeddedMemory> = Vec::new();
    for (sql, kind) in [(entries, 0..TURNS), (turns, TURNS..2 * TURNS)] {
        let mut end = kind.end;
        while let Some(newest) = newest_of(connection, kind.start..end)?.filter(|_| found.len() < limit) {
            let group = newest - newest % GROUP;
            let left = i64::try_from(limit - found.len()).unwrap_or(i64::MAX);
            let mut statement = connection.prepare_cached(sql)?;
            let some = statement.query_map(params![EMBEDDED_CHARS, group, end, left], memory)?;
            found.extend(some.collect::<rusqlite::Result<Vec<_>>>()?);
            end = group;
        }
    }
    Ok(found)
}

/// The newest of these items that is in the queue.
fn newest_of(connection: &Connection, items: Range<i64>) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT max(item) FROM memory_vector_queue WHERE item >= ? AND item < ?";
    connection.prepare_cached(sql)?.query_row([items.start, items.end], |row| row.get(0))
}

fn keep(connection: &Connection, set: &VectorSetId, made: &[MemoryVector]) -> rusqlite::Result<()> {
    let Some((set, dimension)) = known(connection, set)? else { return Ok(()) };
    let mut vector = connection.prepare_cached(
        "INSERT INTO memory_vectors (key, scale, bytes) VALUES (?1, ?2, ?3) \
         ON CONFLICT (key) DO UPDATE SET scale = ?2, bytes = ?3",
    )?;
    let mut refusal = connection.prepare_cached(
        "INSERT INTO memory_vector_refusals (key, why) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET why = ?2",
    )?;
    let mut unqueue = connection.prepare_cached(
        "DELETE FROM memory_vector_queue WHERE item = ?1 \
         AND EXISTS (SELECT 1 FROM memory_vector_sets WHERE row = ?2 AND working = 1)",
    )?;
    let mut signs = Vec::with_capacity(made.len());
    for (memory, outcome) in made {
        let Some(item) = unchanged(connection, memory)? else { continue };
        match outcome {
            Ok(packed) if packed.dimension() == dimension => {
                vector.execute(params![key(set, item), f64::from(packed.scale), packed.bytes])?;
                signs.push((item, Some(packed.bits.as_slice())));
            }
            // A vector of another set: the memory stays in the queue.
            Ok(_) => continue,
            Err(why) => refusal.execute(params![key(set, item), why]).map(drop)?,
        }
        unqueue.execute([item, set])?;
    }
    blocks::write(connection, &blocks::MEMORIES, (set, dimension), &signs)
}

/// The item of a memory whose text is still the one that was embedded.
fn unchanged(connection: &Connection, memory: &UnembeddedMemory) -> rusqlite::Result<Option<i64>> {
    let entry = "SELECT row FROM entries WHERE id = ?1 AND substr(content, 1, ?2) = ?3";
    let turn = "SELECT row FROM turns WHERE id = ?1 AND substr(content, 1, ?2) = ?3";
    for (sql, offset) in [(entry, 0), (turn, TURNS)] {
        let values = params![memory.id.as_str(), EMBEDDED_CHARS, memory.text];
        let row: Option<i64> = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
        if let Some(row) = row {
            return Ok(Some(row + offset));
        }
    }
    Ok(None)
}

fn finish(connection: &Connection, set: &VectorSetId) -> rusqlite::Result<bool> {
    let sql = "SELECT row FROM memory_vector_sets WHERE row = ? AND working = 1 \
               AND NOT EXISTS (SELECT 1 FROM memory_vector_queue)";
    let complete: Option<i64> =
        connection.prepare_cached(sql)?.query_row([set.as_str()], |row| row.get(0)).optional()?;
    let Some(complete) = complete else { return Ok(false) };
    others(connection, complete)?.into_iter().try_for_each(|set| remove(connection, set))?;
    Ok(true)
}
