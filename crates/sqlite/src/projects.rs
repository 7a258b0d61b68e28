//! Projects.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{EntryId, MachineId, Name, Project, ProjectVersion, Status};
use throughline_core::ports::{ProjectRoot, Projects, StoreError};

use crate::error::{is_taken, while_doing};
use crate::rows::{parsed, time};
use crate::versioned::{self, Versioned, all, one};
use crate::{SqliteStore, Stored};

impl Projects for SqliteStore {
    fn projects(&self) -> Stored<Vec<Project>> {
        self.read(|connection| all(connection, &self.machine, "name"), "list projects")
    }

    fn project(&self, name: &Name) -> Stored<Option<Project>> {
        self.read(|connection| one(connection, &self.machine, name.as_str()), "read a project")
    }

    fn project_names(&self) -> Stored<Vec<String>> {
        // Of many entries, each name is one look into the index.
        let sql = "WITH RECURSIVE linked (project) AS ( \
                     SELECT min(project) FROM entries WHERE project IS NOT NULL UNION ALL \
                     SELECT (SELECT min(e.project) FROM entries e WHERE e.project > linked.project) FROM linked \
                     WHERE linked.project IS NOT NULL) \
                   SELECT project FROM linked WHERE project IS NOT NULL UNION SELECT name FROM projects \
                   UNION SELECT project FROM project_roots WHERE machine = ? \
                   UNION SELECT project FROM sessions WHERE project IS NOT NULL ORDER BY 1";
        self.read(
            |connection| {
                connection.prepare_cached(sql)?.query_map([self.machine.as_str()], |row| row.get(0))?.collect()
            },
            "list the names of projects",
        )
    }

    fn roots(&self) -> Stored<Vec<ProjectRoot>> {
        let sql = "SELECT project, dir FROM project_roots WHERE machine = ? ORDER BY project";
        let root = |row: &Row<'_>| Ok(ProjectRoot { name: parsed(row, 0)?, dir: row.get(1)? });
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([self.machine.as_str()], root)?.collect(),
            "list the directories of projects",
        )
    }

    fn name_root(&self, root: &ProjectRoot) -> Stored<()> {
        let sql = "INSERT INTO project_roots (machine, dir, project) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (machine, dir) DO UPDATE SET project = ?3";
        self.write("name a project", |transaction| {
            let values = params![self.machine.as_str(), root.dir, root.name.as_str()];
            match transaction.execute(sql, values) {
                Err(error) if is_taken(&error) => Err(StoreError::Conflict { what: root.name.to_string() }),
                outcome => outcome.map(drop).map_err(while_doing("name a project")),
            }
        })
    }

    fn accepted_lines(&self, project: &Name) -> Stored<HashSet<EntryId>> {
        let sql = "SELECT line FROM accepted_lines WHERE project = ?";
        let line = |row: &Row<'_>| Ok(EntryId::new(row.get::<_, String>(0)?));
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([project.as_str()], line)?.collect(),
            "read which lines are accepted",
        )
    }

    fn accept_lines(&self, project: &Name, lines: &[EntryId]) -> Stored<()> {
        let sql = "INSERT INTO accepted_lines (project, line) VALUES (?, ?) ON CONFLICT DO NOTHING";
        self.write("accept lines", |transaction| {
            let accepted = lines.iter().try_for_each(|line| {
                transaction.prepare_cached(sql)?.execute([project.as_str(), line.as_str()]).map(drop)
            });
            accepted.map_err(while_doing("accept lines"))
        })
    }
}

impl Versioned for Project {
    const WHAT: &'static str = "project";
    const KEY: &'static str = "name";
    const COLUMNS: &'static str = "name, version, status, created_at, updated_at";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: parsed(row, 0)?,
            version: row.get(1)?,
            dir: None,
            status: parsed(row, 2)?,
            created_at: time(row.get(3)?)?,
            updated_at: time(row.get(4)?)?,
        })
    }

    fn values(&self) -> Vec<Value> {
        vec![
            self.name.to_string().into(),
            self.version.into(),
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

    /// Where it is on this machine.
    fn write_rest(&self, connection: &Connection, machine: &MachineId) -> rusqlite::Result<()> {
        let old = "DELETE FROM project_dirs WHERE project = ? AND machine = ?";
        connection.prepare_cached(old)?.execute([self.name.as_str(), machine.as_str()])?;
        let Some(dir) = &self.dir else { return Ok(()) };
        let new = "INSERT INTO project_dirs (project, machine, dir) VALUES (?, ?, ?)";
        connection.prepare_cached(new)?.execute([self.name.as_str(), machine.as_str(), dir]).map(drop)
    }

    fn read_local(&mut self, connection: &Connection, machine: &MachineId) -> rusqlite::Result<()> {
        let sql = "SELECT dir FROM project_dirs WHERE project = ? AND machine = ?";
        let values = [self.name.as_str(), machine.as_str()];
        self.dir = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
        Ok(())
    }
}

/// The versions of all projects, oldest first.
pub(crate) fn versions(connection: &Connection, machine: &MachineId) -> rusqlite::Result<Vec<ProjectVersion>> {
    let versions = versioned::versions(connection, machine, None)?;
    Ok(versions.into_iter().map(|(project, change)| ProjectVersion { project, change }).collect())
}
