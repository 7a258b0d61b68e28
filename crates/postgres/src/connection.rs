//! One connection: every statement binds the space as `$1`, and one that comes again is prepared. Waiting for the server happens
//! here alone: every round trip is counted. Several statements may share one: those that are posted are waited for with the
//! next that is asked, and those that are known before can be asked together.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, SimpleQueryRow, Statement};

use crate::answers::{Answers, Question};
use crate::error::{Error, Sql};
use crate::reach::Reach;
use crate::values::{Row, Value};
use crate::wait::{all, begin, both, wait};

/// The server ends a statement that takes longer, in milliseconds.
pub(crate) const STATEMENT_TIMEOUT: u64 = 120_000;

/// No statement is waited for longer, even where the server shows that it is there.
const LONGEST: Duration = Duration::from_millis(STATEMENT_TIMEOUT + 5_000);

/// Statements that are kept prepared. Filters have many forms, and few of them come again.
const MOST_PREPARED: usize = 256;

/// A statement that nobody reads the outcome of is prepared when it comes so often.
const POSTED_OFTEN: u32 = 4;

/// Statements on their way, at most.
const MOST_POSTED: usize = 256;

thread_local! {
    /// How often this thread waited for a server.
    static WAITED: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread waited for a server so far, besides connecting.
pub(crate) fn waited() -> u64 {
    WAITED.get()
}

/// A statement on its way.
type Posted = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// What several statements give.
type Answered = Result<Vec<Vec<tokio_postgres::Row>>, tokio_postgres::Error>;

/// How often a statement came, and how it is prepared if it is.
#[derive(Default)]
struct Known {
    times: u32,
    prepared: Option<Statement>,
}

/// A connection to the database of one space.
pub(crate) struct Connection {
    client: Arc<Client>,
    reach: Arc<Reach>,
    space: String,
    /// How long a server that gives no sign of life is waited for.
    patience: Cell<Duration>,
    /// Statements that ran.
    known: RefCell<HashMap<String, Known>>,
    /// What is known of the answers that are asked for next.
    answers: RefCell<Answers>,
    /// Statements that were sent, and not waited for yet.
    posted: RefCell<Vec<Posted>>,
}

impl Connection {
    pub(crate) fn new(client: Client, reach: Arc<Reach>) -> Self {
        Self {
            client: Arc::new(client),
            space: reach.address.space.clone(),
            patience: Cell::new(reach.address.patience),
            reach,
            known: RefCell::default(),
            answers: RefCell::default(),
            posted: RefCell::default(),
        }
    }

    /// Waits for an answer of the server, and for everything that was posted before.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Sql<T> {
        self.reach.round_trips.fetch_add(1, Ordering::Relaxed);
        WAITED.set(WAITED.get() + 1);
        let posted = self.posted.take();
        tracing::trace!(posted = posted.len(), "a round trip");
        let (posted, answer) = self.wait(both(all(posted), answer)).ok_or(Error::Silent)?;
        posted.into_iter().collect::<Result<(), _>>()?;
        answer.map_err(Error::Postgres)
    }

    /// Waits as long as the server shows that it is there: asked for that in the second half of the patience.
    fn wait<F: Future>(&self, answer: F) -> Option<F::Output> {
        let (began, half) = (Instant::now(), self.patience.get() / 2);
        let mut answer = pin!(answer);
        loop {
            if let Some(output) = wait(answer.as_mut(), half) {
                return Some(output);
            }
            if began.elapsed() >= LONGEST || !self.reach.is_there(half) {
                return wait(answer, Duration::ZERO);
            }
        }
    }

    /// Until when a server is waited for that gives no sign of life.
    pub(crate) fn wait_until(&self, deadline: Instant) {
        self.patience.set(deadline.saturating_duration_since(Instant::now()));
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

    /// Takes back a transaction. What was posted in it is of no interest.
    pub(crate) fn roll_back(&self) -> Sql<()> {
        self.posted.take();
        self.answers().forget();
        self.run("ROLLBACK")
    }

    /// Runs statements without values as a part of connecting, which is not counted, for somebody who waits no longer than this.
    /// The last of them gives the server's time, and what it is.
    pub(crate) fn set_up(&self, sql: &str, patience: Duration) -> Sql<String> {
        let before = self.reach.before();
        let answer = wait(self.client.simple_query(sql), patience).ok_or(Error::Silent)?;
        let row = first_row(answer.map_err(Error::Postgres)?);
        self.reach.heard(before, row.as_ref().and_then(|row| row.get(0)));
        Ok(row.and_then(|row| row.get(1).map(str::to_owned)).unwrap_or_default())
    }

    /// The way to its server.
    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Begins with statements without values, of which the last gives a row, and asks these in the same round trip: their
    /// answers are known when they are asked for, once.
    pub(crate) fn begin_with(&self, sql: &str, questions: Vec<Question>) -> Sql<Option<SimpleQueryRow>> {
        let typed = self.all_typed(&questions);
        let (begun, found) = self.ask(async {
            let (begun, found) = both(self.client.simple_query(sql), self.ask_each(&questions, &typed)).await;
            Ok((begun?, found?))
        })?;
        drop(typed);
        self.answers.borrow_mut().expect_once(questions, found);
        Ok(first_row(begun))
    }

    /// Runs statements without values in one round trip; gives the first row of the last that has any.
    pub(crate) fn run_for_row(&self, sql: &str) -> Sql<Option<SimpleQueryRow>> {
        self.ask(self.client.simple_query(sql)).map(first_row)
    }

    /// What is known of the answers that are asked for next.
    pub(crate) fn answers(&self) -> std::cell::RefMut<'_, Answers> {
        self.answers.borrow_mut()
    }

    /// Asks several things in one round trip, and knows the answers from then on.
    pub(crate) fn learn(&self, questions: Vec<Question>) -> Sql<()> {
        questions.iter().for_each(|question| tracing::trace!(sql = question.sql, "asked ahead"));
        let typed = self.all_typed(&questions);
        let found = self.ask(self.ask_each(&questions, &typed))?;
        drop(typed);
        self.answers.borrow_mut().learn(questions, found);
        Ok(())
    }

    fn all_typed<'v>(&'v self, questions: &'v [Question]) -> Vec<Vec<(&'v (dyn ToSql + Sync), Type)>> {
        questions.iter().map(|question| self.typed(&question.values)).collect()
    }

    async fn ask_each(&self, questions: &[Question], typed: &[Vec<(&(dyn ToSql + Sync), Type)>]) -> Answered {
        let asked = questions.iter().zip(typed);
        let asked = asked.map(|(question, typed)| Box::pin(self.client.query_typed(&question.sql, typed)));
        all(asked.collect()).await.into_iter().collect()
    }

    /// Every row that a statement gives.
    pub(crate) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Sql<Vec<Row>> {
        if let Some(known) = self.answers.borrow_mut().find(sql, values) {
            return Ok(known);
        }
        tracing::trace!(sql, "asked");
        let found: Vec<Row> = self.fetch(sql, values)?.into_iter().map(Row::new).collect();
        self.answers.borrow_mut().note(sql, values, &found);
        Ok(found)
    }

    /// A statement that comes again is prepared on the way: most of those of a short process run once.
    fn fetch(&self, sql: &str, values: &[Value<'_>]) -> Sql<Vec<tokio_postgres::Row>> {
        match self.known(sql) {
            (_, Some(statement)) => self.ask(self.client.query(&statement, &self.bound(values))),
            (1, None) => self.ask(self.client.query_typed(sql, &self.typed(values))),
            (_, None) => {
                let typed = self.typed(values);
                let (statement, found) = self.ask(async {
                    let (statement, found) = both(self.client.prepare(sql), self.client.query_typed(sql, &typed)).await;
                    Ok((statement?, found?))
                })?;
                self.keep_prepared(sql, statement);
                Ok(found)
            }
        }
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
        tracing::trace!(sql, "written");
        match self.prepared(sql, 2)? {
            Some(statement) => self.ask(self.client.execute(&statement, &self.bound(values))),
            None => self.ask(self.client.execute_typed(sql, &self.typed(values))),
        }
    }

    /// Runs a statement whose outcome nobody reads: it is sent, and waited for with whatever is asked next. An error of it is
    /// that one's.
    pub(crate) fn post(&self, sql: &str, values: &[Value<'_>]) -> Sql<()> {
        if self.posted.borrow().len() >= MOST_POSTED {
            self.ask(std::future::ready(Ok(())))?;
        }
        let statement = self.prepared(sql, POSTED_OFTEN)?;
        let client = Arc::clone(&self.client);
        let values: Vec<Value<'static>> =
            std::iter::once(Value::from(self.space.clone())).chain(values.iter().map(Value::to_static)).collect();
        let sql = sql.to_owned();
        let mut posted: Posted = Box::pin(async move {
            let bound = |value| value as &(dyn ToSql + Sync);
            match statement {
                Some(statement) => client.execute(&statement, &values.iter().map(bound).collect::<Vec<_>>()).await,
                None => {
                    let typed: Vec<_> = values.iter().map(|value| (bound(value), value.kind())).collect();
                    client.execute_typed(&sql, &typed).await
                }
            }
            .map(drop)
        });
        match begin(posted.as_mut()) {
            Some(outcome) => outcome.map_err(Error::Postgres),
            None => {
                self.posted.borrow_mut().push(posted);
                Ok(())
            }
        }
    }

    /// Runs a statement that always gives a row, commits, and asks what is asked next, in one round trip.
    pub(crate) fn one_and_commit(&self, sql: &str, values: &[Value<'_>], next: Vec<Question>) -> Sql<Row> {
        let (typed, next_typed) = (self.typed(values), self.all_typed(&next));
        let ((found, committed), answers) = self.ask(async {
            let written = both(self.client.query_typed(sql, &typed), self.client.batch_execute("COMMIT"));
            Ok(both(written, self.ask_each(&next, &next_typed)).await)
        })?;
        drop(next_typed);
        let missing = || Error::Unreadable("a row is missing".into());
        let row = found?.into_iter().next().map(Row::new).ok_or_else(missing)?;
        committed?;
        self.answers().forget();
        if let Ok(answers) = answers.map_err(|error| tracing::debug!(%error, "nothing is read ahead"))
            && !next.is_empty()
        {
            self.answers().last();
            self.answers().learn(next, answers);
        }
        Ok(row)
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

    /// Notes that a statement comes; how often it came, and how it is prepared.
    fn known(&self, sql: &str) -> (u32, Option<Statement>) {
        let mut known = self.known.borrow_mut();
        if !known.contains_key(sql) {
            if known.len() >= MOST_PREPARED {
                known.clear();
            }
            known.insert(sql.to_owned(), Known::default());
        }
        let Some(known) = known.get_mut(sql) else { return (1, None) };
        known.times = known.times.saturating_add(1);
        (known.times, known.prepared.clone())
    }

    fn keep_prepared(&self, sql: &str, statement: Statement) {
        if let Some(known) = self.known.borrow_mut().get_mut(sql) {
            known.prepared = Some(statement);
        }
    }

    /// A statement as it is prepared, from the time on that it comes so often: one round trip more, once.
    fn prepared(&self, sql: &str, often: u32) -> Sql<Option<Statement>> {
        match self.known(sql) {
            (times, None) if times >= often => {
                let statement = self.ask(self.client.prepare(sql))?;
                self.keep_prepared(sql, statement.clone());
                Ok(Some(statement))
            }
            (_, prepared) => Ok(prepared),
        }
    }
}

fn first_row(messages: Vec<tokio_postgres::SimpleQueryMessage>) -> Option<SimpleQueryRow> {
    messages.into_iter().rev().find_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}
