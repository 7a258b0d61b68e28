//! Erasing: no byte left in rows, history, index, logs or the write-ahead log.
//!
//! `secure_delete` overwrites what is freed, segments of the word index are written anew without what goes (FTS5's own
//! `secure-delete` does it there), `VACUUM` leaves behind what moving rows left behind, and emptying the write-ahead log
//! removes the pages that still held it all. None of them is enough alone.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::lineage::Trace;
use throughline_core::model::{ContentHash, DocumentName};
use throughline_core::ports::{Erased, Eraser, Erasure, ErasureMark, StoreError};
use throughline_core::text::bullets;

use crate::error::while_doing;
use crate::open;
use crate::pool::bound;
use crate::rows::{self, ENTRY_COLUMNS, document_address};
use crate::{SqliteStore, Stored, erase_repeats, erase_scope, in_transaction, withdrawals};

impl Eraser for SqliteStore {
    fn erase(&self, erasure: &Erasure) -> Stored<Erased> {
        self.bookkeeper.flush();
        // Sweeping needs every connection of this process to be at rest.
        let _held = self.worker.hold();
        let (mut erased, _) = self.write_alone("erase", |transaction| erase(transaction, erasure))?;
        self.words.clear();
        if !self.read(|connection| Ok(sweep(connection)), "sweep")? {
            erased.unreached.push(
                "the database file and its log, while another process reads them or the disk is full: swept when the memory \
                 is next opened"
                    .to_owned(),
            );
        }
        Ok(erased)
    }

    fn make_room(&self) -> bool {
        self.pool.reserve.give_to_remove()
    }

    fn removing(&self, begins: bool) {
        bound::removing(begins);
    }
}

/// How many erasures there were: what was read before one may hold what it erased.
pub(crate) fn erasures(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT erasures FROM revisions")?.query_row([], |row| row.get(0))
}

/// Refuses what was made of texts that were read before an erasure.
pub(crate) fn check_unerased(transaction: &Connection, since: &ErasureMark) -> Stored<()> {
    let now = erasures(transaction).map_err(while_doing("count erasures"))?;
    if *since == ErasureMark::of_count(now) { Ok(()) } else { Err(StoreError::Erased) }
}

/// Removes what an erasure names; gives what was removed, and what it said in words.
fn erase(transaction: &Connection, erasure: &Erasure) -> Stored<(Erased, Vec<String>)> {
    erase_rows(transaction, erasure).map_err(while_doing("erase"))
}

fn erase_rows(transaction: &Connection, erasure: &Erasure) -> rusqlite::Result<(Erased, Vec<String>)> {
    let mut words = erasure.texts.clone();
    let going = erasure.scope.as_ref().map(|scope| erase_scope::begin(transaction, scope)).transpose()?;
    let mut erased = Erased::default();
    let at = erasure.at.as_millisecond();
    transaction.execute("UPDATE revisions SET erasures = erasures + 1", [])?;
    transaction.execute("INSERT INTO unswept (pending) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM unswept)", [])?;
    for id in &erasure.memories {
        let id = id.as_str();
        bury_memory(transaction, id, at)?;
        erased.versions += remove_memory(transaction, id)?;
        erased.versions += blank_task(transaction, id)?;
        erased.unreached.extend(still_in_tasks(transaction, id)?);
        erased.recalls += forget_use(transaction, id)?;
        crate::reflections::forget_memory(transaction, id)?;
    }
    if !erasure.turns.is_empty() {
        crate::reflections::forget_words(transaction)?;
        let sql = "UPDATE erased_turns SET highest = max(highest, (SELECT ifnull(max(row), 0) FROM turns))";
        transaction.execute(sql, [])?;
    }
    for id in &erasure.turns {
        withdrawals::bury_turn(transaction, id)?;
        transaction.execute("DELETE FROM line_sources WHERE turn = ?", [id.as_str()])?;
        erased.recalls += forget_question(transaction, id.as_str())?;
        erased.turns += transaction.execute("DELETE FROM turns WHERE id = ?", [id.as_str()])? as u64;
        erased.recalls += forget_use(transaction, id.as_str())?;
    }
    for (name, content) in &erasure.bullets {
        withdrawals::bury(transaction, content, &crate::line_sources::forget(transaction, name, content)?, at)?;
        withdrawals::blank_line(transaction, content)?;
        take_out_of_openings(transaction, content)?;
        erased.versions += scrub_document(transaction, name, content)?;
        if name.is_working() {
            erased.versions += crate::threads::scrub(transaction, name, content)?;
        }
    }
    let (versions, recalls) = erase_repeats::take_out(transaction, erasure)?;
    erased.versions += versions;
    erased.recalls += recalls;
    if let Some(going) = going {
        let (scoped, said) = erase_scope::erase(transaction, going, at)?;
        words.extend(said);
        erased.versions += scoped.versions;
        erased.recalls += scoped.recalls;
        erased.turns += scoped.turns;
    }
    crate::words::purge(transaction)?;
    Ok((erased, words))
}

