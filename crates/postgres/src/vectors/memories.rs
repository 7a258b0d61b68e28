//! Vectors of memories.

use std::ops::Range;

use throughline_core::embedding::{Baseline, EMBEDDED_CHARS};
use throughline_core::model::{EntryId, Kind};
use throughline_core::ports::{MadeBy, MemorySet, MemoryVector, MemoryVectors, UnembeddedMemory, VectorSetId};
use throughline_core::recall::{CandidateMark, Filter};
use throughline_core::vault::Sought;
use throughline_stores::marks::TURNS;

use super::{blocks, nearest};
use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, values};
use crate::{PostgresStore, Stored};

/// Within so many rows, the older ones are embedded first, as in the other store.
const GROUP: i64 = 256;

impl MemoryVectors for PostgresStore {
    fn memory_sets(&self) -> Stored<Vec<MemorySet>> {
        let sql = format!("{SELECT_SETS} ORDER BY number");
        self.read("list the vectors of memories", |connection| connection.all(&sql, &[], set))
    }

    fn begin_memory_set(&self, by: &MadeBy, baseline: &Baseline) -> Stored<MemorySet> {
        self.write("begin vectors of memories", |transaction| begin(transaction, by, baseline))
    }

    fn unembedded_memories(&self, limit: usize) -> Stored<Vec<UnembeddedMemory>> {
        self.snapshot("look for memories without vectors", |connection| unembedded(connection, limit))
    }

    fn count_unembedded_memories(&self) -> Stored<u64> {
        let sql = "SELECT count(*) FROM memory_vector_queue WHERE space = $1";
        self.read("count memories without vectors", |connection| connection.one(sql, &[])?.number(0))
    }

    fn keep_memory_vectors(&self, set: &VectorSetId, made: &[MemoryVector]) -> Stored<()> {
        self.write("keep vectors of memories", |transaction| keep(transaction, set, made))
    }

    fn finish_memory_set(&self, set: &VectorSetId) -> Stored<bool> {
        self.write("finish vectors of memories", |transaction| finish(transaction, set))
    }

    fn count_memory_vectors(&self, set: &VectorSetId) -> Stored<(u64, u64)> {
        let sql = "SELECT count(*) FROM memory_vector_refusals WHERE space = $1 AND vector_set = $2";
        self.snapshot("count vectors of memories", |connection| {
            let Some((set, _)) = known(connection, set)? else { return Ok((0, 0)) };
            let refused = connection.one(sql, &values![set])?.number(0)?;
            Ok((blocks::count(connection, &blocks::MEMORIES, set)?, refused))
        })
    }

