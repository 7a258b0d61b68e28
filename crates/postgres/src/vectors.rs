//! Vectors of chunks: kept as signs and bytes, looked through by the signs and settled by the bytes.

mod blocks;
mod memories;
mod nearest;

pub(crate) use memories::{forget as forget_memories, queue_again};

use throughline_core::model::EntryId;
use throughline_core::ports::{ChunkMark, Made, MadeBy, StoreError, VectorSet, VectorSetId, Vectors};
use throughline_core::vault::{Passage, Sought, exact_limit, in_context};

use crate::connection::Connection;
use crate::error::Sql;
use crate::transaction::{Counter, Transaction};
use crate::values::values;
use crate::vault::passages;
use crate::{PostgresStore, Stored};

impl Vectors for PostgresStore {
    fn vector_sets(&self) -> Stored<Vec<VectorSet>> {
        self.snapshot("list the vectors", sets)
    }

    fn refused(&self, by: &MadeBy) -> Stored<u64> {
        let sql = "SELECT count(*) FROM vector_refusals WHERE space = $1 AND provider = $2 AND model = $3";
        self.read("count what was refused", |connection| {
            connection.one(sql, &values![&by.provider, &by.model])?.number(0)
        })
    }

    fn without_vector(
        &self,
        by: &MadeBy,
        after: &ChunkMark,
        limit: usize,
    ) -> Stored<(Vec<(EntryId, String)>, ChunkMark)> {
        let number = if after.is_start() { Some(0) } else { after.as_str().parse().ok() };
        let number: i64 = number.ok_or_else(|| StoreError::BadCursor { cursor: after.as_str().to_owned() })?;
        let found = self
            .snapshot("look for chunks without vectors", |connection| without_vector(connection, by, number, limit))?;
        let end = found.last().map_or_else(|| after.clone(), |(number, _)| ChunkMark::new(number.to_string()));
        Ok((found.into_iter().map(|(_, chunk)| chunk).collect(), end))
    }

    fn keep_vectors(&self, by: &MadeBy, made: &Made) -> Stored<()> {
        self.write("keep vectors", |transaction| keep(transaction, by, made))
    }

    fn serve_if_complete(&self, by: &MadeBy) -> Stored<bool> {
        self.write("change the vectors", |transaction| serve_if_complete(transaction, by))
    }

    fn nearest(&self, set: &VectorSetId, query: &[f32], limit: usize) -> Stored<Vec<(Passage, f64)>> {
        let sql = "SELECT 1 FROM vector_sets WHERE space = $1 AND number = $2 AND dimension = $3";
        let Ok(set) = set.as_str().parse::<i64>() else { return Ok(Vec::new()) };
        self.snapshot("search by meaning", |connection| {
            if !connection.exists(sql, &values![set, query.len()])? {
                return Ok(Vec::new());
            }
            passages(connection, &nearest(connection, set, &Sought::of(query), limit)?)
        })
    }
}

fn sets(connection: &Connection) -> Sql<Vec<VectorSet>> {
    let sql = "SELECT number, provider, model, base_url, dimension, serving FROM vector_sets WHERE space = $1 ORDER BY number";
    connection.all(sql, &[], |row| {
        Ok(VectorSet {
            id: VectorSetId::new(row.int(0)?.to_string()),
            by: MadeBy { provider: row.text(1)?, model: row.text(2)?, base_url: row.maybe_text(3)? },
            dimension: row.number(4)?,
            is_serving: row.flag(5)?,
            vectors: blocks::count(connection, &blocks::CHUNKS, row.int(0)?)?,
        })
    })
}

/// The set that a model is at work on: its number.
fn at_work(connection: &Connection, by: &MadeBy) -> Sql<Option<i64>> {
    let sql = "SELECT number FROM vector_sets WHERE space = $1 AND provider = $2 AND model = $3 \
               ORDER BY serving, number DESC LIMIT 1";
    connection.maybe(sql, &values![&by.provider, &by.model])?.map(|row| row.int(0)).transpose()
}

/// Chunks without a vector in the set `$2`, which the model `$4` of the provider `$3` did not refuse.
const MISSING: &str = "FROM vault_chunks c JOIN vault_documents d ON d.space = $1 AND d.number = c.document \
     WHERE c.space = $1 AND NOT EXISTS \
     (SELECT 1 FROM vector_bytes v WHERE v.space = $1 AND v.item = c.number AND v.vector_set = $2) AND NOT EXISTS \
     (SELECT 1 FROM vector_refusals r WHERE r.space = $1 AND r.item = c.number AND r.provider = $3 AND r.model = $4)";

/// A chunk: its number, its id and the text to embed.
type Unembedded = (i64, (EntryId, String));

fn without_vector(connection: &Connection, by: &MadeBy, after: i64, limit: usize) -> Sql<Vec<Unembedded>> {
    let set = at_work(connection, by)?;
    let sql = format!(
        "SELECT c.number, c.titles, c.content, d.title, c.id {MISSING} AND c.number > $5 ORDER BY c.number LIMIT $6"
    );
    connection.all(&sql, &values![set, &by.provider, &by.model, after, limit], |row| {
        let text = in_context(&row.texts(1)?, &row.text(2)?, &row.text(3)?);
        Ok((row.int(0)?, (EntryId::new(row.text(4)?), text)))
    })
}

