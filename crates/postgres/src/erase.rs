//! Erasing: nothing left in rows, history, indexes and logs. What the server's own files still hold, it alone can remove: its
//! write-ahead log, its backups and pages that were not vacuumed yet are named as not reached.

use throughline_core::model::{ContentHash, DocumentName};
use throughline_core::ports::{Erased, Eraser, Erasure, ErasureMark, StoreError};
use throughline_core::text::bullets;
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, ENTRY_COLUMNS, document_address};
use crate::transaction::Transaction;
use crate::values::{from_json, to_json, values};
use crate::{
    PostgresStore, Stored, erase_repeats, erase_scope, line_sources, reflections, threads, withdrawals, words,
};

/// Where erased text may be that only the server's administrator reaches; named by every erasure.
pub const BEYOND_ERASING: &str = "the server's write-ahead log and backups, and its free pages until it vacuums them";

impl Eraser for PostgresStore {
    fn erase(&self, erasure: &Erasure) -> Stored<Erased> {
        self.bookkeeper.flush();
        let _held = self.worker.hold();
        let mut erased = self.write("erase", |transaction| erase(transaction, erasure))?;
        self.words.clear();
        erased.unreached.push(BEYOND_ERASING.to_owned());
        Ok(erased)
    }

    /// Room on the server's disk is not ours to keep.
    fn make_room(&self) -> bool {
        false
    }

    /// A server refuses nothing for its length.
    fn removing(&self, _: bool) {}
}

/// How many erasures there were: what was read before one may hold what it erased.
pub(crate) fn erasures(connection: &Connection) -> Sql<i64> {
    connection.one("SELECT erasures FROM spaces WHERE space = $1", &[])?.int(0)
}

/// Refuses what was made of texts that were read before an erasure.
pub(crate) fn check_unerased(transaction: &Transaction<'_>, since: &ErasureMark) -> Sql<()> {
    if *since == ErasureMark::of_count(erasures(transaction)?) { Ok(()) } else { Err(StoreError::Erased.into()) }
}

fn erase(transaction: &Transaction<'_>, erasure: &Erasure) -> Sql<Erased> {
    let mut erased = Erased::default();
    let at = erasure.at.as_millisecond();
    transaction.post("UPDATE spaces SET erasures = erasures + 1 WHERE space = $1", &[])?;
    for id in &erasure.memories {
        let id = id.as_str();
        bury_memory(transaction, id, at)?;
        erased.versions += remove_memory(transaction, id)?;
        erased.versions += blank_task(transaction, id)?;
        erased.unreached.extend(still_in_tasks(transaction, id)?);
        erased.recalls += forget_use(transaction, id)?;
        reflections::forget_memory(transaction, id)?;
    }
    if !erasure.turns.is_empty() {
        reflections::forget_words(transaction)?;
    }
    for id in &erasure.turns {
        withdrawals::bury_turn(transaction, id)?;
        transaction.post("DELETE FROM line_sources WHERE space = $1 AND turn = $2", &values![id.as_str()])?;
        erased.recalls += forget_question(transaction, id.as_str())?;
        let sql = "DELETE FROM turns WHERE space = $1 AND id = $2 RETURNING number";
        erased.turns += transaction.remove(Collection::Turns, sql, &values![id.as_str()])?;
        erased.recalls += forget_use(transaction, id.as_str())?;
    }
    for (name, content) in &erasure.bullets {
        let sources = line_sources::forget(transaction, name, content)?;
        withdrawals::bury(transaction, content, &sources, at)?;
        withdrawals::blank_line(transaction, content)?;
        take_out_of_openings(transaction, content)?;
        erased.versions += scrub_document(transaction, name, content)?;
        if name.is_working() {
            erased.versions += threads::scrub(transaction, name, content)?;
        }
    }
    let (versions, recalls) = erase_repeats::take_out(transaction, erasure)?;
    erased.versions += versions;
    erased.recalls += recalls;
    if let Some(scope) = &erasure.scope {
        let scoped = erase_scope::erase(transaction, scope, at)?;
        erased.versions += scoped.versions;
        erased.recalls += scoped.recalls;
        erased.turns += scoped.turns;
    }
    transaction.write_derived()?;
    words::purge(transaction)?;
    Ok(erased)
}

/// Removes a memory with its history and what is noted about it; gives how many versions there were.
pub(crate) fn remove_memory(transaction: &Transaction<'_>, id: &str) -> Sql<u64> {
    let versions = transaction.execute("DELETE FROM entry_versions WHERE space = $1 AND entry = $2", &values![id])?;
    let sql = "DELETE FROM entries WHERE space = $1 AND id = $2 RETURNING number";
    transaction.remove(Collection::Entries, sql, &values![id])?;
    for sql in [
        "DELETE FROM adopted WHERE space = $1 AND what = 'entry' AND id = $2",
        "DELETE FROM accepted_lines WHERE space = $1 AND line = $2",
        "DELETE FROM mutes WHERE space = $1 AND memory = $2",
        "DELETE FROM reviewed WHERE space = $1 AND memory = $2",
    ] {
        transaction.post(sql, &values![id])?;
    }
    Ok(versions)
}

