//! A memory as tables, for copying it to or from another store. `throughline_stores::copy` names tables and columns as the schema
//! here does.

use std::cell::RefCell;

use throughline_core::model::ContentHash;
use throughline_core::ports::Index as _;
use throughline_stores::copy::{Begun, Cell, Column, Kind, Row, Rows, Snapshot, Source, TABLES, Table, Target};

use crate::address::Address;
use crate::connection::Connection;
use crate::error::{Error, Sql};
use crate::open::FRESH_SECRET;
use crate::pool::Effort;
use crate::transaction::{Counter, Transaction};
use crate::values::{Row as SqlRow, Value, from_json, values};
use crate::{PostgresStore, Stored};

const READING: &str = "read a table";
const BEGINNING: &str = "begin a copy";
const WRITING: &str = "write a table";

/// Rows that are read at once.
const PAGE: usize = 500;

/// Tables that are made again, with everything else that a space has.
const DERIVED: [&str; 8] = [
    "commits",
    "document_stamps",
    "leases",
    "memory_vector_queue",
    "task_words",
    "word_parts",
    "word_segments",
    "word_tail",
];

impl Source for PostgresStore {
    fn snapshot(&self, work: &mut dyn FnMut(&dyn Snapshot)) -> Stored<()> {
        self.bookkeeper.flush();
        let work = RefCell::new(work);
        self.pool.snapshot(READING, |connection| {
            work.borrow_mut()(&Tables(connection));
            Ok(())
        })
    }
}

/// The tables of a space, on a connection.
struct Tables<'c>(&'c Connection);

impl Snapshot for Tables<'_> {
    fn mark(&self) -> Stored<String> {
        let sql = "SELECT encode(sha256(secret), 'hex'), writes FROM spaces WHERE space = $1";
        let mark = || {
            let row = self.0.one(sql, &[])?;
            Ok(format!("postgres {} {}", row.text(0)?, row.int(1)?))
        };
        mark().map_err(|error: Error| error.while_doing(READING))
    }
}

impl Rows for Tables<'_> {
    fn count(&self, table: &Table) -> Stored<u64> {
        count(self.0, table).map_err(|error| error.while_doing(READING))
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Stored<()>) -> Stored<()> {
        each(self.0, table, row).map_err(|error| error.while_doing(READING))
    }
}

fn count(connection: &Connection, table: &Table) -> Sql<u64> {
    connection.one(&format!("SELECT count(*) FROM {} WHERE space = $1", from(table)), &[])?.number(0)
}

/// Reads a table in pages, in the order of its key.
fn each(connection: &Connection, table: &Table, each: &mut dyn FnMut(Row) -> Stored<()>) -> Sql<()> {
    let key = names(table.key_columns());
    let select = format!("SELECT {} FROM {} WHERE space = $1", names(table.columns), from(table));
    let places: Vec<String> = (0..table.key).map(|nth| format!("${}", nth + 2)).collect();
    let next = format!("{select} AND ({key}) > ({}) ORDER BY {key} LIMIT {PAGE}", places.join(", "));
    let mut rows = connection.rows(&format!("{select} ORDER BY {key} LIMIT {PAGE}"), &[])?;
    loop {
        let mut last = Vec::new();
        let is_last_page = rows.len() < PAGE;
        for row in &rows {
            let row = read(table, row)?;
            last = row.iter().take(table.key).map(value).map(owned).collect();
            each(row)?;
        }
        if is_last_page {
            return Ok(());
        }
        rows = connection.rows(&next, &last)?;
    }
}

/// Where the rows of a table are.
fn from(table: &Table) -> &'static str {
    match table.name {
        "memory" => {
            "(SELECT space, 1::bigint AS one, erasures, endings, vault, last_turn, secret FROM spaces) AS memory"
        }
        other => other,
    }
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| format!("\"{}\"", column.name)).collect::<Vec<_>>().join(", ")
}

