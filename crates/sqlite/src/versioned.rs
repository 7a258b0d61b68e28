//! Tasks, threads and projects are stored alike: a row in `tasks`, `threads` or `projects`, and one in `task_versions`,
//! `thread_versions` or `project_versions` for each change. [`Versioned`] says what differs. Written by compare-and-swap.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use throughline_core::model::{Change, MachineId};
use throughline_core::ports::StoreError;

use crate::Stored;
use crate::changes::ChangeWriter;
use crate::error::while_doing;
use crate::rows::{self, CHANGE_COLUMNS, to_json};

/// What is kept in a table, with every version in a second one. The tables are named after [`WHAT`](Self::WHAT).
pub(crate) trait Versioned: Clone + Serialize + DeserializeOwned {
    /// `task`, `thread` or `project`: its word in `adopted`, and how its tables begin.
    const WHAT: &'static str;
    /// The column that names it.
    const KEY: &'static str;
    /// Its columns: the name first, the version second, the others as [`read`](Self::read) reads them.
    const COLUMNS: &'static str;

    /// Reads [`COLUMNS`](Self::COLUMNS).
    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;
    /// What goes into [`COLUMNS`](Self::COLUMNS).
    fn values(&self) -> Vec<Value>;
    /// Its name.
    fn key(&self) -> &str;
    /// Its version.
    fn version(&self) -> u32;
    /// The same at another version.
    fn at_version(&self, version: u32) -> Self;
    /// Whether it was taken away, and is kept only for audit.
    fn is_gone(&self) -> bool;
    /// Writes what stands in other tables; its own row is written.
    fn write_rest(&self, connection: &Connection, machine: &MachineId) -> rusqlite::Result<()>;
    /// Reads what is true on this machine only.
    fn read_local(&mut self, connection: &Connection, machine: &MachineId) -> rusqlite::Result<()>;
}

impl ChangeWriter<'_> {
    /// Writes the next version, if this one is still the newest; version 0 is new, and must not be there yet.
    pub(crate) fn versioned<T: Versioned>(&mut self, thing: &T) -> Stored<()> {
        let next = thing.at_version(thing.version().saturating_add(1));
        let writing = while_doing("store a task, thread or project");
        let written = match thing.version() {
            0 => insert(self.transaction, self.machine, &next),
            _ => update(self.transaction, self.machine, &next),
        };
        if !written.map_err(&writing)? {
            return Err(StoreError::Conflict { what: thing.key().to_owned() });
        }
        let kept = self.change_row().and_then(|change| keep_version(self.transaction, self.machine, &next, change));
        if kept.map_err(while_doing("keep a version of a task, thread or project"))? {
            Ok(())
        } else {
            Err(StoreError::Conflict { what: thing.key().to_owned() })
        }
    }
}

/// Every one, in an order.
pub(crate) fn all<T: Versioned>(connection: &Connection, machine: &MachineId, order: &str) -> rusqlite::Result<Vec<T>> {
    let sql = format!("SELECT {} FROM {}s ORDER BY {order}", T::COLUMNS, T::WHAT);
    let found = connection.prepare_cached(&sql)?.query_map([], T::read)?.collect::<rusqlite::Result<Vec<T>>>()?;
    found.into_iter().map(|thing| local(thing, connection, machine)).collect()
}

pub(crate) fn one<T: Versioned>(
    connection: &Connection,
    machine: &MachineId,
    key: &str,
) -> rusqlite::Result<Option<T>> {
    let sql = format!("SELECT {} FROM {}s WHERE {} = ?", T::COLUMNS, T::WHAT, T::KEY);
    let found = connection.prepare_cached(&sql)?.query_row([key], T::read).optional()?;
    found.map(|thing| local(thing, connection, machine)).transpose()
}

/// As it is on this machine.
fn local<T: Versioned>(mut thing: T, connection: &Connection, machine: &MachineId) -> rusqlite::Result<T> {
    thing.read_local(connection, machine)?;
    Ok(thing)
}

/// Writes a new one; says whether its name was free.
pub(crate) fn insert<T: Versioned>(connection: &Connection, machine: &MachineId, thing: &T) -> rusqlite::Result<bool> {
    let values = thing.values();
    let places = vec!["?"; values.len()].join(", ");
    let sql = format!("INSERT INTO {}s ({}) VALUES ({places}) ON CONFLICT DO NOTHING", T::WHAT, T::COLUMNS);
    let is_new = connection.prepare_cached(&sql)?.execute(params_from_iter(values))? == 1;
    if is_new {
        thing.write_rest(connection, machine)?;
    }
    Ok(is_new)
}

