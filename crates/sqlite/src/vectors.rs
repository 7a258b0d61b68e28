//! Vectors of chunks: kept as signs and bytes, looked through by the signs and settled by the bytes.

mod blocks;
mod memories;
mod nearest;

pub(crate) use memories::queue_again;

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::model::EntryId;
use throughline_core::ports::{ChunkMark, Made, MadeBy, StoreError, VectorSet, VectorSetId, Vectors};
use throughline_core::vault::{Passage, Sought, exact_limit, in_context};

use crate::error::while_doing;
use crate::rows::json;
use crate::vault::passages;
use crate::{SqliteStore, Stored};

impl Vectors for SqliteStore {
    fn vector_sets(&self) -> Stored<Vec<VectorSet>> {
        self.snapshot(sets, "list the vectors")
    }

    fn refused(&self, by: &MadeBy) -> Stored<u64> {
        let sql = "SELECT count(*) FROM vector_refusals WHERE provider = ? AND model = ?";
        self.read(
            |connection| connection.prepare_cached(sql)?.query_row([&by.provider, &by.model], |row| row.get(0)),
            "count what was refused",
        )
    }

    fn without_vector(
        &self,
        by: &MadeBy,
        after: &ChunkMark,
        limit: usize,
    ) -> Stored<(Vec<(EntryId, String)>, ChunkMark)> {
        let row = if after.is_start() { Some(0) } else { after.as_str().parse().ok() };
        let row = row.ok_or_else(|| StoreError::BadCursor { cursor: after.as_str().to_owned() })?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let look = |connection: &Connection| without_vector(connection, by, row, limit);
        let found = self.snapshot(look, "look for chunks without vectors")?;
        let end = found.last().map_or_else(|| after.clone(), |(row, _)| ChunkMark::new(row.to_string()));
        Ok((found.into_iter().map(|(_, chunk)| chunk).collect(), end))
    }

    fn keep_vectors(&self, by: &MadeBy, made: &Made) -> Stored<()> {
        self.write_alone("keep vectors", |transaction| keep(transaction, by, made).map_err(while_doing("keep vectors")))
    }

    fn serve_if_complete(&self, by: &MadeBy) -> Stored<bool> {
        self.write_alone("change the vectors", |transaction| {
            serve_if_complete(transaction, by).map_err(while_doing("change the vectors"))
        })
    }

    fn nearest(&self, set: &VectorSetId, query: &[f32], limit: usize) -> Stored<Vec<(Passage, f64)>> {
        self.snapshot(
            |connection| {
                let sql = "SELECT row FROM vector_sets WHERE row = ? AND dimension = ?";
                let values = params![set.as_str(), query.len()];
                let set: Option<i64> =
                    connection.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
                let Some(set) = set else { return Ok(Vec::new()) };
                passages(connection, nearest(connection, set, &Sought::of(query), limit)?)
            },
            "search by meaning",
        )
    }
}

fn sets(connection: &Connection) -> rusqlite::Result<Vec<VectorSet>> {
    let sql = "SELECT row, provider, model, base_url, dimension, serving FROM vector_sets ORDER BY row";
    let set = |row: &rusqlite::Row<'_>| {
        Ok(VectorSet {
            id: VectorSetId::new(row.get::<_, i64>(0)?.to_string()),
            by: MadeBy { provider: row.get(1)?, model: row.get(2)?, base_url: row.get(3)? },
            dimension: row.get(4)?,
            is_serving: row.get(5)?,
            vectors: blocks::count(connection, &blocks::CHUNKS, row.get(0)?)?,
        })
    };
    connection.prepare_cached(sql)?.query_map([], set)?.collect()
}

/// The set that a model is at work on: its row.
fn at_work(connection: &Connection, by: &MadeBy) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT row FROM vector_sets WHERE provider = ? AND model = ? ORDER BY serving, row DESC LIMIT 1";
    connection.prepare_cached(sql)?.query_row([&by.provider, &by.model], |row| row.get(0)).optional()
}

/// Chunks without a vector in the set `?1`, which the model `?3` of the provider `?2` did not refuse.
const MISSING: &str = "FROM vault_chunks c JOIN vault_documents d ON d.row = c.document WHERE NOT EXISTS \
     (SELECT 1 FROM vector_bytes v WHERE v.chunk = c.row AND v.vector_set = ?1) AND NOT EXISTS \
     (SELECT 1 FROM vector_refusals r WHERE r.chunk = c.row AND r.provider = ?2 AND r.model = ?3)";

fn without_vector(
    connection: &Connection,
    by: &MadeBy,
    after: i64,
    limit: i64,
) -> rusqlite::Result<Vec<(i64, (EntryId, String))>> {
    let set = at_work(connection, by)?;
    let sql =
        format!("SELECT c.row, c.titles, c.content, d.title, c.id {MISSING} AND c.row > ?4 ORDER BY c.row LIMIT ?5");
    let text = |row: &rusqlite::Row<'_>| {
        let titles: Vec<String> = json(row, 1)?;
        let text = in_context(&titles, row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
        Ok((row.get(0)?, (EntryId::new(row.get::<_, String>(4)?), text)))
    };
    let values = params![set, by.provider, by.model, after, limit];
    connection.prepare_cached(&sql)?.query_map(values, text)?.collect()
}