fn read(table: &Table, row: &SqlRow) -> Sql<Row> {
    let cell = |(nth, column): (usize, &Column)| {
        if row.is_null(nth)? {
            return Ok(Cell::Null);
        }
        Ok(match column.kind {
            Kind::Int => Cell::Int(row.int(nth)?),
            Kind::Real => Cell::Real(row.real(nth)?),
            Kind::Flag => Cell::Flag(row.flag(nth)?),
            Kind::Text => Cell::Text(row.text(nth)?),
            Kind::Bytes => Cell::Bytes(row.bytes(nth)?.to_vec()),
            Kind::Texts => {
                let mut texts = row.texts(nth)?;
                // A set, in no order of its own.
                if (table.name, column.name) == ("withdrawn", "turns") {
                    texts.sort_unstable();
                }
                Cell::Texts(texts)
            }
        })
    };
    table.columns.iter().enumerate().map(cell).collect()
}

fn value(cell: &Cell) -> Value<'_> {
    match cell {
        Cell::Null => Value::Null,
        Cell::Int(number) => (*number).into(),
        Cell::Real(number) => (*number).into(),
        Cell::Flag(flag) => (*flag).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Bytes(bytes) => bytes.as_slice().into(),
        Cell::Texts(texts) => texts.clone().into(),
    }
}

fn owned(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Text(text) => text.into_owned().into(),
        Value::Int(number) => number.into(),
        _ => Value::Null,
    }
}

/// A space that a memory is copied to.
pub struct PostgresTarget {
    store: PostgresStore,
}

impl PostgresTarget {
    /// Connects to a space, which may hold the first part of a copy.
    pub fn open(address: Address) -> Stored<Self> {
        Ok(Self { store: PostgresStore::open_unfinished(address)? })
    }

    fn write<T>(&self, doing: &'static str, work: impl FnMut(&Transaction<'_>) -> Sql<T>) -> Stored<T> {
        Ok(self.store.pool.write(doing, Effort::Confirmed, work)?.value)
    }
}

impl Rows for PostgresTarget {
    fn count(&self, table: &Table) -> Stored<u64> {
        // The one row of this table is always there; every run writes it.
        if table.name == "memory" {
            return Ok(0);
        }
        self.store.read(READING, |connection| count(connection, table))
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Stored<()>) -> Stored<()> {
        let row = RefCell::new(row);
        // Not repeated after a lost connection: rows would be given twice.
        let outcome = self.store.read(READING, |connection| {
            Ok(each(connection, table, &mut **row.borrow_mut()).map_err(|error| error.while_doing(READING)))
        });
        outcome?
    }
}

impl Target for PostgresTarget {
    fn begin(&self, mark: &str) -> Stored<Begun> {
        self.write(BEGINNING, |transaction| {
            let known = transaction.one("SELECT copying FROM spaces WHERE space = $1", &[])?.maybe_text(0)?;
            let is_empty = || {
                let mut tables = TABLES.iter().filter(|table| table.name != "memory");
                tables.try_fold(true, |is_empty, table| Ok::<_, Error>(is_empty && count(transaction, table)? == 0))
            };
            match known.as_deref() {
                Some(known) if known == mark => return Ok(Begun::Resumed),
                Some(_) => clear(transaction)?,
                None if is_empty()? => {}
                None => return Ok(Begun::Refused),
            }
            transaction.post("UPDATE spaces SET copying = $2 WHERE space = $1", &values![mark])?;
            Ok(Begun::New)
        })
    }

    fn put(&self, table: &Table, rows: &[Row]) -> Stored<()> {
        self.write(WRITING, |transaction| put(transaction, table, rows))
    }

    fn finish(&self) -> Stored<()> {
        self.store.rebuild(&mut |_, _| {})?;
        let sql = "UPDATE spaces SET copying = NULL WHERE space = $1";
        self.write("finish a copy", |transaction| transaction.post(sql, &[]))
    }
}

