//! Tasks and projects: read, written by compare-and-swap, and kept in every version.
//!
//! Both are stored alike: a row in `tasks` or `projects` and one in `task_versions` or `project_versions` for each
//! change. [`Versioned`] says what differs.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use throughline_core::model::{
    Change, EntryId, Name, Project, ProjectVersion, Status, Task, TaskId, TaskStatus, TaskVersion,
};
use throughline_core::ports::{StoreError, Work};

use crate::entries::ChangeWriter;
use crate::error::while_doing;
use crate::rows::{self, CHANGE_COLUMNS, parsed, time, to_json};
use crate::{SqliteStore, Stored};

impl Work for SqliteStore {
    fn tasks(&self) -> Stored<Vec<Task>> {
        self.read(|connection| all(connection, "updated_at DESC, row DESC"), "list tasks")
    }

    fn done_tasks(&self, limit: usize) -> Stored<Vec<Task>> {
        let sql = format!(
            "SELECT {} FROM tasks WHERE archive IS NOT NULL AND status = 'done' ORDER BY done_at DESC LIMIT ?",
            Task::COLUMNS
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_map([limit], Task::read)?.collect(),
            "list tasks that were done",
        )
    }

    fn task(&self, id: &TaskId) -> Stored<Option<Task>> {
        self.read(|connection| one(connection, id.as_str()), "read a task")
    }

    fn task_versions(&self, id: &TaskId) -> Stored<Vec<TaskVersion>> {
        self.read(|connection| task_versions(connection, Some(id)), "read a task's history")
    }

    fn projects(&self) -> Stored<Vec<Project>> {
        self.read(|connection| all(connection, "name"), "list projects")
    }

    fn project(&self, name: &Name) -> Stored<Option<Project>> {
        self.read(|connection| one(connection, name.as_str()), "read a project")
    }
}

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
}

impl Versioned for Task {
    const WHAT: &'static str = "task";
    const KEY: &'static str = "id";
    const COLUMNS: &'static str =
        "id, version, title, status, state, project, created_at, updated_at, done_at, archive";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: TaskId::new(row.get::<_, String>(0)?),
            version: row.get(1)?,
            title: row.get(2)?,
            status: parsed(row, 3)?,
            state: row.get(4)?,
            project: row.get(5)?,
            created_at: time(row.get(6)?)?,
            updated_at: time(row.get(7)?)?,
            done_at: row.get::<_, Option<i64>>(8)?.map(time).transpose()?,
            archive: row.get::<_, Option<String>>(9)?.map(EntryId::new),
        })
    }

    fn values(&self) -> Vec<Value> {
        vec![
            self.id.to_string().into(),
            self.version.into(),
            self.title.clone().into(),
            self.status.as_str().to_owned().into(),
            self.state.clone().into(),
            self.project.clone().into(),
            self.created_at.as_millisecond().into(),
            self.updated_at.as_millisecond().into(),
            self.done_at.map(Timestamp::as_millisecond).into(),
            self.archive.as_ref().map(EntryId::to_string).into(),
        ]
    }

    fn key(&self) -> &str {
        self.id.as_str()
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn at_version(&self, version: u32) -> Self {
        Self { version, ..self.clone() }
    }

    fn is_gone(&self) -> bool {
        self.status == TaskStatus::Removed
    }
}

impl Versioned for Project {
    const WHAT: &'static str = "project";
    const KEY: &'static str = "name";
    const COLUMNS: &'static str = "name, version, dir, status, created_at, updated_at";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: parsed(row, 0)?,
            version: row.get(1)?,
            dir: row.get(2)?,
            status: parsed(row, 3)?,
            created_at: time(row.get(4)?)?,
            updated_at: time(row.get(5)?)?,
        })
    }

    fn values(&self) -> Vec<Value> {
        vec![
            self.name.to_string().into(),
            self.version.into(),
            self.dir.clone().into(),
            self.status.as_str().to_owned().into(),
            self.created_at.as_millisecond().into(),
            self.updated_at.as_millisecond().into(),
        ]
    }

    fn key(&self) -> &str {
        self.name.as_str()
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn at_version(&self, version: u32) -> Self {
        Self { version, ..self.clone() }
    }

    fn is_gone(&self) -> bool {
        self.status == Status::Inactive
    }
}

impl ChangeWriter<'_> {
    /// Writes the next version, if this one is still the newest; version 0 is new, and must not be there yet.
    pub(crate) fn work<T: Versioned>(&mut self, thing: &T) -> Stored<()> {
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
    Ok(connection.prepare_cached(&sql)?.execute(params_from_iter(values))? == 1)
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
    Ok(connection.prepare_cached(&sql)?.execute(params_from_iter(values))? == 1)
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

/// The versions of one task, or of all, oldest first.
pub(crate) fn task_versions(connection: &Connection, id: Option<&TaskId>) -> rusqlite::Result<Vec<TaskVersion>> {
    let versions = versions(connection, id.map(TaskId::as_str))?;
    Ok(versions.into_iter().map(|(task, change)| TaskVersion { task, change }).collect())
}

/// The versions of all projects, oldest first.
pub(crate) fn project_versions(connection: &Connection) -> rusqlite::Result<Vec<ProjectVersion>> {
    let versions = versions(connection, None)?;
    Ok(versions.into_iter().map(|(project, change)| ProjectVersion { project, change }).collect())
}

fn versions<T: Versioned>(connection: &Connection, key: Option<&str>) -> rusqlite::Result<Vec<(T, Change)>> {
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
