//! Statements that were taken back: written with the change that takes them back, read by turn, session and digest.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use throughline_core::lineage::{digested, says};
use throughline_core::model::{Change, Entry, EntryId, SessionId, StatementDigest, TurnId, Withdrawal, Withdrawn};
use throughline_core::ports::Withdrawals;
use throughline_core::text::sentences::sentences;
use throughline_stores::{Balance, NewWithdrawal};

use crate::rows::{optional, parsed, time};
use crate::{SqliteStore, Stored, functions};

/// So many are read at most, the newest: they are compared with every sentence that is about to be given.
const MOST: i64 = 500;

/// What holds: the change that took it back was not undone, and nothing that stands says it again.
const HOLDS: &str = "NOT EXISTS (SELECT 1 FROM changes c WHERE c.row = w.change AND c.undone_by IS NOT NULL) \
    AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.row = w.lifted AND c.undone_by IS NULL)";

const COLUMNS: &str = "w.row, w.content, w.session, w.why, w.by, w.at";

impl Withdrawals for SqliteStore {
    fn withdrawn(&self, turns: &[TurnId], sessions: &[SessionId]) -> Stored<Option<Vec<Withdrawn>>> {
        let marks = |n: usize| vec!["?"; n].join(", ");
        let sql = format!(
            "SELECT {COLUMNS} FROM withdrawn w WHERE w.content IS NOT NULL AND {HOLDS} \
             AND (w.session IS NULL OR w.session IN ({}) \
                  OR w.row IN (SELECT withdrawn FROM withdrawn_turns WHERE turn IN ({}))) \
             ORDER BY w.row DESC LIMIT {MOST}",
            marks(sessions.len()),
            marks(turns.len())
        );
        let named = sessions.iter().map(SessionId::as_str).chain(turns.iter().map(TurnId::as_str));
        let values: Vec<Value> = named.map(|name| Value::Text(name.to_owned())).collect();
        self.snapshot(
            |connection| {
                if !connection.prepare_cached("SELECT 1 FROM withdrawn")?.exists([])? {
                    return Ok(None);
                }
                let mut statement = connection.prepare(&sql)?;
                let found = statement.query_map(params_from_iter(values), |row| withdrawn(connection, row))?;
                found.collect::<rusqlite::Result<_>>().map(Some)
            },
            "read what was taken back",
        )
    }

    fn withdrawals_of(&self, texts: &[String]) -> Stored<Vec<Option<Withdrawn>>> {
        let sql =
            format!("SELECT {COLUMNS} FROM withdrawn w WHERE w.digest = ? AND {HOLDS} ORDER BY w.at DESC LIMIT 1");
        self.snapshot(
            |connection| {
                if !connection.prepare_cached("SELECT 1 FROM withdrawn")?.exists([])? {
                    return Ok(vec![None; texts.len()]);
                }
                let key = key(connection)?;
                let find = |text: &String| {
                    let digest = StatementDigest::of(&key, text);
                    let mut statement = connection.prepare_cached(&sql)?;
                    statement.query_row([digest.as_bytes()], |row| withdrawn(connection, row)).optional()
                };
                texts.iter().map(find).collect()
            },
            "look for what was taken back",
        )
    }

    fn erased_turns(&self, turns: &[TurnId]) -> Stored<HashSet<TurnId>> {
        self.snapshot(
            |connection| {
                let mut erased = HashSet::new();
                for turn in turns {
                    if is_erased(connection, turn)? {
                        erased.insert(turn.clone());
                    }
                }
                Ok(erased)
            },
            "look for erased turns",
        )
    }
}

