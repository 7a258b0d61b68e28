//! Sessions, and how far each was processed.

use jiff::Timestamp;
use throughline_core::model::{Position, Session, SessionId, SessionState};
use throughline_core::ports::{Among, ErasureMark, NewSession, Page, SessionPage, Sessions, StoreError};
use throughline_core::sessions::{Backlog, DueRules};
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::entries::parse_cursor;
use crate::error::Sql;
use crate::pool::Between;
use crate::transaction::{Counter, Transaction};
use crate::turns::go_on;
use crate::values::{Row, Value, values};
use crate::{PostgresStore, Stored, backlogs, erase};

impl Sessions for PostgresStore {
    fn sessions(&self) -> Stored<Vec<SessionState>> {
        self.read("list sessions", |connection| states(connection, "TRUE ORDER BY updated_at DESC, number DESC", &[]))
    }

    fn session(&self, id: &SessionId) -> Stored<Option<SessionState>> {
        self.read("read a session", |connection| state(connection, id))
    }

    fn session_page(&self, channel: Option<&str>, page: &Page) -> Stored<SessionPage> {
        let before = page.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = page.limit.min(i64::MAX as usize - 1);
        // Turns are counted for the page alone.
        let sql = format!(
            "SELECT {STATE_COLUMNS}, number, \
               (SELECT count(*) FROM turns t WHERE t.space = $1 AND t.session = p.number) FROM \
             (SELECT * FROM sessions WHERE space = $1 AND ($2::text IS NULL OR split_part(id, ':', 1) = $2) \
               AND ($3::bigint IS NULL OR (updated_at, number) < ($3, $4::bigint)) \
               ORDER BY updated_at DESC, number DESC LIMIT $5) p \
             ORDER BY updated_at DESC, number DESC"
        );
        let bound = values![channel, before.map(|(at, _)| at), before.map(|(_, number)| number), limit + 1];
        let mut found: Vec<(SessionState, i64, u64)> = self.read("list sessions", |connection| {
            connection
                .all(&sql, &bound, |row| Ok((read_state(row)?, row.int(STATE_WIDTH)?, row.number(STATE_WIDTH + 1)?)))
        })?;
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let cursor = last.map(|(state, number, _)| format!("{}.{number}", state.session.updated_at.as_millisecond()));
        Ok(SessionPage { sessions: found.into_iter().map(|(state, _, turns)| (state, turns)).collect(), cursor })
    }

    fn open_session(&self, new: &NewSession) -> Stored<SessionState> {
        let first = |connection: &Connection| drop(known(connection, &new.id));
        let between = Between { first: &first, ..Between::default() };
        self.write_between(self.effort, "open a session", &between, |transaction| {
            let known = known(transaction, &new.id)?;
            let mut known = upsert(transaction, new, known)?;
            go_on(transaction, &new.id)?;
            known.state.session.ended_at = None;
            Ok(known.state)
        })
    }

    fn open_new_session(&self, new: &NewSession) -> Stored<Option<SessionState>> {
        let first = |connection: &Connection| drop(known(connection, &new.id));
        let between = Between { first: &first, ..Between::default() };
        self.write_between(self.effort, "open a session", &between, |transaction| {
            Ok(if known(transaction, &new.id)?.is_some() { None } else { Some(insert(transaction, new)?.state) })
        })
    }

    fn set_opening(&self, id: &SessionId, opening: &str, since: &ErasureMark) -> Stored<String> {
        self.write("begin a session", |transaction| {
            let known = known(transaction, id)?;
            begin(transaction, (id, known), opening, since)
        })
    }

    fn reset_session(&self, id: &SessionId) -> Stored<()> {
        self.write("reset a session", |transaction| reset(transaction, id))
    }

    fn end_session(&self, id: &SessionId, at: Timestamp) -> Stored<()> {
        self.write("end a session", |transaction| {
            let sql = "UPDATE sessions SET ended_at = $3 WHERE space = $1 AND id = $2";
            transaction.post(sql, &values![id.as_str(), at])?;
            transaction.post("UPDATE spaces SET endings = endings + 1 WHERE space = $1", &[])
        })
    }

    fn due_sessions(&self, rules: &DueRules, among: &Among) -> Stored<Vec<Backlog>> {
        let mut backlogs = self.read("look which sessions are due", |connection| backlogs::read(connection, among))?;
        backlogs.retain(|backlog| rules.trigger(backlog).is_some());
        Ok(backlogs)
    }

    fn note_failure(&self, session: &SessionId) -> Stored<u32> {
        let sql = "UPDATE sessions SET failures = failures + 1 WHERE space = $1 AND id = $2 RETURNING failures";
        self.write("count a failure", |transaction| transaction.one(sql, &values![session.as_str()])?.number(0))
    }
}

/// A session as the rows have it.
pub(crate) struct KnownSession {
    pub(crate) number: i64,
    pub(crate) last_position: i64,
    pub(crate) state: SessionState,
}

/// Keeps what a session begins with, unless it has begun; gives it as it stands.
pub(crate) fn begin(
    transaction: &Transaction<'_>,
    (id, known): (&SessionId, Option<KnownSession>),
    opening: &str,
    since: &ErasureMark,
) -> Sql<String> {
    erase::check_unerased(transaction, since)?;
    let gone = || StoreError::Conflict { what: id.to_string() };
    if let Some(opening) = known.ok_or_else(gone)?.state.opening {
        return Ok(opening);
    }
    let sql = "UPDATE sessions SET opening = $3 WHERE space = $1 AND id = $2";
    transaction.post(sql, &values![id.as_str(), opening])?;
    Ok(opening.to_owned())
}

