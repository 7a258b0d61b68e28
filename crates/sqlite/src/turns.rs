//! Turns: appended, and read in order.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{Position, SessionId, Turn, TurnId};
use throughline_core::ports::{NewSession, StoreError, TurnMark, Turns, TurnsOf};
use throughline_core::text::tokens;

use crate::error::while_doing;
use crate::index::turn_terms;
use crate::rows::{parsed, time};
use crate::sessions::upsert;
use crate::{SqliteStore, Stored, retention, withdrawals};

impl Turns for SqliteStore {
    fn append(&self, turns: &[Turn]) -> Stored<usize> {
        self.append_each(&[], turns, go_on)
    }

    fn append_to(&self, session: &NewSession, turns: &[Turn]) -> Stored<usize> {
        self.append_each(std::slice::from_ref(session), turns, go_on)
    }

    fn append_imported(&self, sessions: &[NewSession], turns: &[Turn]) -> Stored<usize> {
        self.append_each(sessions, turns, |connection, session| {
            go_on(connection, session)?;
            mark_imported(connection, session)
        })
    }

    fn turn_page(&self, id: &SessionId, after: Option<&TurnId>, limit: usize) -> Stored<Option<Vec<Turn>>> {
        self.read(
            |connection| {
                let after = match after {
                    None => Some(0),
                    Some(after) => position_of(connection, id, after)?,
                };
                let Some(after) = after else { return Ok(None) };
                let sql = format!("{SELECT_TURNS} WHERE s.id = ?1 AND t.position > ?2 ORDER BY t.position LIMIT ?3");
                let values = params![id.as_str(), after, limit.min(i64::MAX as usize) as i64];
                connection.prepare_cached(&sql)?.query_map(values, turn)?.collect::<Result<_, _>>().map(Some)
            },
            "read a conversation",
        )
    }

    fn turns_named(&self, reference: &str, limit: usize) -> Stored<Vec<Turn>> {
        self.read(
            |connection| {
                let sql = format!(
                    "{SELECT_TURNS} WHERE t.id >= ?1 AND substr(t.id, 1, length(?1)) = ?1 \
                     AND t.id < ?1 || char(1114111) ORDER BY t.id LIMIT ?2"
                );
                let values = params![reference, limit.min(i64::MAX as usize) as i64];
                connection.prepare_cached(&sql)?.query_map(values, turn)?.collect()
            },
            "look up what was said",
        )
    }

    fn turns_after(&self, id: &SessionId, after: Position) -> Stored<Vec<(Position, Turn)>> {
        self.read(
            |connection| {
                let sql = format!("{SELECT_TURNS} WHERE s.id = ?1 AND t.position > ?2 ORDER BY t.position");
                let positioned = |row: &Row<'_>| Ok((Position::new(row.get(6)?), turn(row)?));
                connection.prepare_cached(&sql)?.query_map(params![id.as_str(), after.number()], positioned)?.collect()
            },
            "read a conversation",
        )
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
            "{SELECT_TURNS} WHERE t.row > ?1 AND t.at >= ?2 AND s.project IS ?3 AND t.role IN ('user', 'assistant') \
               AND (?5 IS NULL OR substr(s.id, 1, instr(s.id, ':') - 1) = ?5) ORDER BY t.row DESC LIMIT ?4"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = params![row_of_mark(after)?, since.as_millisecond(), project, limit, channel];
        let found = |row: &Row<'_>| Ok((row.get(7)?, turn(row)?));
        let found: Vec<(i64, Turn)> = self.read(
            |connection| connection.prepare_cached(&sql)?.query_map(values, found)?.collect(),
            "read what was said",
        )?;
        let end = found.first().map_or_else(|| after.clone(), |(row, _)| mark(*row));
        Ok((found.into_iter().rev().map(|(_, turn)| turn).collect(), end))
    }

    fn first_messages(&self, sessions: &[SessionId]) -> Stored<Vec<Option<String>>> {
        let sql = "SELECT t.content FROM turns t JOIN sessions s ON s.row = t.session \
                   WHERE s.id = ? AND t.role = 'user' ORDER BY t.position LIMIT 1";
        self.snapshot(
            |connection| {
                let mut first = connection.prepare_cached(sql)?;
                let of = |session: &SessionId| first.query_row([session.as_str()], |row| row.get(0)).optional();
                sessions.iter().map(of).collect()
            },
            "read first messages",
        )
    }

    fn remove_old(&self, until: Timestamp, unread_until: Timestamp, limit: usize) -> Stored<usize> {
        self.bookkeeper.flush();
        self.write_alone("remove old turns", |transaction| {
            retention::remove_old(transaction, until, unread_until, limit).map_err(while_doing("remove old turns"))
        })
    }
}

