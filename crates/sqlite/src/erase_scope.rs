//! Erasing a whole conversation, a project, or everything, in sets: a conversation may have thousands of turns.

use std::collections::HashSet;

use rusqlite::{Connection, params};
use throughline_core::lineage::Trace;
use throughline_core::model::{DocumentName, Entry, Thread};
use throughline_core::ports::{Erased, ErasureScope};
use throughline_core::threads::without_threads;

use crate::erase::scrub_versions;
use crate::rows::{self, ENTRY_COLUMNS, document_address};
use crate::versioned::Versioned as _;
use crate::{erase_repeats, vault, withdrawals};

/// What goes, by kind and id, for the length of a transaction.
const GOING: &str = "CREATE TEMP TABLE IF NOT EXISTS going (kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (kind, id)) \
    WITHOUT ROWID; DELETE FROM temp.going;";

/// Rows that go with what is in `going`. Their order is that of their references.
const REMOVE: &str = "
    DELETE FROM recalls WHERE session IN (SELECT id FROM temp.going WHERE kind = 'session')
      OR EXISTS (SELECT 1 FROM json_each(hits) h JOIN temp.going g ON g.id = h.value ->> 'id');
    DELETE FROM uses WHERE id IN (SELECT id FROM temp.going);
    DELETE FROM adopted WHERE (what, id) IN (SELECT CASE kind WHEN 'memory' THEN 'entry' ELSE kind END, id FROM temp.going);
    DELETE FROM entry_versions WHERE entry IN (SELECT id FROM temp.going WHERE kind = 'memory');
    DELETE FROM entries WHERE id IN (SELECT id FROM temp.going WHERE kind = 'memory')
      OR kind = 'bullet' AND namespace IN (SELECT id FROM temp.going WHERE kind = 'document');
    UPDATE erased_turns SET highest = max(highest, (SELECT ifnull(max(row), 0) FROM turns));
    INSERT OR IGNORE INTO erased_turn_ids (turn) SELECT id FROM temp.going WHERE kind = 'turn';
    DELETE FROM turns WHERE id IN (SELECT id FROM temp.going WHERE kind = 'turn');
    DELETE FROM line_sources WHERE turn IN (SELECT id FROM temp.going WHERE kind = 'turn');
    -- The file was rendered without their threads; what it said before goes with its history.
    DELETE FROM document_versions WHERE name IN (SELECT t.namespace || '/working' FROM threads t
        JOIN temp.going g ON g.kind = 'session' AND g.id = t.session)
      AND row < (SELECT max(v.row) FROM document_versions v WHERE v.name = document_versions.name);
    DELETE FROM thread_versions WHERE thread IN (SELECT t.id FROM threads t
        JOIN temp.going g ON g.kind = 'session' AND g.id = t.session);
    DELETE FROM threads WHERE session IN (SELECT id FROM temp.going WHERE kind = 'session');
    DELETE FROM unkept_turns WHERE session IN (SELECT id FROM temp.going WHERE kind = 'session');
    DELETE FROM unkept_latest WHERE session IN (SELECT id FROM temp.going WHERE kind = 'session');
    DELETE FROM mutes WHERE memory IN (SELECT id FROM temp.going WHERE kind = 'memory');
    DELETE FROM reviewed WHERE memory IN (SELECT id FROM temp.going WHERE kind = 'memory');
    DELETE FROM injected WHERE session IN (SELECT row FROM sessions WHERE id IN (SELECT id FROM temp.going WHERE kind = 'session'));
    DELETE FROM sessions WHERE id IN (SELECT id FROM temp.going WHERE kind = 'session');
    DELETE FROM task_words WHERE task IN (SELECT row FROM tasks WHERE id IN (SELECT id FROM temp.going WHERE kind = 'task'));
    DELETE FROM task_versions WHERE task IN (SELECT id FROM temp.going WHERE kind = 'task');
    DELETE FROM tasks WHERE id IN (SELECT id FROM temp.going WHERE kind = 'task');
    DELETE FROM document_stamps WHERE name IN (SELECT id FROM temp.going WHERE kind = 'document');
    DELETE FROM document_versions WHERE name IN (SELECT id FROM temp.going WHERE kind = 'document');
    DELETE FROM documents WHERE name IN (SELECT id FROM temp.going WHERE kind = 'document');
    DELETE FROM accepted_lines WHERE project IN (SELECT id FROM temp.going WHERE kind = 'project');
    DELETE FROM project_roots WHERE project IN (SELECT id FROM temp.going WHERE kind = 'project');
    DELETE FROM project_dirs WHERE project IN (SELECT id FROM temp.going WHERE kind = 'project');
    DELETE FROM project_versions WHERE project IN (SELECT id FROM temp.going WHERE kind = 'project');
    DELETE FROM projects WHERE name IN (SELECT id FROM temp.going WHERE kind = 'project');
    UPDATE withdrawn SET content = NULL, memory = NULL, session = NULL, by = NULL, why = 'erased', change = NULL
      WHERE memory IN (SELECT id FROM temp.going WHERE kind = 'memory')
         OR session IN (SELECT id FROM temp.going WHERE kind = 'session');
    UPDATE withdrawn SET by = NULL WHERE by IN (SELECT id FROM temp.going WHERE kind = 'memory');
    UPDATE passes SET applied = '[]' WHERE applied <> '[]';
    -- What other conversations began with may repeat it: it is computed anew.
    UPDATE sessions SET opening = NULL;";

