//! Turns: appended, and read in order.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use throughline_core::model::{Position, Role, SessionId, Turn, TurnId};
use throughline_core::ports::{Among, NewSession, StoreError, TurnMark, Turns, TurnsOf};
use throughline_core::text::tokens;
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::error::Sql;
use crate::index::turn_terms;
use crate::pool::Between;
use crate::sessions::{known, upsert};
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, texts, values};
use crate::{PostgresStore, Stored, backlogs, retention};

impl Turns for PostgresStore {
    fn append(&self, turns: &[Turn]) -> Stored<usize> {
        self.append_each(&[], turns, go_on)
    }

    fn append_to(&self, session: &NewSession, turns: &[Turn]) -> Stored<usize> {
        self.append_each(std::slice::from_ref(session), turns, go_on)
    }

    fn append_imported(&self, sessions: &[NewSession], turns: &[Turn]) -> Stored<usize> {
        self.append_each(sessions, turns, |transaction, session| {
            go_on(transaction, session)?;
            mark_imported(transaction, session)
        })
    }

    fn turn_page(&self, id: &SessionId, after: Option<&TurnId>, limit: usize) -> Stored<Option<Vec<Turn>>> {
        let sql =
            format!("{SELECT_TURNS} WHERE t.space = $1 AND s.id = $2 AND t.position > $3 ORDER BY t.position LIMIT $4");
        self.read("read a conversation", |connection| {
            let after = match after {
                None => Some(0),
                Some(after) => position_of(connection, id, after)?,
            };
            let Some(after) = after else { return Ok(None) };
            connection.all(&sql, &values![id.as_str(), after, limit], turn).map(Some)
        })
    }

    fn turns_named(&self, reference: &str, limit: usize) -> Stored<Vec<Turn>> {
        let sql = format!(
            "{SELECT_TURNS} WHERE t.space = $1 AND t.id >= $2 AND starts_with(t.id, $2) AND t.id < $2 || chr(1114111) \
             ORDER BY t.id LIMIT $3"
        );
        self.read("look up what was said", |connection| connection.all(&sql, &values![reference, limit], turn))
    }

    fn turns_after(&self, id: &SessionId, after: Position) -> Stored<Vec<(Position, Turn)>> {
        let sql = format!("{SELECT_TURNS} WHERE t.space = $1 AND s.id = $2 AND t.position > $3 ORDER BY t.position");
        self.read("read a conversation", |connection| {
            if connection.answers().knows(&sent_sql(), &values![id.as_str()])
                && known(connection, id)?.is_some_and(|known| known.state.kept_from == after)
            {
                return sent(connection, id);
            }
            connection.all(&sql, &values![id.as_str(), after.number()], with_position)
        })
    }

    fn said_after(
        &self,
        of: &TurnsOf,
        after: &TurnMark,
        since: Timestamp,
        limit: usize,
    ) -> Stored<(Vec<Turn>, TurnMark)> {
        let (project, channel) = match of {
            TurnsOf::NoProject => (None, None),
            TurnsOf::Project(name) => (Some(name), None),
            TurnsOf::Channel(name) => (None, Some(name)),
        };
        let sql = format!(
            "{SELECT_TURNS} WHERE t.space = $1 AND t.number > $2 AND t.at >= $3 AND s.project IS NOT DISTINCT FROM $4 \
               AND t.role IN ('user', 'assistant') AND ($6::text IS NULL OR split_part(s.id, ':', 1) = $6) \
             ORDER BY t.number DESC LIMIT $5"
        );
        let bound = values![number_of_mark(after)?, since, project, limit, channel];
        let found = self.read("read what was said", |connection| {
            connection.all(&sql, &bound, |row| Ok((row.int(7)?, turn(row)?)))
        })?;
        let end = found.first().map_or_else(|| after.clone(), |(number, _)| mark(*number));
        Ok((found.into_iter().rev().map(|(_, turn)| turn).collect(), end))
    }

    fn first_messages(&self, sessions: &[SessionId]) -> Stored<Vec<Option<String>>> {
        let sql = "SELECT (SELECT t.content FROM turns t JOIN sessions s ON s.space = $1 AND s.number = t.session \
                     WHERE t.space = $1 AND s.id = asked.id AND t.role = 'user' ORDER BY t.position LIMIT 1) \
                   FROM unnest($2::text[]) WITH ORDINALITY AS asked (id, nth) ORDER BY asked.nth";
        self.read("read first messages", |connection| {
            connection.all(sql, &values![texts(sessions.iter().map(SessionId::as_str))], |row| row.maybe_text(0))
        })
    }

