//! Transactions that threads share: those that wait while another thread writes join its transaction, one after the other,
//! and one of them commits for all. Each is told only after that commit; what one of them fails at is rolled back to where
//! it began.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use throughline_core::ports::StoreError;

use super::{ATTEMPTS, Effort, Held, Pool, Sharing, State};
use crate::Stored;
use crate::error::while_doing;
use crate::identity::{self, Identity};
use crate::open::{self, Durability};
use crate::watch::{Base, Trouble};

/// How many share a transaction at most: the first of them waits for all the others.
const MOST_TOGETHER: usize = 64;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const SAVE: &str = "SAVEPOINT joined";
const RELEASE: &str = "RELEASE joined";
const GO_BACK: &str = "ROLLBACK TO joined";

/// A transaction that is under way.
pub(super) struct Batch {
    held: Option<Held>,
    /// What the file alone counted when it began.
    base: Base,
    /// Whoever wrote in it.
    members: Vec<Arc<Member>>,
}

/// A thread that waits for the commit of what it wrote.
#[derive(Default)]
struct Member {
    outcome: Mutex<Option<Stored<()>>>,
    told: Condvar,
}

impl Member {
    fn tell(&self, outcome: Stored<()>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.told.notify_one();
    }

    fn wait(&self) -> Stored<()> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let told = self.told.wait_while(outcome, |outcome| outcome.is_none());
        told.unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(|| Err(abandoned()))
    }
}

impl Batch {
    fn tell(&mut self, outcome: Stored<()>) {
        let mut members = std::mem::take(&mut self.members);
        let last = members.pop();
        members
            .iter()
            .for_each(|member| member.tell(outcome.as_ref().map_or_else(|error| Err(again(error)), |()| Ok(()))));
        if let Some(last) = last {
            last.tell(outcome);
        }
    }
}

impl Drop for Batch {
    /// Whoever had it panicked: its connection closes, and nothing of it is written.
    fn drop(&mut self) {
        self.held = None;
        self.tell(Err(abandoned()));
    }
}

/// Why a transaction was not confirmed.
pub(super) enum Failed {
    /// Something was refused; nothing was written.
    Store(StoreError),
    /// The database is not what it was; nothing was written.
    Before(Trouble),
    /// It was committed, and then the database was not what it was.
    After { trouble: Trouble, written: Identity },
}

impl Pool {
    /// Writes in a `BEGIN IMMEDIATE` transaction: all of it, or nothing. What it gives is in the database at the path.
    pub(crate) fn write<T>(
        &self,
        doing: &'static str,
        (effort, sharing): (Effort, Sharing),
        work: impl FnOnce(&Connection) -> Stored<T>,
    ) -> Stored<T> {
        if let Some(why) = self.read_only() {
            return Err(StoreError::ReadOnly { why });
        }
        if self.reserve.is_for_removing() {
            return Err(StoreError::Full);
        }
        // Threads of this process end their transactions; only other processes may hold the lock for long.
        let in_line = if effort == Effort::Confirmed { Duration::MAX } else { effort.patience() };
        // A log is not synced, and not worth a place in a transaction that is.
        let is_shared = sharing == Sharing::Shared && !matches!(effort, Effort::Log(_));
        let (entered, joined) = self.writing.enter(is_shared, in_line).ok_or(StoreError::Busy)?;
        let (mut batch, outcome) = match joined {
            Some(batch) => match self.refusal() {
                Some(refusal) => (batch, Err(refusal)),
                None => self.join(batch, doing, work)?,
            },
            None => self.first(doing, effort, work)?,
        };
        let member = outcome.is_ok().then(|| {
            let member = Arc::<Member>::default();
            batch.members.push(Arc::clone(&member));
            member
        });
        // Whoever fails may read again and decide anew: what it met here has to be committed by then.
        let is_open = is_shared && outcome.is_ok() && batch.members.len() < MOST_TOGETHER;
        let kept = if is_open { entered.hand_on(batch) } else { Err((entered, batch)) };
        if let Err((_entered, batch)) = kept {
            self.finish(batch, doing);
        }
        member.map_or(Ok(()), |member| member.wait())?;
        outcome
    }

    /// Begins a transaction and writes in it. Where that fails, there is no transaction.
    fn first<T>(
        &self,
        doing: &'static str,
        effort: Effort,
        work: impl FnOnce(&Connection) -> Stored<T>,
    ) -> Stored<(Batch, Stored<T>)> {
        let (held, base) = self.begin(doing, effort)?;
        match work(&held.connection) {
            Ok(value) => Ok((Batch { held: Some(held), base, members: Vec::new() }, Ok(value))),
            Err(error) => {
                roll_back(&held.connection);
                self.settle(Err(error), held)
            }
        }
    }

    /// A connection in a transaction that may be written in, after a look at the files.
    fn begin(&self, doing: &'static str, effort: Effort) -> Stored<(Held, Base)> {
        for _ in 0..ATTEMPTS {
            let mut held = self.take()?;
            match self.try_to_begin(&mut held, doing, effort) {
                Ok(base) => return Ok((held, base)),
                Err(failed) => {
                    roll_back(&held.connection);
                    match failed {
                        Failed::Before(trouble) | Failed::After { trouble, .. } => self.lose(held, trouble),
                        Failed::Store(error) => return self.settle(Err(error), held),
                    }
                }
            }
        }
        Err(self.lost())
    }

