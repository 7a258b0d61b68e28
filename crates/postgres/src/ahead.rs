//! Reading ahead: as long as a verb reads, all that its thread reads is one snapshot on one connection, nothing is asked twice,
//! and what the verb is known to ask for is asked together. Whatever the thread writes ends it; what is known to follow a write
//! is asked together with the commit.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use throughline_core::context::CANDIDATE_TASKS;
use throughline_core::model::{DocumentName, MachineId, Name, Project, SessionId};
use throughline_core::ports::{
    Changes as _, Documents as _, History as _, Injections as _, MemoryVectors as _, Mutes as _, OffRecord as _,
    Projects as _, ReadingAhead, ReadsAhead, Sessions as _, Tasks as _, Threads as _, Upcoming, Withdrawals as _,
};
use throughline_core::recall::Filter;
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::pool::Pool;
use crate::words::{Rows, searched};
use crate::{PostgresStore, projects, turns, versioned};

thread_local! {
    static AHEAD: RefCell<Option<Ahead>> = const { RefCell::new(None) };
}

/// What a thread reads ahead.
struct Ahead {
    pool: *const Pool,
    /// Where it reads; nothing since it wrote.
    known: Option<Rc<Known>>,
}

/// A connection, and what is known on it.
pub(crate) struct Known {
    pub(crate) connection: Connection,
    is_snapshot: bool,
}

/// Ends what was begun when it is dropped.
struct Reading(Arc<Pool>);

impl Drop for Reading {
    fn drop(&mut self) {
        end(&self.0);
        AHEAD.set(None);
    }
}

/// Begins a snapshot on this thread, unless it reads one.
fn begin(pool: &Pool) {
    if of(pool).is_some() {
        return;
    }
    let begun = pool.once(|deadline| {
        let connection = pool.take(deadline)?;
        // It has nothing to say that the questions after it do not.
        connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        connection.answers().last();
        Ok(connection)
    });
    match begun {
        Ok(connection) => put(pool, Known { connection, is_snapshot: true }),
        Err(error) => tracing::debug!(%error, "nothing is read ahead"),
    }
}

fn put(pool: &Pool, known: Known) {
    AHEAD.with_borrow_mut(|ahead| {
        if let Some(ahead) = ahead.as_mut().filter(|ahead| std::ptr::eq(ahead.pool, pool)) {
            ahead.known = Some(Rc::new(known));
        }
    });
}

/// Whether this thread reads ahead, or did so until it wrote.
pub(crate) fn is_read(pool: &Pool) -> bool {
    AHEAD.with_borrow(|ahead| ahead.as_ref().is_some_and(|ahead| std::ptr::eq(ahead.pool, pool)))
}

/// Goes on reading on a connection that knows what follows a write; gives it back where this thread does not read ahead.
pub(crate) fn go_on(pool: &Pool, connection: Connection) {
    if is_read(pool) && connection.answers().is_lasting() {
        put(pool, Known { connection, is_snapshot: false });
    } else {
        connection.answers().forget();
        pool.give_back(connection);
    }
}

/// What this thread reads of this pool.
pub(crate) fn of(pool: &Pool) -> Option<Rc<Known>> {
    AHEAD.with_borrow(|ahead| {
        let ahead = ahead.as_ref().filter(|ahead| std::ptr::eq(ahead.pool, pool))?;
        ahead.known.clone()
    })
}

/// Ends what this thread reads of this pool, until it is begun again.
pub(crate) fn end(pool: &Pool) {
    let known = AHEAD.with_borrow_mut(|ahead| {
        let ahead = ahead.as_mut().filter(|ahead| std::ptr::eq(ahead.pool, pool))?;
        ahead.known.take()
    });
    let Some(Known { connection, is_snapshot }) = known.and_then(Rc::into_inner) else { return };
    connection.answers().forget();
    if !is_snapshot || connection.send("ROLLBACK").is_ok() {
        pool.give_back(connection);
    }
}

/// Asks together whatever `read` would ask for and is not known yet; says whether there was anything.
fn gather(pool: &Pool, read: impl FnOnce()) -> bool {
    let Some(known) = of(pool) else { return false };
    known.connection.answers().gather();
    read();
    let questions = known.connection.answers().gathered();
    if questions.is_empty() {
        return false;
    }
    if let Err(error) = pool.once(|_| known.connection.learn(questions)) {
        tracing::debug!(%error, "nothing is read ahead");
        drop(known);
        end(pool);
        return false;
    }
    true
}

impl ReadsAhead for PostgresStore {
    fn read_ahead(&self, upcoming: &Upcoming<'_>) -> ReadingAhead {
        let is_first = AHEAD.with_borrow(Option::is_none);
        if is_first {
            AHEAD.set(Some(Ahead { pool: Arc::as_ptr(&self.pool), known: None }));
        }
        // A verb within another one reads the same.
        if of(&self.pool).is_none_or(|known| !known.is_snapshot) {
            begin(&self.pool);
            // What follows from the first answers is asked for with the second question.
            if gather(&self.pool, || self.ask_for(upcoming)) {
                gather(&self.pool, || self.ask_for(upcoming));
            }
        }
        if is_first { ReadingAhead::until(Reading(Arc::clone(&self.pool))) } else { ReadingAhead::default() }
    }
}

/// What was read is known from here on.
fn known<T, E>(_: Result<T, E>) {}

impl PostgresStore {
    /// Reads what a verb reads.
    fn ask_for(&self, upcoming: &Upcoming<'_>) {
        known(self.projects());
        known(self.roots());
        known(self.pauses());
        if let Some(session) = upcoming.session {
            known(self.is_latest_unkept(session));
            known(self.session(session));
            if upcoming.searches {
                known(self.injected(session));
                known(self.read("read a conversation", |connection| turns::sent(connection, session)));
            }
        }
        if upcoming.begins || upcoming.searches {
            known(self.known_documents());
        }
        if let Some(person) = upcoming.person.filter(|_| upcoming.begins || upcoming.searches) {
            self.ask_for_documents(person, upcoming.begins);
        }
        if !upcoming.words.is_empty() {
            known(self.done_tasks_sharing(upcoming.words, CANDIDATE_TASKS));
        }
        if upcoming.begins {
            known(self.mutes());
            known(self.tasks());
            known(self.erasure_mark());
        }
        if upcoming.searches {
            self.ask_for_words();
        }
    }

    fn ask_for_documents(&self, person: &Name, are_read: bool) {
        let documents = self.documents();
        known(documents.stamps(person));
        if are_read {
            known(documents.read(&DocumentName::profile(person)));
            known(documents.read(&DocumentName::working(person)));
            known(self.shown_threads(person));
        }
    }

    fn ask_for_words(&self) {
        known(self.project_names());
        known(self.memory_sets());
        known(self.withdrawn(&[], &[]));
        known(self.withdrawals_of(&[String::new()]));
        let any = Filter::default();
        for collection in Collection::ALL {
            known(self.snapshot("search", |connection| {
                searched(&Rows { connection, collection }, &self.words, &any).map(drop)
            }));
        }
    }
}

/// Asks for what it takes to observe a conversation, on a connection that just wrote.
pub(crate) fn ask_for_session(connection: &Connection, machine: &MachineId, session: &SessionId) {
    known(versioned::all::<Project>(connection, machine, "name"));
    known(projects::roots(connection, machine));
    known(crate::sessions::state(connection, session));
    known(crate::off_record::pauses(connection));
    known(crate::off_record::is_latest_unkept(connection, session));
}