/// Replaces the one of this name that is still at the version before; says whether there is one.
pub(crate) fn update<T: Versioned>(connection: &Connection, machine: &MachineId, next: &T) -> rusqlite::Result<bool> {
    let values = next.values();
    let places: Vec<String> = (1..=values.len()).map(|nth| format!("?{nth}")).collect();
    let sql = format!(
        "UPDATE {}s SET ({}) = ({}) WHERE {} = ?1 AND version = ?2 - 1",
        T::WHAT,
        T::COLUMNS,
        places.join(", "),
        T::KEY
    );
    let is_there = connection.prepare_cached(&sql)?.execute(params_from_iter(values))? == 1;
    if is_there {
        next.write_rest(connection, machine)?;
    }
    Ok(is_there)
}

/// Keeps a version under a change; one that is there already stays. Says whether it is new.
pub(crate) fn keep_version<T: Versioned>(
    connection: &Connection,
    machine: &MachineId,
    thing: &T,
    change: i64,
) -> rusqlite::Result<bool> {
    let sql = format!(
        "INSERT INTO {0}_versions ({0}, version, change, state, machine) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        T::WHAT
    );
    let values = params![thing.key(), thing.version(), change, to_json(thing)?, machine.as_str()];
    Ok(connection.prepare_cached(&sql)?.execute(values)? == 1)
}

/// A version as it was kept: its state, and the machine that wrote it.
type Kept = (String, String);

/// A version as this machine sees it: what is true on one machine only is as it is here now, unless it was written here.
fn version<T: Versioned>((state, by): Kept, connection: &Connection, machine: &MachineId) -> rusqlite::Result<T> {
    let thing: T = rows::from_json(&state)?;
    if by == machine.as_str() { Ok(thing) } else { local(thing, connection, machine) }
}

/// The versions of one, or of all, oldest first, each with the change that made it.
pub(crate) fn versions<T: Versioned>(
    connection: &Connection,
    machine: &MachineId,
    key: Option<&str>,
) -> rusqlite::Result<Vec<(T, Change)>> {
    let only = key.map(|_| format!("WHERE v.{} = ?", T::WHAT)).unwrap_or_default();
    let sql = format!(
        "SELECT v.state, v.machine, {CHANGE_COLUMNS} FROM {0}_versions v JOIN changes c ON c.row = v.change {only} \
         ORDER BY v.{0}, v.version",
        T::WHAT
    );
    let kept = |row: &Row<'_>| Ok(((row.get(0)?, row.get(1)?), rows::change(row, 2)?));
    let mut statement = connection.prepare_cached(&sql)?;
    let found: Vec<(Kept, Change)> =
        statement.query_map(params_from_iter(key), kept)?.collect::<rusqlite::Result<_>>()?;
    found.into_iter().map(|(kept, change)| Ok((version(kept, connection, machine)?, change))).collect()
}

/// Each one that a change touched: as it is now, and as it was before the first touch. What the change adopted was not
/// there before, whatever happened to it elsewhere.
pub(crate) fn touched<T: Versioned>(
    connection: &Connection,
    machine: &MachineId,
    change: i64,
) -> rusqlite::Result<Vec<(T, Option<T>)>> {
    let sql = format!(
        "SELECT t.{key}, p.state, p.machine FROM {what}s t LEFT JOIN {what}_versions p ON p.{what} = t.{key} \
           AND p.version = (SELECT min(v.version) - 1 FROM {what}_versions v WHERE v.{what} = t.{key} AND v.change = ?1) \
           AND NOT EXISTS (SELECT 1 FROM adopted WHERE change = ?1 AND what = '{what}' AND id = t.{key}) \
         WHERE t.{key} IN (SELECT {what} FROM {what}_versions WHERE change = ?1 \
           UNION SELECT id FROM adopted WHERE change = ?1 AND what = '{what}') ORDER BY t.row",
        what = T::WHAT,
        key = T::KEY
    );
    let kept = |row: &Row<'_>| {
        let before: Option<String> = row.get(1)?;
        let machine: Option<String> = row.get(2)?;
        Ok((row.get(0)?, before.zip(machine)))
    };
    let found: Vec<(String, Option<Kept>)> =
        connection.prepare(&sql)?.query_map([change], kept)?.collect::<rusqlite::Result<_>>()?;
    let mut touched = Vec::with_capacity(found.len());
    for (key, before) in found {
        let before = before.map(|kept| version(kept, connection, machine)).transpose()?;
        touched.extend(one(connection, machine, &key)?.map(|now| (now, before)));
    }
    Ok(touched)
}
