//! Tasks and projects are stored alike: a row in `tasks` or `projects`, and one in `task_versions` or
//! `project_versions` for each change. [`Versioned`] says what differs. Written by compare-and-swap.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use throughline_core::model::Change;
use throughline_core::ports::StoreError;

use crate::Stored;
use crate::changes::ChangeWriter;
use crate::error::while_doing;
use crate::rows::{self, CHANGE_COLUMNS, to_json};

/// What is kept in a table, with every version in a second one. The tables are named after [`WHAT`](Self::WHAT).
pub(crate) trait Versioned: Clone + Serialize + DeserializeOwned {
    /// `task` or `project`: its word in `adopted`, and how its tables begin.
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
    /// Writes what is derived from it; it is written itself.
    fn index(&self, connection: &Connection) -> rusqlite::Result<()>;
}

impl ChangeWriter<'_> {
    /// Writes the next version, if this one is still the newest; version 0 is new, and must not be there yet.
    pub(crate) fn versioned<T: Versioned>(&mut self, thing: &T) -> Stored<()> {
        let next = thing.at_version(thing.version().saturating_add(1));
        let writing = while_doing("store a task or project");
        let written = match thing.version() {
            0 => insert(self.transaction, &next),
            _ => update(self.transaction, &next),
        };
        if !written.map_err(&writing)? {
            return Err(StoreError::Conflict { what: thing.key().to_owned() });
        }
        let kept = self.change_row().and_then(|change| keep_version(self.transaction, &next, change));
        if kept.map_err(while_doing("keep a version of a task or project"))? {
            Ok(())
        } else {
            Err(StoreError::Conflict { what: thing.key().to_owned() })
        }
    }
}

/// Every one, in an order.
pub(crate) fn all<T: Versioned>(connection: &Connection, order: &str) -> rusqlite::Result<Vec<T>> {
    let sql = format!("SELECT {} FROM {}s ORDER BY {order}", T::COLUMNS, T::WHAT);
    connection.prepare_cached(&sql)?.query_map([], T::read)?.collect()
}

pub(crate) fn one<T: Versioned>(connection: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    let sql = format!("SELECT {} FROM {}s WHERE {} = ?", T::COLUMNS, T::WHAT, T::KEY);
    connection.prepare_cached(&sql)?.query_row([key], T::read).optional()
}

/// Writes a new one; says whether its name was free.
pub(crate) fn insert<T: Versioned>(connection: &Connection, thing: &T) -> rusqlite::Result<bool> {
    let values = thing.values();
    let places = vec!["?"; values.len()].join(", ");
    let sql = format!("INSERT INTO {}s ({}) VALUES ({places}) ON CONFLICT DO NOTHING", T::WHAT, T::COLUMNS);
    let is_new = connection.prepare_cached(&sql)?.execute(params_from_iter(values))? == 1;
    if is_new {
        thing.index(connection)?;
    }
    Ok(is_new)
}

/// Replaces the one of this name that is still at the version before; says whether there is one.
pub(crate) fn update<T: Versioned>(connection: &Connection, next: &T) -> rusqlite::Result<bool> {
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
        next.index(connection)?;
    }
    Ok(is_there)
}

/// Keeps a version under a change; one that is there already stays. Says whether it is new.
pub(crate) fn keep_version<T: Versioned>(connection: &Connection, thing: &T, change: i64) -> rusqlite::Result<bool> {
    let sql = format!(
        "INSERT INTO {0}_versions ({0}, version, change, state) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        T::WHAT
    );
    let values = params![thing.key(), thing.version(), change, to_json(thing)?];
    Ok(connection.prepare_cached(&sql)?.execute(values)? == 1)
}

/// The versions of one, or of all, oldest first, each with the change that made it.
pub(crate) fn versions<T: Versioned>(connection: &Connection, key: Option<&str>) -> rusqlite::Result<Vec<(T, Change)>> {
    let only = key.map(|_| format!("WHERE v.{} = ?", T::WHAT)).unwrap_or_default();
    let sql = format!(
        "SELECT v.state, {CHANGE_COLUMNS} FROM {0}_versions v JOIN changes c ON c.row = v.change {only} \
         ORDER BY v.{0}, v.version",
        T::WHAT
    );
    let version = |row: &Row<'_>| Ok((rows::json(row, 0)?, rows::change(row, 1)?));
    connection.prepare_cached(&sql)?.query_map(params_from_iter(key), version)?.collect()
}

/// Each one that a change touched: as it is now, and as it was before the first touch. What the change adopted was not
/// there before, whatever happened to it elsewhere.
pub(crate) fn touched<T: Versioned>(connection: &Connection, change: i64) -> rusqlite::Result<Vec<(T, Option<T>)>> {
    let sql = format!(
        "SELECT {columns}, (SELECT p.state FROM {what}_versions p WHERE p.{what} = {key} AND p.version = \
             (SELECT min(v.version) - 1 FROM {what}_versions v WHERE v.{what} = {key} AND v.change = ?1) \
           AND NOT EXISTS (SELECT 1 FROM adopted WHERE change = ?1 AND what = '{what}' AND id = {key})) \
         FROM {what}s t WHERE {key} IN (SELECT {what} FROM {what}_versions WHERE change = ?1 \
           UNION SELECT id FROM adopted WHERE change = ?1 AND what = '{what}') ORDER BY t.row",
        columns = T::COLUMNS,
        what = T::WHAT,
        key = format_args!("t.{}", T::KEY)
    );
    let width = T::COLUMNS.split(',').count();
    let touched = |row: &Row<'_>| {
        let before = row.get_ref(width)?.as_str_or_null()?.map(rows::from_json).transpose()?;
        Ok((T::read(row)?, before))
    };
    connection.prepare(&sql)?.query_map([change], touched)?.collect()
}
