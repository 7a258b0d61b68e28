//! Pauses, and turns that were not kept.

use jiff::Timestamp;
use throughline_core::model::{Pause, SessionId, TurnId};
use throughline_core::ports::OffRecord;

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::{texts, values};
use crate::{PostgresStore, Stored};

impl OffRecord for PostgresStore {
    fn pauses(&self) -> Stored<Vec<Pause>> {
        self.read("read the pauses", pauses)
    }

    fn begin_pause(&self, pause: &Pause) -> Stored<()> {
        let sql = "INSERT INTO pauses (space, since, until) VALUES ($1, $2, $3) \
                   ON CONFLICT (space, since) DO UPDATE SET until = excluded.until";
        self.write("begin a pause", |transaction| {
            end(transaction, pause.since)?;
            transaction.post(sql, &values![pause.since, pause.until])
        })
    }

    fn end_pauses(&self, at: Timestamp) -> Stored<()> {
        self.write("end a pause", |transaction| end(transaction, at))
    }

    fn note_unkept(&self, session: &SessionId, turns: &[TurnId], is_latest: bool) -> Stored<()> {
        self.write("note what is not kept", |transaction| note(transaction, session, turns, is_latest))
    }

    fn unkept(&self, session: &SessionId) -> Stored<Vec<TurnId>> {
        let sql = "SELECT id FROM unkept_turns WHERE space = $1 AND session = $2 ORDER BY id";
        self.read("read what is not kept", |connection| {
            connection.all(sql, &values![session.as_str()], |row| Ok(TurnId::new(row.text(0)?)))
        })
    }

    fn is_latest_unkept(&self, session: &SessionId) -> Stored<bool> {
        self.read("read what is not kept", |connection| is_latest_unkept(connection, session))
    }
}

pub(crate) fn pauses(connection: &Connection) -> Sql<Vec<Pause>> {
    let sql = "SELECT since, until FROM pauses WHERE space = $1 ORDER BY since";
    connection.all(sql, &[], |row| Ok(Pause { since: row.time(0)?, until: row.maybe_time(1)? }))
}

pub(crate) fn is_latest_unkept(connection: &Connection, session: &SessionId) -> Sql<bool> {
    let sql = "SELECT 1 FROM unkept_latest WHERE space = $1 AND session = $2";
    connection.exists(sql, &values![session.as_str()])
}

fn end(transaction: &Transaction<'_>, at: Timestamp) -> Sql<()> {
    let sql = "UPDATE pauses SET until = $2 WHERE space = $1 AND (until IS NULL OR until > $2)";
    transaction.post(sql, &values![at])
}

fn note(transaction: &Transaction<'_>, session: &SessionId, turns: &[TurnId], is_latest: bool) -> Sql<()> {
    let sql = "INSERT INTO unkept_turns (space, id, session) SELECT $1, u.id, $2 FROM unnest($3::text[]) AS u (id) \
               WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.space = $1 AND t.id = u.id) ON CONFLICT DO NOTHING";
    transaction.post(sql, &values![session.as_str(), texts(turns.iter().map(TurnId::as_str))])?;
    let sql = match is_latest {
        true => "INSERT INTO unkept_latest (space, session) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        false => "DELETE FROM unkept_latest WHERE space = $1 AND session = $2",
    };
    transaction.post(sql, &values![session.as_str()])
}
