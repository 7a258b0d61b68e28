//! Tasks.

use throughline_core::model::{EntryId, MachineId, Task, TaskId, TaskStatus, TaskVersion};
use throughline_core::ports::Tasks;
use throughline_core::recall::distinct_words;

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::{Row, Value, values};
use crate::versioned::{self, Versioned, all, one};
use crate::{PostgresStore, Stored};

impl Tasks for PostgresStore {
    fn tasks(&self) -> Stored<Vec<Task>> {
        self.read("list tasks", |connection| all(connection, &self.machine, "updated_at DESC, number DESC"))
    }

    fn done_tasks(&self, limit: usize) -> Stored<Vec<Task>> {
        let sql = format!(
            "SELECT {} FROM tasks WHERE space = $1 AND archive IS NOT NULL AND status = 'done' \
             ORDER BY done_at DESC NULLS LAST LIMIT $2",
            Task::COLUMNS
        );
        self.read("list tasks that were done", |connection| connection.all(&sql, &values![limit], Task::read))
    }

    fn done_tasks_sharing(&self, words: &[String], limit: usize) -> Stored<Vec<Task>> {
        let sql = format!(
            "SELECT {} FROM tasks JOIN (SELECT task, count(*) AS shared FROM task_words \
               WHERE space = $1 AND word = ANY($2) GROUP BY task HAVING count(*) >= 2) f ON f.task = tasks.id \
             WHERE space = $1 AND archive IS NOT NULL AND status = 'done' \
             ORDER BY f.shared::double precision / (SELECT count(*) FROM task_words w WHERE w.space = $1 AND w.task = tasks.id) DESC, \
               done_at DESC NULLS LAST LIMIT $3",
            Task::COLUMNS
        );
        self.read("look for tasks by their titles", |connection| {
            connection.all(&sql, &values![words.to_vec(), limit], Task::read)
        })
    }

    fn task(&self, id: &TaskId) -> Stored<Option<Task>> {
        self.read("read a task", |connection| one(connection, &self.machine, id.as_str()))
    }

    fn task_versions(&self, id: &TaskId) -> Stored<Vec<TaskVersion>> {
        self.read("read a task's history", |connection| versions(connection, &self.machine, Some(id)))
    }
}

impl Versioned for Task {
    const WHAT: &'static str = "task";
    const KEY: &'static str = "id";
    const COLUMNS: &'static str =
        "id, version, title, status, state, project, created_at, updated_at, done_at, archive";

    fn read(row: &Row) -> Sql<Self> {
        Ok(Self {
            id: TaskId::new(row.text(0)?),
            version: row.number(1)?,
            title: row.text(2)?,
            status: row.parsed(3)?,
            state: row.text(4)?,
            project: row.maybe_text(5)?,
            created_at: row.time(6)?,
            updated_at: row.time(7)?,
            done_at: row.maybe_time(8)?,
            archive: row.maybe_text(9)?.map(EntryId::new),
        })
    }

    fn bound(&self) -> Vec<Value<'_>> {
        values![
            self.id.as_str(),
            self.version,
            &self.title,
            self.status.as_str(),
            &self.state,
            self.project.as_ref(),
            self.created_at,
            self.updated_at,
            self.done_at,
            self.archive.as_ref().map(EntryId::as_str),
        ]
        .into()
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
    fn write_rest(&self, transaction: &Transaction<'_>, _: &MachineId) -> Sql<()> {
        transaction.post("DELETE FROM task_words WHERE space = $1 AND task = $2", &values![self.id.as_str()])?;
        write_words(transaction, self.id.as_str(), &self.title)
    }

    fn read_local(_: &mut [Self], _: &Connection, _: &MachineId) -> Sql<()> {
        Ok(())
    }
}

/// The words of a title, beside those that are there.
pub(crate) fn write_words(transaction: &Transaction<'_>, task: &str, title: &str) -> Sql<()> {
    let sql = "INSERT INTO task_words (space, word, task) SELECT $1, unnest($3::text[]), $2 ON CONFLICT DO NOTHING";
    let words: Vec<String> = distinct_words(title).into_iter().collect();
    transaction.post(sql, &values![task, words])
}

/// The versions of one task, or of all, oldest first.
pub(crate) fn versions(connection: &Connection, machine: &MachineId, id: Option<&TaskId>) -> Sql<Vec<TaskVersion>> {
    let versions = versioned::versions(connection, machine, id.map(TaskId::as_str))?;
    Ok(versions.into_iter().map(|(task, change)| TaskVersion { task, change }).collect())
}
