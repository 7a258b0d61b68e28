//! Candidates for a recall: FTS5 over analysed text, and letters that stand for themselves.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use throughline_core::model::{
    Entry, EntryId, Importance, Kind, Layer, Memory, Namespace, Role, SessionId, Source, Status,
};
use throughline_core::ports::{Candidates, Search};
use throughline_core::recall::bm25::{self, Collection};
use throughline_core::recall::{Candidate, Filter, FoundBy, Terms};
use throughline_core::vault::Passage;

use crate::filter::{self, Condition};
use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS};
use crate::{SqliteStore, Stored, vault};

/// Up to this many rows, candidates are scored with an inverse document frequency that is never zero. In a larger memory
/// a word that half of it has says nothing indeed.
const SMALL: u64 = 100;

/// SQLite refuses patterns beyond 50,000 bytes; escaping may double one.
const LONGEST_NEEDLE: usize = 20_000;

const TURN_COLUMNS: &str = "t.id, s.id, t.role, t.speaker, t.at, t.content, s.project, ifnull(u.count, 0), u.last_at";

impl Candidates for SqliteStore {
    fn search(&self, search: &Search) -> Stored<Vec<Candidate>> {
        if search.terms.is_empty() {
            return Ok(Vec::new());
        }
        let matching = matching(&search.terms);
        self.snapshot(
            |connection| {
                let mut found = Vec::new();
                if search.filter.wants(Kind::Entry) || search.filter.wants(Kind::Bullet) {
                    found = entries_by_words(connection, &matching, search)?;
                }
                if search.filter.wants(Kind::Turn) {
                    found.extend(turns_by_words(connection, &matching, search)?);
                    found.sort_by(|a, b| b.bm25.total_cmp(&a.bm25));
                    found.truncate(search.limit);
                }
                Ok(found)
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
                    found.sort_by(|a, b| b.bm25.total_cmp(&a.bm25));
                    found.truncate(limit);
                }
                Ok(found)
            },
            "search",
        )
    }

    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>> {
        let search = Search { terms: terms.clone(), filter: Filter::default(), limit };
        self.snapshot(
            |connection| {
                let ranked = by_words(connection, &CHUNK_WORDS, Condition::default(), &matching(terms), &search)?;
                vault::passages(connection, ranked)
            },
            "search the vault",
        )
    }
}

/// Any of the terms. Each is quoted, and none can hold a quote: no text is a query language here.
fn matching(terms: &Terms) -> String {
    terms.as_slice().iter().map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(" OR ")
}

/// A words table, the rows it is about, and what a condition on those rows joins.
struct Words {
    table: &'static str,
    rows: &'static str,
    /// About how many rows there are; exact while they are few.
    size: &'static str,
    joined: &'static str,
}

const ENTRY_WORDS: Words = Words {
    table: "entry_words",
    rows: "entries",
    size: "SELECT ifnull(max(row), 0) FROM entries",
    joined: "JOIN entries e ON e.row = w.rowid",
};
const TURN_WORDS: Words = Words {
    table: "turn_words",
    rows: "turns",
    size: "SELECT ifnull(max(row), 0) FROM turns",
    joined: "JOIN turns t ON t.row = w.rowid JOIN sessions s ON s.row = t.session",
};

/// Rows of chunks are never given twice: their numbers say nothing about how many there are.
const CHUNK_WORDS: Words = Words {
    table: "chunk_words",
    rows: "vault_chunks",
    size: "SELECT count(*) FROM (SELECT 1 FROM vault_chunks LIMIT 101)",
    joined: "JOIN vault_chunks v ON v.row = w.rowid",
};

fn entries_by_words(connection: &Connection, matching: &str, search: &Search) -> rusqlite::Result<Vec<Candidate>> {
    let ranked = by_words(connection, &ENTRY_WORDS, filter::condition(&search.filter), matching, search)?;
    let sql =
        format!("SELECT {ENTRY_COLUMNS}, {USE_COLUMNS} FROM entries e LEFT JOIN uses u ON u.id = e.id WHERE e.row = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let load = |(row, bm25): (i64, f64)| {
        let memory = statement.query_row([row], rows::memory)?;
        Ok(Candidate { memory, speaker: None, bm25, found_by: FoundBy::Words })
    };
    ranked.into_iter().map(load).collect()
}