fn keep(connection: &Connection, by: &MadeBy, made: &Made) -> rusqlite::Result<()> {
    let mut row_of = connection.prepare_cached("SELECT row FROM vault_chunks WHERE id = ?")?;
    let mut row_of = |chunk: &EntryId| row_of.query_row([chunk.as_str()], |row| row.get::<_, i64>(0)).optional();
    if let Some(dimension) = made.vectors.first().map(|(_, vector)| vector.dimension()) {
        let row = set_for(connection, by, dimension)?;
        let mut bytes = connection.prepare_cached(
            "INSERT INTO vector_bytes (chunk, vector_set, scale, bytes) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (chunk, vector_set) DO UPDATE SET scale = ?3, bytes = ?4",
        )?;
        let mut signs = Vec::with_capacity(made.vectors.len());
        for (chunk, vector) in &made.vectors {
            if let Some(chunk) = row_of(chunk)? {
                signs.push((chunk, Some(vector.bits.as_slice())));
                bytes.execute(params![chunk, row, f64::from(vector.scale), vector.bytes])?;
            }
        }
        blocks::write(connection, &blocks::CHUNKS, (row, dimension), &signs)?;
    }
    let mut refusal = connection.prepare_cached(
        "INSERT INTO vector_refusals (chunk, provider, model, why) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (chunk, provider, model) DO UPDATE SET why = ?4",
    )?;
    for (chunk, why) in &made.refused {
        if let Some(chunk) = row_of(chunk)? {
            refusal.execute(params![chunk, by.provider, by.model, why])?;
        }
    }
    Ok(())
}

/// The set of vectors of this length; a new one takes the place of one that was never completed.
fn set_for(connection: &Connection, by: &MadeBy, dimension: usize) -> rusqlite::Result<i64> {
    let sql = "SELECT row, base_url IS ?4 FROM vector_sets WHERE provider = ?1 AND model = ?2 AND dimension = ?3";
    let values = params![by.provider, by.model, dimension, by.base_url];
    let known: Option<(i64, bool)> =
        connection.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    match known {
        Some((row, true)) => Ok(row),
        Some((row, false)) => {
            let moved = "UPDATE vector_sets SET base_url = ? WHERE row = ?";
            connection.prepare_cached(moved)?.execute(params![by.base_url, row])?;
            Ok(row)
        }
        None => {
            // Another length is another model: what the one refused, the other may take.
            if at_work(connection, by)?.is_some() {
                let sql = "DELETE FROM vector_refusals WHERE provider = ? AND model = ?";
                connection.prepare_cached(sql)?.execute([&by.provider, &by.model])?;
            }
            let sql = "SELECT row FROM vector_sets WHERE provider = ? AND model = ? AND serving = 0";
            let abandoned = rows(connection, sql, params![by.provider, by.model])?;
            abandoned.into_iter().try_for_each(|set| remove_set(connection, set))?;
            let sql = "INSERT INTO vector_sets (provider, model, dimension, base_url, serving) VALUES (?, ?, ?, ?, 0)";
            connection.prepare_cached(sql)?.insert(params![by.provider, by.model, dimension, by.base_url])
        }
    }
}

fn rows(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<Vec<i64>> {
    connection.prepare_cached(sql)?.query_map(values, |row| row.get(0))?.collect()
}

/// Takes the vectors of chunks out that are about to go.
pub(crate) fn forget(connection: &Connection, chunks: &[i64]) -> rusqlite::Result<()> {
    let sets: Vec<(i64, usize)> = connection
        .prepare_cached("SELECT row, dimension FROM vector_sets")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let gone: Vec<(i64, Option<&[u8]>)> = chunks.iter().map(|chunk| (*chunk, None)).collect();
    sets.into_iter()
        .try_for_each(|(set, dimension)| blocks::write(connection, &blocks::CHUNKS, (set, dimension), &gone))
}

fn remove_set(connection: &Connection, set: i64) -> rusqlite::Result<()> {
    for table in ["vector_blocks", "vector_bytes"] {
        connection.execute(&format!("DELETE FROM {table} WHERE vector_set = ?"), [set])?;
    }
    connection.execute("DELETE FROM vector_sets WHERE row = ?", [set]).map(drop)
}

fn serve_if_complete(connection: &Connection, by: &MadeBy) -> rusqlite::Result<bool> {
    let Some(set) = at_work(connection, by)? else { return Ok(false) };
    let missing = format!("SELECT 1 {MISSING} LIMIT 1");
    if connection.prepare_cached(&missing)?.exists(params![set, by.provider, by.model])? {
        return Ok(false);
    }
    connection.execute("UPDATE vector_sets SET serving = (row = ?1) WHERE serving <> (row = ?1)", [set])?;
    for other in rows(connection, "SELECT row FROM vector_sets WHERE row <> ?", [set])? {
        remove_set(connection, other)?;
    }
    let sql = "DELETE FROM vector_refusals WHERE provider <> ? OR model <> ?";
    connection.execute(sql, [&by.provider, &by.model])?;
    Ok(true)
}

/// The rows nearest to a query with their cosines: the signs choose, the bytes decide.
fn nearest(connection: &Connection, set: i64, query: &Sought, limit: usize) -> rusqlite::Result<Vec<(i64, f64)>> {
    let mut chosen = blocks::by_signs(connection, &blocks::CHUNKS, set, &query.bits, exact_limit(limit))?;
    // In the order of the rows, so that the bytes are read from front to back.
    chosen.sort_unstable();
    let sql = "SELECT scale, bytes FROM vector_bytes WHERE chunk = ? AND vector_set = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut scored = Vec::with_capacity(chosen.len());
    for chunk in chosen {
        let cosine =
            |row: &rusqlite::Row<'_>| Ok(query.cosine(row.get::<_, f64>(0)? as f32, row.get_ref(1)?.as_blob()?));
        scored.extend(statement.query_row([chunk, set], cosine).optional()?.map(|cosine| (chunk, cosine)));
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(limit);
    Ok(scored)
}
