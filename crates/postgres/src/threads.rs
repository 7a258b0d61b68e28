//! Threads: what conversations left to go on from.

use throughline_core::model::{
    DocumentName, MachineId, Name, SessionId, Thread, ThreadId, ThreadStatus, ThreadVersion,
};
use throughline_core::ports::Threads;
use throughline_core::text::bullets;

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::{Row, Value, to_json, values};
use crate::versioned::{self, Versioned};
use crate::{PostgresStore, Stored};

impl Threads for PostgresStore {
    fn open_threads(&self, namespace: &Name) -> Stored<Vec<Thread>> {
        self.read("list threads", |connection| threads(connection, namespace, "status = 'open'"))
    }

    fn shown_threads(&self, namespace: &Name) -> Stored<Vec<Thread>> {
        let condition = "(status = 'open' OR rendered IS NOT NULL)";
        self.read("list threads", |connection| threads(connection, namespace, condition))
    }

    fn thread_of(&self, namespace: &Name, session: &SessionId) -> Stored<Option<Thread>> {
        let sql =
            format!("SELECT {} FROM threads WHERE space = $1 AND namespace = $2 AND session = $3", Thread::COLUMNS);
        self.read("read a thread", |connection| {
            let found = connection.maybe(&sql, &values![namespace.as_str(), session.as_str()])?;
            found.as_ref().map(Thread::read).transpose()
        })
    }
}

/// The threads that pass a condition, the latest updated first.
fn threads(connection: &Connection, namespace: &Name, condition: &str) -> Sql<Vec<Thread>> {
    let sql = format!(
        "SELECT {} FROM threads WHERE space = $1 AND namespace = $2 AND {condition} ORDER BY updated_at DESC, number DESC",
        Thread::COLUMNS
    );
    connection.all(&sql, &values![namespace.as_str()], Thread::read)
}

impl Versioned for Thread {
    const WHAT: &'static str = "thread";
    const KEY: &'static str = "id";
    const COLUMNS: &'static str = "id, version, namespace, session, title, project, task, content, rendered, status, \
        created_at, updated_at, expires_at";

    fn read(row: &Row) -> Sql<Self> {
        Ok(Self {
            id: ThreadId::new(row.text(0)?),
            version: row.number(1)?,
            namespace: row.parsed(2)?,
            session: row.parsed(3)?,
            title: row.text(4)?,
            project: row.maybe_text(5)?,
            task: row.maybe_text(6)?,
            content: row.text(7)?,
            rendered: row.maybe_text(8)?,
            status: row.parsed(9)?,
            created_at: row.time(10)?,
            updated_at: row.time(11)?,
            expires_at: row.time(12)?,
        })
    }

    fn bound(&self) -> Vec<Value<'_>> {
        values![
            self.id.as_str(),
            self.version,
            self.namespace.as_str(),
            self.session.as_str(),
            &self.title,
            self.project.as_ref(),
            self.task.as_ref(),
            &self.content,
            self.rendered.as_ref(),
            self.status.as_str(),
            self.created_at,
            self.updated_at,
            self.expires_at,
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
        self.status == ThreadStatus::Closed
    }

    fn write_rest(&self, _: &Transaction<'_>, _: &MachineId) -> Sql<()> {
        Ok(())
    }

    fn read_local(_: &mut [Self], _: &Connection, _: &MachineId) -> Sql<()> {
        Ok(())
    }
}

/// The versions of all threads, oldest first.
pub(crate) fn versions(connection: &Connection, machine: &MachineId) -> Sql<Vec<ThreadVersion>> {
    let versions = versioned::versions(connection, machine, None)?;
    Ok(versions.into_iter().map(|(thread, change)| ThreadVersion { thread, change }).collect())
}

/// Takes a line of working memory out of the threads that it was rendered from, and out of their history. Gives how many
/// versions held it.
pub(crate) fn scrub(transaction: &Transaction<'_>, working: &DocumentName, line: &str) -> Sql<u64> {
    scrub_with(transaction, &|thread| without(thread, working, line))
}

/// Puts what a function makes of a thread in its place, in every version; gives how many versions it changed.
pub(crate) fn scrub_with(transaction: &Transaction<'_>, without: &dyn Fn(&Thread) -> Option<Thread>) -> Sql<u64> {
    let mut scrubbed = 0;
    for thread in versioned::all::<Thread>(transaction, &MachineId::new(""), "number")? {
        if let Some(without) = without(&thread) {
            let sql = "UPDATE threads SET title = $3, content = $4, rendered = $5 WHERE space = $1 AND id = $2";
            let bound = values![without.id.as_str(), &without.title, &without.content, without.rendered.as_ref()];
            transaction.post(sql, &bound)?;
        }
    }
    let sql = "SELECT thread, version, state FROM thread_versions WHERE space = $1";
    for (id, version, thread) in transaction.all(sql, &[], |row| Ok((row.text(0)?, row.int(1)?, row.json(2)?)))? {
        if let Some(without) = without(&thread) {
            let sql = "UPDATE thread_versions SET state = $4 WHERE space = $1 AND thread = $2 AND version = $3";
            transaction.post(sql, &values![id, version, to_json(&without)?])?;
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
