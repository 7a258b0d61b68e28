//! The signs of vectors, 256 chunks to a row.

use std::collections::{BTreeMap, BinaryHeap};

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::vault::hamming;

/// Chunks in a block.
const SLOTS: i64 = 256;

/// A block, and the slots in it that change: to these signs, or to nothing.
type Changes<'a> = BTreeMap<i64, Vec<(usize, Option<&'a [u8]>)>>;

/// Writes the signs of chunks, or takes them out.
pub(super) fn write(
    connection: &Connection,
    set: i64,
    dimension: usize,
    signs: &[(i64, Option<&[u8]>)],
) -> rusqlite::Result<()> {
    let mut changes = Changes::new();
    for (chunk, bits) in signs {
        let slot = usize::try_from(chunk.rem_euclid(SLOTS)).unwrap_or_default();
        changes.entry(chunk.div_euclid(SLOTS)).or_default().push((slot, *bits));
    }
    let width = dimension.div_ceil(8);
    changes.into_iter().try_for_each(|(block, slots)| change(connection, set, block, width, &slots))
}

fn change(
    connection: &Connection,
    set: i64,
    block: i64,
    width: usize,
    slots: &[(usize, Option<&[u8]>)],
) -> rusqlite::Result<()> {
    let sql = "SELECT present, bits FROM vector_blocks WHERE vector_set = ? AND block = ?";
    let known: Option<(Vec<u8>, Vec<u8>)> =
        connection.prepare_cached(sql)?.query_row([set, block], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let slots_in_all = SLOTS as usize;
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
        let sql = "DELETE FROM vector_blocks WHERE vector_set = ? AND block = ?";
        return connection.prepare_cached(sql)?.execute([set, block]).map(drop);
    }
    let sql = "INSERT INTO vector_blocks (vector_set, block, present, bits) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (vector_set, block) DO UPDATE SET present = ?3, bits = ?4";
    connection.prepare_cached(sql)?.execute(params![set, block, present, bits]).map(drop)
}

/// How many chunks of a set are there.
pub(super) fn count(connection: &Connection, set: i64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT present FROM vector_blocks WHERE vector_set = ?")?;
    let ones = |row: &rusqlite::Row<'_>| {
        Ok(row.get_ref(0)?.as_blob()?.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>())
    };
    statement.query_map([set], ones)?.sum()
}

/// The chunks whose signs differ least from these.
pub(super) fn by_signs(connection: &Connection, set: i64, query: &[u8], limit: usize) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT block, present, bits FROM vector_blocks WHERE vector_set = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([set])?;
    let mut best: BinaryHeap<(u32, i64)> = BinaryHeap::with_capacity(limit + 1);
    while let Some(row) = rows.next()? {
        let first = row.get::<_, i64>(0)? * SLOTS;
        let (present, bits) = (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
        for (slot, signs) in bits.chunks_exact(query.len().max(1)).enumerate() {
            if present.get(slot / 8).is_none_or(|byte| byte & (1 << (slot % 8)) == 0) {
                continue;
            }
            let (distance, chunk) = (hamming(query, signs), first + slot as i64);
            if best.len() < limit {
                best.push((distance, chunk));
            } else if best.peek().is_some_and(|(worst, _)| distance < *worst) {
                best.pop();
                best.push((distance, chunk));
            }
        }
    }
    Ok(best.into_iter().map(|(_, chunk)| chunk).collect())
}
