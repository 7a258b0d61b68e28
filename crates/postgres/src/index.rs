//! What is derived and can be made again: lines of documents, analysed text, words of titles, token counts.

use std::collections::{HashMap, HashSet};

use throughline_core::model::{ContentHash, DocumentName, Entry, EntryId, MachineId};
use throughline_core::ports::Index;
use throughline_core::recall::analysis;
use throughline_core::text::tokens;
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, ENTRY_COLUMNS, Inserted};
use crate::transaction::Transaction;
use crate::values::values;
use crate::{PostgresStore, Stored, documents, line_sources, tasks, vault, vectors, words};

/// Rows analysed again in one transaction: others can write in between.
const REBUILD_BATCH: i64 = 2000;

/// Whose stamp that of a row is: every machine sees the same.
pub(crate) const EVERY_MACHINE: &str = "";

impl Index for PostgresStore {
    fn replace_bullets(
        &self,
        name: &DocumentName,
        hash: &ContentHash,
        stamp: Option<&str>,
        bullets: &[Entry],
    ) -> Stored<()> {
        self.write("index a document", |transaction| {
            replace_bullets(transaction, name, (hash, stamp.map(|stamp| (&self.machine, stamp))), bullets)
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
        let sql = "SELECT (SELECT count(*) FROM entries WHERE space = $1) + (SELECT count(*) FROM turns WHERE space = $1) \
                   + (SELECT count(*) FROM vault_chunks WHERE space = $1)";
        let total: u64 = self.read("count what is to be indexed", |connection| connection.one(sql, &[])?.number(0))?;
        let mut done = 0;
        for collection in Collection::ALL {
            let mut after = 0;
            while let Some((last, count)) =
                self.write("analyse the text again", |transaction| analyse_again(transaction, collection, after))?
            {
                after = last;
                done += count;
                progress(done.min(total) / 2, total);
            }
        }
        self.write("rebuild the index", |transaction| {
            let sql = "DELETE FROM task_words WHERE space = $1";
            transaction.post(sql, &[])?;
            for row in transaction.rows("SELECT id, title FROM tasks WHERE space = $1", &[])? {
                tasks::write_words(transaction, &row.text(0)?, &row.text(1)?)?;
            }
            transaction.post("DELETE FROM document_stamps WHERE space = $1", &[])?;
            vectors::queue_again(transaction)?;
            words::begin_again(transaction)
        })?;
        let _held = self.worker.hold();
        words::build_on(&self.pool, &mut |left| {
            progress(total - left.unsigned_abs().min(total) / 2, total);
        })?;
        Ok(total)
    }
}

/// Analyses the next rows of a table again; gives the last number and how many there were.
fn analyse_again(transaction: &Transaction<'_>, collection: Collection, after: i64) -> Sql<Option<(i64, u64)>> {
    let analysed = match collection {
        Collection::Entries => entry_texts(transaction, after)?,
        Collection::Turns => turn_texts(transaction, after)?,
        Collection::Chunks => vault::texts(transaction, after, REBUILD_BATCH)?,
    };
    let table = collection.table();
    let sql = format!("UPDATE {table} SET terms = $3 WHERE space = $1 AND number = $2 AND terms <> $3");
    for (number, terms) in &analysed {
        if transaction.execute(&sql, &values![*number, terms])? == 1 {
            transaction.changed(collection, *number);
        }
    }
    Ok(analysed.last().map(|(number, _)| (*number, analysed.len() as u64)))
}

fn entry_texts(connection: &Connection, after: i64) -> Sql<Vec<(i64, String)>> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, e.number FROM entries e WHERE e.space = $1 AND e.number > $2 ORDER BY e.number LIMIT $3"
    );
    connection.all(&sql, &values![after, REBUILD_BATCH], |row| {
        Ok((row.int(rows::ENTRY_WIDTH)?, rows::terms(&rows::entry(row)?)))
    })
}

