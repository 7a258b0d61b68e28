//! Projects.

use std::collections::{HashMap, HashSet};

use throughline_core::model::{EntryId, MachineId, Name, Project, ProjectVersion, Status};
use throughline_core::ports::{ProjectRoot, Projects, StoreError};

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::{Row, Value, texts, values};
use crate::versioned::{self, Versioned, all, one};
use crate::{PostgresStore, Stored};

impl Projects for PostgresStore {
    fn projects(&self) -> Stored<Vec<Project>> {
        self.read("list projects", |connection| all(connection, &self.machine, "name"))
    }

    fn project(&self, name: &Name) -> Stored<Option<Project>> {
        self.read("read a project", |connection| one(connection, &self.machine, name.as_str()))
    }

    fn project_names(&self) -> Stored<Vec<String>> {
        // Of many entries, each name is one look into the index.
        let sql = "WITH RECURSIVE linked (project) AS ( \
                     SELECT min(project) FROM entries WHERE space = $1 AND project IS NOT NULL UNION ALL \
                     SELECT (SELECT min(e.project) FROM entries e WHERE e.space = $1 AND e.project > linked.project) \
                     FROM linked WHERE linked.project IS NOT NULL) \
                   SELECT project FROM linked WHERE project IS NOT NULL \
                   UNION SELECT name FROM projects WHERE space = $1 \
                   UNION SELECT project FROM project_roots WHERE space = $1 AND machine = $2 \
                   UNION SELECT project FROM sessions WHERE space = $1 AND project IS NOT NULL ORDER BY 1";
        self.read("list the names of projects", |connection| {
            connection.all(sql, &values![self.machine.as_str()], |row| row.text(0))
        })
    }

    fn roots(&self) -> Stored<Vec<ProjectRoot>> {
        self.read("list the directories of projects", |connection| roots(connection, &self.machine))
    }

    fn name_root(&self, root: &ProjectRoot) -> Stored<()> {
        let taken = "SELECT 1 FROM project_roots WHERE space = $1 AND machine = $2 AND dir <> $3 AND project = $4";
        let sql = "INSERT INTO project_roots (space, machine, dir, project) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (space, machine, dir) DO UPDATE SET project = excluded.project";
        self.write("name a project", |transaction| {
            let bound = values![self.machine.as_str(), &root.dir, root.name.as_str()];
            if transaction.exists(taken, &bound)? {
                return Err(StoreError::Conflict { what: root.name.to_string() }.into());
            }
            transaction.post(sql, &bound)
        })
    }

    fn accepted_lines(&self, project: &Name) -> Stored<HashSet<EntryId>> {
        let sql = "SELECT line FROM accepted_lines WHERE space = $1 AND project = $2";
        self.read("read which lines are accepted", |connection| {
            let lines = connection.all(sql, &values![project.as_str()], |row| Ok(EntryId::new(row.text(0)?)))?;
            Ok(lines.into_iter().collect())
        })
    }

    fn accept_lines(&self, project: &Name, lines: &[EntryId]) -> Stored<()> {
        let sql = "INSERT INTO accepted_lines (space, project, line) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING";
        self.write("accept lines", |transaction| {
            let lines = texts(lines.iter().map(EntryId::as_str));
            transaction.post(sql, &values![project.as_str(), lines])
        })
    }
}

pub(crate) fn roots(connection: &Connection, machine: &MachineId) -> Sql<Vec<ProjectRoot>> {
    let sql = "SELECT project, dir FROM project_roots WHERE space = $1 AND machine = $2 ORDER BY project";
    connection.all(sql, &values![machine.as_str()], |row| Ok(ProjectRoot { name: row.parsed(0)?, dir: row.text(1)? }))
}

impl Versioned for Project {
    const WHAT: &'static str = "project";
    const KEY: &'static str = "name";
    const COLUMNS: &'static str = "name, version, status, created_at, updated_at";

    fn read(row: &Row) -> Sql<Self> {
        Ok(Self {
            name: row.parsed(0)?,
            version: row.number(1)?,
            dir: None,
            status: row.parsed(2)?,
            created_at: row.time(3)?,
            updated_at: row.time(4)?,
        })
    }

    fn bound(&self) -> Vec<Value<'_>> {
        values![self.name.as_str(), self.version, self.status.as_str(), self.created_at, self.updated_at].into()
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
    fn write_rest(&self, transaction: &Transaction<'_>, machine: &MachineId) -> Sql<()> {
        let old = "DELETE FROM project_dirs WHERE space = $1 AND project = $2 AND machine = $3";
        transaction.post(old, &values![self.name.as_str(), machine.as_str()])?;
        let Some(dir) = &self.dir else { return Ok(()) };
        let new = "INSERT INTO project_dirs (space, project, machine, dir) VALUES ($1, $2, $3, $4)";
        transaction.post(new, &values![self.name.as_str(), machine.as_str(), dir])
    }

    fn read_local(projects: &mut [Self], connection: &Connection, machine: &MachineId) -> Sql<()> {
        let sql = "SELECT project, dir FROM project_dirs WHERE space = $1 AND machine = $2";
        let found = connection.all(sql, &values![machine.as_str()], |row| Ok((row.text(0)?, row.text(1)?)))?;
        let mut dirs: HashMap<String, String> = found.into_iter().collect();
        projects.iter_mut().for_each(|project| project.dir = dirs.remove(project.name.as_str()));
        Ok(())
    }
}

/// The versions of all projects, oldest first.
pub(crate) fn versions(connection: &Connection, machine: &MachineId) -> Sql<Vec<ProjectVersion>> {
    let versions = versioned::versions(connection, machine, None)?;
    Ok(versions.into_iter().map(|(project, change)| ProjectVersion { project, change }).collect())
}