fn withdrawn(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Withdrawn> {
    let turns = connection
        .prepare_cached("SELECT turn FROM withdrawn_turns WHERE withdrawn = ? ORDER BY turn")?
        .query_map([row.get::<_, i64>(0)?], |row| Ok(TurnId::new(row.get::<_, String>(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Withdrawn {
        content: row.get(1)?,
        turns,
        session: optional(row, 2)?,
        why: parsed(row, 3)?,
        by: row.get::<_, Option<String>>(4)?.map(EntryId::new),
        at: time(row.get(5)?)?,
    })
}

fn key(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.prepare_cached("SELECT secret FROM withdrawn_key")?.query_row([], |row| row.get(0))
}

/// Writes down what a change takes back, and what it says again.
pub(crate) fn settle(transaction: &Connection, balance: &Balance, change: &Change, row: i64) -> rusqlite::Result<()> {
    if balance.is_empty() {
        return Ok(());
    }
    let key = key(transaction)?;
    let said = balance.said(&key);
    for digest in &said {
        let sql = format!("UPDATE withdrawn AS w SET lifted = ?2 WHERE digest = ?1 AND {HOLDS}");
        transaction.prepare_cached(&sql)?.execute(params![digest.as_bytes(), row])?;
    }
    for NewWithdrawal { digest, memory, why, by } in balance.withdrawals(&key, change.verb, &said) {
        let turns = memory.map_or(&[][..], |entry| &entry.provenance);
        let of = Of { digest: &digest, memory, why, by, at: change.at.as_millisecond() };
        insert(transaction, &of, turns, Some(row))?;
    }
    Ok(())
}

/// A withdrawal to write.
struct Of<'a> {
    digest: &'a StatementDigest,
    /// Nothing of it is kept where it is erased.
    memory: Option<&'a Entry>,
    why: Withdrawal,
    by: Option<EntryId>,
    at: i64,
}

fn insert(connection: &Connection, of: &Of<'_>, turns: &[TurnId], change: Option<i64>) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO withdrawn (digest, content, memory, session, why, by, at, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let row = connection.prepare_cached(sql)?.insert(params![
        of.digest.as_bytes(),
        of.memory.map(|entry| &entry.content),
        of.memory.map(|entry| entry.id.as_str()),
        of.memory.and_then(|entry| entry.session.as_ref()).map(SessionId::as_str),
        of.why.as_str(),
        of.by.as_ref().map(EntryId::as_str),
        of.at,
        change
    ])?;
    let sql = "INSERT OR IGNORE INTO withdrawn_turns (turn, withdrawn) VALUES (?, ?)";
    let mut statement = connection.prepare_cached(sql)?;
    turns.iter().try_for_each(|turn| statement.execute(params![turn.as_str(), row]).map(drop))
}

/// Derives the withdrawals of inactive entries that have none: an import brings those along.
pub(crate) fn derive(transaction: &Connection) -> rusqlite::Result<()> {
    functions::register(transaction)?;
    transaction.execute_batch(include_str!("withdrawals.sql"))
}

/// Leaves tombstones for what is erased: of the statement, and of the sentences of its turns that say it.
pub(crate) fn bury(transaction: &Connection, content: &str, turns: &[TurnId], at: i64) -> rusqlite::Result<()> {
    let key = key(transaction)?;
    let mut texts: HashSet<String> = digested(content).into_iter().collect();
    for turn in turns {
        let sql = "SELECT content FROM turns WHERE id = ?";
        let said: Option<String> = transaction.query_row(sql, [turn.as_str()], |row| row.get(0)).optional()?;
        let said = said.unwrap_or_default();
        let sources = sentences(&said).into_iter().filter(|sentence| says(sentence, content));
        texts.extend(sources.flat_map(digested));
    }
    for text in texts {
        let digest = StatementDigest::of(&key, &text);
        let of = Of { digest: &digest, memory: None, why: Withdrawal::Erased, by: None, at };
        insert(transaction, &of, turns, None)?;
    }
    Ok(())
}

/// Leaves tombstones for a memory that is about to be erased: of what it says, and of what it said before. What it took back
/// itself is known: an edit of what was forgotten takes nothing back.
pub(crate) fn bury_memory(transaction: &Connection, entry: &Entry, at: i64) -> rusqlite::Result<()> {
    bury(transaction, &entry.content, &entry.provenance, at)?;
    let key = key(transaction)?;
    let sql = "SELECT DISTINCT state ->> 'content' FROM entry_versions WHERE entry = ?";
    let former: Vec<String> =
        transaction.prepare_cached(sql)?.query_map([entry.id.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for text in former.iter().filter(|text| **text != entry.content).flat_map(|text| digested(text)) {
        let digest = StatementDigest::of(&key, &text);
        let sql = "SELECT 1 FROM withdrawn WHERE digest = ? AND memory = ?";
        if !transaction.prepare_cached(sql)?.exists(params![digest.as_bytes(), entry.id.as_str()])? {
            let of = Of { digest: &digest, memory: None, why: Withdrawal::Erased, by: None, at };
            insert(transaction, &of, &[], None)?;
        }
    }
    Ok(())
}

/// Takes the text out of the withdrawals of a memory that is erased.
pub(crate) fn blank_memory(transaction: &Connection, id: &str) -> rusqlite::Result<()> {
    transaction.execute("UPDATE withdrawn SET by = NULL WHERE by = ?", [id])?;
    let sql = "UPDATE withdrawn SET content = NULL, memory = NULL, session = NULL, why = 'erased', change = NULL WHERE memory = ?";
    transaction.execute(sql, [id]).map(drop)
}

/// The same for a line that is erased, by its text.
pub(crate) fn blank_line(transaction: &Connection, content: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE withdrawn SET content = NULL, memory = NULL, session = NULL, why = 'erased', change = NULL WHERE content = ?";
    transaction.execute(sql, [content]).map(drop)
}

/// Whether a turn was erased.
pub(crate) fn is_erased(connection: &Connection, turn: &TurnId) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM erased_turn_ids WHERE turn = ?")?.exists([turn.as_str()])
}

/// Keeps the id of a turn that is erased: nobody who still has it may bring it back.
pub(crate) fn bury_turn(transaction: &Connection, turn: &TurnId) -> rusqlite::Result<()> {
    transaction.execute("INSERT OR IGNORE INTO erased_turn_ids (turn) VALUES (?)", [turn.as_str()]).map(drop)
}
