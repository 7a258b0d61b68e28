//! A memory as tables, for copying it to or from another store. `throughline_stores::copy` names tables and columns; here they are
//! mapped to those of the database.

mod target;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row as SqlRow};
use throughline_core::model::MachineId;
use throughline_core::ports::StoreError;
use throughline_stores::copy::{Cell, Column, Kind, Row, Rows, Snapshot, Source, Table};

use crate::error::{unreadable, while_doing};
use crate::files::Growth;
use crate::pool::bound::Bounds;
use crate::rows::{from_json, to_json};
use crate::{SqliteStore, Stored, identity};

pub use target::{FileCalls, SqliteTarget};

const READING: &str = "read a table";

/// After so many rows is looked how much the log has grown.
const CHECKED: u64 = 256;

/// A memory that is copied elsewhere.
pub struct SqliteSource<'s> {
    store: &'s SqliteStore,
    machine: MachineId,
}

impl SqliteStore {
    /// This memory, to be copied. A file names no machine: what is kept by machine is that of `machine`.
    pub fn copy_source(&self, machine: MachineId) -> SqliteSource<'_> {
        SqliteSource { store: self, machine }
    }
}

impl Source for SqliteSource<'_> {
    fn snapshot(&self, work: &mut dyn FnMut(&dyn Snapshot)) -> Stored<()> {
        self.store.bookkeeper.flush();
        let growth = Growth::begin(self.store.pool.files().log.clone(), Bounds::USUAL.noting);
        self.store.snapshot(
            |connection| {
                work(&Tables { connection, machine: &self.machine, growth: Some(&growth) });
                Ok(())
            },
            READING,
        )
    }
}

/// The tables of an open database.
struct Tables<'c> {
    connection: &'c Connection,
    machine: &'c MachineId,
    /// Where the state that is read may be held for long.
    growth: Option<&'c Growth>,
}

impl Snapshot for Tables<'_> {
    fn mark(&self) -> Stored<String> {
        let identity = identity::read(self.connection).map_err(while_doing(READING))?;
        Ok(format!("sqlite {} {} {}", identity.id, identity.restored_at, identity.writes))
    }
}

impl Rows for Tables<'_> {
    fn count(&self, table: &Table) -> Stored<u64> {
        let Some(from) = from(table) else { return Ok(0) };
        let sql = format!("SELECT count(*) FROM {from}");
        self.connection.query_row(&sql, [], |row| row.get(0)).map_err(while_doing(READING))
    }

    fn each(&self, table: &Table, each: &mut dyn FnMut(Row) -> Stored<()>) -> Stored<()> {
        let Some(from) = from(table) else { return Ok(()) };
        let reading = while_doing(READING);
        let columns: Vec<String> = table.columns.iter().map(|column| format!("\"{}\"", name(table, column))).collect();
        let order: Vec<String> =
            table.key_columns().iter().map(|column| format!("\"{}\"", name(table, column))).collect();
        let order = if is_packed(table) { "key".to_owned() } else { order.join(", ") };
        let sql = format!("SELECT {} FROM {from} ORDER BY {order}", columns.join(", "));
        let mut statement = self.connection.prepare(&sql).map_err(&reading)?;
        let mut rows = statement.query([]).map_err(&reading)?;
        let mut count = 0_u64;
        while let Some(row) = rows.next().map_err(&reading)? {
            each(self.read(table, row).map_err(&reading)?)?;
            count += 1;
            if let Some(growth) = self.growth.filter(|_| count.is_multiple_of(CHECKED)) {
                growth.check("copy the memory")?;
            }
        }
        Ok(())
    }
}

impl Tables<'_> {
    fn read(&self, table: &Table, row: &SqlRow<'_>) -> rusqlite::Result<Row> {
        let cell = |(nth, column): (usize, &Column)| {
            let cell = cell(column.kind, row.get_ref(nth)?)?;
            // The file names no machine: it is this one.
            Ok(match cell {
                Cell::Text(machine) if column.name == MACHINE && machine.is_empty() => {
                    Cell::Text(self.machine.as_str().to_owned())
                }
                other => other,
            })
        };
        table.columns.iter().enumerate().map(cell).collect()
    }
}

const MACHINE: &str = "machine";

/// Where the rows of a table are; nothing where documents are files.
fn from(table: &Table) -> Option<String> {
    let packed = |bits: u32, item: &str, others: &str| {
        let mask = (1_i64 << bits) - 1;
        format!("(SELECT key, key >> {bits} AS vector_set, key & {mask} AS {item}, {others} FROM {})", table.name)
    };
    Some(match table.name {
        "document_texts" => return None,
        "memory" => "(SELECT 1 AS one, erasures, endings, vault, \
                       max((SELECT ifnull(max(row), 0) FROM turns), (SELECT highest FROM erased_turns)) AS last_turn, \
                       (SELECT secret FROM withdrawn_key) AS secret FROM revisions)"
            .to_owned(),
        "withdrawn" => "(SELECT w.*, (SELECT json_group_array(turn) FROM (SELECT turn FROM withdrawn_turns t \
                          WHERE t.withdrawn = w.row ORDER BY turn)) AS turns FROM withdrawn w)"
            .to_owned(),
        "memory_vector_blocks" => packed(36, "block", "present, bits"),
        "memory_vectors" => packed(42, "item", "scale, bytes"),
        "memory_vector_refusals" => packed(42, "item", "why"),
        other => other.to_owned(),
    })
}