/// Removes a memory with its history and what is noted about it; gives how many versions there were.
pub(crate) fn remove_memory(transaction: &Connection, id: &str) -> rusqlite::Result<u64> {
    let versions = transaction.execute("DELETE FROM entry_versions WHERE entry = ?", [id])? as u64;
    for sql in [
        "DELETE FROM entries WHERE id = ?",
        "DELETE FROM adopted WHERE what = 'entry' AND id = ?",
        "DELETE FROM accepted_lines WHERE line = ?",
        "DELETE FROM mutes WHERE memory = ?",
        "DELETE FROM reviewed WHERE memory = ?",
    ] {
        transaction.execute(sql, [id])?;
    }
    Ok(versions)
}

/// Leaves a tombstone for a memory that is about to be removed, and no text of it anywhere else.
fn bury_memory(transaction: &Connection, id: &str, at: i64) -> rusqlite::Result<()> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.id = ? AND e.layer <> 'archive'");
    let entry = transaction.prepare_cached(&sql)?.query_row([id], rows::entry).optional()?;
    if let Some(entry) = entry {
        withdrawals::bury_memory(transaction, &entry, at)?;
        take_out_of_openings(transaction, &entry.content)?;
    }
    withdrawals::blank_memory(transaction, id)
}

/// What conversations began with is kept, without these words.
fn take_out_of_openings(transaction: &Connection, content: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET opening = replace(opening, ?1, '') WHERE instr(opening, ?1) > 0";
    transaction.execute(sql, [content]).map(drop)
}

/// Removes the count of a memory or turn, and the recalls that returned it; gives how many those were.
pub(crate) fn forget_use(transaction: &Connection, id: &str) -> rusqlite::Result<u64> {
    transaction.execute("DELETE FROM uses WHERE id = ?", [id])?;
    let returned = "DELETE FROM recalls WHERE EXISTS (SELECT 1 FROM json_each(hits) WHERE value ->> 'id' = ?)";
    Ok(transaction.execute(returned, [id])? as u64)
}

/// Removes the recalls that a turn asked for: their questions are its words, or how it begins.
fn forget_question(transaction: &Connection, turn: &str) -> rusqlite::Result<u64> {
    let asked = "DELETE FROM recalls WHERE row IN (SELECT r.row FROM turns t JOIN sessions s ON s.row = t.session \
                 JOIN recalls r ON r.session = s.id \
                 WHERE t.id = ? AND r.query <> '' AND substr(t.content, 1, length(r.query)) = r.query)";
    Ok(transaction.execute(asked, [turn])? as u64)
}

/// Tasks whose archive an entry is, or was before that was undone.
const TASKS_ARCHIVED_AS: &str = "SELECT task FROM task_versions WHERE state ->> 'archive' = ?1";

/// Blanks the working state in the earlier versions of the tasks that an entry is the archive of: its text came from
/// there. Gives how many versions held one.
fn blank_task(transaction: &Connection, archive: &str) -> rusqlite::Result<u64> {
    let sql = format!(
        "UPDATE task_versions SET state = json_set(state, '$.state', '') \
         WHERE task IN ({TASKS_ARCHIVED_AS}) AND state ->> 'state' <> '' \
           AND version < (SELECT version FROM tasks WHERE id = task)"
    );
    Ok(transaction.execute(&sql, [archive])? as u64)
}

