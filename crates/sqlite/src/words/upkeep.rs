//! Upkeep: the tail becomes segments, segments are merged, and an index is built anew. Each step is bounded: it reads a
//! snapshot, computes without a lock, and writes in a short transaction that changes nothing if somebody was faster.

use rusqlite::{Connection, OptionalExtension as _};
use throughline_index::{
    Built, Limits, Merge, SegmentInfo, SegmentReader as _, SegmentStore as _, add, build, bury, choose, info, merge,
    replace,
};
use throughline_stores::words::Collection;

use super::segments::{Segments, Set};
use super::{as_sqlite, documents, fts5, tail_table};
use crate::Stored;
use crate::error::while_doing;
use crate::pool::{Effort, Pool, Sharing};
use crate::recalls::PATIENCE;

/// Derived data is not worth a sync or a long wait.
const EFFORT: Effort = Effort::Log(PATIENCE);

/// Rows of a tail that become a segment together, at most.
const SEALED: i64 = 4096;

/// Rows that are read into one segment while an index is built.
const BUILT: i64 = 4096;

/// A merge reads and writes so many postings at most: those of about 200,000 short memories.
const LIMITS: Limits = Limits { fan: 4, postings: 4_000_000 };

/// Steps in a row that somebody else was faster with, before they are left to them.
pub(super) const OVERTAKEN: u32 = 8;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// There was nothing to do.
    Nothing,
    /// Something was done, and there may be more.
    Done,
    /// Somebody else was faster.
    Overtaken,
}

/// How far an index is built, and how many erasures there were: what was read before one may hold what it erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Progress {
    built: i64,
    until: i64,
    erasures: i64,
}

fn progress(connection: &Connection, collection: Collection) -> rusqlite::Result<Option<Progress>> {
    let sql = "SELECT built, until, erasures FROM word_indexes, revisions WHERE collection = ? AND built < until";
    let progress =
        |row: &rusqlite::Row<'_>| Ok(Progress { built: row.get(0)?, until: row.get(1)?, erasures: row.get(2)? });
    connection.prepare_cached(sql)?.query_row([collection.number()], progress).optional()
}

/// Whether there is something to do in a memory that was just opened.
pub(super) fn is_due_at_first(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(is_due(connection)? || fts5::is_retired(connection)?)
}

/// Whether there is something to do: looked at after every write, so it reads both ends of each tail only.
pub(super) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    for collection in Collection::ALL {
        let tail = tail_table(collection);
        let sql = format!("SELECT ifnull((SELECT max(row) FROM {tail}) - (SELECT min(row) FROM {tail}) + 1, 0)");
        let length: i64 = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
        if length >= collection.longest_tail() || progress(connection, collection)?.is_some() {
            return Ok(true);
        }
    }
    connection.prepare_cached("SELECT 1 FROM word_segments WHERE state = 2")?.exists([])
}

/// Does one step for each collection.
pub(super) fn step(pool: &Pool) -> Stored<Step> {
    let mut outcome = Step::Nothing;
    for collection in Collection::ALL {
        for step in [build_step, seal_step, remove_step] {
            match step(pool, collection)? {
                Step::Nothing => {}
                other => outcome = other,
            }
        }
        if merge_step(pool, collection, Set::Served)? != Step::Nothing {
            outcome = Step::Done;
        }
    }
    if outcome == Step::Nothing { retire_step(pool) } else { Ok(outcome) }
}

