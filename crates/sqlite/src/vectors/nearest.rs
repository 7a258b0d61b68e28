//! The memories nearest to a query: the signs choose, the bytes decide, the filter is asked last.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use throughline_core::model::{EntryId, Kind};
use throughline_core::recall::{CandidateMark, Filter};
use throughline_core::vault::{Sought, rescored};
use throughline_stores::marks::{Marked, TURNS, marked};

use super::blocks;
use super::memories::key;
use crate::filter;
use crate::rows::parsed;

/// An item and how many of its signs differ, in one number that sorts by the latter: an item has 42 bits.
type BySigns = u64;

const ITEM: u64 = (1 << 42) - 1;

fn item_of(number: BySigns) -> i64 {
    (number & ITEM) as i64
}

pub(super) fn nearest(
    connection: &Connection,
    set: i64,
    query: &Sought,
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<(EntryId, Kind, f64)>> {
    let mut all = by_signs(connection, set, query, filter)?;
    let few = rescored(all.len(), limit);
    let best = rescore(connection, set, query, chosen(&mut all, few))?;
    let patience = if all.len() <= few { Patience::All } else { Patience::WhileEnough };
    if let Some(found) = admitted(connection, filter, &best, limit, patience)? {
        return Ok(found);
    }
    // The filter is narrow: the signs choose again, among what it admits.
    let admits = all_admitted(connection, filter)?;
    all.retain(|number| admits.contains(&item_of(*number)));
    let best = rescore(connection, set, query, chosen(&mut all, few))?;
    Ok(admitted(connection, filter, &best, limit, Patience::All)?.unwrap_or_default())
}

/// How many are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// All, whatever comes of it.
    All,
    /// As long as it looks as if there will be enough.
    WhileEnough,
}

/// Every item of the wanted kinds.
fn by_signs(connection: &Connection, set: i64, query: &Sought, filter: &Filter) -> rusqlite::Result<Vec<BySigns>> {
    let (turns, end) = (TURNS / blocks::MEMORIES.slots, 2 * TURNS / blocks::MEMORIES.slots);
    let from = if wants_entries(filter) { 0 } else { turns };
    let to = if filter.wants(Kind::Turn) { end } else { turns };
    let mut all = Vec::new();
    blocks::scan(connection, &blocks::MEMORIES, (set, from..to), &query.bits, |item, distance| {
        all.push((u64::from(distance) << 42) | item as u64);
    })?;
    Ok(all)
}

fn wants_entries(filter: &Filter) -> bool {
    filter.wants(Kind::Entry) || filter.wants(Kind::Bullet)
}

/// The items with the fewest signs that differ.
fn chosen(all: &mut [BySigns], few: usize) -> Vec<i64> {
    if few > 0 && few < all.len() {
        all.select_nth_unstable(few - 1);
    }
    all.iter().take(few).map(|number| item_of(*number)).collect()
}

/// Items with their cosines, the nearest first.
fn rescore(
    connection: &Connection,
    set: i64,
    query: &Sought,
    mut items: Vec<i64>,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    // In the order of the keys, so that the bytes are read from front to back.
    items.sort_unstable();
    let mut statement = connection.prepare_cached("SELECT scale, bytes FROM memory_vectors WHERE key = ?")?;
    let mut scored = Vec::with_capacity(items.len());
    for item in items {
        let cosine = statement.query_row([key(set, item)], |row| cosine(query, row)).optional()?;
        scored.extend(cosine.map(|cosine| (item, cosine)));
    }
    // Of equals the newest.
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    Ok(scored)
}

fn cosine(query: &Sought, row: &Row<'_>) -> rusqlite::Result<f64> {
    Ok(query.cosine(row.get::<_, f64>(0)? as f32, row.get_ref(1)?.as_blob()?))
}