/// What is left when everything goes: no tombstone either, so that a person can begin with an export.
const REMOVE_REST: &str = "
    DELETE FROM recalls;
    DELETE FROM passes;
    DELETE FROM job_runs;
    DELETE FROM exports;
    DELETE FROM mutes;
    DELETE FROM reviewed;
    DELETE FROM line_sources;
    DELETE FROM accepted_lines;
    DELETE FROM project_roots;
    DELETE FROM threads;
    DELETE FROM thread_versions;
    DELETE FROM vault_left_out;
    DELETE FROM vault_unread;
    DELETE FROM withdrawn;
    DELETE FROM erased_turn_ids;
    UPDATE withdrawn_key SET secret = randomblob(32);";

/// What goes with a scope.
pub(crate) struct Going<'s> {
    scope: &'s ErasureScope,
    threads: Vec<Thread>,
}

/// Notes what goes with a scope, before anything is taken out of it.
pub(crate) fn begin<'s>(transaction: &Connection, scope: &'s ErasureScope) -> rusqlite::Result<Going<'s>> {
    transaction.execute_batch(GOING)?;
    mark(transaction, scope)?;
    Ok(Going { scope, threads: threads(transaction)? })
}

/// Removes everything in a scope; gives what was removed, and what it said in words.
pub(crate) fn erase(transaction: &Connection, going: Going<'_>, at: i64) -> rusqlite::Result<(Erased, Vec<String>)> {
    let Going { scope, threads } = going;
    let count = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, u64>(0));
    let versions = count(
        "SELECT (SELECT count(*) FROM entry_versions WHERE entry IN (SELECT id FROM temp.going WHERE kind = 'memory')) \
         + (SELECT count(*) FROM document_versions WHERE name IN (SELECT id FROM temp.going WHERE kind = 'document'))",
    )?;
    let turns = count("SELECT count(*) FROM temp.going WHERE kind = 'turn'")?;
    let recalls = count("SELECT count(*) FROM recalls")?;
    let statements = statements(transaction)?;
    for entry in &statements {
        withdrawals::bury_memory(transaction, entry, at)?;
    }
    transaction.execute_batch(REMOVE)?;
    if *scope == ErasureScope::Everything {
        transaction.execute_batch(REMOVE_REST)?;
        vault::remove_all(transaction)?;
    }
    take_out_of_working(transaction, &threads)?;
    let mut words: Vec<String> = statements.into_iter().map(|entry| entry.content).collect();
    let traces: Vec<Trace> = words.iter().map(|text| Trace::of(text)).collect();
    erase_repeats::forget_questions(transaction, &traces)?;
    words.extend(threads.into_iter().flat_map(|thread| [thread.title, thread.content]));
    let left = count("SELECT count(*) FROM recalls")?;
    transaction.execute_batch("DELETE FROM temp.going")?;
    Ok((Erased { versions, recalls: recalls - left, turns, unreached: Vec::new() }, words))
}

