//! What is derived and can be made again: lines of documents, analysed text, words of titles, token counts.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{ContentHash, DocumentName, Entry, EntryId, MachineId};
use throughline_core::ports::{Index, StoreError};
use throughline_core::recall::analysis;

use crate::error::{is_taken, while_doing};
use crate::rows::{self, ENTRY_COLUMNS};
use crate::{SqliteStore, Stored, functions, line_sources, words};

/// Rows analysed again in one transaction: others can write in between.
const REBUILD_BATCH: i64 = 2000;

impl Index for SqliteStore {
    fn replace_bullets(
        &self,
        name: &DocumentName,
        hash: &ContentHash,
        stamp: Option<&str>,
        bullets: &[Entry],
    ) -> Stored<()> {
        self.write("index a document", |transaction| {
            let stamp = stamp.map(|stamp| (&self.machine, stamp));
            replace_bullets(transaction, name, (hash, stamp), bullets).map_err(while_doing("index a document"))
        })
    }

    fn has_upkeep(&self) -> bool {
        self.worker.is_busy()
    }

    fn keep_up(&self) -> Stored<()> {
        let _held = self.worker.hold();
        words::keep_up(&self.pool)
    }

    fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Stored<u64> {
        let total: u64 = self.read(
            |connection| {
                connection.query_row(
                    "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM turns) \
                     + (SELECT count(*) FROM vault_chunks)",
                    [],
                    |row| row.get(0),
                )
            },
            "count what is to be indexed",
        )?;
        let mut done = 0;
        for table in ["entries", "turns", "vault_chunks"] {
            let mut after = 0;
            while let Some((last, count)) = self.analyse_again(table, after)? {
                after = last;
                done += count;
                progress(done.min(total) / 2, total);
            }
        }
        self.write_alone("rebuild the index", |transaction| {
            let derived = "UPDATE turns SET tokens = estimated_tokens(content) WHERE tokens <> estimated_tokens(content);
                DELETE FROM task_words;
                INSERT INTO task_words (word, task) SELECT w.value, t.row FROM tasks t, json_each(distinct_words(t.title)) w;
                DELETE FROM document_stamps;";
            functions::register(transaction)
                .and_then(|()| transaction.execute_batch(derived))
                .and_then(|()| crate::vectors::queue_again(transaction))
                .and_then(|()| words::begin_again(transaction))
                .map_err(while_doing("rebuild the index"))
        })?;
        let _held = self.worker.hold();
        words::build_on(&self.pool, &mut |left| {
            progress(total - left.unsigned_abs().min(total) / 2, total);
        })?;
        Ok(total)
    }
}

impl SqliteStore {
    /// Analyses the next rows of a table again; gives the last row and how many there were.
    fn analyse_again(&self, table: &str, after: i64) -> Stored<Option<(i64, u64)>> {
        let analysing = while_doing("analyse the text again");
        self.write_alone("analyse the text again", |transaction| {
            let rows = texts(transaction, table, after).map_err(&analysing)?;
            let sql = format!("UPDATE {table} SET terms = ?2 WHERE row = ?1 AND terms IS NOT ?2");
            for (row, terms) in &rows {
                transaction
                    .prepare_cached(&sql)
                    .and_then(|mut update| update.execute(params![row, terms]))
                    .map_err(&analysing)?;
            }
            Ok::<_, StoreError>(rows.last().map(|(row, _)| (*row, rows.len() as u64)))
        })
    }
}

fn texts(connection: &Connection, table: &str, after: i64) -> rusqlite::Result<Vec<(i64, String)>> {
    if table == "vault_chunks" {
        return crate::vault::texts(connection, after, REBUILD_BATCH);
    }
    if table == "turns" {
        let mut statement =
            connection.prepare_cached("SELECT row, speaker, content FROM turns WHERE row > ? ORDER BY row LIMIT ?")?;
        let text = |row: &Row<'_>| {
            let speaker = row.get::<_, Option<String>>(1)?;
            Ok((row.get(0)?, turn_terms(speaker.as_deref(), row.get_ref(2)?.as_str()?)))
        };
        return statement.query_map([after, REBUILD_BATCH], text)?.collect();
    }
    let sql = format!("SELECT {ENTRY_COLUMNS}, e.row FROM entries e WHERE e.row > ? ORDER BY e.row LIMIT ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let text = |row: &Row<'_>| Ok((row.get(rows::ENTRY_WIDTH)?, rows::terms(&rows::entry(row)?)));
    statement.query_map([after, REBUILD_BATCH], text)?.collect()
}

/// The analysed text that a turn is found by: who spoke, and what was said.
pub(crate) fn turn_terms(speaker: Option<&str>, content: &str) -> String {
    match speaker {
        Some(speaker) => analysis::index_text(&format!("{speaker}\n{content}")),
        None => analysis::index_text(content),
    }
}

/// The lines of a document that can be found.
pub(crate) fn lines(connection: &Connection, name: &DocumentName) -> rusqlite::Result<Vec<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.namespace = ? AND e.kind = 'bullet'");
    connection.prepare_cached(&sql)?.query_map([rows::document_address(name)], rows::entry)?.collect()
}

/// Replaces the bullets of a document that still has this digest, and keeps the stamp of a machine's file with them.
pub(crate) fn replace_bullets(
    connection: &Connection,
    name: &DocumentName,
    (hash, stamp): (&ContentHash, Option<(&MachineId, &str)>),
    bullets: &[Entry],
) -> rusqlite::Result<()> {
    let address = rows::document_address(name);
    // Somebody else was faster: what can be found is theirs to say.
    let newest: Option<String> = connection
        .prepare_cached("SELECT hash FROM documents WHERE name = ?")?
        .query_row([&address], |row| row.get(0))
        .optional()?;
    if newest.as_deref() != Some(hash.as_str()) {
        return Ok(());
    }
    let known: HashMap<EntryId, Entry> =
        lines(connection, name)?.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
    let still: HashSet<&EntryId> = bullets.iter().map(|bullet| &bullet.id).collect();
    for id in known.keys().filter(|id| !still.contains(id)) {
        connection.prepare_cached("DELETE FROM entries WHERE id = ?")?.execute([id.as_str()])?;
    }
    for bullet in bullets {
        let bullet = &Entry { provenance: line_sources::of(connection, &bullet.id)?, ..bullet.clone() };
        match known.get(&bullet.id) {
            // An id that something else has, by whatever chance, is left to it.
            None => match rows::insert(connection, bullet) {
                Err(error) if is_taken(&error) => {
                    tracing::warn!(id = %bullet.id, "a line has the id of another memory")
                }
                outcome => outcome?,
            },
            Some(known) => {
                let kept = Entry {
                    source: known.source,
                    created_at: known.created_at,
                    updated_at: known.updated_at,
                    version: known.version,
                    ..bullet.clone()
                };
                if kept != *known {
                    rows::update(connection, &Entry { version: known.version + 1, ..kept })?;
                }
            }
        }
    }
    let Some((machine, stamp)) = stamp else { return forget_stamps(connection, &address) };
    let sql = "INSERT INTO document_stamps (name, machine, stamp) VALUES (?1, ?2, ?3) \
               ON CONFLICT (name, machine) DO UPDATE SET stamp = ?3";
    connection.prepare_cached(sql)?.execute(params![address, machine.as_str(), stamp]).map(drop)
}

/// Every machine looks at its file again.
pub(crate) fn forget_stamps(connection: &Connection, address: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM document_stamps WHERE name = ?")?.execute([address]).map(drop)
}