fn turns_by_words(connection: &Connection, matching: &str, search: &Search) -> rusqlite::Result<Vec<Candidate>> {
    let ranked = by_words(connection, &TURN_WORDS, filter::turn_condition(&search.filter), matching, search)?;
    let sql = format!(
        "SELECT {TURN_COLUMNS} FROM turns t JOIN sessions s ON s.row = t.session LEFT JOIN uses u ON u.id = t.id \
         WHERE t.row = ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let load = |(found, bm25): (i64, f64)| statement.query_row([found], |row| turn(row, bm25, FoundBy::Words));
    ranked.into_iter().map(load).collect()
}

/// The rows that fit best, with how well they fit.
fn by_words(
    connection: &Connection,
    words: &Words,
    condition: Condition,
    matching: &str,
    search: &Search,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let Words { table, size, joined, .. } = words;
    let size: u64 = connection.prepare_cached(size)?.query_row([], |row| row.get(0))?;
    if size <= SMALL {
        return by_words_in_small(connection, words, condition, matching, search);
    }
    let sql = format!(
        "SELECT w.rowid, -w.rank FROM {table} w {joined} WHERE w.{table} MATCH ? {} ORDER BY w.rank LIMIT ?",
        condition.sql
    );
    let values = bind(Value::Text(matching.to_owned()), condition.values, search.limit);
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// In a small memory the rows are scored here, because FTS5 gives nothing for a word that half of them have.
fn by_words_in_small(
    connection: &Connection,
    words: &Words,
    condition: Condition,
    matching: &str,
    search: &Search,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let Words { table, rows, joined, .. } = words;
    let alias = &rows[..1];
    let sql = format!(
        "SELECT w.rowid, {alias}.terms FROM {table} w {joined} WHERE w.{table} MATCH ? {} LIMIT ?",
        condition.sql
    );
    let values = bind(Value::Text(matching.to_owned()), condition.values, SMALL as usize);
    let found: Vec<(i64, String)> = connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let terms = search.terms.as_slice();
    let mut count = connection.prepare_cached(&format!("SELECT count(*) FROM {table} WHERE {table} MATCH ?"))?;
    let having = terms.iter().map(|term| count.query_row([format!("\"{term}\"")], |row| row.get(0)));
    let lengths: usize = found.iter().map(|(_, text)| text.split(' ').count()).sum();
    let collection = Collection {
        documents: connection
            .prepare_cached(&format!("SELECT count(*) FROM {rows}"))?
            .query_row([], |row| row.get(0))?,
        having: having.collect::<rusqlite::Result<_>>()?,
        mean_length: lengths as f64 / found.len().max(1) as f64,
    };
    let mut scored: Vec<(i64, f64)> =
        found.into_iter().map(|(row, text)| (row, bm25::score(terms, &text, &collection))).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    scored.truncate(search.limit);
    Ok(scored)
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
) -> rusqlite::Result<Vec<Candidate>> {
    let condition = filter::condition(filter);
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, {} AS found FROM entries e LEFT JOIN uses u ON u.id = e.id \
         WHERE found > 0 {} ORDER BY found DESC, e.updated_at DESC LIMIT ?",
        counting(&["ifnull(e.key, '')", "e.content"], needles.len()),
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let candidate = |row: &Row<'_>| {
        let bm25 = row.get::<_, i64>(rows::ENTRY_WIDTH + 2)? as f64;
        Ok(Candidate { memory: rows::memory(row)?, speaker: None, bm25, found_by: FoundBy::Substring })
    };
    let values = needles.iter().map(|needle| like(needle)).chain(bind_rest(condition.values, limit));
    statement.query_map(params_from_iter(values), candidate)?.collect()
}

fn turns_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<Candidate>> {
    let condition = filter::turn_condition(filter);
    let sql = format!(
        "SELECT {TURN_COLUMNS}, {} AS found FROM turns t JOIN sessions s ON s.row = t.session \
         LEFT JOIN uses u ON u.id = t.id WHERE found > 0 {} ORDER BY found DESC, t.row DESC LIMIT ?",
        counting(&["t.content"], needles.len()),
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = needles.iter().map(|needle| like(needle)).chain(bind_rest(condition.values, limit));
    let candidate = |row: &Row<'_>| turn(row, row.get::<_, i64>(9)? as f64, FoundBy::Substring);
    statement.query_map(params_from_iter(values), candidate)?.collect()
}

fn bind(first: Value, values: Vec<Value>, limit: usize) -> impl Iterator<Item = Value> {
    std::iter::once(first).chain(bind_rest(values, limit))
}

fn bind_rest(values: Vec<Value>, limit: usize) -> impl Iterator<Item = Value> {
    values.into_iter().chain([Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))])
}

/// A turn in the shape of a memory: part of the archive, in the words of whoever said it.
fn turn(row: &Row<'_>, bm25: f64, found_by: FoundBy) -> rusqlite::Result<Candidate> {
    let session: SessionId = rows::parsed(row, 1)?;
    let at = rows::time(row.get(4)?)?;
    let entry = Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        kind: Kind::Turn,
        namespace: Namespace::Session(session.clone()),
        layer: Layer::Archive,
        key: None,
        content: row.get(5)?,
        source: match rows::parsed(row, 2)? {
            Role::User => Source::User,
            Role::Assistant => Source::Agent,
            Role::Tool | Role::System | Role::Summary => Source::System,
        },
        status: Status::Active,
        importance: Importance::default(),
        tags: Vec::new(),
        session: Some(session),
        task: None,
        project: row.get(6)?,
        created_at: at,
        updated_at: at,
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    };
    let last_at = row.get::<_, Option<i64>>(8)?.map(rows::time).transpose()?;
    Ok(Candidate { memory: Memory::new(entry, row.get(7)?, last_at), speaker: row.get(3)?, bm25, found_by })
}
