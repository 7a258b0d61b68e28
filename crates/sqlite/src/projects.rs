//! Projects.

use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use throughline_core::model::{Name, Project, ProjectVersion, Status};
use throughline_core::ports::Projects;

use crate::rows::{parsed, time};
use crate::versioned::{self, Versioned, all, one};
use crate::{SqliteStore, Stored};

impl Projects for SqliteStore {
    fn projects(&self) -> Stored<Vec<Project>> {
        self.read(|connection| all(connection, "name"), "list projects")
    }

    fn project(&self, name: &Name) -> Stored<Option<Project>> {
        self.read(|connection| one(connection, name.as_str()), "read a project")
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

    fn index(&self, _: &Connection) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// The versions of all projects, oldest first.
pub(crate) fn versions(connection: &Connection) -> rusqlite::Result<Vec<ProjectVersion>> {
    let versions = versioned::versions(connection, None)?;
    Ok(versions.into_iter().map(|(project, change)| ProjectVersion { project, change }).collect())
}