/// Where such a task is open again, its working state is the person's to change.
fn still_in_tasks(transaction: &Connection, archive: &str) -> rusqlite::Result<Vec<String>> {
    let sql = format!("SELECT title FROM tasks WHERE id IN ({TASKS_ARCHIVED_AS}) AND state <> '' ORDER BY row");
    let place = |row: &rusqlite::Row<'_>| Ok(format!("the working state of the task `{}`", row.get::<_, String>(0)?));
    transaction.prepare(&sql)?.query_map([archive], place)?.collect()
}

/// Takes a bullet out of every kept version of its document.
fn scrub_document(transaction: &Connection, name: &DocumentName, content: &str) -> rusqlite::Result<u64> {
    scrub_versions(transaction, &document_address(name), &|text| bullets::without_content(name, text, content))
}

/// Puts what a function makes of a document in its place, in every kept version; gives how many it changed.
pub(crate) fn scrub_versions(
    transaction: &Connection,
    address: &str,
    without: &dyn Fn(&str) -> String,
) -> rusqlite::Result<u64> {
    let versions: Vec<(i64, String, String)> = transaction
        .prepare("SELECT row, text, hash FROM document_versions WHERE name = ? AND text IS NOT NULL")?
        .query_map([address], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut scrubbed = 0;
    for (row, text, hash) in versions {
        let without = without(&text);
        if without != text {
            // A version from which a secret was left out must not look whole afterwards.
            let was_whole = ContentHash::of(&text).as_str() == hash;
            let hash = if was_whole { ContentHash::of(&without) } else { ContentHash::stored(hash) };
            let sql = "UPDATE document_versions SET text = ?2, hash = ?3 WHERE row = ?1";
            transaction.execute(sql, params![row, without, hash.as_str()])?;
            scrubbed += 1;
        }
    }
    let sql = "UPDATE documents SET hash = (SELECT hash FROM document_versions v \
               WHERE v.name = documents.name AND v.version = documents.version) WHERE name = ?";
    transaction.execute(sql, [address])?;
    Ok(scrubbed)
}

/// Writes the file anew and empties the write-ahead log: rows that were moved while pages were balanced may have left
/// copies that no other means reaches. Says whether it could; if not, the next process to open the memory tries again. While somebody
/// reads an old state nothing is written anew: the log would grow by the whole file, and keep what was erased all the same.
pub(crate) fn sweep(connection: &Connection) -> bool {
    let empty_log = || connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    if matches!(empty_log(), Ok(true)) {
        return false;
    }
    let rewritten = connection.execute_batch("VACUUM");
    // Also where there was no room to write the file anew: most of it is in the log.
    match (rewritten, empty_log()) {
        (Ok(()), Ok(false)) => connection.execute("DELETE FROM unswept", []).is_ok(),
        _ => false,
    }
}

/// Whether something was erased and its traces are still to be swept away.
pub(crate) fn is_unswept(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM unswept")?.exists([])
}

/// Erases from a backup that this program made. One of an older schema is left alone, and said to be. What somebody else says
/// in it stays, as in the memory itself, and is said to.
pub(crate) fn erase_in_backup(path: &Path, erasure: &Erasure) -> Stored<Erased> {
    let mut connection = open::connect_to_backup(path)?;
    let doing = "erase from a backup";
    let (mut erased, said) = in_transaction(&mut connection, doing, |transaction| erase(transaction, erasure))?;
    connection.execute_batch("DELETE FROM unswept; VACUUM").map_err(while_doing(doing))?;
    let traces: Vec<Trace> = said.iter().map(|text| Trace::of(text)).collect();
    if erase_repeats::is_named_anywhere(&connection, &traces).map_err(while_doing(doing))? {
        erased.unreached.push("words of it still stand there, in what others say".to_owned());
    }
    Ok(erased)
}
