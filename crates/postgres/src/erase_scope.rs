//! Erasing a whole conversation, a project, or everything, in sets: a conversation may have thousands of turns.

use std::collections::BTreeSet;

use throughline_core::model::DocumentName;
use throughline_core::ports::{Erased, ErasureScope};
use throughline_stores::words::Collection;

use crate::error::Sql;
use crate::open::FRESH_SECRET;
use crate::rows::{self, ENTRY_COLUMNS, document_address};
use crate::transaction::Transaction;
use crate::values::{Value, values};
use crate::withdrawals;

/// What goes, by kind.
#[derive(Default)]
struct Going {
    sessions: BTreeSet<String>,
    memories: BTreeSet<String>,
    turns: BTreeSet<String>,
    tasks: BTreeSet<String>,
    projects: BTreeSet<String>,
    documents: BTreeSet<String>,
}

/// Rows that go, in the order of their references. `$2` to `$7` are sessions, memories, turns, tasks, projects and documents.
const REMOVE: [(&str, &[usize]); 31] = [
    ("DELETE FROM recalls WHERE space = $1 AND (session = ANY($2) OR hit_ids && $3 OR hit_ids && $4)", &[0, 1, 2]),
    ("DELETE FROM uses WHERE space = $1 AND id = ANY($2)", &[1]),
    ("DELETE FROM uses WHERE space = $1 AND id = ANY($2)", &[2]),
    ("DELETE FROM adopted WHERE space = $1 AND what = 'entry' AND id = ANY($2)", &[1]),
    ("DELETE FROM adopted WHERE space = $1 AND what = 'task' AND id = ANY($2)", &[3]),
    ("DELETE FROM adopted WHERE space = $1 AND what = 'project' AND id = ANY($2)", &[4]),
    ("DELETE FROM adopted WHERE space = $1 AND what = 'document' AND id = ANY($2)", &[5]),
    ("DELETE FROM entry_versions WHERE space = $1 AND entry = ANY($2)", &[1]),
    ("INSERT INTO erased_turn_ids (space, turn) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING", &[2]),
    ("DELETE FROM line_sources WHERE space = $1 AND turn = ANY($2)", &[2]),
    // The file was rendered without their threads; what it said before goes with its history.
    (
        "DELETE FROM document_versions d WHERE d.space = $1 AND d.name IN \
           (SELECT t.namespace || '/working' FROM threads t WHERE t.space = $1 AND t.session = ANY($2)) \
         AND d.number < (SELECT max(v.number) FROM document_versions v WHERE v.space = $1 AND v.name = d.name)",
        &[0],
    ),
    (
        "DELETE FROM thread_versions WHERE space = $1 AND thread IN \
           (SELECT t.id FROM threads t WHERE t.space = $1 AND t.session = ANY($2))",
        &[0],
    ),
    ("DELETE FROM threads WHERE space = $1 AND session = ANY($2)", &[0]),
    ("DELETE FROM unkept_turns WHERE space = $1 AND session = ANY($2)", &[0]),
    ("DELETE FROM unkept_latest WHERE space = $1 AND session = ANY($2)", &[0]),
    ("DELETE FROM mutes WHERE space = $1 AND memory = ANY($2)", &[1]),
    ("DELETE FROM reviewed WHERE space = $1 AND memory = ANY($2)", &[1]),
    (
        "DELETE FROM injected WHERE space = $1 AND session IN \
           (SELECT number FROM sessions WHERE space = $1 AND id = ANY($2))",
        &[0],
    ),
    ("DELETE FROM sessions WHERE space = $1 AND id = ANY($2)", &[0]),
    ("DELETE FROM task_words WHERE space = $1 AND task = ANY($2)", &[3]),
    ("DELETE FROM task_versions WHERE space = $1 AND task = ANY($2)", &[3]),
    ("DELETE FROM tasks WHERE space = $1 AND id = ANY($2)", &[3]),
    ("DELETE FROM document_stamps WHERE space = $1 AND name = ANY($2)", &[5]),
    ("DELETE FROM document_versions WHERE space = $1 AND name = ANY($2)", &[5]),
    ("DELETE FROM documents WHERE space = $1 AND name = ANY($2)", &[5]),
    ("DELETE FROM accepted_lines WHERE space = $1 AND project = ANY($2)", &[4]),
    ("DELETE FROM project_roots WHERE space = $1 AND project = ANY($2)", &[4]),
    ("DELETE FROM project_dirs WHERE space = $1 AND project = ANY($2)", &[4]),
    ("DELETE FROM project_versions WHERE space = $1 AND project = ANY($2)", &[4]),
    ("DELETE FROM projects WHERE space = $1 AND name = ANY($2)", &[4]),
    (
        "UPDATE withdrawn SET content = NULL, memory = NULL, session = NULL, by = NULL, why = 'erased', change = NULL \
         WHERE space = $1 AND (session = ANY($2) OR memory = ANY($3))",
        &[0, 1],
    ),
];

