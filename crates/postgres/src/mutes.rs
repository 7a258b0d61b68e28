//! Memories that are never given.

use throughline_core::model::{EntryId, Mute, Verb};
use throughline_core::ports::Mutes;
use throughline_stores::Balance;

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::values;
use crate::{PostgresStore, Stored};

impl Mutes for PostgresStore {
    fn mutes(&self) -> Stored<Vec<Mute>> {
        self.read("read what is muted", all)
    }

    fn mute(&self, mute: &Mute) -> Stored<()> {
        self.write("mute a memory", |transaction| insert(transaction, mute))
    }

    fn unmute(&self, memory: &EntryId, project: Option<&str>) -> Stored<bool> {
        let sql = "DELETE FROM mutes WHERE space = $1 AND memory = $2 AND project = $3";
        self.write("take a mute back", |transaction| {
            Ok(transaction.execute(sql, &values![memory.as_str(), project.unwrap_or_default()])? > 0)
        })
    }
}

pub(crate) fn all(connection: &Connection) -> Sql<Vec<Mute>> {
    let sql = "SELECT memory, project, at FROM mutes WHERE space = $1 ORDER BY at, memory, project";
    connection.all(sql, &[], |row| {
        let project = Some(row.text(1)?).filter(|project| !project.is_empty());
        Ok(Mute { memory: EntryId::new(row.text(0)?), project, at: row.time(2)? })
    })
}

pub(crate) fn insert(transaction: &Transaction<'_>, mute: &Mute) -> Sql<()> {
    let sql = "INSERT INTO mutes (space, memory, project, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    let project = mute.project.as_deref().unwrap_or_default();
    transaction.post(sql, &values![mute.memory.as_str(), project, mute.at])
}

pub(crate) fn is_any(connection: &Connection) -> Sql<bool> {
    connection.exists("SELECT 1 FROM mutes WHERE space = $1 LIMIT 1", &[])
}

/// Mutes what stands for a muted memory from now on. The former mute stays: an undo brings its memory back.
pub(crate) fn carry(transaction: &Transaction<'_>, balance: &Balance, verb: Verb) -> Sql<()> {
    if !balance.takes_away() || !is_any(transaction)? {
        return Ok(());
    }
    let sql = "INSERT INTO mutes (space, memory, project, at) \
               SELECT $1, $3, project, at FROM mutes WHERE space = $1 AND memory = $2 ON CONFLICT DO NOTHING";
    for (from, to) in balance.renamed(verb) {
        transaction.post(sql, &values![from.as_str(), to.as_str()])?;
    }
    Ok(())
}
