//! Passages of the vault as candidates, for whoever asks for them.

use rusqlite::{Connection, Row};
use throughline_core::model::{Entry, EntryId, Memory, Namespace};
use throughline_core::recall::{Candidate, FoundBy, Pool};

use crate::rows;
use crate::words::chunk_entry;

/// Adds passages to a pool, best first. They have no neighbours.
pub(super) fn add(connection: &Connection, ranked: &[(i64, f64)], pool: &mut Pool) -> rusqlite::Result<()> {
    let sql = "SELECT c.id, c.content, d.collection, d.updated_at, c.terms FROM vault_chunks c \
               JOIN vault_documents d ON d.row = c.document WHERE c.row = ?";
    let mut statement = connection.prepare_cached(sql)?;
    for (row, _) in ranked {
        pool.candidates.push(statement.query_row([row], candidate)?);
    }
    Ok(())
}

/// A passage in the shape of a memory.
fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let at = rows::time(row.get(3)?)?;
    let entry = Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        content: row.get(1)?,
        created_at: at,
        updated_at: at,
        ..chunk_entry(Namespace::Vault(rows::parsed(row, 2)?))
    };
    let (memory, found_by) = (Memory::new(entry, 0, None), FoundBy::Words);
    Ok(Candidate { memory, speaker: None, terms: row.get(4)?, found_by, meaning: None })
}
