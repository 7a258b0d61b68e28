//! Candidates for a recall: the word index (FTS5 until that is complete), and letters that stand for themselves.

mod letters;
mod retrieve;

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use throughline_core::model::{EntryId, Kind};
use throughline_core::ports::{Candidates, Search};
use throughline_core::recall::{CandidateMark, Filter, FoundBy, Pool, Retrieved, Terms};
use throughline_core::vault::Passage;
use throughline_stores::words::{Collection, Found, Searched, add_turns, is_found};

use crate::filter::{self, Condition};
use crate::words::{Rows, as_sqlite, searched};
use crate::{SqliteStore, Stored, vault};

impl Candidates for SqliteStore {
    fn search(&self, search: &Search) -> Stored<Pool> {
        self.snapshot(
            |connection| {
                let mut pool = Pool::default();
                if search.filter.wants(Kind::Entry) || search.filter.wants(Kind::Bullet) {
                    let rows = Rows { connection, collection: Collection::Entries };
                    let searched = searched(&rows, &self.words, &search.filter)?;
                    let mut lookup = searched.lookup().map_err(as_sqlite)?;
                    for (row, found_by) in found_rows(connection, &searched, &ENTRY_WORDS, search)? {
                        let found = lookup.candidate(row, found_by).map_err(as_sqlite)?.map(|(candidate, _)| candidate);
                        pool.candidates.extend(found.filter(is_found));
                    }
                }
                if search.filter.wants(Kind::Turn) {
                    let rows = Rows { connection, collection: Collection::Turns };
                    let searched = searched(&rows, &self.words, &search.filter)?;
                    let found = found_rows(connection, &searched, &TURN_WORDS, search)?;
                    let mut lookup = searched.lookup().map_err(as_sqlite)?;
                    add_turns(&rows, &mut lookup, &found, &mut pool).map_err(as_sqlite)?;
                }
                if search.filter.wants(Kind::Chunk) {
                    let rows = Rows { connection, collection: Collection::Chunks };
                    let searched = searched(&rows, &self.words, &search.filter)?;
                    let mut lookup = searched.lookup().map_err(as_sqlite)?;
                    for (row, _) in ranked(connection, &searched, &CHUNK_WORDS, &search.terms, search.limit)? {
                        let found = lookup.candidate(row, FoundBy::Words).map_err(as_sqlite)?;
                        pool.candidates.extend(found.map(|(candidate, _)| candidate));
                    }
                }
                Ok(pool)
            },
            "search",
        )
    }

    fn fetch(&self, marks: &[CandidateMark]) -> Stored<Vec<Option<Retrieved>>> {
        self.snapshot(|connection| retrieve::by_marks(connection, marks), "read what was found")
    }

    fn marks(&self, ids: &[EntryId]) -> Stored<Vec<Option<CandidateMark>>> {
        self.snapshot(|connection| retrieve::marks(connection, ids), "look memories up")
    }

    fn texts(&self, ids: &[EntryId]) -> Stored<Vec<String>> {
        self.snapshot(|connection| retrieve::texts(connection, ids), "read what memories say")
    }

    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Retrieved>> {
        if needles.is_empty() {
            return Ok(Vec::new());
        }
        self.snapshot(|connection| letters::containing(connection, needles, filter, limit), "search")
    }

    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>> {
        self.snapshot(
            |connection| {
                let any = Filter { kinds: vec![Kind::Chunk], ..Filter::default() };
                let rows = Rows { connection, collection: Collection::Chunks };
                let searched = searched(&rows, &self.words, &any)?;
                let ranked = ranked(connection, &searched, &CHUNK_WORDS, terms.as_slice(), limit)?;
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

/// A table that is searched by its words, its FTS5 table, and the filter as a condition on what is joined to that.
struct Words {
    table: &'static str,
    fts5: &'static str,
    joined: &'static str,
    condition: fn(&Filter) -> Condition,
}

const ENTRY_WORDS: Words = Words {
    table: "entries",
    fts5: "entry_words",
    joined: "JOIN entries e ON e.row = w.rowid",
    condition: filter::condition,
};
const TURN_WORDS: Words = Words {
    table: "turns",
    fts5: "turn_words",
    joined: "JOIN turns t ON t.row = w.rowid JOIN sessions s ON s.row = t.session",
    condition: filter::turn_condition,
};
const CHUNK_WORDS: Words = Words {
    table: "vault_chunks",
    fts5: "chunk_words",
    joined: "JOIN vault_chunks c ON c.row = w.rowid JOIN vault_documents d ON d.row = c.document",
    condition: filter::chunk_condition,
};

/// The rows that fit best by their words, and those that are wanted anyway, in order.
fn found_rows(
    connection: &Connection,
    searched: &Searched<'_>,
    words: &Words,
    search: &Search,
) -> rusqlite::Result<Vec<Found>> {
    let limit = if words.table == TURN_WORDS.table { search.turns } else { search.limit };
    let ranked = ranked(connection, searched, words, &search.terms, limit)?;
    let mut found: Vec<Found> = ranked.into_iter().map(|(row, _)| (row, FoundBy::Words)).collect();
    let known: HashSet<i64> = found.iter().map(|(row, _)| *row).collect();
    let sql = format!("SELECT row FROM {} WHERE id = ?", words.table);
    let mut statement = connection.prepare_cached(&sql)?;
    for id in &search.also {
        let row: Option<i64> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
        found.extend(row.filter(|row| !known.contains(row)).map(|row| (row, FoundBy::Meaning)));
    }
    // In the order of the index, which is read fastest so.
    found.sort_unstable_by_key(|(row, _)| *row);
    Ok(found)
}

/// The rows that fit best and that the filter admits, with how well they fit.
fn ranked(
    connection: &Connection,
    searched: &Searched<'_>,
    words: &Words,
    terms: &[String],
    limit: usize,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    match searched.search(terms, limit).map_err(as_sqlite)? {
        Some(ranked) => Ok(ranked),
        None => by_fts5(connection, words, (words.condition)(searched.filter()), &matching(terms), limit),
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
    let Words { fts5, joined, .. } = words;
    let sql = format!(
        "SELECT w.rowid, -w.rank FROM {fts5} w {joined} WHERE w.{fts5} MATCH ? {} ORDER BY w.rank LIMIT ?",
        condition.sql
    );
    let values = std::iter::once(Value::Text(matching.to_owned())).chain(with_limit(condition.values, limit));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn with_limit(values: Vec<Value>, limit: usize) -> impl Iterator<Item = Value> {
    values.into_iter().chain([Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))])
}