fn read<T>(pool: &Pool, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Stored<T> {
    pool.read(|connection| work(&*connection.unchecked_transaction()?), "read the word index")
}

fn write(pool: &Pool, work: impl FnOnce(&Connection) -> rusqlite::Result<Step>) -> Stored<Step> {
    let doing = "write the word index";
    pool.write(doing, (EFFORT, Sharing::Alone), |transaction| work(transaction).map_err(while_doing(doing)))
}

/// Removes a piece of FTS5, which nothing uses once every index is complete.
pub(super) fn retire_step(pool: &Pool) -> Stored<Step> {
    if !read(pool, fts5::is_retired)? {
        return Ok(Step::Nothing);
    }
    write(pool, |connection| fts5::remove_some(connection).map(|()| Step::Done))
}

/// Part of a tail, read.
pub(super) struct Sealing {
    last: i64,
    count: i64,
    items: Vec<i64>,
    built: Option<Built>,
}

/// Makes a segment of the oldest rows of a tail that is long. While an index is built, its tail stays: it counts before
/// whatever is built from older rows.
fn seal_step(pool: &Pool, collection: Collection) -> Stored<Step> {
    match sealing_of(pool, collection)? {
        Some(sealing) => put_sealed(pool, collection, &sealing),
        None => Ok(Step::Nothing),
    }
}

pub(super) fn sealing_of(pool: &Pool, collection: Collection) -> Stored<Option<Sealing>> {
    read(
        pool,
        |connection| {
            if progress(connection, collection)?.is_some() { Ok(None) } else { sealing(connection, collection) }
        },
    )
}

pub(super) fn put_sealed(pool: &Pool, collection: Collection, sealing: &Sealing) -> Stored<Step> {
    write(pool, |connection| {
        let tail = tail_table(collection);
        let sql = format!("SELECT count(*) FROM {tail} WHERE row <= ?");
        let count: i64 = connection.prepare_cached(&sql)?.query_row([sealing.last], |row| row.get(0))?;
        if count != sealing.count || progress(connection, collection)?.is_some() {
            return Ok(Step::Overtaken);
        }
        let mut segments = Segments::new(connection, collection, Set::Served);
        let id = sealing.built.as_ref().map(|built| add(&mut segments, built)).transpose().map_err(as_sqlite)?;
        bury(&mut segments, &sealing.items, id).map_err(as_sqlite)?;
        let sql = format!("DELETE FROM {tail} WHERE row <= ?");
        connection.prepare_cached(&sql)?.execute([sealing.last])?;
        Ok(Step::Done)
    })
}

fn sealing(connection: &Connection, collection: Collection) -> rusqlite::Result<Option<Sealing>> {
    let sql = format!("SELECT row, item FROM {} ORDER BY row LIMIT ?", tail_table(collection));
    let mut statement = connection.prepare_cached(&sql)?;
    let rows: Vec<(i64, i64)> =
        statement.query_map([SEALED], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let (Some((first, _)), Some((last, _))) = (rows.first().copied(), rows.last().copied()) else { return Ok(None) };
    if last - first + 1 < collection.longest_tail() {
        return Ok(None);
    }
    let count = rows.len() as i64;
    let mut items: Vec<i64> = rows.into_iter().map(|(_, item)| item).collect();
    items.sort_unstable();
    items.dedup();
    let mut found = Vec::new();
    for item in &items {
        found.extend(documents::read(connection, collection, *item)?);
    }
    Ok(Some(Sealing { last, count, items, built: build(&found) }))
}

/// Merges some segments, if there are enough of one size.
fn merge_step(pool: &Pool, collection: Collection, set: Set) -> Stored<Step> {
    let merged = read(pool, |connection| merged(connection, collection, set).map_err(as_sqlite))?;
    match merged {
        Some(merged) => put_merged(pool, collection, set, &merged),
        None => Ok(Step::Nothing),
    }
}

pub(super) fn put_merged(pool: &Pool, collection: Collection, set: Set, merged: &Merge) -> Stored<Step> {
    write(pool, |connection| {
        let is_replaced = replace(&mut Segments::new(connection, collection, set), merged).map_err(as_sqlite)?;
        Ok(if is_replaced { Step::Done } else { Step::Overtaken })
    })
}

fn merged(
    connection: &Connection,
    collection: Collection,
    set: Set,
) -> Result<Option<Merge>, throughline_index::IndexError> {
    let segments = Segments::new(connection, collection, set);
    let infos: Vec<SegmentInfo> =
        segments.list()?.into_iter().map(|id| info(&segments, id)).collect::<Result<_, _>>()?;
    choose(&infos, LIMITS).map(|ids| merge(&segments, &ids)).transpose()
}

/// Merges all that is searched.
#[cfg(test)]
pub(super) fn merge_all(
    connection: &Connection,
    collection: Collection,
) -> Result<Merge, throughline_index::IndexError> {
    let segments = Segments::new(connection, collection, Set::Served);
    merge(&segments, &segments.list()?)
}

/// Removes one segment that nobody searches any more.
fn remove_step(pool: &Pool, collection: Collection) -> Stored<Step> {
    let retired = |connection: &Connection| {
        Segments::new(connection, collection, Set::Retired).list().map_err(as_sqlite).map(|ids| ids.first().copied())
    };
    if read(pool, retired)?.is_none() {
        return Ok(Step::Nothing);
    }
    write(pool, |connection| {
        let Some(id) = retired(connection)? else { return Ok(Step::Overtaken) };
        Segments::new(connection, collection, Set::Retired).delete(id).map_err(as_sqlite)?;
        Ok(Step::Done)
    })
}

/// Rows of an index that is being built, read.
pub(super) struct Building {
    before: Progress,
    built_to: i64,
    built: Option<Built>,
}

/// Reads the next rows into a segment of an index that is being built; the last step puts it in place of the old one.
fn build_step(pool: &Pool, collection: Collection) -> Stored<Step> {
    let Some(building) = building_of(pool, collection)? else { return Ok(Step::Nothing) };
    let step = put_built(pool, collection, &building)?;
    while merge_step(pool, collection, Set::Building)? == Step::Done {}
    Ok(step)
}

pub(super) fn building_of(pool: &Pool, collection: Collection) -> Stored<Option<Building>> {
    read(pool, |connection| {
        let Some(before) = progress(connection, collection)? else { return Ok(None) };
        let found = documents::after(connection, collection, (before.built, before.until), BUILT)?;
        let last = found.last().filter(|_| found.len() as i64 == BUILT).map(|last| last.number);
        Ok(Some(Building { before, built_to: last.unwrap_or(before.until), built: build(&found) }))
    })
}

pub(super) fn put_built(pool: &Pool, collection: Collection, building: &Building) -> Stored<Step> {
    write(pool, |connection| {
        if progress(connection, collection)? != Some(building.before) {
            return Ok(Step::Overtaken);
        }
        let sql = "UPDATE word_indexes SET built = ?2 WHERE collection = ?1";
        connection.prepare_cached(sql)?.execute([collection.number(), building.built_to])?;
        if let Some(built) = &building.built {
            add(&mut Segments::new(connection, collection, Set::Building), built).map_err(as_sqlite)?;
        }
        if building.built_to == building.before.until {
            finish(connection, collection)?;
        }
        Ok(Step::Done)
    })
}

/// Puts what was built in the place of what was searched so far.
fn finish(connection: &Connection, collection: Collection) -> rusqlite::Result<()> {
    Segments::new(connection, collection, Set::Served).become_part_of(Set::Retired)?;
    Segments::new(connection, collection, Set::Building).become_part_of(Set::Served)?;
    let (tail, number) = (tail_table(collection), collection.number());
    let sql = format!("DELETE FROM {tail} WHERE row <= (SELECT tail FROM word_indexes WHERE collection = ?)");
    connection.prepare_cached(&sql)?.execute([number])?;
    let sql = "UPDATE word_indexes SET is_ready = 1, tail = 0 WHERE collection = ?";
    connection.prepare_cached(sql)?.execute([number]).map(drop)
}

/// Does what is left to do, until there is nothing or others are at it.
pub(crate) fn keep_up(pool: &Pool) -> Stored<()> {
    let mut overtaken = 0;
    while overtaken < OVERTAKEN {
        match step(pool)? {
            Step::Nothing => return Ok(()),
            Step::Done => overtaken = 0,
            Step::Overtaken => overtaken += 1,
        }
    }
    Ok(())
}

/// Begins to build every index anew; what is searched stays until the new ones are complete.
pub(crate) fn begin_again(connection: &Connection) -> rusqlite::Result<()> {
    Collection::ALL.into_iter().try_for_each(|collection| begin(connection, collection))
}

/// The same for one index.
pub(super) fn begin(connection: &Connection, collection: Collection) -> rusqlite::Result<()> {
    Segments::new(connection, collection, Set::Building).become_part_of(Set::Retired)?;
    let sql = format!(
        "UPDATE word_indexes SET built = 0, until = (SELECT ifnull(max(row), 0) FROM {}), \
         tail = (SELECT ifnull(max(row), 0) FROM {}) WHERE collection = ?",
        collection.table(),
        tail_table(collection)
    );
    connection.prepare_cached(&sql)?.execute([collection.number()])?;
    match progress(connection, collection)? {
        Some(_) => Ok(()),
        None => finish(connection, collection),
    }
}

/// Builds until every index is complete; `progress` is told how many rows are left.
pub(crate) fn build_on(pool: &Pool, left: &mut dyn FnMut(i64)) -> Stored<()> {
    for collection in Collection::ALL {
        while build_step(pool, collection)? != Step::Nothing {
            let sql = "SELECT sum(until - built) FROM word_indexes";
            left(read(pool, |connection| connection.query_row(sql, [], |row| row.get(0)))?);
        }
        while remove_step(pool, collection)? != Step::Nothing {}
    }
    while retire_step(pool)? != Step::Nothing {}
    Ok(())
}
