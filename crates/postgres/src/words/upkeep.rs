//! Upkeep: the tail becomes segments, segments are merged, and an index is built anew. Each step is bounded: it reads a
//! snapshot, computes without a lock, and writes in a short transaction that changes nothing if somebody was faster.

use throughline_index::{
    Built, Limits, Merge, SegmentInfo, SegmentReader as _, SegmentStore as _, add, build, bury, choose, info, merge,
    replace,
};
use throughline_stores::words::Collection;

use super::documents;
use super::segments::{Segments, Set, WrittenSegments};
use crate::Stored;
use crate::connection::Connection;
use crate::error::Sql;
use crate::pool::{Effort, Pool};
use crate::transaction::{Counter, Transaction};
use crate::values::values;

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

fn progress(connection: &Connection, collection: Collection) -> Sql<Option<Progress>> {
    let sql = "SELECT i.built, i.until, s.erasures FROM word_indexes i JOIN spaces s ON s.space = i.space \
               WHERE i.space = $1 AND i.collection = $2 AND i.built < i.until";
    let Some(row) = connection.maybe(sql, &values![collection.number()])? else { return Ok(None) };
    Ok(Some(Progress { built: row.int(0)?, until: row.int(1)?, erasures: row.int(2)? }))
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
    Ok(outcome)
}

fn read<T>(pool: &Pool, work: impl Fn(&Connection) -> Sql<T>) -> Stored<T> {
    pool.snapshot("read the word index", work)
}