    fn try_to_begin(&self, held: &mut Held, doing: &'static str, effort: Effort) -> Result<Base, Failed> {
        let failed = |error| Failed::Store(while_doing(doing)(error));
        let Held { known, connection, is_hurried } = held;
        let frames = self.watch.log_frames(known, connection).map_err(Failed::Before)?;
        self.check_log((known, connection), frames, effort)?;
        if effort != Effort::Confirmed {
            *is_hurried = true;
            let syncs = if matches!(effort, Effort::Log(_)) { Durability::Process } else { self.durability };
            open::hurry(connection, effort.patience(), syncs).map_err(failed)?;
        }
        let synced = self.watch.synced(known, connection);
        run(connection, BEGIN).map_err(failed)?;
        let counted = self.watch.before(known, connection).map_err(Failed::Before)?;
        Ok(Base { counted, synced })
    }

    /// Writes in a transaction that others began. Where this fails, theirs goes on, unless it is over.
    fn join<T>(
        &self,
        mut batch: Batch,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Stored<T>,
    ) -> Stored<(Batch, Stored<T>)> {
        let Some(held) = &batch.held else { return Err(abandoned()) };
        let connection = &held.connection;
        let outcome = run(connection, SAVE).map_err(while_doing(doing)).and_then(|()| work(connection));
        let statements: &[&str] = if outcome.is_ok() { &[RELEASE] } else { &[GO_BACK, RELEASE] };
        let ended = statements.iter().try_for_each(|sql| run(connection, sql)).map_err(while_doing(doing));
        match (outcome, ended) {
            (Ok(value), Ok(())) => Ok((batch, Ok(value))),
            (Err(error), Ok(())) if self.trouble_behind(&error, &held.known).is_none() => Ok((batch, Err(error))),
            (Err(error), _) | (_, Err(error)) => {
                roll_back(connection);
                let told = again(&error);
                let settled = match batch.held.take() {
                    Some(held) => self.settle(Err(error), held),
                    None => Err(error),
                };
                batch.tell(Err(told));
                settled
            }
        }
    }

    /// Commits for everybody who wrote, and tells them.
    fn finish(&self, mut batch: Batch, doing: &'static str) {
        let Some(mut held) = batch.held.take() else { return };
        let outcome = match self.commit(&mut held, batch.base, doing) {
            Ok(()) => self.settle(Ok(()), held),
            Err(Failed::Store(error)) => {
                roll_back(&held.connection);
                self.settle(Err(error), held)
            }
            Err(Failed::Before(trouble)) => {
                roll_back(&held.connection);
                self.lose(held, trouble);
                Err(self.lost())
            }
            Err(Failed::After { trouble, written }) => self.reconsider(held, trouble, &written),
        };
        batch.tell(outcome);
    }

    fn commit(&self, held: &mut Held, base: Base, doing: &'static str) -> Result<(), Failed> {
        let failed = |error| Failed::Store(while_doing(doing)(error));
        let Held { known, connection, .. } = held;
        let written = identity::count(connection, base.synced).map_err(failed)?;
        run(connection, COMMIT).map_err(failed)?;
        self.watch
            .after(known, connection, &written, base.counted)
            .map_err(|trouble| Failed::After { trouble, written })
    }

    /// After a commit that cannot be confirmed as it is: where the same database is found to be sound and to hold it, it can.
    fn reconsider(&self, held: Held, trouble: Trouble, written: &Identity) -> Stored<()> {
        let file = held.known.main;
        self.lose(held, trouble);
        self.recover()?;
        match &*self.state() {
            State::Sound { known, .. } if known.is_file(Some(file)) && known.identity().is_later(written) => Ok(()),
            _ => Err(self.error(trouble.loss())),
        }
    }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Ends a transaction without a trace, if there is one.
fn roll_back(connection: &Connection) {
    if !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::debug!(%error, "a transaction could not be rolled back; its connection closes");
    }
}

fn abandoned() -> StoreError {
    let source = "the transaction that it was part of was not committed".into();
    StoreError::Failed { doing: "write", source }
}

/// The same error for everybody who shared a transaction.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Busy => StoreError::Busy,
        StoreError::Full => StoreError::Full,
        StoreError::LogHeld { megabytes, reader } => {
            StoreError::LogHeld { megabytes: *megabytes, reader: reader.clone() }
        }
        StoreError::ReadOnly { why } => StoreError::ReadOnly { why: *why },
        StoreError::Lost { loss, backup } => StoreError::Lost { loss: *loss, backup: backup.clone() },
        StoreError::Damaged { source } => {
            let source = source.as_ref().map(|source| source.to_string().into());
            StoreError::Damaged { source }
        }
        StoreError::Failed { doing, source } => StoreError::Failed { doing, source: source.to_string().into() },
        other => StoreError::Failed { doing: "write with others", source: other.to_string().into() },
    }
}