/// The first of these that the filter admits; `None` where patience ended.
fn admitted(
    connection: &Connection,
    filter: &Filter,
    best: &[(i64, f64)],
    limit: usize,
    patience: Patience,
) -> rusqlite::Result<Option<Vec<(EntryId, Kind, f64)>>> {
    let (mut found, mut seen) = (Vec::with_capacity(limit.min(best.len())), 0);
    for some in best.chunks(limit.max(32)) {
        let mut named = names(connection, filter, some)?;
        let hits = some.iter().filter_map(|(item, cosine)| named.remove(item).map(|(id, kind)| (id, kind, *cosine)));
        found.extend(hits);
        seen += some.len();
        if found.len() >= limit {
            break;
        }
        if patience == Patience::WhileEnough && found.len() * best.len() < limit * seen {
            return Ok(None);
        }
    }
    found.truncate(limit);
    Ok(Some(found))
}

/// The ids and kinds of those items that the filter admits.
fn names(
    connection: &Connection,
    filter: &Filter,
    items: &[(i64, f64)],
) -> rusqlite::Result<HashMap<i64, (EntryId, Kind)>> {
    let rows = |of_turns: bool| {
        let rows = items.iter().filter(|(item, _)| (*item >= TURNS) == of_turns).map(|(item, _)| item % TURNS);
        format!("[{}]", rows.map(|row| row.to_string()).collect::<Vec<_>>().join(","))
    };
    let mut named = HashMap::with_capacity(items.len());
    let entries = filter::condition(filter);
    let sql = format!(
        "SELECT e.row, e.id, e.kind FROM json_each(?) j CROSS JOIN entries e ON e.row = j.value WHERE TRUE {}",
        entries.sql
    );
    let values = [Value::Text(rows(false))].into_iter().chain(entries.values);
    let entry = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, (EntryId::new(row.get::<_, String>(1)?), parsed(row, 2)?)));
    for found in connection.prepare_cached(&sql)?.query_map(params_from_iter(values), entry)? {
        let (item, name) = found?;
        named.insert(item, name);
    }
    let turns = filter::turn_condition(filter);
    let sql = format!(
        "SELECT t.row, t.id FROM json_each(?) j CROSS JOIN turns t ON t.row = j.value \
         JOIN sessions s ON s.row = t.session WHERE TRUE {}",
        turns.sql
    );
    let values = [Value::Text(rows(true))].into_iter().chain(turns.values);
    let turn = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, EntryId::new(row.get::<_, String>(1)?)));
    for found in connection.prepare_cached(&sql)?.query_map(params_from_iter(values), turn)? {
        let (row, id) = found?;
        named.insert(row + TURNS, (id, Kind::Turn));
    }
    Ok(named)
}

/// Every item that the filter admits.
fn all_admitted(connection: &Connection, filter: &Filter) -> rusqlite::Result<HashSet<i64>> {
    let mut admitted = HashSet::new();
    let mut collect = |sql: String, values: Vec<Value>, offset: i64| -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(&sql)?;
        for row in statement.query_map(params_from_iter(values), |row| row.get::<_, i64>(0))? {
            admitted.insert(row? + offset);
        }
        Ok(())
    };
    if wants_entries(filter) {
        let condition = filter::condition(filter);
        collect(format!("SELECT e.row FROM entries e WHERE TRUE {}", condition.sql), condition.values, 0)?;
    }
    if filter.wants(Kind::Turn) {
        let condition = filter::turn_condition(filter);
        let sql =
            format!("SELECT t.row FROM turns t JOIN sessions s ON s.row = t.session WHERE TRUE {}", condition.sql);
        collect(sql, condition.values, TURNS)?;
    }
    Ok(admitted)
}

/// The cosines of memories with a query.
pub(super) fn cosines(
    connection: &Connection,
    set: i64,
    query: &Sought,
    marks: &[CandidateMark],
) -> rusqlite::Result<Vec<Option<f64>>> {
    let mut statement = connection.prepare_cached("SELECT scale, bytes FROM memory_vectors WHERE key = ?")?;
    let mut found = |mark: &CandidateMark| match marked(*mark) {
        Marked::Chunk(_) => Ok(None),
        _ => statement.query_row([key(set, mark.get())], |row| cosine(query, row)).optional(),
    };
    marks.iter().map(&mut found).collect()
}
