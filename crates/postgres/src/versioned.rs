//! Tasks, threads and projects are stored alike: a row in `tasks`, `threads` or `projects`, and one in `task_versions`,
//! `thread_versions` or `project_versions` for each change. [`Versioned`] says what differs. Written by compare-and-swap.

use serde::Serialize;
use serde::de::DeserializeOwned;
use throughline_core::model::{Change, MachineId};
use throughline_core::ports::StoreError;

use crate::changes::ChangeWriter;
use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, CHANGE_COLUMNS};
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, Value, from_json, to_json, values};

/// What is kept in a table, with every version in a second one. The tables are named after [`WHAT`](Self::WHAT).
pub(crate) trait Versioned: Clone + Serialize + DeserializeOwned {
    /// `task`, `thread` or `project`: its word in `adopted`, and how its tables begin.
    const WHAT: &'static str;
    /// The column that names it.
    const KEY: &'static str;
    /// Its columns: the name first, the version second, the others as [`read`](Self::read) reads them.
    const COLUMNS: &'static str;

    /// Reads [`COLUMNS`](Self::COLUMNS).
    fn read(row: &Row) -> Sql<Self>;
    /// What goes into [`COLUMNS`](Self::COLUMNS).
    fn bound(&self) -> Vec<Value<'_>>;
    /// Its name.
    fn key(&self) -> &str;
    /// Its version.
    fn version(&self) -> u32;
    /// The same at another version.
    fn at_version(&self, version: u32) -> Self;
    /// Whether it was taken away, and is kept only for audit.
    fn is_gone(&self) -> bool;
    /// Writes what stands in other tables; its own row is written.
    fn write_rest(&self, transaction: &Transaction<'_>, machine: &MachineId) -> Sql<()>;
    /// Reads what is true of each on this machine only.
    fn read_local(things: &mut [Self], connection: &Connection, machine: &MachineId) -> Sql<()>;
}

impl ChangeWriter<'_> {
    /// Writes the next version, if this one is still the newest; version 0 is new, and must not be there yet.
    pub(crate) fn versioned<T: Versioned>(&mut self, thing: &T) -> Sql<()> {
        let next = thing.at_version(thing.version().saturating_add(1));
        let is_written = match thing.version() {
            0 => insert(self.transaction, self.machine, &next)?,
            _ => update(self.transaction, self.machine, &next)?,
        };
        let conflict = || StoreError::Conflict { what: thing.key().to_owned() };
        if !is_written {
            return Err(conflict().into());
        }
        let change = self.change_number()?;
        let is_kept = keep_version(self.transaction, self.machine, &next, change)?;
        if is_kept { Ok(()) } else { Err(conflict().into()) }
    }
}

/// Every one, in an order.
pub(crate) fn all<T: Versioned>(connection: &Connection, machine: &MachineId, order: &str) -> Sql<Vec<T>> {
    let sql = format!("SELECT {} FROM {}s WHERE space = $1 ORDER BY {order}", T::COLUMNS, T::WHAT);
    let mut found = connection.all(&sql, &[], T::read)?;
    T::read_local(&mut found, connection, machine)?;
    Ok(found)
}

pub(crate) fn one<T: Versioned>(connection: &Connection, machine: &MachineId, key: &str) -> Sql<Option<T>> {
    let sql = format!("SELECT {} FROM {}s WHERE space = $1 AND {} = $2", T::COLUMNS, T::WHAT, T::KEY);
    let found = connection.maybe(&sql, &values![key])?.as_ref().map(T::read).transpose()?;
    found.map(|thing| local(thing, connection, machine)).transpose()
}

/// As it is on this machine.
fn local<T: Versioned>(mut thing: T, connection: &Connection, machine: &MachineId) -> Sql<T> {
    T::read_local(std::slice::from_mut(&mut thing), connection, machine)?;
    Ok(thing)
}

/// `$2`, `$3` and so on.
fn places(count: usize) -> String {
    (2..count + 2).map(|nth| format!("${nth}")).collect::<Vec<_>>().join(", ")
}

/// Writes a new one; says whether its name was free.
pub(crate) fn insert<T: Versioned>(transaction: &Transaction<'_>, machine: &MachineId, thing: &T) -> Sql<bool> {
    let mut bound = thing.bound();
    let sql = format!(
        "INSERT INTO {}s (space, {}, number) VALUES ($1, {}) ON CONFLICT DO NOTHING",
        T::WHAT,
        T::COLUMNS,
        places(bound.len() + 1)
    );
    bound.push(transaction.next(Counter::Row).into());
    let is_new = transaction.execute(&sql, &bound)? == 1;
    if is_new {
        thing.write_rest(transaction, machine)?;
    }
    Ok(is_new)
}

