//! The log of reflection.

use throughline_core::model::ChangeId;
use throughline_core::ports::{Applied, Pass, Reflections};

use crate::error::Sql;
use crate::transaction::{Counter, Transaction};
use crate::turns::{mark, number_of_mark};
use crate::values::{Row, to_json, values};
use crate::{PostgresStore, Stored};

impl Reflections for PostgresStore {
    fn note_pass(&self, pass: &Pass) -> Stored<()> {
        self.write("keep a pass", |transaction| insert(transaction, pass))
    }

    fn passes(&self, target: Option<&str>, limit: usize) -> Stored<Vec<Pass>> {
        let sql = "SELECT id, at, target, change, outcome, reason, applied, dropped, ingested, tokens_in, tokens_out \
                   FROM passes WHERE space = $1 AND ($2::text IS NULL OR target = $2) ORDER BY number DESC LIMIT $3";
        self.read("read the log of reflection", |connection| connection.all(sql, &values![target, limit], pass))
    }
}

pub(crate) fn insert(transaction: &Transaction<'_>, pass: &Pass) -> Sql<()> {
    let sql = "INSERT INTO passes (space, number, id, at, target, change, outcome, reason, applied, dropped, ingested, \
                 tokens_in, tokens_out) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let bound = values![
        transaction.next(Counter::Row),
        &pass.id,
        pass.at,
        &pass.target,
        pass.change.as_ref().map(ChangeId::as_str),
        pass.outcome.as_str(),
        pass.reason.as_ref(),
        to_json(&pass.applied)?,
        to_json(&pass.dropped)?,
        number_of_mark(&pass.ingested)?,
        pass.tokens_in,
        pass.tokens_out,
    ];
    transaction.post(sql, &bound)
}

fn pass(row: &Row) -> Sql<Pass> {
    Ok(Pass {
        id: row.text(0)?,
        at: row.time(1)?,
        target: row.text(2)?,
        change: row.maybe_text(3)?.map(ChangeId::new),
        outcome: row.parsed(4)?,
        reason: row.maybe_text(5)?,
        applied: row.json(6)?,
        dropped: row.json(7)?,
        ingested: mark(row.int(8)?),
        tokens_in: row.number(9)?,
        tokens_out: row.number(10)?,
    })
}

/// Empties what the log says in words about a memory.
pub(crate) fn forget_memory(transaction: &Transaction<'_>, id: &str) -> Sql<()> {
    let sql = "SELECT number, applied FROM passes WHERE space = $1 AND applied <> '[]'";
    for (number, applied) in transaction.all(sql, &[], |row| Ok((row.int(0)?, row.json::<Vec<Applied>>(1)?)))? {
        if applied.iter().flat_map(|applied| &applied.ids).any(|named| named.as_str() == id) {
            let sql = "UPDATE passes SET applied = '[]' WHERE space = $1 AND number = $2";
            transaction.post(sql, &values![number])?;
        }
    }
    Ok(())
}

/// Empties what the log says in words at all: which of it came from an erased turn cannot be told.
pub(crate) fn forget_words(transaction: &Transaction<'_>) -> Sql<()> {
    transaction.post("UPDATE passes SET applied = '[]' WHERE space = $1 AND applied <> '[]'", &[])
}