    fn nearest_memories(
        &self,
        set: &VectorSetId,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Stored<Vec<(EntryId, Kind, f64)>> {
        self.snapshot("search memories by vectors", |connection| match known(connection, set)? {
            Some((set, dimension)) if dimension == query.len() && limit > 0 => {
                nearest::nearest(connection, set, &Sought::of(query), filter, limit)
            }
            _ => Ok(Vec::new()),
        })
    }

    fn cosines(&self, set: &VectorSetId, query: &[f32], marks: &[CandidateMark]) -> Stored<Vec<Option<f64>>> {
        self.snapshot("compare memories by vectors", |connection| match known(connection, set)? {
            Some((set, dimension)) if dimension == query.len() => {
                nearest::cosines(connection, set, &Sought::of(query), marks)
            }
            _ => Ok(vec![None; marks.len()]),
        })
    }
}

const SELECT_SETS: &str = "SELECT number, provider, model, base_url, mean, deviation, working FROM memory_vector_sets \
     WHERE space = $1";

fn set(row: &Row) -> Sql<MemorySet> {
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let mean = row.bytes(4)?.chunks_exact(4).map(number).collect();
    Ok(MemorySet {
        id: VectorSetId::new(row.int(0)?.to_string()),
        by: MadeBy { provider: row.text(1)?, model: row.text(2)?, base_url: row.maybe_text(3)? },
        baseline: Baseline { mean, deviation: row.real(5)? },
        is_working: row.flag(6)?,
    })
}

/// The number and the dimension of a set.
fn known(connection: &Connection, set: &VectorSetId) -> Sql<Option<(i64, usize)>> {
    let Ok(number) = set.as_str().parse::<i64>() else { return Ok(None) };
    let sql = "SELECT dimension FROM memory_vector_sets WHERE space = $1 AND number = $2";
    connection.maybe(sql, &values![number])?.map(|row| Ok((number, row.number(0)?))).transpose()
}

fn begin(transaction: &Transaction<'_>, by: &MadeBy, baseline: &Baseline) -> Sql<MemorySet> {
    let mean: Vec<u8> = baseline.mean.iter().flat_map(|number| number.to_le_bytes()).collect();
    let sql = "INSERT INTO memory_vector_sets \
                 (space, number, provider, model, dimension, base_url, mean, deviation, working) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE) \
               ON CONFLICT (space, provider, model, dimension) DO UPDATE SET base_url = excluded.base_url \
               RETURNING number, working";
    let (next, dimension) = (transaction.next(Counter::Row), baseline.mean.len());
    let deviation = baseline.deviation;
    let bound = values![next, &by.provider, &by.model, dimension, by.base_url.as_ref(), mean, deviation];
    let row = transaction.one(sql, &bound)?;
    let number = row.int(0)?;
    if !row.flag(1)? {
        let sql = "UPDATE memory_vector_sets SET working = (number = $2) WHERE space = $1";
        transaction.post(sql, &values![number])?;
        others(transaction, number)?.into_iter().skip(1).try_for_each(|set| remove(transaction, set))?;
        queue_again(transaction)?;
    }
    set(&transaction.one(&format!("{SELECT_SETS} AND number = $2"), &values![number])?)
}

/// The other sets, the one with the most vectors first.
fn others(connection: &Connection, set: i64) -> Sql<Vec<i64>> {
    let sql = "SELECT number FROM memory_vector_sets WHERE space = $1 AND number <> $2";
    let mut counted = Vec::new();
    for set in connection.all(sql, &values![set], |row| row.int(0))? {
        counted.push((blocks::count(connection, &blocks::MEMORIES, set)?, set));
    }
    counted.sort_unstable_by(|a, b| b.cmp(a));
    Ok(counted.into_iter().map(|(_, set)| set).collect())
}

fn remove(transaction: &Transaction<'_>, set: i64) -> Sql<()> {
    for table in ["memory_vector_blocks", "memory_vectors", "memory_vector_refusals"] {
        transaction.post(&format!("DELETE FROM {table} WHERE space = $1 AND vector_set = $2"), &values![set])?;
    }
    transaction.post("DELETE FROM memory_vector_sets WHERE space = $1 AND number = $2", &values![set])
}

/// Takes the vectors of items out that are gone, or have another text.
pub(crate) fn forget(transaction: &Transaction<'_>, items: &[i64]) -> Sql<()> {
    if !transaction.exists("SELECT 1 FROM memory_vector_sets WHERE space = $1 LIMIT 1", &[])? {
        return Ok(());
    }
    for table in ["memory_vectors", "memory_vector_refusals"] {
        let sql = format!(
            "DELETE FROM {table} WHERE space = $1 AND item = ANY($2) AND vector_set IN \
               (SELECT number FROM memory_vector_sets WHERE space = $1)"
        );
        transaction.post(&sql, &values![items.to_vec()])?;
    }
    blocks::take_out(transaction, &blocks::MEMORIES, items)
}

/// Fills the queue anew: every item without a vector in the working set that was not refused.
pub(crate) fn queue_again(transaction: &Transaction<'_>) -> Sql<()> {
    transaction.write_derived()?;
    let sql = "SELECT number FROM memory_vector_sets WHERE space = $1 AND working";
    let working = transaction.maybe(sql, &[])?.map(|row| row.int(0)).transpose()?;
    transaction.post("DELETE FROM memory_vector_queue WHERE space = $1", &[])?;
    let sql = "INSERT INTO memory_vector_queue (space, item) \
               SELECT $1, i.item FROM (SELECT number AS item FROM entries WHERE space = $1 UNION ALL \
                 SELECT number + $3 FROM turns WHERE space = $1 AND role IN ('user', 'assistant') AND content <> '') i \
               WHERE NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.space = $1 AND v.vector_set = $2 AND v.item = i.item) \
                 AND NOT EXISTS (SELECT 1 FROM memory_vector_refusals r \
                                 WHERE r.space = $1 AND r.vector_set = $2 AND r.item = i.item)";
    transaction.post(sql, &values![working, TURNS])
}

/// Entries and bullets are few and say much: they come before turns.
fn unembedded(connection: &Connection, limit: usize) -> Sql<Vec<UnembeddedMemory>> {
    let select = |table: &str, offset: i64| {
        format!(
            "SELECT m.id, substr(m.content, 1, {EMBEDDED_CHARS}) FROM memory_vector_queue q \
             JOIN {table} m ON m.space = $1 AND m.number = q.item - {offset} \
             WHERE q.space = $1 AND q.item >= $2 AND q.item < $3 ORDER BY q.item LIMIT $4"
        )
    };
    let mut found: Vec<UnembeddedMemory> = Vec::new();
    for (sql, kind) in [(select("entries", 0), 0..TURNS), (select("turns", TURNS), TURNS..2 * TURNS)] {
        let mut end = kind.end;
        while let Some(newest) = newest_of(connection, kind.start..end)?.filter(|_| found.len() < limit) {
            let group = newest - newest % GROUP;
            found.extend(connection.all(&sql, &values![group, end, limit - found.len()], |row| {
                Ok(UnembeddedMemory { id: EntryId::new(row.text(0)?), text: row.text(1)? })
            })?);
            end = group;
        }
    }
    Ok(found)
}

/// The newest of these items that is in the queue.
fn newest_of(connection: &Connection, items: Range<i64>) -> Sql<Option<i64>> {
    let sql = "SELECT max(item) FROM memory_vector_queue WHERE space = $1 AND item >= $2 AND item < $3";
    connection.one(sql, &values![items.start, items.end])?.maybe_int(0)
}

fn keep(transaction: &Transaction<'_>, set: &VectorSetId, made: &[MemoryVector]) -> Sql<()> {
    let Some((set, dimension)) = known(transaction, set)? else { return Ok(()) };
    let refusal = "INSERT INTO memory_vector_refusals (space, vector_set, item, why) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (space, vector_set, item) DO UPDATE SET why = excluded.why";
    let (mut signs, mut done) = (Vec::with_capacity(made.len()), Vec::with_capacity(made.len()));
    for (memory, outcome) in made {
        let Some(item) = unchanged(transaction, memory)? else { continue };
        match outcome {
            Ok(packed) if packed.dimension() == dimension => {
                blocks::put_bytes(transaction, &blocks::MEMORIES, (set, item), f64::from(packed.scale), &packed.bytes)?;
                signs.push((item, Some(packed.bits.as_slice())));
            }
            // A vector of another set: the memory stays in the queue.
            Ok(_) => continue,
            Err(why) => drop(transaction.execute(refusal, &values![set, item, why])?),
        }
        done.push(item);
    }
    let unqueue = "DELETE FROM memory_vector_queue WHERE space = $1 AND item = ANY($2) \
                   AND EXISTS (SELECT 1 FROM memory_vector_sets WHERE space = $1 AND number = $3 AND working)";
    transaction.post(unqueue, &values![done, set])?;
    blocks::write(transaction, &blocks::MEMORIES, (set, dimension), &signs)
}

/// The item of a memory whose text is still the one that was embedded.
fn unchanged(connection: &Connection, memory: &UnembeddedMemory) -> Sql<Option<i64>> {
    for (table, offset) in [("entries", 0), ("turns", TURNS)] {
        let sql = format!(
            "SELECT number FROM {table} WHERE space = $1 AND id = $2 AND substr(content, 1, {EMBEDDED_CHARS}) = $3"
        );
        if let Some(row) = connection.maybe(&sql, &values![memory.id.as_str(), &memory.text])? {
            return Ok(Some(row.int(0)? + offset));
        }
    }
    Ok(None)
}

fn finish(transaction: &Transaction<'_>, set: &VectorSetId) -> Sql<bool> {
    let Some((number, _)) = known(transaction, set)? else { return Ok(false) };
    let sql = "SELECT 1 FROM memory_vector_sets WHERE space = $1 AND number = $2 AND working \
               AND NOT EXISTS (SELECT 1 FROM memory_vector_queue WHERE space = $1)";
    if !transaction.exists(sql, &values![number])? {
        return Ok(false);
    }
    others(transaction, number)?.into_iter().try_for_each(|set| remove(transaction, set))?;
    Ok(true)
}