fn number_of(connection: &Connection, chunk: &EntryId) -> Sql<Option<i64>> {
    let sql = "SELECT number FROM vault_chunks WHERE space = $1 AND id = $2";
    connection.maybe(sql, &values![chunk.as_str()])?.map(|row| row.int(0)).transpose()
}

fn keep(transaction: &Transaction<'_>, by: &MadeBy, made: &Made) -> Sql<()> {
    if let Some(dimension) = made.vectors.first().map(|(_, vector)| vector.dimension()) {
        let set = set_for(transaction, by, dimension)?;
        let mut signs = Vec::with_capacity(made.vectors.len());
        for (chunk, vector) in &made.vectors {
            if let Some(chunk) = number_of(transaction, chunk)? {
                signs.push((chunk, Some(vector.bits.as_slice())));
                blocks::put_bytes(transaction, &blocks::CHUNKS, (set, chunk), f64::from(vector.scale), &vector.bytes)?;
            }
        }
        blocks::write(transaction, &blocks::CHUNKS, (set, dimension), &signs)?;
    }
    let sql = "INSERT INTO vector_refusals (space, item, provider, model, why) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (space, item, provider, model) DO UPDATE SET why = excluded.why";
    for (chunk, why) in &made.refused {
        if let Some(chunk) = number_of(transaction, chunk)? {
            transaction.post(sql, &values![chunk, &by.provider, &by.model, why])?;
        }
    }
    Ok(())
}

/// The set of vectors of this length; a new one takes the place of one that was never completed.
fn set_for(transaction: &Transaction<'_>, by: &MadeBy, dimension: usize) -> Sql<i64> {
    let sql = "UPDATE vector_sets SET base_url = $5 WHERE space = $1 AND provider = $2 AND model = $3 AND dimension = $4 \
               RETURNING number";
    let bound = values![&by.provider, &by.model, dimension, by.base_url.as_ref()];
    if let Some(known) = transaction.maybe(sql, &bound)? {
        return known.int(0);
    }
    // Another length is another model: what the one refused, the other may take.
    if at_work(transaction, by)?.is_some() {
        let sql = "DELETE FROM vector_refusals WHERE space = $1 AND provider = $2 AND model = $3";
        transaction.post(sql, &values![&by.provider, &by.model])?;
    }
    let sql = "SELECT number FROM vector_sets WHERE space = $1 AND provider = $2 AND model = $3 AND NOT serving";
    for abandoned in transaction.all(sql, &values![&by.provider, &by.model], |row| row.int(0))? {
        remove_set(transaction, abandoned)?;
    }
    let number = transaction.next(Counter::Row);
    let sql = "INSERT INTO vector_sets (space, number, provider, model, dimension, base_url, serving) \
               VALUES ($1, $2, $3, $4, $5, $6, FALSE)";
    transaction.post(sql, &values![number, &by.provider, &by.model, dimension, by.base_url.as_ref()])?;
    Ok(number)
}

/// Takes the vectors of chunks out that are about to go.
pub(crate) fn forget_chunks(transaction: &Transaction<'_>, chunks: &[i64]) -> Sql<()> {
    for sql in [
        "DELETE FROM vector_bytes WHERE space = $1 AND item = ANY($2)",
        "DELETE FROM vector_refusals WHERE space = $1 AND item = ANY($2)",
    ] {
        transaction.post(sql, &values![chunks.to_vec()])?;
    }
    blocks::take_out(transaction, &blocks::CHUNKS, chunks)
}

fn remove_set(transaction: &Transaction<'_>, set: i64) -> Sql<()> {
    for table in ["vector_blocks", "vector_bytes"] {
        transaction.post(&format!("DELETE FROM {table} WHERE space = $1 AND vector_set = $2"), &values![set])?;
    }
    transaction.post("DELETE FROM vector_sets WHERE space = $1 AND number = $2", &values![set])
}

fn serve_if_complete(transaction: &Transaction<'_>, by: &MadeBy) -> Sql<bool> {
    let Some(set) = at_work(transaction, by)? else { return Ok(false) };
    let missing = format!("SELECT 1 {MISSING} LIMIT 1");
    if transaction.exists(&missing, &values![set, &by.provider, &by.model])? {
        return Ok(false);
    }
    transaction.post("UPDATE vector_sets SET serving = (number = $2) WHERE space = $1", &values![set])?;
    let sql = "SELECT number FROM vector_sets WHERE space = $1 AND number <> $2";
    for other in transaction.all(sql, &values![set], |row| row.int(0))? {
        remove_set(transaction, other)?;
    }
    let sql = "DELETE FROM vector_refusals WHERE space = $1 AND (provider <> $2 OR model <> $3)";
    transaction.post(sql, &values![&by.provider, &by.model])?;
    Ok(true)
}

/// The numbers nearest to a query with their cosines: the signs choose, the bytes decide.
fn nearest(connection: &Connection, set: i64, query: &Sought, limit: usize) -> Sql<Vec<(i64, f64)>> {
    let chosen = blocks::by_signs(connection, &blocks::CHUNKS, set, &query.bits, exact_limit(limit))?;
    let mut scored = blocks::cosines(connection, &blocks::CHUNKS, set, query, chosen)?;
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(limit);
    Ok(scored)
}
