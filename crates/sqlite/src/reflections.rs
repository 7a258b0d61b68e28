//! The log of reflection.

use rusqlite::{Connection, Row, params};
use throughline_core::model::ChangeId;
use throughline_core::ports::{Pass, Reflections};

use crate::error::{unreadable, while_doing};
use crate::rows::{json, parsed, time, to_json};
use crate::turns::{mark, row_of_mark};
use crate::{SqliteStore, Stored};

impl Reflections for SqliteStore {
    fn note_pass(&self, pass: &Pass) -> Stored<()> {
        self.write("keep a pass", |transaction| insert(transaction, pass).map_err(while_doing("keep a pass")))
    }

    fn passes(&self, target: Option<&str>, limit: usize) -> Stored<Vec<Pass>> {
        let sql = "SELECT id, at, target, change, outcome, reason, applied, dropped, ingested, tokens_in, tokens_out \
                   FROM passes WHERE ?1 IS NULL OR target = ?1 ORDER BY row DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map(params![target, limit], pass)?.collect(),
            "read the log of reflection",
        )
    }
}

pub(crate) fn insert(connection: &Connection, pass: &Pass) -> rusqlite::Result<()> {
    let sql = "INSERT INTO passes (id, at, target, change, outcome, reason, applied, dropped, ingested, tokens_in, \
                 tokens_out) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let values = params![
        pass.id,
        pass.at.as_millisecond(),
        pass.target,
        pass.change.as_ref().map(ChangeId::as_str),
        pass.outcome.as_str(),
        pass.reason,
        to_json(&pass.applied)?,
        to_json(&pass.dropped)?,
        row_of_mark(&pass.ingested).map_err(unreadable)?,
        pass.tokens_in,
        pass.tokens_out
    ];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

fn pass(row: &Row<'_>) -> rusqlite::Result<Pass> {
    Ok(Pass {
        id: row.get(0)?,
        at: time(row.get(1)?)?,
        target: row.get(2)?,
        change: row.get::<_, Option<String>>(3)?.map(ChangeId::new),
        outcome: parsed(row, 4)?,
        reason: row.get(5)?,
        applied: json(row, 6)?,
        dropped: json(row, 7)?,
        ingested: mark(row.get(8)?),
        tokens_in: row.get(9)?,
        tokens_out: row.get(10)?,
    })
}

/// Empties what the log says in words about a memory.
pub(crate) fn forget_memory(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE passes SET applied = '[]' WHERE EXISTS (SELECT 1 FROM json_each(applied) a, \
               json_each(a.value, '$.ids') i WHERE i.value = ?)";
    connection.execute(sql, [id]).map(drop)
}

/// Empties what the log says in words at all: which of it came from an erased turn cannot be told.
pub(crate) fn forget_words(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE passes SET applied = '[]' WHERE applied <> '[]'", []).map(drop)
}
