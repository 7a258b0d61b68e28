//! The signs of vectors, many items to a row, and their bytes.

use std::ops::Range;

use throughline_core::vault::Sought;
use throughline_stores::signs::{self, Block, Nearest};

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::values;

/// Every block.
const ALL: Range<i64> = 0..i64::MAX;

/// The tables of one kind of vectors.
pub(super) struct Tables {
    /// Items in a block.
    pub(super) slots: i64,
    sets: &'static str,
    blocks: &'static str,
    bytes: &'static str,
}

/// Of chunks.
pub(super) const CHUNKS: Tables =
    Tables { slots: 256, sets: "vector_sets", blocks: "vector_blocks", bytes: "vector_bytes" };

/// Of memories.
pub(super) const MEMORIES: Tables =
    Tables { slots: 64, sets: "memory_vector_sets", blocks: "memory_vector_blocks", bytes: "memory_vectors" };

/// Writes the signs of items, or takes them out.
pub(super) fn write(
    transaction: &Transaction<'_>,
    tables: &Tables,
    (set, dimension): (i64, usize),
    items: &[(i64, Option<&[u8]>)],
) -> Sql<()> {
    let width = dimension.div_ceil(8);
    let table = tables.blocks;
    let read = format!("SELECT present, bits FROM {table} WHERE space = $1 AND vector_set = $2 AND block = $3");
    let remove = format!("DELETE FROM {table} WHERE space = $1 AND vector_set = $2 AND block = $3");
    let put = format!(
        "INSERT INTO {table} (space, vector_set, block, present, bits) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (space, vector_set, block) DO UPDATE SET present = excluded.present, bits = excluded.bits"
    );
    for (block, slots) in signs::by_block(tables.slots, items) {
        let mut changed = match transaction.maybe(&read, &values![set, block])? {
            Some(row) => Block { present: row.bytes(0)?.to_vec(), bits: row.bytes(1)?.to_vec() },
            None => Block::empty(tables.slots as usize, width),
        };
        changed.change(width, &slots);
        if changed.is_empty() {
            transaction.post(&remove, &values![set, block])?;
        } else {
            transaction.post(&put, &values![set, block, changed.present, changed.bits])?;
        }
    }
    Ok(())
}

/// Takes the signs of items out of every set.
pub(super) fn take_out(transaction: &Transaction<'_>, tables: &Tables, items: &[i64]) -> Sql<()> {
    let gone: Vec<(i64, Option<&[u8]>)> = items.iter().map(|item| (*item, None)).collect();
    let sql = format!("SELECT number, dimension FROM {} WHERE space = $1", tables.sets);
    for (set, dimension) in transaction.all(&sql, &[], |row| Ok((row.int(0)?, row.number(1)?)))? {
        write(transaction, tables, (set, dimension), &gone)?;
    }
    Ok(())
}

/// Keeps the bytes of an item.
pub(super) fn put_bytes(
    transaction: &Transaction<'_>,
    tables: &Tables,
    (set, item): (i64, i64),
    scale: f64,
    bytes: &[u8],
) -> Sql<()> {
    let sql = format!(
        "INSERT INTO {} (space, vector_set, item, scale, bytes) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (space, vector_set, item) DO UPDATE SET scale = excluded.scale, bytes = excluded.bytes",
        tables.bytes
    );
    transaction.post(&sql, &values![set, item, scale, bytes])
}

/// How many items of a set are there.
pub(super) fn count(connection: &Connection, tables: &Tables, set: i64) -> Sql<u64> {
    let sql = format!("SELECT present FROM {} WHERE space = $1 AND vector_set = $2", tables.blocks);
    Ok(connection.all(&sql, &values![set], |row| Ok(signs::count(row.bytes(0)?)))?.into_iter().sum())
}

/// Tells for each item in these blocks how many of its signs differ from the query's.
pub(super) fn scan(
    connection: &Connection,
    tables: &Tables,
    (set, blocks): (i64, Range<i64>),
    query: &[u8],
    mut visit: impl FnMut(i64, u32),
) -> Sql<()> {
    let sql = format!(
        "SELECT block, present, bits FROM {} WHERE space = $1 AND vector_set = $2 AND block >= $3 AND block < $4",
        tables.blocks
    );
    for row in connection.rows(&sql, &values![set, blocks.start, blocks.end])? {
        signs::compare(row.int(0)? * tables.slots, row.bytes(1)?, row.bytes(2)?, query, &mut visit);
    }
    Ok(())
}

/// The items whose signs differ least from these.
pub(super) fn by_signs(
    connection: &Connection,
    tables: &Tables,
    set: i64,
    query: &[u8],
    limit: usize,
) -> Sql<Vec<i64>> {
    let mut nearest = Nearest::new(limit);
    scan(connection, tables, (set, ALL), query, |item, distance| nearest.visit(item, distance))?;
    Ok(nearest.into_items())
}

/// The cosines of items with a query, for those that have a vector.
pub(super) fn cosines(
    connection: &Connection,
    tables: &Tables,
    set: i64,
    query: &Sought,
    items: Vec<i64>,
) -> Sql<Vec<(i64, f64)>> {
    let sql = format!(
        "SELECT item, scale, bytes FROM {} WHERE space = $1 AND vector_set = $2 AND item = ANY($3)",
        tables.bytes
    );
    connection
        .all(&sql, &values![set, items], |row| Ok((row.int(0)?, query.cosine(row.real(1)? as f32, row.bytes(2)?))))
}
