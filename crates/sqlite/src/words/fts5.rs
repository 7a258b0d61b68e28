//! FTS5, which was the index before. It is searched until the word index is complete, and removed then.

use rusqlite::Connection;

/// Its tables, and the triggers that fill them.
const TABLES: [(&str, [&str; 3]); 3] = [
    ("entry_words", ["entries_added", "entries_removed", "entries_changed"]),
    ("turn_words", ["turns_added", "turns_removed", "turns_changed"]),
    ("chunk_words", ["chunks_added", "chunks_removed", "chunks_changed"]),
];

/// Its tables that are still there.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<&'static str>> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")?;
    let mut found = Vec::new();
    for (table, _) in TABLES {
        if statement.exists([table])? {
            found.push(table);
        }
    }
    Ok(found)
}

/// Whether something of it is there, and nothing needs it.
pub(super) fn is_retired(connection: &Connection) -> rusqlite::Result<bool> {
    let needed = "SELECT 1 FROM word_indexes WHERE NOT is_ready";
    Ok(!connection.prepare_cached(needed)?.exists([])? && !tables(connection)?.is_empty())
}

/// Removes its triggers and one of its tables.
pub(super) fn remove_some(connection: &Connection) -> rusqlite::Result<()> {
    for trigger in TABLES.iter().flat_map(|(_, triggers)| triggers) {
        connection.execute_batch(&format!("DROP TRIGGER IF EXISTS {trigger}"))?;
    }
    match tables(connection)?.first() {
        Some(table) => connection.execute_batch(&format!("DROP TABLE {table}")),
        None => Ok(()),
    }
}

/// Removes all of it from a memory that begins: nothing is in it.
pub(crate) fn remove_unused(connection: &Connection) -> rusqlite::Result<()> {
    while is_retired(connection)? {
        remove_some(connection)?;
    }
    Ok(())
}