/// Whether the key of a table is one integer here.
fn is_packed(table: &Table) -> bool {
    matches!(table.name, "memory_vector_blocks" | "memory_vectors" | "memory_vector_refusals")
}

/// What a column is called here.
fn name(table: &Table, column: &Column) -> &'static str {
    match (table.name, column.name) {
        (_, "number") => "row",
        ("vector_bytes" | "vector_refusals", "item") => "chunk",
        (_, other) => other,
    }
}

fn cell(kind: Kind, value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    Ok(match (kind, value) {
        // What replaced nothing has no list.
        (Kind::Texts, ValueRef::Null) => Cell::Texts(Vec::new()),
        (_, ValueRef::Null) => Cell::Null,
        (Kind::Texts, value) => Cell::Texts(from_json(value.as_str()?)?),
        (Kind::Text, value) => Cell::Text(value.as_str()?.to_owned()),
        (Kind::Flag, value) => Cell::Flag(value.as_i64()? != 0),
        (Kind::Int, value) => Cell::Int(value.as_i64()?),
        (Kind::Real, value) => Cell::Real(value.as_f64()?),
        (Kind::Bytes, value) => Cell::Bytes(value.as_blob()?.to_vec()),
    })
}

fn value(column: &Column, cell: &Cell, machine: &MachineId) -> rusqlite::Result<Value> {
    Ok(match cell {
        Cell::Null => Value::Null,
        Cell::Int(number) => Value::Integer(*number),
        Cell::Real(number) => Value::Real(*number),
        Cell::Flag(flag) => Value::Integer(i64::from(*flag)),
        Cell::Text(name) if column.name == MACHINE && name == machine.as_str() => Value::Text(String::new()),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Bytes(bytes) => Value::Blob(bytes.clone()),
        Cell::Texts(texts) if texts.is_empty() && column.name == "supersedes" => Value::Null,
        Cell::Texts(texts) => Value::Text(to_json(texts)?),
    })
}

/// Writes a row.
fn insert(connection: &Connection, table: &Table, row: &Row, machine: &MachineId) -> rusqlite::Result<()> {
    let number = |nth: usize| match row.get(nth) {
        Some(Cell::Int(number)) => Ok(*number),
        _ => Err(unreadable(StoreError::Damaged { source: None })),
    };
    if table.name == "memory" {
        return put_memory(connection, row);
    }
    let mut names = Vec::new();
    let mut values = Vec::new();
    if is_packed(table) {
        let bits = if table.name == "memory_vector_blocks" { 36 } else { 42 };
        names.push("\"key\"".to_owned());
        values.push(Value::Integer((number(0)? << bits) + number(1)?));
    }
    for (column, cell) in table.columns.iter().zip(row).skip(if is_packed(table) { 2 } else { 0 }) {
        if (table.name, column.name) != ("withdrawn", "turns") {
            names.push(format!("\"{}\"", name(table, column)));
            values.push(value(column, cell, machine)?);
        }
    }
    let places = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, names.join(", "));
    connection.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(values))?;
    if table.name == "withdrawn" { put_turns(connection, number(0)?, row.last()) } else { Ok(()) }
}

fn put_memory(connection: &Connection, row: &Row) -> rusqlite::Result<()> {
    let values: Vec<Value> = row
        .iter()
        .map(|cell| value(&Column { name: "", kind: Kind::Int }, cell, &MachineId::new("")))
        .collect::<Result<_, _>>()?;
    let [_, erasures, endings, vault, last_turn, secret] = values.as_slice() else {
        return Err(unreadable(StoreError::Damaged { source: None }));
    };
    connection.execute("UPDATE revisions SET erasures = ?, endings = ?, vault = ?", [erasures, endings, vault])?;
    connection.execute("UPDATE erased_turns SET highest = ?", [last_turn])?;
    connection.execute("UPDATE withdrawn_key SET secret = ?", [secret]).map(drop)
}

/// The turns that a statement which was taken back came from.
fn put_turns(connection: &Connection, number: i64, turns: Option<&Cell>) -> rusqlite::Result<()> {
    let Some(Cell::Texts(turns)) = turns else { return Ok(()) };
    let mut insert = connection.prepare_cached("INSERT INTO withdrawn_turns (turn, withdrawn) VALUES (?, ?)")?;
    turns.iter().try_for_each(|turn| insert.execute((turn, number)).map(drop))
}