/// The mark behind a turn: its row. Rows are given by one writer at a time and never twice, so that whatever becomes
/// visible later has a higher one.
pub(crate) fn mark(row: i64) -> TurnMark {
    if row == 0 { TurnMark::default() } else { TurnMark::new(row.to_string()) }
}

/// The row of a mark that this store gave.
pub(crate) fn row_of_mark(mark: &TurnMark) -> Stored<i64> {
    let row = if mark.as_str().is_empty() { Some(0) } else { mark.as_str().parse().ok() };
    row.ok_or_else(|| StoreError::BadCursor { cursor: mark.as_str().to_owned() })
}

impl SqliteStore {
    /// Opens a session, where one is given, and appends turns, in one transaction; `then` follows each that is new. Gives
    /// how many are.
    fn append_each(
        &self,
        sessions: &[NewSession],
        turns: &[Turn],
        then: impl Fn(&Connection, &SessionId) -> rusqlite::Result<()>,
    ) -> Stored<usize> {
        self.write("append turns", |transaction| {
            for session in sessions {
                upsert(transaction, session).map_err(while_doing("open a session"))?;
            }
            let mut added = 0;
            for turn in turns {
                let is_new = append(transaction, turn).and_then(|is_new| {
                    if is_new {
                        then(transaction, &turn.session)?;
                    }
                    Ok(is_new)
                });
                added += usize::from(is_new.map_err(while_doing("append turns"))?);
            }
            Ok(added)
        })
    }
}

/// Appends one turn, opening its session; a turn that is there already, or was erased, is left alone. Says whether it is new.
pub(crate) fn append(connection: &Connection, turn: &Turn) -> rusqlite::Result<bool> {
    if withdrawals::is_erased(connection, &turn.id)? {
        return Ok(false);
    }
    let at = turn.at.as_millisecond();
    let (session, last): (i64, i64) = connection
        .prepare_cached(
            "INSERT INTO sessions (id, created_at, updated_at) VALUES (?1, ?2, ?2) \
             ON CONFLICT (id) DO UPDATE SET updated_at = max(updated_at, ?2) RETURNING row, last_position",
        )?
        .query_row(params![turn.session.as_str(), at], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let added = connection
        .prepare_cached(
            "INSERT INTO turns (row, id, session, position, role, speaker, at, content, terms, tokens) VALUES \
             (1 + max((SELECT ifnull(max(row), 0) FROM turns), (SELECT highest FROM erased_turns)), \
              ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            turn.id.as_str(),
            session,
            last + 1,
            turn.role.as_str(),
            turn.speaker,
            at,
            turn.content,
            turn_terms(turn.speaker.as_deref(), &turn.content),
            tokens::estimate(&turn.content),
        ])?;
    if added == 1 {
        let sql = "UPDATE sessions SET last_position = ?2 WHERE row = ?1";
        connection.prepare_cached(sql)?.execute([session, last + 1])?;
    }
    Ok(added == 1)
}

/// A session in which more is said has not ended. An import and a summary say nothing new, and do not come here.
pub(crate) fn go_on(connection: &Connection, id: &SessionId) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET ended_at = NULL WHERE id = ? AND ended_at IS NOT NULL";
    connection.prepare_cached(sql)?.execute([id.as_str()]).map(drop)
}

/// Moves the mark of what was imported to the newest turn, unless something was said here since the mark. A summary says
/// nothing.
fn mark_imported(connection: &Connection, id: &SessionId) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET imported_to = last_position \
               WHERE id = ? AND (SELECT count(*) FROM (SELECT 1 FROM turns t WHERE t.session = sessions.row \
                 AND t.position > sessions.imported_to AND t.role <> 'summary' LIMIT 2)) = 1";
    connection.prepare_cached(sql)?.execute([id.as_str()]).map(drop)
}

/// The position of a turn in a session.
fn position_of(connection: &Connection, id: &SessionId, turn: &TurnId) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT t.position FROM turns t JOIN sessions s ON s.row = t.session WHERE s.id = ? AND t.id = ?";
    connection.prepare_cached(sql)?.query_row([id.as_str(), turn.as_str()], |row| row.get(0)).optional()
}

pub(crate) const SELECT_TURNS: &str = "SELECT t.id, s.id, t.role, t.speaker, t.content, t.at, t.position, t.row FROM turns t \
     JOIN sessions s ON s.row = t.session";

/// Every turn, session by session in the order in which those began.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Turn>> {
    connection
        .prepare(&format!("{SELECT_TURNS} ORDER BY s.created_at, s.id, t.position"))?
        .query_map([], turn)?
        .collect()
}

pub(crate) fn turn(row: &Row<'_>) -> rusqlite::Result<Turn> {
    Ok(Turn {
        id: TurnId::new(row.get::<_, String>(0)?),
        session: parsed(row, 1)?,
        role: parsed(row, 2)?,
        speaker: row.get(3)?,
        content: row.get(4)?,
        at: time(row.get(5)?)?,
    })
}