/// What may repeat it elsewhere.
const BLANK: [&str; 2] = [
    "UPDATE passes SET applied = '[]' WHERE space = $1 AND applied <> '[]'",
    // What other conversations began with is computed anew.
    "UPDATE sessions SET opening = NULL WHERE space = $1 AND opening IS NOT NULL",
];

/// What is left when everything goes: no tombstone either, so that a person can begin with an export.
const REST: [&str; 16] = [
    "document_texts",
    "recalls",
    "passes",
    "job_runs",
    "exports",
    "mutes",
    "reviewed",
    "line_sources",
    "accepted_lines",
    "project_roots",
    "threads",
    "thread_versions",
    "vault_left_out",
    "vault_unread",
    "withdrawn",
    "erased_turn_ids",
];

/// Removes everything in a scope.
pub(crate) fn erase(transaction: &Transaction<'_>, scope: &ErasureScope, at: i64) -> Sql<Erased> {
    let going = going(transaction, scope)?;
    let sets = [&going.sessions, &going.memories, &going.turns, &going.tasks, &going.projects, &going.documents];
    let sets = sets.map(|set| set.iter().cloned().collect::<Vec<String>>());
    let [_, memories, turns, _, _, documents] = &sets;
    let count = |sql: &str, bound: &[Value<'_>]| transaction.one(sql, bound)?.number::<u64>(0);
    let versions = count(
        "SELECT (SELECT count(*) FROM entry_versions WHERE space = $1 AND entry = ANY($2)) \
         + (SELECT count(*) FROM document_versions WHERE space = $1 AND name = ANY($3))",
        &values![memories.clone(), documents.clone()],
    )?;
    let recalls = count("SELECT count(*) FROM recalls WHERE space = $1", &[])?;
    bury(transaction, memories, at)?;
    let sql = "DELETE FROM entries WHERE space = $1 \
               AND (id = ANY($2) OR kind = 'bullet' AND namespace = ANY($3)) RETURNING number";
    transaction.remove(Collection::Entries, sql, &values![memories.clone(), documents.clone()])?;
    let sql = "DELETE FROM turns WHERE space = $1 AND id = ANY($2) RETURNING number";
    transaction.remove(Collection::Turns, sql, &values![turns.clone()])?;
    for (sql, named) in REMOVE {
        let bound: Vec<Value<'_>> = named.iter().map(|set| sets[*set].clone().into()).collect();
        transaction.post(sql, &bound)?;
    }
    transaction.post("UPDATE withdrawn SET by = NULL WHERE space = $1 AND by = ANY($2)", &values![memories.clone()])?;
    BLANK.iter().try_for_each(|sql| transaction.post(sql, &[]))?;
    if *scope == ErasureScope::Everything {
        remove_rest(transaction)?;
    }
    let left = count("SELECT count(*) FROM recalls WHERE space = $1", &[])?;
    Ok(Erased { versions, recalls: recalls - left, turns: turns.len() as u64, unreached: Vec::new() })
}

fn remove_rest(transaction: &Transaction<'_>) -> Sql<()> {
    for table in REST {
        transaction.post(&format!("DELETE FROM {table} WHERE space = $1"), &[])?;
    }
    let sql = "DELETE FROM vault_chunks WHERE space = $1 RETURNING number";
    transaction.remove(Collection::Chunks, sql, &[])?;
    for table in ["vault_documents", "vector_blocks", "vector_bytes", "vector_refusals"] {
        transaction.post(&format!("DELETE FROM {table} WHERE space = $1"), &[])?;
    }
    transaction.post(&format!("UPDATE spaces SET secret = {FRESH_SECRET} WHERE space = $1"), &[])
}

/// Leaves tombstones of the statements that go, while their turns are there.
fn bury(transaction: &Transaction<'_>, memories: &[String], at: i64) -> Sql<()> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.space = $1 AND e.layer <> 'archive' AND e.kind = 'entry' \
         AND e.id = ANY($2)"
    );
    let entries = transaction.all(&sql, &values![memories.to_vec()], rows::entry)?;
    entries.iter().try_for_each(|entry| withdrawals::bury_memory(transaction, entry, at))
}

