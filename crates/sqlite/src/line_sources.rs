//! The turns that lines of documents came from, by the id of the line: its row is made anew whenever the file is read.

use rusqlite::{Connection, params};
use throughline_core::model::{DocumentName, EntryId, TurnId};
use throughline_core::text::bullets;

use crate::rows::to_json;

/// Adds turns to those that a line came from.
pub(crate) fn add(connection: &Connection, line: &EntryId, turns: &[TurnId]) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO line_sources (line, turn) VALUES (?, ?)";
    let mut statement = connection.prepare_cached(sql)?;
    for turn in turns {
        statement.execute([line.as_str(), turn.as_str()])?;
    }
    let known = of(connection, line)?;
    let sql = "UPDATE entries SET provenance = ?2 WHERE id = ?1 AND kind = 'bullet'";
    connection.prepare_cached(sql)?.execute(params![line.as_str(), to_json(&known)?]).map(drop)
}

/// The turns that a line came from.
pub(crate) fn of(connection: &Connection, line: &EntryId) -> rusqlite::Result<Vec<TurnId>> {
    let sql = "SELECT turn FROM line_sources WHERE line = ? ORDER BY turn";
    let turn = |row: &rusqlite::Row<'_>| Ok(TurnId::new(row.get::<_, String>(0)?));
    connection.prepare_cached(sql)?.query_map([line.as_str()], turn)?.collect()
}

/// Forgets where a line that is erased came from; gives what that was.
pub(crate) fn forget(connection: &Connection, name: &DocumentName, content: &str) -> rusqlite::Result<Vec<TurnId>> {
    let mut sources = Vec::new();
    for line in bullets::parse(name, &format!("- {content}")) {
        sources.extend(of(connection, &line.id)?);
        connection.prepare_cached("DELETE FROM line_sources WHERE line = ?")?.execute([line.id.as_str()])?;
    }
    Ok(sources)
}