    fn remove_old(&self, until: Timestamp, unread_until: Timestamp, limit: usize) -> Stored<usize> {
        self.bookkeeper.flush();
        self.write("remove old turns", |transaction| retention::remove_old(transaction, until, unread_until, limit))
    }
}

/// The mark behind a turn: its number. Numbers are given by one writer at a time and never twice, so that whatever becomes
/// visible later has a higher one.
pub(crate) fn mark(number: i64) -> TurnMark {
    if number == 0 { TurnMark::default() } else { TurnMark::new(number.to_string()) }
}

/// The number of a mark that this store gave.
pub(crate) fn number_of_mark(mark: &TurnMark) -> Stored<i64> {
    let number = if mark.as_str().is_empty() { Some(0) } else { mark.as_str().parse().ok() };
    number.ok_or_else(|| StoreError::BadCursor { cursor: mark.as_str().to_owned() })
}

impl PostgresStore {
    /// Opens a session, where one is given, and appends turns, in one transaction; `then` follows each that is new. Gives
    /// how many are.
    fn append_each(
        &self,
        sessions: &[NewSession],
        turns: &[Turn],
        then: impl Fn(&Transaction<'_>, &SessionId) -> Sql<()>,
    ) -> Stored<usize> {
        let ids = || turns.iter().map(|turn| &turn.id);
        let of: BTreeSet<&SessionId> =
            sessions.iter().map(|session| &session.id).chain(turns.iter().map(|turn| &turn.session)).collect();
        let first = |connection: &Connection| {
            of.iter().for_each(|id| drop(known(connection, id)));
            let _ = stored(connection, ids());
        };
        let next = |connection: &Connection| {
            for id in &of {
                let _ = known(connection, id);
                let _ = backlogs::read(connection, &Among::One((*id).clone()));
            }
        };
        let next: &dyn Fn(&Connection) = if of.len() == 1 { &next } else { &|_| () };
        self.write_between(self.effort, "append turns", &Between { first: &first, next }, |transaction| {
            let mut appending = Appending::new(transaction, ids())?;
            sessions.iter().try_for_each(|session| appending.open(session))?;
            let mut added = 0;
            for turn in turns {
                if appending.append(turn)? {
                    then(transaction, &turn.session)?;
                    added += 1;
                }
            }
            Ok(added)
        })
    }
}

/// Appends one turn, opening its session; a turn that is there already, or was erased, is left alone. Says whether it is new.
pub(crate) fn append(transaction: &Transaction<'_>, turn: &Turn) -> Sql<bool> {
    Appending::new(transaction, std::iter::once(&turn.id))?.append(turn)
}

/// What became of a turn that is not new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Stored,
    Erased,
}

/// Those of some turns that are not new.
fn stored<'i>(connection: &Connection, ids: impl Iterator<Item = &'i TurnId>) -> Sql<HashMap<String, Kept>> {
    let sql = "SELECT id, FALSE FROM turns WHERE space = $1 AND id = ANY($2) \
               UNION ALL SELECT turn, TRUE FROM erased_turn_ids WHERE space = $1 AND turn = ANY($2)";
    let kept = |row: &Row| Ok((row.text(0)?, if row.flag(1)? { Kept::Erased } else { Kept::Stored }));
    Ok(connection.all(sql, &values![texts(ids.map(TurnId::as_str))], kept)?.into_iter().collect())
}

/// Turns on their way into one transaction.
struct Appending<'t, 'c> {
    transaction: &'t Transaction<'c>,
    kept: HashMap<String, Kept>,
    /// The number of each session, and its last position.
    sessions: HashMap<SessionId, (i64, i64)>,
}

