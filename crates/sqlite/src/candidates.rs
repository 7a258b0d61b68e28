//! Candidates for a recall: the word index (FTS5 until that is complete), and letters that stand for themselves.

mod conversation;
mod passages;

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use throughline_core::model::Kind;
use throughline_core::ports::{Candidates, Search};
use throughline_core::recall::{Candidate, Filter, FoundBy, Pool, Terms};
use throughline_core::vault::Passage;

use self::conversation::{TURN_COLUMNS, TURN_WIDTH, turn};
use crate::filter::{self, Condition};
use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS};
use crate::words::{self, Collection};
use crate::{SqliteStore, Stored, vault};

/// SQLite refuses patterns beyond 50,000 bytes; escaping may double one.
const LONGEST_NEEDLE: usize = 20_000;

impl Candidates for SqliteStore {
    fn search(&self, search: &Search) -> Stored<Pool> {
        self.snapshot(
            |connection| {
                let mut pool = Pool::default();
                if search.filter.wants(Kind::Entry) || search.filter.wants(Kind::Bullet) {
                    let condition = || filter::condition(&search.filter);
                    let rows = self.found_rows(connection, &ENTRY_WORDS, condition, search)?;
                    pool.candidates = entries(connection, &rows)?;
                }
                if search.filter.wants(Kind::Turn) {
                    let condition = || filter::turn_condition(&search.filter);
                    let rows = self.found_rows(connection, &TURN_WORDS, condition, search)?;
                    conversation::add_turns(connection, &rows, &mut pool)?;
                }
                if search.filter.wants(Kind::Chunk) {
                    let only = (&search.filter, search.limit);
                    let ranked = self.ranked(
                        connection,
                        &CHUNK_WORDS,
                        || filter::chunk_condition(&search.filter),
                        &search.terms,
                        only,
                    )?;
                    passages::add(connection, &ranked, &mut pool)?;
                }
                Ok(pool)
            },
            "search",
        )
    }

    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Candidate>> {
        if needles.is_empty() {
            return Ok(Vec::new());
        }
        self.snapshot(
            |connection| {
                let mut found = Vec::new();
                if filter.wants(Kind::Entry) || filter.wants(Kind::Bullet) {
                    found = entries_by_letters(connection, needles, filter, limit)?;
                }
                if filter.wants(Kind::Turn) {
                    found.extend(turns_by_letters(connection, needles, filter, limit)?);
                    found.sort_by_key(|(needles, _)| std::cmp::Reverse(*needles));
                    found.truncate(limit);
                }
                Ok(found.into_iter().map(|(_, candidate)| candidate).collect())
            },
            "search",
        )
    }

    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>> {
        self.snapshot(
            |connection| {
                let any = Filter { kinds: vec![Kind::Chunk], ..Filter::default() };
                let only = (&any, limit);
                let ranked = self.ranked(connection, &CHUNK_WORDS, Condition::default, terms.as_slice(), only)?;
                vault::passages(connection, ranked)
            },
            "search the vault",
        )
    }
}

/// Any of the terms. Each is quoted, and none can hold a quote: no text is a query language here.
fn matching(terms: &[String]) -> String {
    terms.iter().map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(" OR ")
}

/// A collection of the word index, its FTS5 table, the rows that it is about, and what a condition on those rows joins.
struct Words {
    collection: Collection,
    table: &'static str,
    rows: &'static str,
    joined: &'static str,
}

const ENTRY_WORDS: Words = Words {
    collection: Collection::Entries,
    table: "entry_words",
    rows: "entries e",
    joined: "JOIN entries e ON e.row = w.rowid",
};
const TURN_WORDS: Words = Words {
    collection: Collection::Turns,
    table: "turn_words",
    rows: "turns t JOIN sessions s ON s.row = t.session",
    joined: "JOIN turns t ON t.row = w.rowid JOIN sessions s ON s.row = t.session",
};
const CHUNK_WORDS: Words = Words {
    collection: Collection::Chunks,
    table: "chunk_words",
    rows: "vault_chunks c JOIN vault_documents d ON d.row = c.document",
    joined: "JOIN vault_chunks c ON c.row = w.rowid JOIN vault_documents d ON d.row = c.document",
};

/// A row, and how it was found.
type Found = (i64, FoundBy);

