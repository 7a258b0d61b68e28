//! The memories nearest to a query: the signs choose, the bytes decide, the filter is asked last.

use std::collections::{HashMap, HashSet};

use throughline_core::model::{EntryId, Kind};
use throughline_core::recall::{CandidateMark, Filter};
use throughline_core::vault::{Sought, rescored};
use throughline_stores::marks::{Marked, TURNS, marked};

use super::blocks;
use crate::connection::Connection;
use crate::error::Sql;
use crate::filter;

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
) -> Sql<Vec<(EntryId, Kind, f64)>> {
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
fn by_signs(connection: &Connection, set: i64, query: &Sought, filter: &Filter) -> Sql<Vec<BySigns>> {
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
fn rescore(connection: &Connection, set: i64, query: &Sought, items: Vec<i64>) -> Sql<Vec<(i64, f64)>> {
    let mut scored = blocks::cosines(connection, &blocks::MEMORIES, set, query, items)?;
    // Of equals the newest.
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    Ok(scored)
}

/// The first of these that the filter admits; `None` where patience ended.
fn admitted(
    connection: &Connection,
    filter: &Filter,
    best: &[(i64, f64)],
    limit: usize,
    patience: Patience,
) -> Sql<Option<Vec<(EntryId, Kind, f64)>>> {
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
fn names(connection: &Connection, filter: &Filter, items: &[(i64, f64)]) -> Sql<HashMap<i64, (EntryId, Kind)>> {
    let numbers = |of_turns: bool| -> Vec<i64> {
        items.iter().filter(|(item, _)| (*item >= TURNS) == of_turns).map(|(item, _)| item % TURNS).collect()
    };
    let mut entries = filter::condition(filter, 2);
    entries.and("e.number = ANY(?)", [numbers(false).into()]);
    let sql = format!("SELECT e.number, e.id, e.kind FROM entries e WHERE e.space = $1 {}", entries.sql);
    let mut named: HashMap<i64, (EntryId, Kind)> = connection
        .all(&sql, &entries.values, |row| Ok((row.int(0)?, (EntryId::new(row.text(1)?), row.parsed(2)?))))?
        .into_iter()
        .collect();
    let mut turns = filter::turn_condition(filter, 2);
    turns.and("t.number = ANY(?)", [numbers(true).into()]);
    let sql = format!(
        "SELECT t.number, t.id FROM turns t JOIN sessions s ON s.space = $1 AND s.number = t.session \
         WHERE t.space = $1 {}",
        turns.sql
    );
    named.extend(
        connection
            .all(&sql, &turns.values, |row| Ok((row.int(0)? + TURNS, (EntryId::new(row.text(1)?), Kind::Turn))))?,
    );
    Ok(named)
}

/// Every item that the filter admits.
fn all_admitted(connection: &Connection, filter: &Filter) -> Sql<HashSet<i64>> {
    let mut admitted = HashSet::new();
    if wants_entries(filter) {
        let condition = filter::condition(filter, 2);
        let sql = format!("SELECT e.number FROM entries e WHERE e.space = $1 {}", condition.sql);
        admitted.extend(connection.all(&sql, &condition.values, |row| row.int(0))?);
    }
    if filter.wants(Kind::Turn) {
        let condition = filter::turn_condition(filter, 2);
        let sql = format!(
            "SELECT t.number FROM turns t JOIN sessions s ON s.space = $1 AND s.number = t.session WHERE t.space = $1 {}",
            condition.sql
        );
        admitted.extend(connection.all(&sql, &condition.values, |row| Ok(row.int(0)? + TURNS))?);
    }
    Ok(admitted)
}

/// The cosines of memories with a query.
pub(super) fn cosines(
    connection: &Connection,
    set: i64,
    query: &Sought,
    marks: &[CandidateMark],
) -> Sql<Vec<Option<f64>>> {
    let items =
        marks.iter().filter(|mark| !matches!(marked(**mark), Marked::Chunk(_))).map(|mark| mark.get()).collect();
    let found: HashMap<i64, f64> =
        blocks::cosines(connection, &blocks::MEMORIES, set, query, items)?.into_iter().collect();
    Ok(marks.iter().map(|mark| found.get(&mark.get()).copied()).collect())
}
