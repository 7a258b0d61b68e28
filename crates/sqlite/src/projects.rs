//! Projects.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row};
use throughline_core::model::{MachineId, Name, Project, ProjectVersion, Status};
use throughline_core::ports::Projects;

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