impl<'t, 'c> Appending<'t, 'c> {
    fn new<'i>(transaction: &'t Transaction<'c>, ids: impl Iterator<Item = &'i TurnId>) -> Sql<Self> {
        Ok(Self { transaction, kept: stored(transaction, ids)?, sessions: HashMap::new() })
    }

    fn open(&mut self, session: &NewSession) -> Sql<()> {
        let known = known(self.transaction, &session.id)?;
        let known = upsert(self.transaction, session, known)?;
        self.sessions.insert(session.id.clone(), (known.number, known.last_position));
        Ok(())
    }

    /// The session of a turn, which is begun where it is new.
    fn session(&mut self, turn: &Turn) -> Sql<(i64, i64)> {
        let id = &turn.session;
        let place = match self.sessions.get(id) {
            Some(place) => Some(*place),
            None => known(self.transaction, id)?.map(|known| (known.number, known.last_position)),
        };
        let place = match place {
            Some(place) => {
                let sql = "UPDATE sessions SET updated_at = greatest(updated_at, $3) WHERE space = $1 AND id = $2";
                self.transaction.post(sql, &values![id.as_str(), turn.at])?;
                place
            }
            None => {
                let sql =
                    "INSERT INTO sessions (space, number, id, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)";
                let number = self.transaction.next(Counter::Row);
                self.transaction.post(sql, &values![number, id.as_str(), turn.at])?;
                (number, 0)
            }
        };
        self.sessions.insert(id.clone(), place);
        Ok(place)
    }

    fn append(&mut self, turn: &Turn) -> Sql<bool> {
        if self.kept.get(turn.id.as_str()) == Some(&Kept::Erased) {
            return Ok(false);
        }
        let (session, last) = self.session(turn)?;
        if self.kept.insert(turn.id.as_str().to_owned(), Kept::Stored).is_some() {
            return Ok(false);
        }
        let (transaction, number, position) = (self.transaction, self.transaction.next(Counter::Turn), last + 1);
        self.sessions.insert(turn.session.clone(), (session, position));
        let sql = "WITH appended AS (INSERT INTO turns \
                     (space, number, id, session, position, role, speaker, at, content, terms, tokens) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)) \
                   UPDATE sessions SET last_position = $5 WHERE space = $1 AND number = $4";
        let bound = values![
            number,
            turn.id.as_str(),
            session,
            position,
            turn.role.as_str(),
            turn.speaker.as_ref(),
            turn.at,
            &turn.content,
            turn_terms(turn.speaker.as_deref(), &turn.content),
            tokens::estimate(&turn.content),
        ];
        transaction.post(sql, &bound)?;
        let is_embedded = matches!(turn.role, Role::User | Role::Assistant) && !turn.content.is_empty();
        transaction.added(Collection::Turns, number, is_embedded);
        Ok(true)
    }
}

/// A session in which more is said has not ended. An import and a summary say nothing new, and do not come here.
pub(crate) fn go_on(transaction: &Transaction<'_>, id: &SessionId) -> Sql<()> {
    let sql = "UPDATE sessions SET ended_at = NULL WHERE space = $1 AND id = $2 AND ended_at IS NOT NULL";
    transaction.post(sql, &values![id.as_str()])
}

/// Moves the mark of what was imported to the newest turn, unless something was said here since the mark. A summary says
/// nothing.
fn mark_imported(transaction: &Transaction<'_>, id: &SessionId) -> Sql<()> {
    let sql = "UPDATE sessions s SET imported_to = s.last_position WHERE s.space = $1 AND s.id = $2 \
               AND (SELECT count(*) FROM turns t WHERE t.space = $1 AND t.session = s.number \
                    AND t.position > s.imported_to AND t.role <> 'summary') = 1";
    transaction.post(sql, &values![id.as_str()])
}

fn sent_sql() -> String {
    format!("{SELECT_TURNS} WHERE t.space = $1 AND s.id = $2 AND t.position > s.kept_from ORDER BY t.position")
}

/// The turns of a session that are still sent to its model.
pub(crate) fn sent(connection: &Connection, id: &SessionId) -> Sql<Vec<(Position, Turn)>> {
    connection.all(&sent_sql(), &values![id.as_str()], with_position)
}

fn with_position(row: &Row) -> Sql<(Position, Turn)> {
    Ok((Position::new(row.number(6)?), turn(row)?))
}

/// The position of a turn in a session.
fn position_of(connection: &Connection, id: &SessionId, turn: &TurnId) -> Sql<Option<i64>> {
    let sql = "SELECT t.position FROM turns t JOIN sessions s ON s.space = $1 AND s.number = t.session \
               WHERE t.space = $1 AND s.id = $2 AND t.id = $3";
    connection.maybe(sql, &values![id.as_str(), turn.as_str()])?.map(|row| row.int(0)).transpose()
}

const SELECT_TURNS: &str = "SELECT t.id, s.id, t.role, t.speaker, t.content, t.at, t.position, t.number FROM turns t \
     JOIN sessions s ON s.space = t.space AND s.number = t.session";

/// Every turn, session by session in the order in which those began.
pub(crate) fn all(connection: &Connection) -> Sql<Vec<Turn>> {
    let sql = format!("{SELECT_TURNS} WHERE t.space = $1 ORDER BY s.created_at, s.id, t.position");
    connection.all(&sql, &[], turn)
}

fn turn(row: &Row) -> Sql<Turn> {
    Ok(Turn {
        id: TurnId::new(row.text(0)?),
        session: row.parsed(1)?,
        role: row.parsed(2)?,
        speaker: row.maybe_text(3)?,
        content: row.text(4)?,
        at: row.time(5)?,
    })
}