/// Derived data is not worth a sync or a long wait.
fn write(pool: &Pool, work: impl FnMut(&Transaction<'_>) -> Sql<Step>) -> Stored<Step> {
    Ok(pool.write("write the word index", Effort::Log, work)?.value)
}

/// Part of a tail, read: its items and their marks, in the order of the items.
struct Sealing {
    items: Vec<i64>,
    marks: Vec<i64>,
    built: Option<Built>,
}

/// Makes a segment of the oldest rows of a tail that is long. While an index is built, its tail stays: it counts before
/// whatever is built from older rows.
fn seal_step(pool: &Pool, collection: Collection) -> Stored<Step> {
    let sealing = read(pool, |connection| match progress(connection, collection)? {
        Some(_) => Ok(None),
        None => sealing(connection, collection),
    })?;
    sealing.map_or(Ok(Step::Nothing), |sealing| put_sealed(pool, collection, &sealing))
}

/// Those of the rows `$3` of a tail that have the marks `$4`, one by one.
const SAME: &str = "word_tail t USING unnest($3::bigint[], $4::bigint[]) AS sealed (item, mark) \
     WHERE t.space = $1 AND t.collection = $2 AND t.item = sealed.item AND t.mark = sealed.mark";

fn put_sealed(pool: &Pool, collection: Collection, sealing: &Sealing) -> Stored<Step> {
    write(pool, |transaction| {
        let sql = "SELECT count(*) FROM word_tail t JOIN unnest($3::bigint[], $4::bigint[]) AS sealed (item, mark) \
                   ON t.item = sealed.item AND t.mark = sealed.mark WHERE t.space = $1 AND t.collection = $2";
        let bound = values![collection.number(), sealing.items.clone(), sealing.marks.clone()];
        let count: usize = transaction.one(sql, &bound)?.number(0)?;
        if count != sealing.items.len() || progress(transaction, collection)?.is_some() {
            return Ok(Step::Overtaken);
        }
        let mut segments = WrittenSegments::new(transaction, collection, Set::Served);
        let id = sealing.built.as_ref().map(|built| add(&mut segments, built)).transpose()?;
        bury(&mut segments, &sealing.items, id)?;
        transaction.post(&format!("DELETE FROM {SAME}"), &bound)?;
        Ok(Step::Done)
    })
}

fn sealing(connection: &Connection, collection: Collection) -> Sql<Option<Sealing>> {
    let sql = "SELECT item, mark FROM word_tail WHERE space = $1 AND collection = $2 ORDER BY written LIMIT $3";
    let mut tail = connection.all(sql, &values![collection.number(), SEALED], |row| Ok((row.int(0)?, row.int(1)?)))?;
    if (tail.len() as i64) < collection.longest_tail() {
        return Ok(None);
    }
    tail.sort_unstable();
    let (items, marks): (Vec<i64>, Vec<i64>) = tail.into_iter().unzip();
    let built = build(&documents::read(connection, collection, items.clone())?);
    Ok(Some(Sealing { items, marks, built }))
}

/// Merges some segments, if there are enough of one size.
fn merge_step(pool: &Pool, collection: Collection, set: Set) -> Stored<Step> {
    match read(pool, |connection| merged(connection, collection, set))? {
        Some(merged) => put_merged(pool, collection, set, &merged),
        None => Ok(Step::Nothing),
    }
}

fn put_merged(pool: &Pool, collection: Collection, set: Set, merged: &Merge) -> Stored<Step> {
    write(pool, |transaction| {
        let is_replaced = replace(&mut WrittenSegments::new(transaction, collection, set), merged)?;
        Ok(if is_replaced { Step::Done } else { Step::Overtaken })
    })
}

fn merged(connection: &Connection, collection: Collection, set: Set) -> Sql<Option<Merge>> {
    let segments = Segments::new(connection, collection, set);
    let ids = segments.list()?;
    let infos: Vec<SegmentInfo> = ids.into_iter().map(|id| info(&segments, id)).collect::<Result<_, _>>()?;
    Ok(choose(&infos, LIMITS).map(|ids| merge(&segments, &ids)).transpose()?)
}

/// Removes one segment that nobody searches any more.
fn remove_step(pool: &Pool, collection: Collection) -> Stored<Step> {
    let retired = |connection: &Connection| -> Sql<_> {
        Ok(Segments::new(connection, collection, Set::Retired).list()?.first().copied())
    };
    if read(pool, retired)?.is_none() {
        return Ok(Step::Nothing);
    }
    write(pool, |transaction| {
        let Some(id) = retired(transaction)? else { return Ok(Step::Overtaken) };
        WrittenSegments::new(transaction, collection, Set::Retired).delete(id)?;
        Ok(Step::Done)
    })
}

/// Rows of an index that is being built, read.
struct Building {
    before: Progress,
    built_to: i64,
    built: Option<Built>,
}

/// Reads the next rows into a segment of an index that is being built; the last step puts it in place of the old one.
fn build_step(pool: &Pool, collection: Collection) -> Stored<Step> {
    let building = read(pool, |connection| {
        let Some(before) = progress(connection, collection)? else { return Ok(None) };
        let found = documents::after(connection, collection, (before.built, before.until), BUILT)?;
        let last = found.last().filter(|_| found.len() as i64 == BUILT).map(|last| last.number);
        Ok(Some(Building { before, built_to: last.unwrap_or(before.until), built: build(&found) }))
    })?;
    let Some(building) = building else { return Ok(Step::Nothing) };
    let step = put_built(pool, collection, &building)?;
    while merge_step(pool, collection, Set::Building)? == Step::Done {}
    Ok(step)
}

fn put_built(pool: &Pool, collection: Collection, building: &Building) -> Stored<Step> {
    write(pool, |transaction| {
        if progress(transaction, collection)? != Some(building.before) {
            return Ok(Step::Overtaken);
        }
        let sql = "UPDATE word_indexes SET built = $3 WHERE space = $1 AND collection = $2";
        transaction.post(sql, &values![collection.number(), building.built_to])?;
        if let Some(built) = &building.built {
            add(&mut WrittenSegments::new(transaction, collection, Set::Building), built)?;
        }
        if building.built_to == building.before.until {
            finish(transaction, collection)?;
        }
        Ok(Step::Done)
    })
}

/// Puts what was built in the place of what was searched so far.
fn finish(transaction: &Transaction<'_>, collection: Collection) -> Sql<()> {
    WrittenSegments::new(transaction, collection, Set::Served).become_part_of(Set::Retired)?;
    WrittenSegments::new(transaction, collection, Set::Building).become_part_of(Set::Served)?;
    let sql = "DELETE FROM word_tail t USING word_indexes i WHERE t.space = $1 AND t.collection = $2 \
               AND i.space = $1 AND i.collection = $2 AND t.written <= i.tail";
    transaction.post(sql, &values![collection.number()])
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
pub(crate) fn begin_again(transaction: &Transaction<'_>) -> Sql<()> {
    Collection::ALL.into_iter().try_for_each(|collection| begin(transaction, collection))
}

/// The same for one index. What this transaction changed is noted before: it is in what is built.
pub(super) fn begin(transaction: &Transaction<'_>, collection: Collection) -> Sql<()> {
    transaction.write_derived()?;
    WrittenSegments::new(transaction, collection, Set::Building).become_part_of(Set::Retired)?;
    let until = transaction.last(match collection {
        Collection::Entries => Counter::Entry,
        Collection::Turns => Counter::Turn,
        Collection::Chunks => Counter::Chunk,
    });
    let sql = "UPDATE word_indexes SET built = 0, until = $3, tail = $4 WHERE space = $1 AND collection = $2";
    transaction.post(sql, &values![collection.number(), until, transaction.number()])?;
    match progress(transaction, collection)? {
        Some(_) => Ok(()),
        None => finish(transaction, collection),
    }
}

/// Builds until every index is complete; `progress` is told how many rows are left.
pub(crate) fn build_on(pool: &Pool, left: &mut dyn FnMut(i64)) -> Stored<()> {
    let sql = "SELECT sum(until - built)::bigint FROM word_indexes WHERE space = $1";
    for collection in Collection::ALL {
        while build_step(pool, collection)? != Step::Nothing {
            left(read(pool, |connection| connection.one(sql, &[])?.int(0))?);
        }
        while remove_step(pool, collection)? != Step::Nothing {}
    }
    Ok(())
}