/// Leaves a tombstone for a memory that is about to be removed, and no text of it anywhere else.
fn bury_memory(transaction: &Transaction<'_>, id: &str, at: i64) -> Sql<()> {
    let sql =
        format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.space = $1 AND e.id = $2 AND e.layer <> 'archive'");
    if let Some(row) = transaction.maybe(&sql, &values![id])? {
        let entry = rows::entry(&row)?;
        withdrawals::bury_memory(transaction, &entry, at)?;
        take_out_of_openings(transaction, &entry.content)?;
    }
    withdrawals::blank_memory(transaction, id)
}

/// What conversations began with is kept, without these words.
fn take_out_of_openings(transaction: &Transaction<'_>, content: &str) -> Sql<()> {
    let sql = "UPDATE sessions SET opening = replace(opening, $2, '') WHERE space = $1 AND strpos(opening, $2) > 0";
    transaction.post(sql, &values![content])
}

/// Removes the count of a memory or turn, and the recalls that returned it; gives how many those were.
pub(crate) fn forget_use(transaction: &Transaction<'_>, id: &str) -> Sql<u64> {
    transaction.post("DELETE FROM uses WHERE space = $1 AND id = $2", &values![id])?;
    transaction.execute("DELETE FROM recalls WHERE space = $1 AND $2 = ANY(hit_ids)", &values![id])
}

/// Removes the recalls that a turn asked for: their questions are its words, or how it begins.
fn forget_question(transaction: &Transaction<'_>, turn: &str) -> Sql<u64> {
    let sql = "DELETE FROM recalls WHERE space = $1 AND number IN (SELECT r.number FROM turns t \
               JOIN sessions s ON s.space = $1 AND s.number = t.session \
               JOIN recalls r ON r.space = $1 AND r.session = s.id \
               WHERE t.space = $1 AND t.id = $2 AND r.query <> '' AND starts_with(t.content, r.query))";
    transaction.execute(sql, &values![turn])
}

/// Tasks whose archive an entry is, or was before that was undone.
const TASKS_ARCHIVED_AS: &str =
    "SELECT v.task FROM task_versions v WHERE v.space = $1 AND v.state::json ->> 'archive' = $2";

/// Blanks the working state in the earlier versions of the tasks that an entry is the archive of: its text came from
/// there. Gives how many versions held one.
fn blank_task(transaction: &Transaction<'_>, archive: &str) -> Sql<u64> {
    let sql = format!(
        "SELECT v.task, v.version, v.state FROM task_versions v JOIN tasks t ON t.space = $1 AND t.id = v.task \
         WHERE v.space = $1 AND v.task IN ({TASKS_ARCHIVED_AS}) AND v.state::json ->> 'state' <> '' AND v.version < t.version"
    );
    let mut blanked = 0;
    for row in transaction.rows(&sql, &values![archive])? {
        let mut state: serde_json::Value = from_json(&row.text(2)?)?;
        state["state"] = "".into();
        let sql = "UPDATE task_versions SET state = $4 WHERE space = $1 AND task = $2 AND version = $3";
        blanked += transaction.execute(sql, &values![row.text(0)?, row.int(1)?, to_json(&state)?])?;
    }
    Ok(blanked)
}

/// Where such a task is open again, its working state is the person's to change.
fn still_in_tasks(transaction: &Transaction<'_>, archive: &str) -> Sql<Vec<String>> {
    let sql = format!(
        "SELECT title FROM tasks WHERE space = $1 AND id IN ({TASKS_ARCHIVED_AS}) AND state <> '' ORDER BY number"
    );
    transaction.all(&sql, &values![archive], |row| Ok(format!("the working state of the task `{}`", row.text(0)?)))
}

/// Takes a bullet out of every kept version of its document.
fn scrub_document(transaction: &Transaction<'_>, name: &DocumentName, content: &str) -> Sql<u64> {
    scrub_versions(transaction, &document_address(name), &|text| bullets::without_content(name, text, content))
}

/// Puts what a function makes of a document in its place, in every kept version; gives how many it changed.
pub(crate) fn scrub_versions(
    transaction: &Transaction<'_>,
    address: &str,
    without: &dyn Fn(&str) -> String,
) -> Sql<u64> {
    let sql = "SELECT version, text, hash FROM document_versions WHERE space = $1 AND name = $2 AND text IS NOT NULL";
    let versions = transaction.all(sql, &values![address], |row| Ok((row.int(0)?, row.text(1)?, row.text(2)?)))?;
    let mut scrubbed = 0;
    for (version, text, hash) in versions {
        let without = without(&text);
        if without != text {
            // A version from which a secret was left out must not look whole afterwards.
            let was_whole = ContentHash::of(&text).as_str() == hash;
            let hash = if was_whole { ContentHash::of(&without) } else { ContentHash::stored(hash) };
            let sql =
                "UPDATE document_versions SET text = $4, hash = $5 WHERE space = $1 AND name = $2 AND version = $3";
            transaction.post(sql, &values![address, version, without, hash.as_str()])?;
            scrubbed += 1;
        }
    }
    let sql = "UPDATE documents d SET hash = v.hash FROM document_versions v \
               WHERE d.space = $1 AND d.name = $2 AND v.space = $1 AND v.name = d.name AND v.version = d.version";
    transaction.post(sql, &values![address])?;
    Ok(scrubbed)
}