/// Removes every row of the space but its own.
fn clear(transaction: &Transaction<'_>) -> Sql<()> {
    let copied = TABLES.iter().rev().map(|table| table.name).filter(|name| *name != "memory");
    for table in DERIVED.into_iter().chain(copied) {
        transaction.post(&format!("DELETE FROM {table} WHERE space = $1"), &[])?;
    }
    let sql = "UPDATE word_indexes SET built = 0, until = 0, tail = 0 WHERE space = $1";
    transaction.post(sql, &[])?;
    let sql =
        format!("UPDATE spaces SET erasures = 0, endings = 0, vault = 0, secret = {FRESH_SECRET} WHERE space = $1");
    transaction.post(&sql, &[])
}

/// Values that one statement binds, at most.
const MOST_VALUES: usize = 30_000;

fn put(transaction: &Transaction<'_>, table: &Table, rows: &[Row]) -> Sql<()> {
    if table.name == "memory" {
        return rows.iter().try_for_each(|row| put_memory(transaction, table, row));
    }
    if table.position("number") == Some(0) {
        let counter = match table.name {
            "entries" => Counter::Entry,
            "turns" => Counter::Turn,
            "vault_chunks" => Counter::Chunk,
            _ => Counter::Row,
        };
        rows.iter().for_each(|row| raise(transaction, counter, row.first()));
    }
    let more = more(table);
    let width = table.columns.len() + more.len();
    let columns = std::iter::once("space".to_owned())
        .chain(table.columns.iter().map(|column| format!("\"{}\"", column.name)))
        .chain(more.iter().map(|name| (*name).to_owned()));
    let columns = columns.collect::<Vec<_>>().join(", ");
    for rows in rows.chunks(MOST_VALUES / width) {
        let row_places = |nth: usize| {
            let places: Vec<String> = (0..width).map(|column| format!("${}", nth * width + column + 2)).collect();
            format!("($1, {})", places.join(", "))
        };
        let places: Vec<String> = (0..rows.len()).map(row_places).collect();
        let sql = format!("INSERT INTO {} ({columns}) VALUES {}", table.name, places.join(", "));
        let mut bound = Vec::with_capacity(rows.len() * width);
        for row in rows {
            bound.extend(row.iter().map(value));
            bound.extend(more_values(transaction, table, row)?);
        }
        transaction.post(&sql, &bound)?;
    }
    Ok(())
}

fn raise(transaction: &Transaction<'_>, counter: Counter, number: Option<&Cell>) {
    if let Some(Cell::Int(number)) = number {
        transaction.raise(counter, *number);
    }
}

/// Columns that follow from the others.
fn more(table: &Table) -> &'static [&'static str] {
    match table.name {
        "recalls" => &["hit_ids"],
        "document_texts" => &["written", "hash"],
        _ => &[],
    }
}

fn more_values(transaction: &Transaction<'_>, table: &Table, row: &Row) -> Sql<Vec<Value<'static>>> {
    #[derive(serde::Deserialize)]
    struct Hit {
        id: String,
    }
    match (table.name, row.last()) {
        ("recalls", Some(Cell::Text(hits))) => {
            let hits: Vec<Hit> = from_json(hits)?;
            Ok(vec![hits.into_iter().map(|hit| hit.id).collect::<Vec<String>>().into()])
        }
        ("document_texts", Some(Cell::Text(text))) => {
            Ok(vec![transaction.number().into(), ContentHash::of(text).as_str().to_owned().into()])
        }
        _ => Ok(Vec::new()),
    }
}

fn put_memory(transaction: &Transaction<'_>, table: &Table, row: &Row) -> Sql<()> {
    raise(transaction, Counter::Turn, table.position("last_turn").and_then(|nth| row.get(nth)));
    let named = |name: &str| table.position(name).and_then(|nth| row.get(nth)).map_or(Value::Null, value);
    let sql = "UPDATE spaces SET erasures = $2, endings = $3, vault = $4, secret = $5 WHERE space = $1";
    let bound = [named("erasures"), named("endings"), named("vault"), named("secret")];
    transaction.post(sql, &bound)
}