/// Forgets what a session was given.
pub(crate) fn reset(transaction: &Transaction<'_>, id: &SessionId) -> Sql<()> {
    let anew = "UPDATE sessions SET opening = NULL WHERE space = $1 AND id = $2";
    let forget = "DELETE FROM injected WHERE space = $1 \
                  AND session IN (SELECT number FROM sessions WHERE space = $1 AND id = $2)";
    transaction.post(anew, &values![id.as_str()])?;
    transaction.post(forget, &values![id.as_str()])
}

/// Inserts a session that is new.
fn insert(transaction: &Transaction<'_>, new: &NewSession) -> Sql<KnownSession> {
    let sql = "INSERT INTO sessions (space, number, id, project, task, base_prompt, created_at, updated_at, person, title) \
               VALUES ($1, $2, $3, $4, $5, coalesce($6, ''), $7, $7, $8, $9)";
    let number = transaction.next(Counter::Row);
    let bound = values![
        number,
        new.id.as_str(),
        new.project.as_ref(),
        new.task.as_ref(),
        new.base_prompt.as_ref(),
        new.at,
        new.person.as_ref(),
        new.title.as_ref(),
    ];
    transaction.post(sql, &bound)?;
    let at = throughline_stores::time(new.at.as_millisecond());
    let session = Session {
        id: new.id.clone(),
        title: new.title.clone(),
        project: new.project.clone(),
        task: new.task.clone(),
        person: new.person.clone(),
        created_at: at,
        updated_at: at,
        ended_at: None,
    };
    let state = SessionState {
        session,
        base_prompt: new.base_prompt.clone().unwrap_or_default(),
        opening: None,
        consolidated: Position::default(),
        kept_from: Position::default(),
        failures: 0,
        imported_to: Position::default(),
    };
    Ok(KnownSession { number, last_position: 0, state })
}

/// Inserts a session, or tells the one that is there what it is about; what is not given stays.
pub(crate) fn upsert(
    transaction: &Transaction<'_>,
    new: &NewSession,
    known: Option<KnownSession>,
) -> Sql<KnownSession> {
    let Some(mut known) = known else { return insert(transaction, new) };
    let sql = "UPDATE sessions SET project = coalesce($3, project), task = coalesce($4, task), \
                 base_prompt = coalesce($5, base_prompt), person = coalesce($6, person), title = coalesce($7, title) \
               WHERE space = $1 AND id = $2";
    let bound = values![
        new.id.as_str(),
        new.project.as_ref(),
        new.task.as_ref(),
        new.base_prompt.as_ref(),
        new.person.as_ref(),
        new.title.as_ref(),
    ];
    transaction.post(sql, &bound)?;
    let SessionState { session, base_prompt, .. } = &mut known.state;
    if new.project.is_some() && new.project != session.project {
        changed(transaction, known.number)?;
    }
    for (known, given) in [
        (&mut session.project, &new.project),
        (&mut session.task, &new.task),
        (&mut session.person, &new.person),
        (&mut session.title, &new.title),
    ] {
        if given.is_some() {
            known.clone_from(given);
        }
    }
    if let Some(given) = &new.base_prompt {
        base_prompt.clone_from(given);
    }
    Ok(known)
}

/// A session belongs to another project: its turns are found there.
fn changed(transaction: &Transaction<'_>, session: i64) -> Sql<()> {
    let sql = "SELECT number FROM turns WHERE space = $1 AND session = $2";
    for row in transaction.rows(sql, &values![session])? {
        transaction.changed(Collection::Turns, row.int(0)?);
    }
    Ok(())
}

const STATE_COLUMNS: &str = "id, project, task, created_at, updated_at, ended_at, base_prompt, opening, consolidated, \
     kept_from, failures, imported_to, person, title";

/// How many columns those are.
const STATE_WIDTH: usize = 14;

pub(crate) fn state(connection: &Connection, id: &SessionId) -> Sql<Option<SessionState>> {
    Ok(known(connection, id)?.map(|known| known.state))
}

pub(crate) fn known(connection: &Connection, id: &SessionId) -> Sql<Option<KnownSession>> {
    let sql = format!("SELECT {STATE_COLUMNS}, number, last_position FROM sessions WHERE space = $1 AND id = $2");
    let read = |row: Row| {
        let (number, last_position) = (row.int(STATE_WIDTH)?, row.int(STATE_WIDTH + 1)?);
        Ok(KnownSession { number, last_position, state: read_state(&row)? })
    };
    connection.maybe(&sql, &values![id.as_str()])?.map(read).transpose()
}

/// Sessions that pass a condition, which also says in which order.
pub(crate) fn states(connection: &Connection, condition: &str, bound: &[Value<'_>]) -> Sql<Vec<SessionState>> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM sessions WHERE space = $1 AND {condition}");
    connection.all(&sql, bound, read_state)
}

fn read_state(row: &Row) -> Sql<SessionState> {
    let session = Session {
        id: row.parsed(0)?,
        title: row.maybe_text(13)?,
        project: row.maybe_text(1)?,
        task: row.maybe_text(2)?,
        person: row.maybe_text(12)?,
        created_at: row.time(3)?,
        updated_at: row.time(4)?,
        ended_at: row.maybe_time(5)?,
    };
    Ok(SessionState {
        session,
        base_prompt: row.text(6)?,
        opening: row.maybe_text(7)?,
        consolidated: Position::new(row.number(8)?),
        kept_from: Position::new(row.number(9)?),
        failures: row.number(10)?,
        imported_to: Position::new(row.number(11)?),
    })
}
