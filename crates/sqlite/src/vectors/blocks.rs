//! The signs of vectors, many items to a row.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_stores::signs::{self, Block, Nearest};

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

/// Writes the signs of items, or takes them out.
pub(super) fn write(
    connection: &Connection,
    table: &Table,
    (set, dimension): (i64, usize),
    items: &[(i64, Option<&[u8]>)],
) -> rusqlite::Result<()> {
    let width = dimension.div_ceil(8);
    for (block, slots) in signs::by_block(table.slots, items) {
        let known = connection
            .prepare_cached(table.read)?
            .query_row([set, block], |row| Ok(Block { present: row.get(0)?, bits: row.get(1)? }))
            .optional()?;
        let mut changed = known.unwrap_or_else(|| Block::empty(table.slots as usize, width));
        changed.change(width, &slots);
        if changed.is_empty() {
            connection.prepare_cached(table.remove)?.execute([set, block])?;
        } else {
            connection.prepare_cached(table.write)?.execute(params![set, block, changed.present, changed.bits])?;
        }
    }
    Ok(())
}

/// How many items of a set are there.
pub(super) fn count(connection: &Connection, table: &Table, set: i64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(table.count)?;
    let ones = |row: &rusqlite::Row<'_>| Ok(signs::count(row.get_ref(0)?.as_blob()?));
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
        signs::compare(first, present, bits, query, &mut visit);
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
    let mut nearest = Nearest::new(limit);
    scan(connection, table, (set, ALL), query, |item, distance| nearest.visit(item, distance))?;
    Ok(nearest.into_items())
}
