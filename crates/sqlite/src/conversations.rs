//! Conversations: sessions and their append-only turns.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{Position, Session, SessionId, SessionState, Turn, TurnId};
use throughline_core::ports::{Conversations, NewSession, Page, SessionPage, StoreError};

use crate::entries::parse_cursor;
use crate::error::while_doing;
use crate::index::turn_terms;
use crate::rows::{parsed, time};
use crate::{SqliteStore, Stored};

impl Conversations for SqliteStore {
    fn append(&self, turns: &[Turn]) -> Stored<usize> {
        self.append_each(turns, go_on)
    }

    fn append_imported(&self, turns: &[Turn]) -> Stored<usize> {
        self.append_each(turns, |connection, session| {
            go_on(connection, session)?;
            mark_imported(connection, session)
        })
    }

    fn sessions(&self) -> Stored<Vec<SessionState>> {
        self.read(|connection| states(connection, "TRUE ORDER BY updated_at DESC, row DESC", []), "list sessions")
    }

    fn session(&self, id: &SessionId) -> Stored<Option<SessionState>> {
        self.read(|connection| state(connection, id), "read a session")
    }

    fn session_page(&self, channel: Option<&str>, page: &Page) -> Stored<SessionPage> {
        let before = page.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = page.limit.min(i64::MAX as usize - 1);
        // Turns are counted for the page alone.
        let sql = format!(
            "SELECT {STATE_COLUMNS}, row, (SELECT count(*) FROM turns WHERE session = sessions.row) FROM sessions \
             WHERE row IN (SELECT row FROM sessions WHERE (?1 IS NULL OR substr(id, 1, instr(id, ':') - 1) = ?1) \
               AND (?2 IS NULL OR (updated_at, row) < (?2, ?3)) ORDER BY updated_at DESC, row DESC LIMIT ?4) \
             ORDER BY updated_at DESC, row DESC"
        );
        let mut found: Vec<(SessionState, i64, u64)> = self.read(
            |connection| {
                let values = params![channel, before.map(|(at, _)| at), before.map(|(_, row)| row), limit as i64 + 1];
                let counted = |row: &Row<'_>| Ok((read_state(row)?, row.get(STATE_WIDTH)?, row.get(STATE_WIDTH + 1)?));
                connection.prepare_cached(&sql)?.query_map(values, counted)?.collect()
            },
            "list sessions",
        )?;
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let cursor = last.map(|(state, row, _)| format!("{}.{row}", state.session.updated_at.as_millisecond()));
        Ok(SessionPage { sessions: found.into_iter().map(|(state, _, turns)| (state, turns)).collect(), cursor })
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

    fn open_session(&self, new: &NewSession) -> Stored<SessionState> {
        let opening = while_doing("open a session");
        self.write("open a session", |transaction| {
            let sql = "INSERT INTO sessions (id, project, task, base_prompt, created_at, updated_at) \
                       VALUES (?1, ?2, ?3, ifnull(?4, ''), ?5, ?5) ON CONFLICT (id) DO UPDATE SET \
                         project = ifnull(?2, project), task = ifnull(?3, task), \
                         base_prompt = ifnull(?4, base_prompt), ended_at = NULL";
            let at = new.at.as_millisecond();
            let values = params![new.id.as_str(), new.project, new.task, new.base_prompt, at];
            transaction.execute(sql, values).map_err(&opening)?;
            let found = state(transaction, &new.id).map_err(&opening)?;
            found.ok_or_else(|| StoreError::Conflict { what: new.id.to_string() })
        })
    }

    fn open_new_session(&self, new: &NewSession) -> Stored<Option<SessionState>> {
        let opening = while_doing("open a session");
        self.write("open a session", |transaction| {
            let sql = "INSERT INTO sessions (id, project, task, base_prompt, created_at, updated_at) \
                       VALUES (?1, ?2, ?3, ifnull(?4, ''), ?5, ?5) ON CONFLICT (id) DO NOTHING";
            let at = new.at.as_millisecond();
            let values = params![new.id.as_str(), new.project, new.task, new.base_prompt, at];
            let is_new = transaction.execute(sql, values).map_err(&opening)? == 1;
            if is_new { state(transaction, &new.id).map_err(&opening) } else { Ok(None) }
        })
    }

    fn set_opening(&self, id: &SessionId, opening: &str) -> Stored<String> {
        self.write("begin a session", |transaction| {
            let sql = "UPDATE sessions SET opening = ifnull(opening, ?2) WHERE id = ?1 RETURNING opening";
            transaction
                .query_row(sql, params![id.as_str(), opening], |row| row.get(0))
                .map_err(while_doing("begin a session"))
        })
    }

    fn reset_session(&self, id: &SessionId) -> Stored<()> {
        self.write("reset a session", |transaction| {
            let forget = "DELETE FROM injected WHERE session = (SELECT row FROM sessions WHERE id = ?)";
            transaction
                .execute("UPDATE sessions SET opening = NULL WHERE id = ?", [id.as_str()])
                .and_then(|_| transaction.execute(forget, [id.as_str()]))
                .map(drop)
                .map_err(while_doing("reset a session"))
        })
    }

    fn end_session(&self, id: &SessionId, at: Timestamp) -> Stored<()> {
        self.write("end a session", |transaction| {
            let sql = "UPDATE sessions SET ended_at = ?2 WHERE id = ?1";
            let ended = transaction.execute(sql, params![id.as_str(), at.as_millisecond()]);
            ended.map(drop).map_err(while_doing("end a session"))
        })
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

const STATE_COLUMNS: &str = "id, project, task, created_at, updated_at, ended_at, base_prompt, opening, consolidated, \
     kept_from, failures, filled, imported_to";

/// How many columns those are.
const STATE_WIDTH: usize = 13;

/// Where a turn of a session stands.
fn row_of(connection: &Connection, id: &SessionId, turn: &TurnId) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT t.row FROM turns t JOIN sessions s ON s.row = t.session WHERE s.id = ? AND t.id = ?";
    connection.prepare_cached(sql)?.query_row([id.as_str(), turn.as_str()], |row| row.get(0)).optional()
}

fn state(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<SessionState>> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM sessions WHERE id = ?");
    connection.prepare_cached(&sql)?.query_row([id.as_str()], read_state).optional()
}

/// Sessions that pass a condition, which also says in which order.
pub(crate) fn states(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<SessionState>> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM sessions WHERE {condition}");
    connection.prepare_cached(&sql)?.query_map(values, read_state)?.collect()
}

fn read_state(row: &Row<'_>) -> rusqlite::Result<SessionState> {
    let session = Session {
        id: parsed(row, 0)?,
        project: row.get(1)?,
        task: row.get(2)?,
        created_at: time(row.get(3)?)?,
        updated_at: time(row.get(4)?)?,
        ended_at: row.get::<_, Option<i64>>(5)?.map(time).transpose()?,
    };
    Ok(SessionState {
        session,
        base_prompt: row.get(6)?,
        opening: row.get(7)?,
        consolidated: Position::new(row.get(8)?),
        kept_from: Position::new(row.get(9)?),
        failures: row.get(10)?,
        filled: Position::new(row.get(11)?),
        imported_to: Position::new(row.get(12)?),
    })
}

pub(crate) const SELECT_TURNS: &str = "SELECT t.id, s.id, t.role, t.speaker, t.content, t.at, t.row FROM turns t \
     JOIN sessions s ON s.row = t.session";

/// Every turn of every session, in the order in which they were appended.
pub(crate) fn all_turns(connection: &Connection) -> rusqlite::Result<Vec<Turn>> {
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
