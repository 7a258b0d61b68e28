//! Passages of the vault as candidates, for whoever asks for them.

use rusqlite::{Connection, Row};
use throughline_core::model::{Entry, EntryId, Importance, Kind, Layer, Memory, Namespace, Source, Status};
use throughline_core::recall::{Candidate, Filter, FoundBy, Pool};

use crate::rows;

/// Adds the passages that fit best by their words and that the filter admits. They have no neighbours.
pub(super) fn add(
    connection: &Connection,
    matching: &str,
    (filter, limit): (&Filter, usize),
    pool: &mut Pool,
) -> rusqlite::Result<()> {
    if matching.is_empty() {
        return Ok(());
    }
    let sql = "SELECT c.id, c.content, d.collection, d.updated_at, c.terms FROM chunk_words w \
               JOIN vault_chunks c ON c.row = w.rowid JOIN vault_documents d ON d.row = c.document \
               WHERE w.chunk_words MATCH ? ORDER BY w.rank";
    let mut statement = connection.prepare_cached(sql)?;
    let mut left = limit;
    for candidate in statement.query_map([matching], candidate)? {
        if left == 0 {
            break;
        }
        let candidate = candidate?;
        if filter.admits(&candidate.memory.entry) {
            pool.candidates.push(candidate);
            left -= 1;
        }
    }
    Ok(())
}

/// A passage in the shape of a memory: knowledge that a file holds.
fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let at = rows::time(row.get(3)?)?;
    let entry = Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        kind: Kind::Chunk,
        namespace: Namespace::Vault(rows::parsed(row, 2)?),
        layer: Layer::Knowledge,
        key: None,
        content: row.get(1)?,
        source: Source::System,
        status: Status::Active,
        importance: Importance::default(),
        tags: Vec::new(),
        session: None,
        task: None,
        project: None,
        created_at: at,
        updated_at: at,
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    };
    let (memory, found_by) = (Memory::new(entry, 0, None), FoundBy::Words);
    Ok(Candidate { memory, speaker: None, terms: row.get(4)?, found_by, meaning: None })
}
