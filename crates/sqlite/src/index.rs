//! The words index: FTS5 over analysed text.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use throughline_core::model::{
    ContentHash, DocumentName, Entry, EntryId, Importance, Kind, Layer, Memory, Namespace, Role, SessionId, Source,
    Status,
};
use throughline_core::ports::{Index, Search, StoreError};
use throughline_core::recall::bm25::{self, Collection};
use throughline_core::recall::{Candidate, Filter, FoundBy, Terms, analysis};

use crate::error::{is_taken, while_doing};
use crate::filter::{self, Condition};
use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS};
use crate::{SqliteStore, Stored};

/// Rows analysed again in one transaction: others can write in between.
const REBUILD_BATCH: i64 = 2000;

/// Up to this many rows, candidates are scored with an inverse document frequency that is never zero. In a larger memory
/// a word that half of it has says nothing indeed.
const SMALL: u64 = 100;

/// SQLite refuses patterns beyond 50,000 bytes; escaping may double one.
const LONGEST_NEEDLE: usize = 20_000;

const TURN_COLUMNS: &str = "t.id, s.id, t.role, t.speaker, t.at, t.content, s.project, ifnull(u.count, 0), u.last_at";

impl Index for SqliteStore {
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

    fn replace_bullets(
        &self,
        name: &DocumentName,
        hash: &ContentHash,
        stamp: Option<&str>,
        bullets: &[Entry],
    ) -> Stored<()> {
        self.write("index a document", |transaction| {
            replace_bullets(transaction, name, hash, stamp, bullets).map_err(while_doing("index a document"))
        })
    }

    fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Stored<u64> {
        let total: u64 = self.read(
            |connection| {
                connection.query_row(
                    "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM turns) \
                     + (SELECT count(*) FROM vault_chunks)",
                    [],
                    |row| row.get(0),
                )
            },
            "count what is to be indexed",
        )?;
        let mut done = 0;
        for table in ["entries", "turns", "vault_chunks"] {
            let mut after = 0;
            while let Some((last, count)) = self.analyse_again(table, after)? {
                after = last;
                done += count;
                progress(done.min(total), total);
            }
        }
        self.write("rebuild the index", |transaction| {
            transaction
                .execute_batch(
                    "INSERT INTO entry_words (entry_words) VALUES ('rebuild');
                     INSERT INTO turn_words (turn_words) VALUES ('rebuild');
                     INSERT INTO chunk_words (chunk_words) VALUES ('rebuild');
                     UPDATE documents SET stamp = NULL;",
                )
                .map_err(while_doing("rebuild the index"))
        })?;
        Ok(total)
    }
}

impl SqliteStore {
    /// Analyses the next rows of a table again; gives the last row and how many there were.
    fn analyse_again(&self, table: &str, after: i64) -> Stored<Option<(i64, u64)>> {
        let analysing = while_doing("analyse the text again");
        self.write("analyse the text again", |transaction| {
            let rows = texts(transaction, table, after).map_err(&analysing)?;
            let sql = format!("UPDATE {table} SET terms = ?2 WHERE row = ?1 AND terms IS NOT ?2");
            for (row, terms) in &rows {
                transaction
                    .prepare_cached(&sql)
                    .and_then(|mut update| update.execute(params![row, terms]))
                    .map_err(&analysing)?;
            }
            Ok::<_, StoreError>(rows.last().map(|(row, _)| (*row, rows.len() as u64)))
        })
    }
}

fn texts(connection: &Connection, table: &str, after: i64) -> rusqlite::Result<Vec<(i64, String)>> {
    if table == "vault_chunks" {
        return crate::vault::texts(connection, after, REBUILD_BATCH);
    }
    if table == "turns" {
        let mut statement =
            connection.prepare_cached("SELECT row, speaker, content FROM turns WHERE row > ? ORDER BY row LIMIT ?")?;
        let text = |row: &Row<'_>| {
            let speaker = row.get::<_, Option<String>>(1)?;
            Ok((row.get(0)?, turn_terms(speaker.as_deref(), row.get_ref(2)?.as_str()?)))
        };
        return statement.query_map([after, REBUILD_BATCH], text)?.collect();
    }
    let sql = format!("SELECT {ENTRY_COLUMNS}, e.row FROM entries e WHERE e.row > ? ORDER BY e.row LIMIT ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let text = |row: &Row<'_>| Ok((row.get(rows::ENTRY_WIDTH)?, rows::terms(&rows::entry(row)?)));
    statement.query_map([after, REBUILD_BATCH], text)?.collect()
}

/// The analysed text that a turn is found by: who spoke, and what was said.
pub(crate) fn turn_terms(speaker: Option<&str>, content: &str) -> String {
    match speaker {
        Some(speaker) => analysis::index_text(&format!("{speaker}\n{content}")),
        None => analysis::index_text(content),
    }
}

/// Any of the terms. Each is quoted, and none can hold a quote: no text is a query language here.
pub(crate) fn matching(terms: &Terms) -> String {
    terms.as_slice().iter().map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(" OR ")
}

/// A words table, the rows it is about, and what a condition on those rows joins.
pub(crate) struct Words {
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
pub(crate) const CHUNK_WORDS: Words = Words {
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
pub(crate) fn by_words(
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

pub(crate) fn replace_bullets(
    connection: &Connection,
    name: &DocumentName,
    hash: &ContentHash,
    stamp: Option<&str>,
    bullets: &[Entry],
) -> rusqlite::Result<()> {
    let address = rows::document_address(name);
    // Somebody else was faster: what can be found is theirs to say.
    let newest: Option<String> = connection
        .prepare_cached("SELECT hash FROM documents WHERE name = ?")?
        .query_row([&address], |row| row.get(0))
        .optional()?;
    if newest.as_deref() != Some(hash.as_str()) {
        return Ok(());
    }
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.namespace = ? AND e.kind = 'bullet'");
    let known: HashMap<EntryId, Entry> = connection
        .prepare_cached(&sql)?
        .query_map([&address], rows::entry)?
        .map(|entry| entry.map(|entry| (entry.id.clone(), entry)))
        .collect::<rusqlite::Result<_>>()?;
    let still: HashSet<&EntryId> = bullets.iter().map(|bullet| &bullet.id).collect();
    for id in known.keys().filter(|id| !still.contains(id)) {
        connection.prepare_cached("DELETE FROM entries WHERE id = ?")?.execute([id.as_str()])?;
    }
    for bullet in bullets {
        match known.get(&bullet.id) {
            // An id that something else has, by whatever chance, is left to it.
            None => match rows::insert(connection, bullet) {
                Err(error) if is_taken(&error) => {
                    tracing::warn!(id = %bullet.id, "a line has the id of another memory")
                }
                outcome => outcome?,
            },
            Some(known) => {
                let kept = Entry {
                    source: known.source,
                    created_at: known.created_at,
                    updated_at: known.updated_at,
                    version: known.version,
                    ..bullet.clone()
                };
                if kept != *known {
                    rows::update(connection, &Entry { version: known.version + 1, ..kept })?;
                }
            }
        }
    }
    let sql = "UPDATE documents SET stamp = ? WHERE name = ?";
    connection.prepare_cached(sql)?.execute(params![stamp, address])?;
    Ok(())
}
