//! The turns that lines of documents came from, by the id of the line: its row is made anew whenever the file is read.

use throughline_core::model::{DocumentName, EntryId, TurnId};
use throughline_core::text::bullets;

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::{texts, values};

/// Adds turns to those that a line came from.
pub(crate) fn add(transaction: &Transaction<'_>, line: &EntryId, turns: &[TurnId]) -> Sql<()> {
    let sql = "INSERT INTO line_sources (space, line, turn) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING";
    transaction.post(sql, &values![line.as_str(), texts(turns.iter().map(TurnId::as_str))])?;
    let known = of(transaction, line)?;
    let sql = "UPDATE entries SET provenance = $3 WHERE space = $1 AND id = $2 AND kind = 'bullet'";
    transaction.post(sql, &values![line.as_str(), texts(known.iter().map(TurnId::as_str))])
}

/// The turns that a line came from.
pub(crate) fn of(connection: &Connection, line: &EntryId) -> Sql<Vec<TurnId>> {
    let sql = "SELECT turn FROM line_sources WHERE space = $1 AND line = $2 ORDER BY turn";
    connection.all(sql, &values![line.as_str()], |row| Ok(TurnId::new(row.text(0)?)))
}

/// Forgets where a line that is erased came from; gives what that was.
pub(crate) fn forget(transaction: &Transaction<'_>, name: &DocumentName, content: &str) -> Sql<Vec<TurnId>> {
    let mut sources = Vec::new();
    for line in bullets::parse(name, &format!("- {content}")) {
        sources.extend(of(transaction, &line.id)?);
        let sql = "DELETE FROM line_sources WHERE space = $1 AND line = $2";
        transaction.post(sql, &values![line.id.as_str()])?;
    }
    Ok(sources)
}
