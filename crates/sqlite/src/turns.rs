//! Turns: appended, and read in order.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{Position, SessionId, Turn, TurnId};
use throughline_core::ports::Turns;

use crate::error::while_doing;
use crate::index::turn_terms;
use crate::rows::{parsed, time};
use crate::{SqliteStore, Stored};

impl Turns for SqliteStore {
    fn append(&self, turns: &[Turn]) -> Stored<usize> {
        self.append_each(turns, go_on)
    }

    fn append_imported(&self, turns: &[Turn]) -> Stored<usize> {
        self.append_each(turns, |connection, session| {
            go_on(connection, session)?;
            mark_imported(connection, session)
        })
    }

    fn turn_page(&self, id: &SessionId, after: Option<&TurnId>, limit: usize) -> Stored<Option<Vec<Turn>>> {
        self.read(
            |connection| {
                let after = match after {
                    None => Some(0),
                    Some(after) => row_of(connection, id, after)?,
                };
                let Some(after) = after else { return Ok(None) };
                let sql = format!("{SELECT_TURNS} WHERE s.id = ?1 AND t.row > ?2 ORDER BY t.row LIMIT ?3");
                let values = params![id.as_str(), after, limit.min(i64::MAX as usize) as i64];
                connection.prepare_cached(&sql)?.query_map(values, turn)?.collect::<Result<_, _>>().map(Some)
            },
            "read a conversation",
        )
    }

    fn turns_after(&self, id: &SessionId, after: Position) -> Stored<Vec<(Position, Turn)>> {
        self.read(
            |connection| {
                let sql = format!("{SELECT_TURNS} WHERE s.id = ?1 AND t.row > ?2 ORDER BY t.row");
                let positioned = |row: &Row<'_>| Ok((Position::new(row.get(6)?), turn(row)?));
                connection.prepare_cached(&sql)?.query_map(params![id.as_str(), after.number()], positioned)?.collect()
            },
            "read a conversation",
        )
    }
}

impl SqliteStore {
    /// Appends turns in one transaction; `then` follows each that is new. Gives how many are.
    fn append_each(
        &self,
        turns: &[Turn],
        then: impl Fn(&Connection, &SessionId) -> rusqlite::Result<()>,
    ) -> Stored<usize> {
        self.write("append turns", |transaction| {
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

/// Appends one turn, opening its session; a turn that is there already is left alone. Says whether it is new.
pub(crate) fn append(connection: &Connection, turn: &Turn) -> rusqlite::Result<bool> {
    let at = turn.at.as_millisecond();
    let session: i64 = connection
        .prepare_cached(
            "INSERT INTO sessions (id, created_at, updated_at) VALUES (?1, ?2, ?2) \
             ON CONFLICT (id) DO UPDATE SET updated_at = max(updated_at, ?2) RETURNING row",
        )?
        .query_row(params![turn.session.as_str(), at], |row| row.get(0))?;
    let added = connection
        .prepare_cached(
            "INSERT INTO turns (row, id, session, role, speaker, at, content, terms) VALUES \
             (1 + max((SELECT ifnull(max(row), 0) FROM turns), (SELECT highest FROM erased_turns)), \
              ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            turn.id.as_str(),
            session,
            turn.role.as_str(),
            turn.speaker,
            at,
            turn.content,
            turn_terms(turn.speaker.as_deref(), &turn.content),
        ])?;
    Ok(added == 1)
}

/// A session in which more is said has not ended. An import and a summary say nothing new, and do not come here.
fn go_on(connection: &Connection, id: &SessionId) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET ended_at = NULL WHERE id = ? AND ended_at IS NOT NULL";
    connection.prepare_cached(sql)?.execute([id.as_str()]).map(drop)
}

/// Moves the mark of what was imported to the newest turn, unless something was said here since the mark. A summary says
/// nothing.
fn mark_imported(connection: &Connection, id: &SessionId) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET imported_to = (SELECT max(t.row) FROM turns t WHERE t.session = sessions.row) \
               WHERE id = ? AND (SELECT count(*) FROM (SELECT 1 FROM turns t WHERE t.session = sessions.row \
                 AND t.row > sessions.imported_to AND t.role <> 'summary' LIMIT 2)) = 1";
    connection.prepare_cached(sql)?.execute([id.as_str()]).map(drop)
}

/// Where a turn of a session stands.
fn row_of(connection: &Connection, id: &SessionId, turn: &TurnId) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT t.row FROM turns t JOIN sessions s ON s.row = t.session WHERE s.id = ? AND t.id = ?";
    connection.prepare_cached(sql)?.query_row([id.as_str(), turn.as_str()], |row| row.get(0)).optional()
}

pub(crate) const SELECT_TURNS: &str = "SELECT t.id, s.id, t.role, t.speaker, t.content, t.at, t.row FROM turns t \
     JOIN sessions s ON s.row = t.session";

/// Every turn of every session, in the order in which they were appended.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Turn>> {
    connection.prepare(&format!("{SELECT_TURNS} ORDER BY t.row"))?.query_map([], turn)?.collect()
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