fn going(transaction: &Transaction<'_>, scope: &ErasureScope) -> Sql<Going> {
    let ids = |sql: &str, bound: &[Value<'_>]| -> Sql<Vec<String>> { transaction.all(sql, bound, |row| row.text(0)) };
    let mut going = Going::default();
    match scope {
        ErasureScope::Session(session) => {
            let sql = "SELECT id FROM sessions WHERE space = $1 AND id = $2";
            going.sessions.extend(ids(sql, &values![session.as_str()])?);
        }
        ErasureScope::Project(project) => {
            let of = |sql: &str| ids(sql, &values![project]);
            going.sessions.extend(of("SELECT id FROM sessions WHERE space = $1 AND project = $2")?);
            going.memories.extend(of("SELECT id FROM entries WHERE space = $1 AND kind = 'entry' AND project = $2")?);
            let sql = "SELECT entry FROM entry_versions WHERE space = $1 AND state::json ->> 'project' = $2";
            going.memories.extend(of(sql)?);
            going.tasks.extend(of("SELECT id FROM tasks WHERE space = $1 AND project = $2")?);
            going.projects.extend(of("SELECT name FROM projects WHERE space = $1 AND name = $2")?);
            if let Ok(name) = project.parse() {
                let address = document_address(&DocumentName::project(&name));
                let sql = "SELECT name FROM documents WHERE space = $1 AND name = $2";
                going.documents.extend(ids(sql, &values![address])?);
            }
        }
        ErasureScope::Everything => {
            let all = |from: &str| ids(&format!("SELECT {from} WHERE space = $1"), &[]);
            going.sessions.extend(all("id FROM sessions")?);
            going.memories.extend(ids("SELECT id FROM entries WHERE space = $1 AND kind = 'entry'", &[])?);
            going.memories.extend(all("entry FROM entry_versions")?);
            going.tasks.extend(all("id FROM tasks")?);
            going.projects.extend(all("name FROM projects")?);
            going.documents.extend(all("name FROM documents")?);
        }
    }
    let sessions: Vec<String> = going.sessions.iter().cloned().collect();
    let of = |sql: &str| ids(sql, &values![sessions.clone()]);
    going.memories.extend(of("SELECT id FROM entries WHERE space = $1 AND kind = 'entry' AND session = ANY($2)")?);
    let sql = "SELECT entry FROM entry_versions WHERE space = $1 AND state::json ->> 'session' = ANY($2)";
    going.memories.extend(of(sql)?);
    let sql = "SELECT t.id FROM turns t JOIN sessions s ON s.space = $1 AND s.number = t.session \
               WHERE t.space = $1 AND s.id = ANY($2)";
    going.turns.extend(of(sql)?);
    Ok(going)
}
