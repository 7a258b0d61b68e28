//! Pauses, and turns that were not kept.

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use throughline_core::model::{Pause, SessionId, TurnId};
use throughline_core::ports::OffRecord;

use crate::error::while_doing;
use crate::rows::time;
use crate::{SqliteStore, Stored};

impl OffRecord for SqliteStore {
    fn pauses(&self) -> Stored<Vec<Pause>> {
        let pause = |row: &Row<'_>| {
            let until = row.get::<_, Option<i64>>(1)?.map(time).transpose()?;
            Ok(Pause { since: time(row.get(0)?)?, until })
        };
        let sql = "SELECT since, until FROM pauses ORDER BY since";
        self.read(|connection| connection.prepare_cached(sql)?.query_map([], pause)?.collect(), "read the pauses")
    }

    fn begin_pause(&self, pause: &Pause) -> Stored<()> {
        let (since, until) = (pause.since.as_millisecond(), pause.until.map(Timestamp::as_millisecond));
        self.write("begin a pause", |transaction| {
            let sql = "INSERT INTO pauses (since, until) VALUES (?1, ?2) ON CONFLICT (since) DO UPDATE SET until = ?2";
            let begun = end(transaction, pause.since).and_then(|()| transaction.execute(sql, params![since, until]));
            begun.map(drop).map_err(while_doing("begin a pause"))
        })
    }

    fn end_pauses(&self, at: Timestamp) -> Stored<()> {
        self.write("end a pause", |transaction| end(transaction, at).map_err(while_doing("end a pause")))
    }

    fn note_unkept(&self, session: &SessionId, turns: &[TurnId], is_latest: bool) -> Stored<()> {
        self.write("note what is not kept", |transaction| {
            note(transaction, session, turns, is_latest).map_err(while_doing("note what is not kept"))
        })
    }

    fn unkept(&self, session: &SessionId) -> Stored<Vec<TurnId>> {
        let sql = "SELECT id FROM unkept_turns WHERE session = ? ORDER BY id";
        let id = |row: &Row<'_>| Ok(TurnId::new(row.get::<_, String>(0)?));
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([session.as_str()], id)?.collect(),
            "read what is not kept",
        )
    }

    fn is_latest_unkept(&self, session: &SessionId) -> Stored<bool> {
        let sql = "SELECT 1 FROM unkept_latest WHERE session = ?";
        self.read(|connection| connection.prepare_cached(sql)?.exists([session.as_str()]), "read what is not kept")
    }
}

fn end(transaction: &Connection, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "UPDATE pauses SET until = ?1 WHERE until IS NULL OR until > ?1";
    transaction.execute(sql, [at.as_millisecond()]).map(drop)
}

fn note(transaction: &Connection, session: &SessionId, turns: &[TurnId], is_latest: bool) -> rusqlite::Result<()> {
    let sql = "INSERT INTO unkept_turns (id, session) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM turns WHERE id = ?1) \
               ON CONFLICT DO NOTHING";
    for turn in turns {
        transaction.prepare_cached(sql)?.execute([turn.as_str(), session.as_str()])?;
    }
    let sql = match is_latest {
        true => "INSERT INTO unkept_latest (session) VALUES (?) ON CONFLICT DO NOTHING",
        false => "DELETE FROM unkept_latest WHERE session = ?",
    };
    transaction.prepare_cached(sql)?.execute([session.as_str()]).map(drop)
}
