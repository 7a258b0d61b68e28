//! Erasing a whole conversation, a project, or everything, in sets: a conversation may have thousands of turns.

use rusqlite::{Connection, params};
use throughline_core::model::DocumentName;
use throughline_core::ports::{Erased, ErasureScope};

use crate::rows::{self, ENTRY_COLUMNS, document_address};
use crate::withdrawals;

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
    DELETE FROM vault_documents;
    DELETE FROM withdrawn;
    DELETE FROM erased_turn_ids;
    UPDATE withdrawn_key SET secret = randomblob(32);";

/// Removes everything in a scope.
pub(crate) fn erase(transaction: &Connection, scope: &ErasureScope, at: i64) -> rusqlite::Result<Erased> {
    transaction.execute_batch(GOING)?;
    mark(transaction, scope)?;
    let count = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, u64>(0));
    let versions = count(
        "SELECT (SELECT count(*) FROM entry_versions WHERE entry IN (SELECT id FROM temp.going WHERE kind = 'memory')) \
         + (SELECT count(*) FROM document_versions WHERE name IN (SELECT id FROM temp.going WHERE kind = 'document'))",
    )?;
    let turns = count("SELECT count(*) FROM temp.going WHERE kind = 'turn'")?;
    let recalls = count("SELECT count(*) FROM recalls")?;
    bury(transaction, at)?;
    transaction.execute_batch(REMOVE)?;
    if *scope == ErasureScope::Everything {
        transaction.execute_batch(REMOVE_REST)?;
    }
    let left = count("SELECT count(*) FROM recalls")?;
    transaction.execute_batch("DELETE FROM temp.going")?;
    Ok(Erased { versions, recalls: recalls - left, turns, unreached: Vec::new() })
}

/// Leaves tombstones of the statements that go, while their turns are there.
fn bury(transaction: &Connection, at: i64) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.layer <> 'archive' AND e.kind = 'entry' \
         AND e.id IN (SELECT id FROM temp.going WHERE kind = 'memory')"
    );
    let entries = transaction.prepare(&sql)?.query_map([], rows::entry)?.collect::<rusqlite::Result<Vec<_>>>()?;
    entries.iter().try_for_each(|entry| withdrawals::bury(transaction, &entry.content, &entry.provenance, at))
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
