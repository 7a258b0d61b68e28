//! Threads: what conversations left to go on from.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{
    DocumentName, MachineId, Name, SessionId, Thread, ThreadId, ThreadStatus, ThreadVersion,
};
use throughline_core::ports::Threads;
use throughline_core::text::bullets;

use crate::rows::{self, parsed, time, to_json};
use crate::versioned::{self, Versioned};
use crate::{SqliteStore, Stored};

impl Threads for SqliteStore {
    fn open_threads(&self, namespace: &Name) -> Stored<Vec<Thread>> {
        self.read(|connection| threads(connection, namespace, "status = 'open'"), "list threads")
    }

    fn shown_threads(&self, namespace: &Name) -> Stored<Vec<Thread>> {
        let condition = "(status = 'open' OR rendered IS NOT NULL)";
        self.read(|connection| threads(connection, namespace, condition), "list threads")
    }

    fn thread_of(&self, namespace: &Name, session: &SessionId) -> Stored<Option<Thread>> {
        let sql = format!("SELECT {} FROM threads WHERE namespace = ? AND session = ?", Thread::COLUMNS);
        let names = [namespace.as_str(), session.as_str()];
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_row(names, Thread::read).optional(),
            "read a thread",
        )
    }
}

/// The threads that pass a condition, the latest updated first.
fn threads(connection: &Connection, namespace: &Name, condition: &str) -> rusqlite::Result<Vec<Thread>> {
    let sql = format!(
        "SELECT {} FROM threads WHERE namespace = ? AND {condition} ORDER BY updated_at DESC, row DESC",
        Thread::COLUMNS
    );
    connection.prepare_cached(&sql)?.query_map([namespace.as_str()], Thread::read)?.collect()
}

impl Versioned for Thread {
    const WHAT: &'static str = "thread";
    const KEY: &'static str = "id";
    const COLUMNS: &'static str = "id, version, namespace, session, title, project, task, content, rendered, status, \
        created_at, updated_at, expires_at";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: ThreadId::new(row.get::<_, String>(0)?),
            version: row.get(1)?,
            namespace: parsed(row, 2)?,
            session: parsed(row, 3)?,
            title: row.get(4)?,
            project: row.get(5)?,
            task: row.get(6)?,
            content: row.get(7)?,
            rendered: row.get(8)?,
            status: parsed(row, 9)?,
            created_at: time(row.get(10)?)?,
            updated_at: time(row.get(11)?)?,
            expires_at: time(row.get(12)?)?,
        })
    }

    fn values(&self) -> Vec<Value> {
        vec![
            self.id.to_string().into(),
            self.version.into(),
            self.namespace.to_string().into(),
            self.session.to_string().into(),
            self.title.clone().into(),
            self.project.clone().into(),
            self.task.clone().into(),
            self.content.clone().into(),
            self.rendered.clone().into(),
            self.status.as_str().to_owned().into(),
            self.created_at.as_millisecond().into(),
            self.updated_at.as_millisecond().into(),
            self.expires_at.as_millisecond().into(),
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
        self.status == ThreadStatus::Closed
    }

    fn write_rest(&self, _: &Connection, _: &MachineId) -> rusqlite::Result<()> {
        Ok(())
    }

    fn read_local(&mut self, _: &Connection, _: &MachineId) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// The versions of all threads, oldest first.
pub(crate) fn versions(connection: &Connection, machine: &MachineId) -> rusqlite::Result<Vec<ThreadVersion>> {
    let versions = versioned::versions(connection, machine, None)?;
    Ok(versions.into_iter().map(|(thread, change)| ThreadVersion { thread, change }).collect())
}

/// Takes a line of working memory out of the threads that it was rendered from, and out of their history. Gives how many
/// versions held it.
pub(crate) fn scrub(transaction: &Connection, working: &DocumentName, line: &str) -> rusqlite::Result<u64> {
    scrub_with(transaction, &|thread| without(thread, working, line))
}

/// Puts what a function makes of a thread in its place, in every version; gives how many versions it changed.
pub(crate) fn scrub_with(
    transaction: &Connection,
    without: &dyn Fn(&Thread) -> Option<Thread>,
) -> rusqlite::Result<u64> {
    let mut scrubbed = 0;
    for thread in versioned::all::<Thread>(transaction, &MachineId::new(""), "row")? {
        if let Some(without) = without(&thread) {
            let sql = "UPDATE threads SET title = ?2, content = ?3, rendered = ?4 WHERE id = ?1";
            let values = params![without.id.as_str(), without.title, without.content, without.rendered];
            transaction.execute(sql, values)?;
        }
    }
    let kept: Vec<(i64, String)> = transaction
        .prepare("SELECT row, state FROM thread_versions")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (row, state) in kept {
        if let Some(without) = without(&rows::from_json::<Thread>(&state)?) {
            let sql = "UPDATE thread_versions SET state = ?2 WHERE row = ?1";
            transaction.execute(sql, params![row, to_json(&without)?])?;
            scrubbed += 1;
        }
    }
    Ok(scrubbed)
}

/// The thread without a line; none if it does not say that. A title that was made of the line goes with it.
fn without(thread: &Thread, working: &DocumentName, line: &str) -> Option<Thread> {
    let content = bullets::without_content(working, &thread.content, line);
    if thread.namespace != *working.namespace() || content == thread.content {
        return None;
    }
    let is_of_line = line.starts_with(thread.title.trim_end_matches('…'));
    let title = if is_of_line { thread.session.to_string() } else { thread.title.clone() };
    let heading = |text: String| text.replacen(&thread.title, &title, 1);
    let rendered = thread.rendered.as_ref().map(|text| heading(bullets::without_content(working, text, line)));
    Some(Thread { title, content, rendered, ..thread.clone() })
}
