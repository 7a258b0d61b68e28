//! A transaction that writes. It holds the lock on the row of its space: one writer of a memory at a time, as in SQLite, so that
//! numbers and positions grow in the order of commits, and what was checked stays true until the commit. Writers of other
//! memories never wait for it.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use jiff::Timestamp;
use throughline_core::ports::StoreError;
use throughline_stores::words::Collection;

use crate::answers::Question;
use crate::connection::Connection;
use crate::derived::Derived;
use crate::error::{Sql, unreadable};
use crate::joined;
use crate::pool::Pool;
use crate::reach::ITS_TIME;
use crate::values::{Value, values};

/// So many of the latest transactions are known by their tokens.
const KNOWN_COMMITS: i64 = 1000;

/// What rows are numbered by. Entries, turns and passages have no gaps beside those that were erased: signs of vectors stand in
/// blocks by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    Entry,
    Turn,
    Chunk,
    Segment,
    /// Everything else.
    Row,
}

const COUNTERS: usize = 5;

/// The last statement of a transaction: its number, its token, what rows are numbered by, and whether the index has something to do.
const LAST: &str = "WITH noted AS (INSERT INTO commits (space, number, token) VALUES ($1, $2, $3)) \
     UPDATE spaces SET writes = $2, last_entry = $4, last_turn = $5, last_chunk = $6, last_segment = $7, \
       last_row = $8 WHERE space = $1 \
     RETURNING EXISTS (SELECT 1 FROM word_tail t WHERE t.space = $1 GROUP BY t.collection HAVING count(*) >= \
         CASE t.collection WHEN 1 THEN $9::bigint WHEN 2 THEN $10::bigint ELSE $11::bigint END) \
       OR EXISTS (SELECT 1 FROM word_indexes i WHERE i.space = $1 AND i.built < i.until) \
       OR EXISTS (SELECT 1 FROM word_segments w WHERE w.space = $1 AND w.state = 2)";

