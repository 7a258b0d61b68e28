//! Memories that are never given.

use rusqlite::{Connection, Row, params};
use throughline_core::model::{EntryId, Mute, Verb};
use throughline_core::ports::Mutes;
use throughline_stores::Balance;

use crate::error::while_doing;
use crate::rows::time;
use crate::{SqliteStore, Stored};

impl Mutes for SqliteStore {
    fn mutes(&self) -> Stored<Vec<Mute>> {
        self.read(all, "read what is muted")
    }

    fn mute(&self, mute: &Mute) -> Stored<()> {
        self.write("mute a memory", |transaction| insert(transaction, mute).map_err(while_doing("mute a memory")))
    }

    fn unmute(&self, memory: &EntryId, project: Option<&str>) -> Stored<bool> {
        let sql = "DELETE FROM mutes WHERE memory = ? AND project = ?";
        self.write("take a mute back", |transaction| {
            let removed = transaction.execute(sql, [memory.as_str(), project.unwrap_or_default()]);
            removed.map(|removed| removed > 0).map_err(while_doing("take a mute back"))
        })
    }
}

pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Mute>> {
    let mute = |row: &Row<'_>| {
        let project = Some(row.get::<_, String>(1)?).filter(|project| !project.is_empty());
        Ok(Mute { memory: EntryId::new(row.get::<_, String>(0)?), project, at: time(row.get(2)?)? })
    };
    let sql = "SELECT memory, project, at FROM mutes ORDER BY at, memory, project";
    connection.prepare_cached(sql)?.query_map([], mute)?.collect()
}

pub(crate) fn insert(connection: &Connection, mute: &Mute) -> rusqlite::Result<()> {
    let sql = "INSERT INTO mutes (memory, project, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    let values = params![mute.memory.as_str(), mute.project.as_deref().unwrap_or_default(), mute.at.as_millisecond()];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

/// Mutes what stands for a muted memory from now on. The former mute stays: an undo brings its memory back.
pub(crate) fn carry(connection: &Connection, balance: &Balance, verb: Verb) -> rusqlite::Result<()> {
    if !balance.takes_away() || !connection.prepare_cached("SELECT 1 FROM mutes")?.exists([])? {
        return Ok(());
    }
    let sql = "INSERT INTO mutes (memory, project, at) SELECT ?2, project, at FROM mutes WHERE memory = ?1 \
               ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    for (from, to) in balance.renamed(verb) {
        statement.execute([from.as_str(), to.as_str()])?;
    }
    Ok(())
}