/// Replaces the one of this name that is still at the version before; says whether there is one.
pub(crate) fn update<T: Versioned>(transaction: &Transaction<'_>, machine: &MachineId, next: &T) -> Sql<bool> {
    let bound = next.bound();
    let sql = format!(
        "UPDATE {}s SET ({}) = ({}) WHERE space = $1 AND {} = $2 AND version = $3::bigint - 1",
        T::WHAT,
        T::COLUMNS,
        places(bound.len()),
        T::KEY
    );
    let is_there = transaction.execute(&sql, &bound)? == 1;
    if is_there {
        next.write_rest(transaction, machine)?;
    }
    Ok(is_there)
}

/// Keeps a version under a change; one that is there already stays. Says whether it is new.
pub(crate) fn keep_version<T: Versioned>(
    transaction: &Transaction<'_>,
    machine: &MachineId,
    thing: &T,
    change: i64,
) -> Sql<bool> {
    let sql = format!(
        "INSERT INTO {0}_versions (space, number, {0}, version, change, state, machine) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        T::WHAT
    );
    let number = transaction.next(Counter::Row);
    let bound = values![number, thing.key(), thing.version(), change, to_json(thing)?, machine.as_str()];
    Ok(transaction.execute(&sql, &bound)? == 1)
}

/// A version as it was kept: its state, and the machine that wrote it.
type Kept = (String, String);

/// A version as this machine sees it: what is true on one machine only is as it is here now, unless it was written here.
fn version<T: Versioned>((state, by): &Kept, connection: &Connection, machine: &MachineId) -> Sql<T> {
    let thing: T = from_json(state)?;
    if by == machine.as_str() { Ok(thing) } else { local(thing, connection, machine) }
}

/// The versions of one, or of all, oldest first, each with the change that made it.
pub(crate) fn versions<T: Versioned>(
    connection: &Connection,
    machine: &MachineId,
    key: Option<&str>,
) -> Sql<Vec<(T, Change)>> {
    let sql = format!(
        "SELECT v.state, v.machine, {CHANGE_COLUMNS} FROM {0}_versions v \
         JOIN changes c ON c.space = v.space AND c.number = v.change \
         WHERE v.space = $1 AND ($2::text IS NULL OR v.{0} = $2) ORDER BY v.{0}, v.version",
        T::WHAT
    );
    let found = connection.all(&sql, &values![key], |row| Ok(((row.text(0)?, row.text(1)?), rows::change(row, 2)?)))?;
    found.into_iter().map(|(kept, change)| Ok((version(&kept, connection, machine)?, change))).collect()
}

/// Each one that a change touched: as it is now, and as it was before the first touch. What the change adopted was not
/// there before, whatever happened to it elsewhere.
pub(crate) fn touched<T: Versioned>(
    connection: &Connection,
    machine: &MachineId,
    change: i64,
) -> Sql<Vec<(T, Option<T>)>> {
    let sql = format!(
        "SELECT t.{key}, p.state, p.machine FROM {what}s t LEFT JOIN {what}_versions p ON p.space = $1 AND p.{what} = t.{key} \
           AND p.version = (SELECT min(v.version) - 1 FROM {what}_versions v \
                            WHERE v.space = $1 AND v.{what} = t.{key} AND v.change = $2) \
           AND NOT EXISTS (SELECT 1 FROM adopted WHERE space = $1 AND change = $2 AND what = '{what}' AND id = t.{key}) \
         WHERE t.space = $1 AND t.{key} IN (SELECT {what} FROM {what}_versions WHERE space = $1 AND change = $2 \
           UNION SELECT id FROM adopted WHERE space = $1 AND change = $2 AND what = '{what}') ORDER BY t.number",
        what = T::WHAT,
        key = T::KEY
    );
    let found =
        connection.all(&sql, &values![change], |row| Ok((row.text(0)?, row.maybe_text(1)?.zip(row.maybe_text(2)?))))?;
    let mut touched = Vec::with_capacity(found.len());
    for (key, before) in found {
        let before = before.map(|kept| version(&kept, connection, machine)).transpose()?;
        touched.extend(one(connection, machine, &key)?.map(|now| (now, before)));
    }
    Ok(touched)
}
