//! The signs of vectors, many items to a row.

use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::vault::hamming;

/// Every block.
pub(super) const ALL: Range<i64> = 0..i64::MAX;

/// A table of blocks. The statements bind the set and the block; those that look through a set, the set and the range of
/// blocks.
pub(super) struct Table {
    /// Items in a block.
    pub(super) slots: i64,
    read: &'static str,
    write: &'static str,
    remove: &'static str,
    count: &'static str,
    scan: &'static str,
}

/// The signs of chunks.
pub(super) const CHUNKS: Table = Table {
    slots: 256,
    read: "SELECT present, bits FROM vector_blocks WHERE vector_set = ? AND block = ?",
    write: "INSERT INTO vector_blocks (vector_set, block, present, bits) VALUES (?1, ?2, ?3, ?4) \
            ON CONFLICT (vector_set, block) DO UPDATE SET present = ?3, bits = ?4",
    remove: "DELETE FROM vector_blocks WHERE vector_set = ? AND block = ?",
    count: "SELECT present FROM vector_blocks WHERE vector_set = ?",
    scan: "SELECT block, present, bits FROM vector_blocks WHERE vector_set = ? AND block >= ? AND block < ?",
};

/// The signs of memories. 36 bits of a key are the block.
pub(super) const MEMORIES: Table = Table {
    slots: 64,
    read: "SELECT present, bits FROM memory_vector_blocks WHERE key = (?1 << 36) + ?2",
    write: "INSERT INTO memory_vector_blocks (key, present, bits) VALUES ((?1 << 36) + ?2, ?3, ?4) \
            ON CONFLICT (key) DO UPDATE SET present = ?3, bits = ?4",
    remove: "DELETE FROM memory_vector_blocks WHERE key = (?1 << 36) + ?2",
    count: "SELECT present FROM memory_vector_blocks WHERE key >= ?1 << 36 AND key < (?1 + 1) << 36",
    scan: "SELECT key & 68719476735, present, bits FROM memory_vector_blocks \
           WHERE key >= (?1 << 36) + ?2 AND key < (?1 << 36) + ?3",
};

/// A block, and the slots in it that change: to these signs, or to nothing.
type Changes<'a> = BTreeMap<i64, Vec<(usize, Option<&'a [u8]>)>>;

/// Writes the signs of items, or takes them out.
pub(super) fn write(
    connection: &Connection,
    table: &Table,
    (set, dimension): (i64, usize),
    signs: &[(i64, Option<&[u8]>)],
) -> rusqlite::Result<()> {
    let mut changes = Changes::new();
    for (item, bits) in signs {
        let slot = usize::try_from(item.rem_euclid(table.slots)).unwrap_or_default();
        changes.entry(item.div_euclid(table.slots)).or_default().push((slot, *bits));
    }
    let width = dimension.div_ceil(8);
    changes.into_iter().try_for_each(|(block, slots)| change(connection, table, (set, block), width, &slots))
}

fn change(
    connection: &Connection,
    table: &Table,
    (set, block): (i64, i64),
    width: usize,
    slots: &[(usize, Option<&[u8]>)],
) -> rusqlite::Result<()> {
    let known: Option<(Vec<u8>, Vec<u8>)> = connection
        .prepare_cached(table.read)?
        .query_row([set, block], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let slots_in_all = table.slots as usize;
    let (mut present, mut bits) = known.unwrap_or_else(|| (vec![0; slots_in_all / 8], vec![0; slots_in_all * width]));
    for (slot, signs) in slots {
        let place = &mut bits[slot * width..(slot + 1) * width];
        match signs {
            Some(signs) => {
                place.copy_from_slice(signs);
                present[slot / 8] |= 1 << (slot % 8);
            }
            None => {
                place.fill(0);
                present[slot / 8] &= !(1 << (slot % 8));
            }
        }
    }
    if present.iter().all(|byte| *byte == 0) {
        return connection.prepare_cached(table.remove)?.execute([set, block]).map(drop);
    }
    connection.prepare_cached(table.write)?.execute(params![set, block, present, bits]).map(drop)
}

/// How many items of a set are there.
pub(super) fn count(connection: &Connection, table: &Table, set: i64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(table.count)?;
    let ones = |row: &rusqlite::Row<'_>| {
        Ok(row.get_ref(0)?.as_blob()?.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>())
    };
    statement.query_map([set], ones)?.sum()
}

/// Tells for each item in these blocks how many of its signs differ from the query's.
pub(super) fn scan(
    connection: &Connection,
    table: &Table,
    (set, blocks): (i64, Range<i64>),
    query: &[u8],
    mut visit: impl FnMut(i64, u32),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(table.scan)?;
    let mut rows = statement.query([set, blocks.start, blocks.end])?;
    while let Some(row) = rows.next()? {
        let first = row.get::<_, i64>(0)? * table.slots;
        let (present, bits) = (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
        for (slot, signs) in bits.chunks_exact(query.len().max(1)).enumerate() {
            if present.get(slot / 8).is_some_and(|byte| byte & (1 << (slot % 8)) != 0) {
                visit(first + slot as i64, hamming(query, signs));
            }
        }
    }
    Ok(())
}

/// The items whose signs differ least from these.
pub(super) fn by_signs(
    connection: &Connection,
    table: &Table,
    set: i64,
    query: &[u8],
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let mut best: BinaryHeap<(u32, i64)> = BinaryHeap::with_capacity(limit + 1);
    scan(connection, table, (set, ALL), query, |item, distance| {
        if best.len() < limit {
            best.push((distance, item));
        } else if best.peek().is_some_and(|(worst, _)| distance < *worst) {
            best.pop();
            best.push((distance, item));
        }
    })?;
    Ok(best.into_iter().map(|(_, item)| item).collect())
}