/// The statements that go. They leave tombstones, while their turns are there.
fn statements(transaction: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.layer <> 'archive' AND e.kind = 'entry' \
         AND e.id IN (SELECT id FROM temp.going WHERE kind = 'memory')"
    );
    transaction.prepare(&sql)?.query_map([], rows::entry)?.collect()
}

/// The threads that go, with their earlier versions.
fn threads(transaction: &Connection) -> rusqlite::Result<Vec<Thread>> {
    let going = "SELECT id FROM temp.going WHERE kind = 'session'";
    let sql = format!("SELECT {} FROM threads WHERE session IN ({going})", Thread::COLUMNS);
    let mut found: Vec<Thread> =
        transaction.prepare(&sql)?.query_map([], Thread::read)?.collect::<rusqlite::Result<_>>()?;
    let sql = format!("SELECT state FROM thread_versions WHERE state ->> 'session' IN ({going})");
    let states: Vec<String> =
        transaction.prepare(&sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for state in states {
        found.push(rows::from_json(&state)?);
    }
    Ok(found)
}

/// Takes threads out of the last version of working memory. Here that was rendered without them; in a backup nobody did. Its lines are
/// derived anew when the backup is brought back.
fn take_out_of_working(transaction: &Connection, threads: &[Thread]) -> rusqlite::Result<()> {
    let files: HashSet<DocumentName> = threads.iter().map(|thread| DocumentName::working(&thread.namespace)).collect();
    for address in files.iter().map(document_address) {
        let without = |text: &str| without_threads(text, threads).unwrap_or_else(|| text.to_owned());
        if scrub_versions(transaction, &address, &without)? > 0 {
            transaction.execute("DELETE FROM entries WHERE kind = 'bullet' AND namespace = ?", [&address])?;
            transaction.execute("DELETE FROM document_stamps WHERE name = ?", [&address])?;
        }
    }
    Ok(())
}

fn mark(connection: &Connection, scope: &ErasureScope) -> rusqlite::Result<()> {
    let add = |sql: &str, value: &str| {
        let sql = format!("INSERT OR IGNORE INTO temp.going (kind, id) {sql}");
        connection.execute(&sql, params![value]).map(drop)
    };
    match scope {
        ErasureScope::Session(session) => {
            add("SELECT 'session', id FROM sessions WHERE id = ?1", session.as_str())?;
        }
        ErasureScope::Project(project) => {
            add("SELECT 'session', id FROM sessions WHERE project = ?1", project)?;
            add("SELECT 'memory', id FROM entries WHERE kind = 'entry' AND project = ?1", project)?;
            add("SELECT 'memory', entry FROM entry_versions WHERE state ->> 'project' = ?1", project)?;
            add("SELECT 'task', id FROM tasks WHERE project = ?1", project)?;
            add("SELECT 'project', name FROM projects WHERE name = ?1", project)?;
            if let Ok(name) = project.parse() {
                let address = document_address(&DocumentName::project(&name));
                add("SELECT 'document', name FROM documents WHERE name = ?1", &address)?;
            }
        }
        ErasureScope::Everything => {
            for (kind, from) in [
                ("session", "id FROM sessions"),
                ("memory", "id FROM entries WHERE kind = 'entry'"),
                ("memory", "entry FROM entry_versions"),
                ("task", "id FROM tasks"),
                ("project", "name FROM projects"),
                ("document", "name FROM documents"),
            ] {
                add(&format!("SELECT ?1, {from}"), kind)?;
            }
        }
    }
    connection.execute_batch(
        "INSERT OR IGNORE INTO temp.going (kind, id)
           SELECT 'memory', e.id FROM entries e JOIN temp.going g ON g.kind = 'session' AND g.id = e.session WHERE e.kind = 'entry';
         INSERT OR IGNORE INTO temp.going (kind, id)
           SELECT 'memory', v.entry FROM entry_versions v
           JOIN temp.going g ON g.kind = 'session' AND g.id = v.state ->> 'session';
         INSERT OR IGNORE INTO temp.going (kind, id)
           SELECT 'turn', t.id FROM turns t JOIN sessions s ON s.row = t.session
           JOIN temp.going g ON g.kind = 'session' AND g.id = s.id;",
    )
}