impl SqliteStore {
    /// The rows that fit best by their words, and those that are wanted anyway.
    fn found_rows(
        &self,
        connection: &Connection,
        words: &Words,
        condition: impl Fn() -> Condition,
        search: &Search,
    ) -> rusqlite::Result<Vec<Found>> {
        let mut found: Vec<Found> = Vec::new();
        let ranked = self.ranked(connection, words, &condition, &search.terms, (&search.filter, search.limit))?;
        found.extend(ranked.into_iter().map(|(row, _)| (row, FoundBy::Words)));
        if search.also.is_empty() {
            return Ok(found);
        }
        let known: HashSet<i64> = found.iter().map(|(row, _)| *row).collect();
        let condition = condition();
        let alias = &words.rows[words.rows.find(' ').map_or(0, |at| at + 1)..][..1];
        let sql = format!("SELECT {alias}.row FROM {} WHERE {alias}.id = ? {}", words.rows, condition.sql);
        let mut statement = connection.prepare_cached(&sql)?;
        for id in &search.also {
            let values = std::iter::once(Value::Text(id.to_string())).chain(condition.values.iter().cloned());
            let row: Option<i64> = statement.query_row(params_from_iter(values), |row| row.get(0)).optional()?;
            found.extend(row.filter(|row| !known.contains(row)).map(|row| (row, FoundBy::Meaning)));
        }
        Ok(found)
    }

    /// The rows that fit best and that the filter admits, with how well they fit.
    fn ranked(
        &self,
        connection: &Connection,
        words: &Words,
        condition: impl Fn() -> Condition,
        terms: &[String],
        (filter, limit): (&Filter, usize),
    ) -> rusqlite::Result<Vec<(i64, f64)>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        if words::is_ready(connection, words.collection)? {
            return words::search(connection, &self.words, words.collection, terms, (filter, limit));
        }
        by_fts5(connection, words, condition(), &matching(terms), limit)
    }
}

/// The same by FTS5, until the word index is complete.
fn by_fts5(
    connection: &Connection,
    words: &Words,
    condition: Condition,
    matching: &str,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let Words { table, joined, .. } = words;
    let sql = format!(
        "SELECT w.rowid, -w.rank FROM {table} w {joined} WHERE w.{table} MATCH ? {} ORDER BY w.rank LIMIT ?",
        condition.sql
    );
    let values = bind(Value::Text(matching.to_owned()), condition.values, limit);
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn entries(connection: &Connection, rows: &[Found]) -> rusqlite::Result<Vec<Candidate>> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, e.terms FROM entries e LEFT JOIN uses u ON u.id = e.id WHERE e.row = ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let load = |(row, found_by): &Found| statement.query_row([row], |row| entry(row, *found_by));
    rows.iter().map(load).collect()
}

fn entry(row: &Row<'_>, found_by: FoundBy) -> rusqlite::Result<Candidate> {
    let terms = row.get(rows::ENTRY_WIDTH + 2)?;
    Ok(Candidate { memory: rows::memory(row)?, speaker: None, terms, found_by, meaning: None })
}

/// How many of the needles a text contains; `%` and `_` stand for themselves.
fn counting(columns: &[&str], needles: usize) -> String {
    let any = |n: usize| {
        let like = columns.iter().map(|column| format!("{column} LIKE ?{n} ESCAPE '\\'")).collect::<Vec<_>>();
        format!("ifnull({}, FALSE)", like.join(" OR "))
    };
    (1..=needles).map(any).collect::<Vec<_>>().join(" + ")
}

/// The pattern for a needle; one that SQLite could not take matches nothing.
fn like(needle: &str) -> Value {
    if needle.len() > LONGEST_NEEDLE || needle.contains('\0') {
        return Value::Null;
    }
    let escaped = needle.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    Value::Text(format!("%{escaped}%"))
}

fn entries_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, Candidate)>> {
    let condition = filter::condition(filter);
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, e.terms, {} AS found FROM entries e LEFT JOIN uses u ON u.id = e.id \
         WHERE found > 0 {} ORDER BY found DESC, e.updated_at DESC LIMIT ?",
        counting(&["ifnull(e.key, '')", "e.content"], needles.len()),
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let candidate = |row: &Row<'_>| Ok((row.get(rows::ENTRY_WIDTH + 3)?, entry(row, FoundBy::Substring)?));
    let values = needles.iter().map(|needle| like(needle)).chain(bind_rest(condition.values, limit));
    statement.query_map(params_from_iter(values), candidate)?.collect()
}

fn turns_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, Candidate)>> {
    let condition = filter::turn_condition(filter);
    let sql = format!(
        "SELECT {TURN_COLUMNS}, {} AS found FROM turns t JOIN sessions s ON s.row = t.session \
         LEFT JOIN uses u ON u.id = t.id WHERE found > 0 {} ORDER BY found DESC, t.row DESC LIMIT ?",
        counting(&["t.content"], needles.len()),
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = needles.iter().map(|needle| like(needle)).chain(bind_rest(condition.values, limit));
    let candidate = |row: &Row<'_>| Ok((row.get(TURN_WIDTH)?, turn(row, FoundBy::Substring)?));
    statement.query_map(params_from_iter(values), candidate)?.collect()
}

fn bind(first: Value, values: Vec<Value>, limit: usize) -> impl Iterator<Item = Value> {
    std::iter::once(first).chain(bind_rest(values, limit))
}

fn bind_rest(values: Vec<Value>, limit: usize) -> impl Iterator<Item = Value> {
    values.into_iter().chain([Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))])
}
