//! Conversations: sessions and their append-only turns.

use rusqlite::{Connection, Row, params, params_from_iter};
use throughline_core::model::{Session, SessionId, Turn, TurnId};
use throughline_core::ports::Conversations;

use crate::error::while_doing;
use crate::index::turn_terms;
use crate::rows::{parsed, time};
use crate::{SqliteStore, Stored};

impl Conversations for SqliteStore {
    fn append(&self, turns: &[Turn]) -> Stored<()> {
        self.write("append turns", |transaction| {
            let appended = turns.iter().try_for_each(|turn| append(transaction, turn).map(drop));
            appended.map_err(while_doing("append turns"))
        })
    }

    fn sessions(&self) -> Stored<Vec<Session>> {
        self.read(|connection| sessions(connection, "ORDER BY updated_at DESC, row DESC"), "list sessions")
    }

    fn turns(&self, session: &SessionId) -> Stored<Vec<Turn>> {
        self.read(|connection| turns(connection, Some(session)), "read a conversation")
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
            "INSERT INTO turns (id, session, role, speaker, at, content, terms) VALUES (?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (id) DO NOTHING",
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

/// All sessions, in the order that `order` says.
pub(crate) fn sessions(connection: &Connection, order: &str) -> rusqlite::Result<Vec<Session>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT id, project, created_at, updated_at FROM sessions {order}"))?;
    let session = |row: &Row<'_>| {
        Ok(Session {
            id: parsed(row, 0)?,
            project: row.get(1)?,
            created_at: time(row.get(2)?)?,
            updated_at: time(row.get(3)?)?,
        })
    };
    statement.query_map([], session)?.collect()
}

/// The turns of one session, or of all, oldest first.
pub(crate) fn turns(connection: &Connection, session: Option<&SessionId>) -> rusqlite::Result<Vec<Turn>> {
    let only = if session.is_some() { "WHERE s.id = ?" } else { "" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT t.id, s.id, t.role, t.speaker, t.content, t.at FROM turns t JOIN sessions s ON s.row = t.session {only} \
         ORDER BY t.row"
    ))?;
    let turn = |row: &Row<'_>| {
        Ok(Turn {
            id: TurnId::new(row.get::<_, String>(0)?),
            session: parsed(row, 1)?,
            role: parsed(row, 2)?,
            speaker: row.get(3)?,
            content: row.get(4)?,
            at: time(row.get(5)?)?,
        })
    };
    statement.query_map(params_from_iter(session.map(SessionId::as_str)), turn)?.collect()
}
