//! Tasks.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};
use throughline_core::model::{EntryId, MachineId, Task, TaskId, TaskStatus, TaskVersion};
use throughline_core::ports::Tasks;
use throughline_core::recall::distinct_words;

use crate::rows::{parsed, time, to_json};
use crate::versioned::{self, Versioned, all, one};
use crate::{SqliteStore, Stored};

impl Tasks for SqliteStore {
    fn tasks(&self) -> Stored<Vec<Task>> {
        self.read(|connection| all(connection, &self.machine, "updated_at DESC, row DESC"), "list tasks")
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

    fn done_tasks_sharing(&self, words: &[String], limit: usize) -> Stored<Vec<Task>> {
        let sql = format!(
            "SELECT {} FROM tasks JOIN (SELECT task, count(*) AS shared FROM task_words \
               WHERE word IN (SELECT value FROM json_each(?1)) GROUP BY task HAVING count(*) >= 2) f ON f.task = tasks.row \
             WHERE archive IS NOT NULL AND status = 'done' \
             ORDER BY f.shared * 1.0 / (SELECT count(*) FROM task_words w WHERE w.task = tasks.row) DESC, done_at DESC \
             LIMIT ?2",
            Task::COLUMNS
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(
            |connection| {
                connection.prepare_cached(&sql)?.query_map(params![to_json(&words)?, limit], Task::read)?.collect()
            },
            "look for tasks by their titles",
        )
    }

    fn task(&self, id: &TaskId) -> Stored<Option<Task>> {
        self.read(|connection| one(connection, &self.machine, id.as_str()), "read a task")
    }

    fn task_versions(&self, id: &TaskId) -> Stored<Vec<TaskVersion>> {
        self.read(|connection| versions(connection, &self.machine, Some(id)), "read a task's history")
    }
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

    /// The words of the title.
    fn write_rest(&self, connection: &Connection, _: &MachineId) -> rusqlite::Result<()> {
        let task = "(SELECT row FROM tasks WHERE id = ?1)";
        let old = format!("DELETE FROM task_words WHERE task = {task}");
        connection.prepare_cached(&old)?.execute([self.id.as_str()])?;
        let new = format!("INSERT INTO task_words (word, task) SELECT value, {task} FROM json_each(?2)");
        let words = to_json(&distinct_words(&self.title))?;
        connection.prepare_cached(&new)?.execute([self.id.as_str(), &words]).map(drop)
    }

    fn read_local(&mut self, _: &Connection, _: &MachineId) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// The versions of one task, or of all, oldest first.
pub(crate) fn versions(
    connection: &Connection,
    machine: &MachineId,
    id: Option<&TaskId>,
) -> rusqlite::Result<Vec<TaskVersion>> {
    let versions = versioned::versions(connection, machine, id.map(TaskId::as_str))?;
    Ok(versions.into_iter().map(|(task, change)| TaskVersion { task, change }).collect())
}
