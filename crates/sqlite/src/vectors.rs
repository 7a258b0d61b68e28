//! Vectors of chunks: kept as signs and bytes, looked through by the signs and settled by the bytes.

mod blocks;

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::ports::{VectorSet, Vectors};
use throughline_core::vault::{Packed, Passage, Sought, exact_limit, in_context};

use crate::error::while_doing;
use crate::rows::json;
use crate::vault::passages;
use crate::{SqliteStore, Stored};

impl Vectors for SqliteStore {
    fn vector_sets(&self) -> Stored<Vec<VectorSet>> {
        let sql = "SELECT model, dimension, serving FROM vector_sets ORDER BY row";
        let set = |row: &rusqlite::Row<'_>| {
            Ok(VectorSet { model: row.get(0)?, dimension: row.get(1)?, is_serving: row.get(2)? })
        };
        self.read(|connection| connection.prepare_cached(sql)?.query_map([], set)?.collect(), "list the vectors")
    }

    fn without_vector(&self, model: &str, limit: usize) -> Stored<(Vec<(i64, String)>, u64)> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.snapshot(|connection| without_vector(connection, model, limit), "look for chunks without vectors")
    }

    fn keep_vectors(&self, model: &str, vectors: &[(i64, Packed)]) -> Stored<()> {
        self.write("keep vectors", |transaction| keep(transaction, model, vectors).map_err(while_doing("keep vectors")))
    }

    fn serve_vectors(&self, model: &str) -> Stored<()> {
        self.write("change the vectors", |transaction| {
            serve(transaction, model).map_err(while_doing("change the vectors"))
        })
    }

    fn nearest(&self, model: &str, query: &[f32], limit: usize) -> Stored<Vec<(Passage, f64)>> {
        self.snapshot(
            |connection| match set(connection, model)? {
                Some((row, dimension)) if dimension == query.len() => {
                    passages(connection, nearest(connection, row, &Sought::of(query), limit)?)
                }
                _ => Ok(Vec::new()),
            },
            "search by meaning",
        )
    }
}

/// A set's row and dimension.
fn set(connection: &Connection, model: &str) -> rusqlite::Result<Option<(i64, usize)>> {
    let mut statement = connection.prepare_cached("SELECT row, dimension FROM vector_sets WHERE model = ?")?;
    statement.query_row([model], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn without_vector(connection: &Connection, model: &str, limit: i64) -> rusqlite::Result<(Vec<(i64, String)>, u64)> {
    let set = set(connection, model)?.map(|(row, _)| row);
    let missing = "FROM vault_chunks c JOIN vault_documents d ON d.row = c.document WHERE NOT EXISTS \
                   (SELECT 1 FROM vector_bytes v WHERE v.chunk = c.row AND v.vector_set = ?1)";
    let count = format!("SELECT count(*) {missing}");
    let count = connection.prepare_cached(&count)?.query_row([set], |row| row.get(0))?;
    let sql = format!("SELECT c.row, c.titles, c.content, d.title {missing} ORDER BY c.row LIMIT ?2");
    let text = |row: &rusqlite::Row<'_>| {
        let titles: Vec<String> = json(row, 1)?;
        Ok((row.get(0)?, in_context(&titles, row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?)))
    };
    let texts = connection.prepare_cached(&sql)?.query_map(params![set, limit], text)?.collect::<Result<_, _>>()?;
    Ok((texts, count))
}

fn keep(connection: &Connection, model: &str, vectors: &[(i64, Packed)]) -> rusqlite::Result<()> {
    let Some(dimension) = vectors.first().map(|(_, vector)| vector.dimension()) else { return Ok(()) };
    let row = match set(connection, model)? {
        Some((row, before)) if before == dimension => row,
        known => {
            if let Some((row, _)) = known {
                remove_set(connection, row)?;
            }
            connection
                .prepare_cached("INSERT INTO vector_sets (model, dimension, serving) VALUES (?, ?, 0)")?
                .insert(params![model, dimension])?
        }
    };
    let mut is_there = connection.prepare_cached("SELECT 1 FROM vault_chunks WHERE row = ?")?;
    let mut bytes = connection.prepare_cached(
        "INSERT INTO vector_bytes (chunk, vector_set, scale, bytes) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (chunk, vector_set) DO UPDATE SET scale = ?3, bytes = ?4",
    )?;
    let mut signs = Vec::with_capacity(vectors.len());
    for (chunk, vector) in vectors {
        if is_there.exists([chunk])? {
            signs.push((*chunk, Some(vector.bits.as_slice())));
            bytes.execute(params![chunk, row, f64::from(vector.scale), vector.bytes])?;
        }
    }
    blocks::write(connection, row, dimension, &signs)
}

/// Takes the vectors of chunks out that are about to go.
pub(crate) fn forget(connection: &Connection, chunks: &[i64]) -> rusqlite::Result<()> {
    let sets: Vec<(i64, usize)> = connection
        .prepare_cached("SELECT row, dimension FROM vector_sets")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let gone: Vec<(i64, Option<&[u8]>)> = chunks.iter().map(|chunk| (*chunk, None)).collect();
    sets.into_iter().try_for_each(|(set, dimension)| blocks::write(connection, set, dimension, &gone))
}

fn remove_set(connection: &Connection, set: i64) -> rusqlite::Result<()> {
    for table in ["vector_blocks", "vector_bytes"] {
        connection.execute(&format!("DELETE FROM {table} WHERE vector_set = ?"), [set])?;
    }
    connection.execute("DELETE FROM vector_sets WHERE row = ?", [set]).map(drop)
}

fn serve(connection: &Connection, model: &str) -> rusqlite::Result<()> {
    let others: Vec<i64> = connection
        .prepare("SELECT row FROM vector_sets WHERE model <> ?")?
        .query_map([model], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    connection.execute("UPDATE vector_sets SET serving = (model = ?)", [model])?;
    others.into_iter().try_for_each(|set| remove_set(connection, set))
}

/// The rows nearest to a query with their cosines: the signs choose, the bytes decide.
fn nearest(connection: &Connection, set: i64, query: &Sought, limit: usize) -> rusqlite::Result<Vec<(i64, f64)>> {
    let mut chosen = blocks::by_signs(connection, set, &query.bits, exact_limit(limit))?;
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
