//! FTS5, which was the index before. It is searched until the word index is complete, and removed then: at first it stops being
//! an index, at once; then the tables that it kept its words in are emptied a piece at a time, whoever is killed meanwhile.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

/// Its tables, and the triggers that fill them.
const TABLES: [(&str, [&str; 3]); 3] = [
    ("entry_words", ["entries_added", "entries_removed", "entries_changed"]),
    ("turn_words", ["turns_added", "turns_removed", "turns_changed"]),
    ("chunk_words", ["chunks_added", "chunks_removed", "chunks_changed"]),
];

/// Where each keeps its words: the table, its key, and how many rows are removed at a time. What is freed is overwritten, so
/// this is about a megabyte to write.
const PARTS: [(&str, &str, i64); 3] = [("data", "id", 256), ("docsize", "id", 8192), ("idx", "segid, term", 4096)];

/// Its tables that are still there.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<&'static str>> {
    let mut found = Vec::new();
    for (table, _) in TABLES {
        if is_there(connection, table)? {
            found.push(table);
        }
    }
    Ok(found)
}

fn is_there(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")?.exists([table])
}

/// What a part is called once it belongs to no index any more.
fn retired_name(table: &str, part: &str) -> String {
    format!("retired_{table}_{part}")
}

/// A part that is left: its name, its key, and how many rows to remove.
fn retired_part(connection: &Connection) -> rusqlite::Result<Option<(String, &'static str, i64)>> {
    for (table, _) in TABLES {
        for (part, key, slice) in PARTS {
            let name = retired_name(table, part);
            if is_there(connection, &name)? {
                return Ok(Some((name, key, slice)));
            }
        }
    }
    Ok(None)
}

/// Whether something of it is there, and nothing needs it.
pub(super) fn is_retired(connection: &Connection) -> rusqlite::Result<bool> {
    let needed = "SELECT 1 FROM word_indexes WHERE NOT is_ready";
    if connection.prepare_cached(needed)?.exists([])? {
        return Ok(false);
    }
    Ok(!tables(connection)?.is_empty() || retired_part(connection)?.is_some())
}

/// Removes it as an index, or some rows of what it leaves behind.
pub(super) fn remove_some(connection: &Connection) -> rusqlite::Result<()> {
    if !tables(connection)?.is_empty() {
        return retire(connection);
    }
    let Some((name, key, slice)) = retired_part(connection)? else { return Ok(()) };
    let sql = format!("DELETE FROM {name} WHERE ({key}) IN (SELECT {key} FROM {name} LIMIT {slice})");
    if (connection.execute(&sql, [])? as i64) < slice { drop_table(connection, &name) } else { Ok(()) }
}

/// Its tables become ordinary ones, which checks of the file do not take for an index, and its triggers go.
pub(crate) fn retire(connection: &Connection) -> rusqlite::Result<()> {
    for trigger in TABLES.iter().flat_map(|(_, triggers)| triggers) {
        connection.execute_batch(&format!("DROP TRIGGER IF EXISTS {trigger}"))?;
    }
    // Without the second, a view that somebody added and that is broken would be in the way.
    let ways = [(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false), (DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, true)];
    let mut before = Vec::new();
    for (way, is_on) in ways {
        before.push((way, connection.db_config(way)?));
        connection.set_db_config(way, is_on)?;
    }
    let outcome = tables(connection)?.into_iter().try_for_each(|table| {
        for (part, ..) in PARTS {
            let (part, name) = (format!("{table}_{part}"), retired_name(table, part));
            if is_there(connection, &part)? {
                connection.execute_batch(&format!("ALTER TABLE {part} RENAME TO {name}"))?;
            }
        }
        drop_table(connection, table)
    });
    for (way, is_on) in before {
        connection.set_db_config(way, is_on)?;
    }
    outcome
}

fn drop_table(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("DROP TABLE {table}"))
}

/// Removes all of it where nothing needs it: from a memory that begins, and before an erasure, since its words are in it.
pub(crate) fn remove_unused(connection: &Connection) -> rusqlite::Result<()> {
    if is_retired(connection)? {
        retire(connection)?;
        while let Some((name, ..)) = retired_part(connection)? {
            drop_table(connection, &name)?;
        }
    }
    Ok(())
}