/// Counts the tokens of turns again, too.
fn turn_texts(transaction: &Transaction<'_>, after: i64) -> Sql<Vec<(i64, String)>> {
    let sql =
        "SELECT number, speaker, content, tokens FROM turns WHERE space = $1 AND number > $2 ORDER BY number LIMIT $3";
    let mut analysed = Vec::new();
    for row in transaction.rows(sql, &values![after, REBUILD_BATCH])? {
        let (number, content) = (row.int(0)?, row.text(2)?);
        let estimated = tokens::estimate(&content);
        if row.number::<usize>(3)? != estimated {
            let sql = "UPDATE turns SET tokens = $3 WHERE space = $1 AND number = $2";
            transaction.post(sql, &values![number, estimated])?;
        }
        analysed.push((number, turn_terms(row.maybe_text(1)?.as_deref(), &content)));
    }
    Ok(analysed)
}

/// The analysed text that a turn is found by: who spoke, and what was said.
pub(crate) fn turn_terms(speaker: Option<&str>, content: &str) -> String {
    match speaker {
        Some(speaker) => analysis::index_text(&format!("{speaker}\n{content}")),
        None => analysis::index_text(content),
    }
}

/// The lines of a document that can be found.
pub(crate) fn lines(connection: &Connection, name: &DocumentName) -> Sql<Vec<Entry>> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.space = $1 AND e.namespace = $2 AND e.kind = 'bullet' ORDER BY e.number"
    );
    connection.all(&sql, &values![rows::document_address(name)], rows::entry)
}

/// Replaces the bullets of a document that still has this digest, and keeps the stamp of a machine's file with them.
pub(crate) fn replace_bullets(
    transaction: &Transaction<'_>,
    name: &DocumentName,
    (hash, stamp): (&ContentHash, Option<(&MachineId, &str)>),
    bullets: &[Entry],
) -> Sql<()> {
    let address = rows::document_address(name);
    // Somebody else was faster: what can be found is theirs to say.
    let newest = transaction.maybe("SELECT hash FROM documents WHERE space = $1 AND name = $2", &values![&address])?;
    if newest.map(|row| row.text(0)).transpose()?.as_deref() != Some(hash.as_str()) {
        return Ok(());
    }
    let known: HashMap<EntryId, Entry> =
        lines(transaction, name)?.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
    let still: HashSet<&EntryId> = bullets.iter().map(|bullet| &bullet.id).collect();
    for id in known.keys().filter(|id| !still.contains(id)) {
        let sql = "DELETE FROM entries WHERE space = $1 AND id = $2 RETURNING number";
        transaction.remove(Collection::Entries, sql, &values![id.as_str()])?;
    }
    for bullet in bullets {
        let bullet = Entry { provenance: line_sources::of(transaction, &bullet.id)?, ..bullet.clone() };
        put_bullet(transaction, known.get(&bullet.id), bullet)?;
    }
    let Some((machine, stamp)) = stamp else { return forget_stamps(transaction, &address) };
    let is_shared = documents::is_row_stamp(stamp);
    if is_shared {
        forget_stamps(transaction, &address)?;
    }
    let machine = if is_shared { EVERY_MACHINE } else { machine.as_str() };
    let sql = "INSERT INTO document_stamps (space, name, machine, stamp) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (space, name, machine) DO UPDATE SET stamp = excluded.stamp";
    transaction.post(sql, &values![&address, machine, stamp])
}

/// Writes a bullet; one that was known keeps its source and its dates.
fn put_bullet(transaction: &Transaction<'_>, known: Option<&Entry>, bullet: Entry) -> Sql<()> {
    let Some(known) = known else {
        // An id that something else has, by whatever chance, is left to it.
        if rows::insert(transaction, &bullet)? != Inserted::New {
            tracing::warn!(id = %bullet.id, "a line has the id of another memory");
        }
        return Ok(());
    };
    let kept = Entry {
        source: known.source,
        created_at: known.created_at,
        updated_at: known.updated_at,
        version: known.version,
        ..bullet
    };
    if kept != *known {
        rows::update(transaction, &Entry { version: known.version + 1, ..kept })?;
    }
    Ok(())
}

/// Every machine looks at its file again.
pub(crate) fn forget_stamps(transaction: &Transaction<'_>, address: &str) -> Sql<()> {
    let sql = "DELETE FROM document_stamps WHERE space = $1 AND name = $2";
    transaction.post(sql, &values![address])
}