/// A transaction that is under way. Dereferences to its connection.
pub(crate) struct Transaction<'c> {
    connection: &'c Rc<Connection>,
    number: i64,
    token: String,
    began_at: Timestamp,
    last: Cell<[i64; COUNTERS]>,
    derived: RefCell<Derived>,
    is_ready: Cell<bool>,
    is_sealed: Cell<bool>,
    upkeep: Cell<bool>,
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl<'c> Transaction<'c> {
    /// Begins one, takes the lock of the space and asks what is asked first, in one round trip. `settings` hold for this
    /// transaction.
    pub(crate) fn begin(connection: &'c Rc<Connection>, settings: &str, first: Vec<Question>) -> Sql<Self> {
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {settings} SELECT writes, last_entry, last_turn, last_chunk, last_segment, \
             last_row, gen_random_uuid(), {ITS_TIME} FROM spaces WHERE space = '{}' FOR UPDATE",
            connection.space()
        );
        let before = connection.reach().before();
        let gone = || StoreError::Damaged { source: Some("the memory is gone from the server".into()) };
        let row = connection.begin_with(&sql, first)?.ok_or_else(gone)?;
        connection.reach().heard(before, row.get(7));
        let number = |column: usize| -> Sql<i64> { row.get(column).unwrap_or_default().parse().map_err(unreadable) };
        let last = [number(1)?, number(2)?, number(3)?, number(4)?, number(5)?];
        Ok(Self {
            connection,
            number: number(0)? + 1,
            token: row.get(6).unwrap_or_default().to_owned(),
            began_at: Timestamp::from_millisecond(number(7)?).map_err(unreadable)?,
            last: Cell::new(last),
            derived: RefCell::default(),
            is_ready: Cell::new(false),
            is_sealed: Cell::new(false),
            upkeep: Cell::new(false),
        })
    }

    /// Which transaction of the space it is: they are committed in this order.
    pub(crate) fn number(&self) -> i64 {
        self.number
    }

    /// When it began, by the server's clock.
    pub(crate) fn began_at(&self) -> Timestamp {
        self.began_at
    }

    /// Tells it from others that were given the same number and not committed.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// A number that no row of its kind has or had.
    pub(crate) fn next(&self, counter: Counter) -> i64 {
        let mut last = self.last.get();
        last[counter as usize] += 1;
        self.last.set(last);
        last[counter as usize]
    }

    /// A row has this number: none below it is given any more.
    pub(crate) fn raise(&self, counter: Counter, number: i64) {
        let mut last = self.last.get();
        last[counter as usize] = last[counter as usize].max(number);
        self.last.set(last);
    }

    /// The number that was given last.
    pub(crate) fn last(&self, counter: Counter) -> i64 {
        self.last.get()[counter as usize]
    }

    /// A row is new; `is_embedded` says whether it gets a vector.
    pub(crate) fn added(&self, collection: Collection, number: i64, is_embedded: bool) {
        self.derived.borrow_mut().added(collection, number, is_embedded);
    }

    /// A row changed; its text did not.
    pub(crate) fn changed(&self, collection: Collection, number: i64) {
        self.derived.borrow_mut().changed(collection, number);
    }

    /// A row has another text.
    pub(crate) fn rewritten(&self, collection: Collection, number: i64) {
        self.derived.borrow_mut().rewritten(collection, number);
    }

    /// Rows are gone: those that this statement, which deletes, gives the numbers of.
    pub(crate) fn remove(&self, collection: Collection, sql: &str, values: &[crate::values::Value<'_>]) -> Sql<u64> {
        let rows = self.rows(sql, values)?;
        let mut derived = self.derived.borrow_mut();
        for row in &rows {
            derived.removed(collection, row.int(0)?);
        }
        Ok(rows.len() as u64)
    }

    /// Writes what follows from the rows so far.
    pub(crate) fn write_derived(&self) -> Sql<()> {
        let derived = self.derived.take();
        derived.write(self)
    }

    /// Writes all that is left, so that only the commit can fail. Idempotent.
    pub(crate) fn make_ready(&self) -> Sql<()> {
        if self.is_ready.replace(true) {
            return Ok(());
        }
        let last = self.last_values()?;
        self.upkeep.set(self.one(LAST, &last)?.flag(0)?);
        Ok(())
    }

    /// Writes all that is left, commits, and asks what is asked next.
    pub(crate) fn commit(&self, next: Vec<Question>) -> Sql<()> {
        if self.is_ready.replace(true) {
            return self.run("COMMIT");
        }
        let last = self.last_values()?;
        self.upkeep.set(self.one_and_commit(LAST, &last, next)?.flag(0)?);
        Ok(())
    }

    /// Writes all but [`LAST`]; gives what that binds.
    fn last_values(&self) -> Sql<[Value<'_>; 10]> {
        self.write_derived()?;
        if self.number % 100 == 0 {
            let sql = "DELETE FROM commits WHERE space = $1 AND number < $2";
            self.post(sql, &values![self.number - KNOWN_COMMITS])?;
        }
        let [entry, turn, chunk, segment, row] = self.last.get();
        let [entries, turns, chunks] = Collection::ALL.map(Collection::longest_tail);
        Ok(values![self.number, &self.token, entry, turn, chunk, segment, row, entries, turns, chunks])
    }

    /// Whether the word index has something to do, as of the commit.
    pub(crate) fn has_upkeep(&self) -> bool {
        self.upkeep.get()
    }

    /// Writes all that is left and lets the caller do something outside the store: from here on, `work` is not done again.
    pub(crate) fn seal(&self) -> Sql<()> {
        self.make_ready()?;
        self.is_sealed.set(true);
        Ok(())
    }

    /// Does what a change does last: what of it belongs into this database joins the transaction.
    pub(crate) fn finish(&self, pool: &Pool, last: impl FnOnce() -> bool) -> Sql<()> {
        if joined::during(pool.address(), self.connection, self.number, last) {
            Ok(())
        } else {
            Err(StoreError::TakenBack.into())
        }
    }

    /// Whether something was done outside the store.
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed.get()
    }
}

/// Whether a transaction was committed: asked under the lock of the space, which whoever had it holds until it ends.
pub(crate) fn was_committed(connection: &Connection, number: i64, token: &str) -> Sql<bool> {
    let sql = format!("BEGIN; SELECT 1 FROM spaces WHERE space = '{}' FOR UPDATE", connection.space());
    connection.run(&sql)?;
    let sql = "SELECT 1 FROM commits WHERE space = $1 AND number = $2 AND token = $3";
    let found = connection.exists(sql, &values![number, token]);
    connection.run("ROLLBACK")?;
    found
}
