//! Order and scores of the word index, as a file has it, compared with a scan of all rows.
//!
//! Read by a reader of its own, in one snapshot, before anybody opens the memory: upkeep changes scores, since what was
//! replaced counts until it is merged away.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use throughline_index::{
    Hit, IndexError, Part, Query, SegmentId, SegmentReader, Tail, TailDocument, contribution, length_code, search,
    statistics,
};

use crate::Failure;

/// What is indexed: its number, its table and the table of what changed.
const COLLECTIONS: [(i64, &str, &str); 2] = [(1, "entries", "entry_tail"), (2, "turns", "turn_tail")];

/// How many hits are asked for: the best few, and all.
const LIMITS: [usize; 2] = [10, 1_000_000];

/// A row: its number and its terms.
type Rows = Vec<(i64, String)>;

/// The segments of a collection that are searched.
struct Served<'c>(&'c Connection, i64);

impl SegmentReader for Served<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        let read = || -> rusqlite::Result<Vec<SegmentId>> {
            let sql = "SELECT row FROM word_segments WHERE collection = ? AND state = 1 ORDER BY row";
            self.0.prepare_cached(sql)?.query_map([self.1], |row| row.get(0).map(SegmentId))?.collect()
        };
        read().map_err(|error| IndexError::Store(Box::new(error)))
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        let key = i64::from(segment.0) << 32 | i64::from(part.0);
        let read = || {
            let mut statement = self.0.prepare_cached("SELECT bytes FROM word_parts WHERE key = ?")?;
            statement.query_row([key], |row| Ok(Arc::from(row.get_ref(0)?.as_blob()?))).optional()
        };
        read().map_err(|error| IndexError::Store(Box::new(error)))
    }
}

/// Searches for each pair of words; says what is not in the order and with the scores that a scan gives, and how often it looked.
pub(super) fn compare(path: &Path, pairs: &[[String; 2]]) -> Result<(usize, Vec<String>), Failure> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let snapshot = connection.transaction()?;
    let (mut compared, mut problems) = (0, Vec::new());
    for (number, table, tail) in COLLECTIONS {
        if !is_ready(&snapshot, number)? {
            continue;
        }
        let rows = rows(&snapshot, table)?;
        let changed = changed(&snapshot, tail, &rows)?;
        let served = Served(&snapshot, number);
        for terms in pairs {
            let terms = terms.each_ref().map(String::as_str);
            for limit in LIMITS {
                compared += 1;
                let found = search(&served, &tail_of(&changed), &Query::new(&terms, limit))?;
                if found != scan(&served, &changed, &rows, (&terms, limit))? {
                    problems.push(format!("{table}, {terms:?}: the best {limit} are not those of a scan"));
                }
            }
        }
    }
    Ok((compared, problems))
}

/// Whether searches use the index; none does before the schema has one.
fn is_ready(connection: &Connection, number: i64) -> Result<bool, Failure> {
    let has_index = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'word_indexes')";
    if !connection.query_row(has_index, [], |row| row.get(0))? {
        return Ok(false);
    }
    Ok(connection.query_row("SELECT is_ready FROM word_indexes WHERE collection = ?", [number], |row| row.get(0))?)
}

fn rows(connection: &Connection, table: &str) -> Result<Rows, Failure> {
    let mut statement = connection.prepare(&format!("SELECT row, terms FROM {table} ORDER BY row"))?;
    Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

/// What changed since segments were made: its terms, or none if it is gone.
fn changed(connection: &Connection, tail: &str, rows: &Rows) -> Result<BTreeMap<i64, Option<String>>, Failure> {
    let mut statement = connection.prepare(&format!("SELECT DISTINCT item FROM {tail}"))?;
    let items: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let terms = |item: &i64| rows.binary_search_by_key(item, |(row, _)| *row).ok().map(|at| rows[at].1.clone());
    Ok(items.iter().map(|item| (*item, terms(item))).collect())
}

fn tail_of(changed: &BTreeMap<i64, Option<String>>) -> Tail<'_> {
    let there = changed.iter().filter_map(|(number, terms)| {
        Some(TailDocument { number: *number, terms: terms.as_deref()?, is_admitted: true })
    });
    let gone: Vec<i64> = changed.iter().filter(|(_, terms)| terms.is_none()).map(|(number, _)| *number).collect();
    Tail::new(there.collect(), &gone)
}

/// Scores every row.
fn scan(
    served: &Served<'_>,
    changed: &BTreeMap<i64, Option<String>>,
    rows: &Rows,
    (terms, limit): (&[&str], usize),
) -> Result<Vec<Hit>, Failure> {
    let statistics = statistics(served, &tail_of(changed), terms)?;
    let units = |text: &str| -> u32 {
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let of = |(nth, term): (usize, &&str)| match words.iter().filter(|word| *word == term).count() as u32 {
            0 => 0,
            count => contribution(&statistics, nth, count, length_code(words.len() as u32)),
        };
        terms.iter().enumerate().map(of).sum()
    };
    let hits = rows.iter().map(|(number, text)| Hit { number: *number, units: units(text) });
    let mut hits: Vec<Hit> = hits.filter(|hit| hit.units > 0).collect();
    hits.sort_by_key(|hit| (std::cmp::Reverse(hit.units), hit.number));
    hits.truncate(limit);
    Ok(hits)
}
