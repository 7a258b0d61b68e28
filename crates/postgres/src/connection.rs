//! One connection: every statement binds the space as `$1`, and one that comes again is prepared. Waiting for the server happens
//! here alone: every round trip is counted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, SimpleQueryRow, Statement};

use crate::error::{Error, Sql};
use crate::values::{Row, Value};
use crate::wait::{begin, wait};

/// The server ends a statement that takes longer, in milliseconds.
pub(crate) const STATEMENT_TIMEOUT: u64 = 120_000;

/// A server that is silent for longer is gone.
const PATIENCE: Duration = Duration::from_millis(STATEMENT_TIMEOUT + 5_000);

/// Statements that are kept prepared. Filters have many forms, and few of them come again.
const MOST_PREPARED: usize = 256;

/// A connection to the database of one space.
pub(crate) struct Connection {
    client: Client,
    space: String,
    /// Statements that ran, and those of them that are prepared.
    known: RefCell<HashMap<String, Option<Statement>>>,
    /// How often the server was waited for.
    round_trips: Arc<AtomicU64>,
}

impl Connection {
    pub(crate) fn new(client: Client, space: String, round_trips: Arc<AtomicU64>) -> Self {
        Self { client, space, known: RefCell::default(), round_trips }
    }

    /// Waits for an answer of the server.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Sql<T> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        wait(answer, PATIENCE).ok_or(Error::Silent)?.map_err(Error::Postgres)
    }

    /// Whose rows it is for.
    pub(crate) fn space(&self) -> &str {
        &self.space
    }

    /// Whether it is lost.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without values.
    pub(crate) fn run(&self, sql: &str) -> Sql<()> {
        self.ask(self.client.batch_execute(sql))
    }

    /// Sends statements without values and does not wait for them: whatever comes next waits for them at the server.
    pub(crate) fn send(&self, sql: &str) -> Sql<()> {
        begin(self.client.batch_execute(sql)).unwrap_or(Ok(())).map_err(Error::Postgres)
    }

    /// The same as a part of connecting, which is not counted, for somebody who waits no longer than this.
    pub(crate) fn set_up(&self, sql: &str, patience: Duration) -> Sql<()> {
        wait(self.client.batch_execute(sql), patience).ok_or(Error::Silent)?.map_err(Error::Postgres)
    }

    /// Runs statements without values in one round trip; gives the first row of the last that has any.
    pub(crate) fn run_for_row(&self, sql: &str) -> Sql<Option<SimpleQueryRow>> {
        let messages = self.ask(self.client.simple_query(sql))?;
        let row = messages.into_iter().rev().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(row)
    }

    /// Every row that a statement gives.
    pub(crate) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Sql<Vec<Row>> {
        let found = match self.prepared(sql)? {
            Some(statement) => self.ask(self.client.query(&statement, &self.bound(values)))?,
            None => self.ask(self.client.query_typed(sql, &self.typed(values)))?,
        };
        Ok(found.into_iter().map(Row).collect())
    }

    /// The first row that a statement gives, if it gives any.
    pub(crate) fn maybe(&self, sql: &str, values: &[Value<'_>]) -> Sql<Option<Row>> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }

    /// The row of a statement that always gives one.
    pub(crate) fn one(&self, sql: &str, values: &[Value<'_>]) -> Sql<Row> {
        let missing = || Error::Unreadable("a row is missing".into());
        self.maybe(sql, values)?.ok_or_else(missing)
    }

    /// Each row that a statement gives, read.
    pub(crate) fn all<T>(&self, sql: &str, values: &[Value<'_>], read: impl Fn(&Row) -> Sql<T>) -> Sql<Vec<T>> {
        self.rows(sql, values)?.iter().map(read).collect()
    }

    /// Whether a statement gives a row.
    pub(crate) fn exists(&self, sql: &str, values: &[Value<'_>]) -> Sql<bool> {
        Ok(self.maybe(sql, values)?.is_some())
    }

    /// Runs a statement; gives how many rows it wrote.
    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Sql<u64> {
        match self.prepared(sql)? {
            Some(statement) => self.ask(self.client.execute(&statement, &self.bound(values))),
            None => self.ask(self.client.execute_typed(sql, &self.typed(values))),
        }
    }

    fn bound<'v>(&'v self, values: &'v [Value<'v>]) -> Vec<&'v (dyn ToSql + Sync)> {
        let space: &(dyn ToSql + Sync) = &self.space;
        std::iter::once(space).chain(values.iter().map(|value| value as &(dyn ToSql + Sync))).collect()
    }

    /// The values, with what they are: then the server need not be asked for that first.
    fn typed<'v>(&'v self, values: &'v [Value<'v>]) -> Vec<(&'v (dyn ToSql + Sync), Type)> {
        let space: &(dyn ToSql + Sync) = &self.space;
        let others = values.iter().map(|value| (value as &(dyn ToSql + Sync), value.kind()));
        std::iter::once((space, Type::TEXT)).chain(others).collect()
    }

    /// A statement that ran before is prepared: one round trip more, once. Most of those of a short process run once.
    fn prepared(&self, sql: &str) -> Sql<Option<Statement>> {
        if let Some(Some(statement)) = self.known.borrow().get(sql) {
            return Ok(Some(statement.clone()));
        }
        let mut known = self.known.borrow_mut();
        let statement = if known.contains_key(sql) { Some(self.ask(self.client.prepare(sql))?) } else { None };
        if known.len() >= MOST_PREPARED {
            known.clear();
        }
        known.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}
