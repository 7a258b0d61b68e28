//! Statements that were taken back: written with the change that takes them back, read by turn, session and digest.

use std::collections::{HashMap, HashSet};

use throughline_core::lineage::{digested, normalised, says};
use throughline_core::model::{
    Change, Entry, EntryId, SessionId, StatementDigest, TurnId, Verb, Withdrawal, Withdrawn,
};
use throughline_core::ports::Withdrawals;
use throughline_core::text::sentences::sentences;
use throughline_stores::{Balance, NewWithdrawal};

use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, ENTRY_COLUMNS, ENTRY_WIDTH};
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, texts, values};
use crate::{PostgresStore, Stored};

/// So many are read at most, the newest: they are compared with every sentence that is about to be given.
const MOST: i64 = 500;

/// What holds: the change that took it back was not undone, and nothing that stands says it again.
const HOLDS: &str = "NOT EXISTS (SELECT 1 FROM changes c \
      WHERE c.space = $1 AND c.number = w.change AND c.undone_by IS NOT NULL) \
    AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.space = $1 AND c.number = w.lifted AND c.undone_by IS NULL)";

const COLUMNS: &str = "w.turns, w.content, w.session, w.why, w.by, w.at";

impl Withdrawals for PostgresStore {
    fn withdrawn(&self, turns: &[TurnId], sessions: &[SessionId]) -> Stored<Option<Vec<Withdrawn>>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM withdrawn w WHERE w.space = $1 AND w.content IS NOT NULL AND {HOLDS} \
             AND (w.session IS NULL OR w.session = ANY($2::text[]) OR w.turns && $3::text[]) \
             ORDER BY w.number DESC LIMIT {MOST}"
        );
        self.snapshot("read what was taken back", |connection| {
            if let Some(few) = few(connection)? {
                let is_meant = |(_, withdrawn): &(Vec<u8>, Withdrawn)| concerns(withdrawn, turns, sessions);
                let meant: Vec<Withdrawn> = few.into_iter().filter(is_meant).map(|(_, withdrawn)| withdrawn).collect();
                return Ok((!meant.is_empty() || is_any(connection)?).then_some(meant));
            }
            let sessions = texts(sessions.iter().map(SessionId::as_str));
            let turns = texts(turns.iter().map(TurnId::as_str));
            connection.all(&sql, &values![sessions, turns], withdrawn).map(Some)
        })
    }

    fn withdrawals_of(&self, texts: &[String]) -> Stored<Vec<Option<Withdrawn>>> {
        let sql = format!(
            "SELECT DISTINCT ON (w.digest) {COLUMNS}, w.digest FROM withdrawn w \
             JOIN (SELECT DISTINCT decode(asked, 'hex') AS digest FROM unnest($2::text[]) AS asked) a ON a.digest = w.digest \
             WHERE w.space = $1 AND {HOLDS} ORDER BY w.digest, w.at DESC, w.number"
        );
        self.snapshot("look for what was taken back", |connection| {
            let few = few(connection)?;
            if few.as_ref().is_some_and(Vec::is_empty) {
                return Ok(vec![None; texts.len()]);
            }
            let key = key(connection)?;
            let digests: Vec<StatementDigest> = texts.iter().map(|text| StatementDigest::of(&key, text)).collect();
            if let Some(few) = few {
                let latest = |digest: &StatementDigest| {
                    // The latest, and of equals the first: they are in the opposite order.
                    few.iter().filter(|(of, _)| of == digest.as_bytes()).max_by_key(|(_, withdrawn)| withdrawn.at)
                };
                return Ok(digests.iter().map(|digest| latest(digest).map(|(_, found)| found.clone())).collect());
            }
            let asked: Vec<String> = digests.iter().map(|digest| hex(digest.as_bytes())).collect();
            let found = connection
                .all(&sql, &values![asked], |row| Ok((row.bytes(COLUMNS_WIDTH)?.to_vec(), withdrawn(row)?)))?;
            let found: HashMap<Vec<u8>, Withdrawn> = found.into_iter().collect();
            Ok(digests.iter().map(|digest| found.get(digest.as_bytes()).cloned()).collect())
        })
    }

    fn erased_turns(&self, turns: &[TurnId]) -> Stored<HashSet<TurnId>> {
        let sql = "SELECT turn FROM erased_turn_ids WHERE space = $1 AND turn = ANY($2)";
        self.read("look for erased turns", |connection| {
            let turns = texts(turns.iter().map(TurnId::as_str));
            Ok(connection.all(sql, &values![turns], |row| Ok(TurnId::new(row.text(0)?)))?.into_iter().collect())
        })
    }
}

/// How many columns those are.
const COLUMNS_WIDTH: usize = 6;

/// So many are read whole, whatever is asked about them.
const FEW: usize = 200;

/// What was taken back, and the digest of its text.
type Digested = (Vec<u8>, Withdrawn);

/// All that holds, the newest first, by digest; `None` if there are too many.
fn few(connection: &Connection) -> Sql<Option<Vec<Digested>>> {
    let sql = format!(
        "SELECT {COLUMNS}, w.digest FROM withdrawn w WHERE w.space = $1 AND {HOLDS} ORDER BY w.number DESC LIMIT $2"
    );
    let read = |row: &Row| Ok((row.bytes(COLUMNS_WIDTH)?.to_vec(), withdrawn(row)?));
    let found = connection.all(&sql, &values![FEW + 1], read)?;
    Ok((found.len() <= FEW).then_some(found))
}

/// Whether what was taken back is of one of these turns or conversations, or of no conversation.
fn concerns(withdrawn: &Withdrawn, turns: &[TurnId], sessions: &[SessionId]) -> bool {
    let is_of =
        |session: &SessionId| sessions.contains(session) || withdrawn.turns.iter().any(|turn| turns.contains(turn));
    withdrawn.content.is_some() && withdrawn.session.as_ref().is_none_or(is_of)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_any(connection: &Connection) -> Sql<bool> {
    connection.exists("SELECT 1 FROM withdrawn WHERE space = $1 LIMIT 1", &[])
}

fn withdrawn(row: &Row) -> Sql<Withdrawn> {
    Ok(Withdrawn {
        content: row.maybe_text(1)?,
        turns: row.texts(0)?.into_iter().map(TurnId::new).collect(),
        session: row.maybe_parsed(2)?,
        why: row.parsed(3)?,
        by: row.maybe_text(4)?.map(EntryId::new),
        at: row.time(5)?,
    })
}

pub(crate) fn key(connection: &Connection) -> Sql<Vec<u8>> {
    Ok(connection.one("SELECT secret FROM spaces WHERE space = $1", &[])?.bytes(0)?.to_vec())
}

/// Writes down what a change takes back, and what it says again.
pub(crate) fn settle(transaction: &Transaction<'_>, balance: &Balance, change: &Change, number: i64) -> Sql<()> {
    if balance.is_empty() {
        return Ok(());
    }
    let key = key(transaction)?;
    let said = balance.said(&key);
    for digest in &said {
        let sql = format!("UPDATE withdrawn w SET lifted = $3 WHERE w.space = $1 AND w.digest = $2 AND {HOLDS}");
        transaction.post(&sql, &values![digest.as_bytes(), number])?;
    }
    for NewWithdrawal { digest, memory, why, by } in balance.withdrawals(&key, change.verb, &said) {
        let turns = memory.map_or(&[][..], |entry| &entry.provenance);
        let of = Of { digest: &digest, memory, why, by, at: change.at.as_millisecond() };
        insert(transaction, &of, turns, Some(number))?;
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

fn insert(transaction: &Transaction<'_>, of: &Of<'_>, turns: &[TurnId], change: Option<i64>) -> Sql<()> {
    let sql = "INSERT INTO withdrawn (space, number, digest, content, memory, session, why, by, at, change, turns) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let mut turns = texts(turns.iter().map(TurnId::as_str));
    turns.sort_unstable();
    turns.dedup();
    transaction.post(
        sql,
        &values![
            transaction.next(Counter::Row),
            of.digest.as_bytes(),
            of.memory.map(|entry| &entry.content),
            of.memory.map(|entry| entry.id.as_str()),
            of.memory.and_then(|entry| entry.session.as_ref()).map(SessionId::as_str),
            of.why.as_str(),
            of.by.as_ref().map(EntryId::as_str),
            of.at,
            change,
            turns,
        ],
    )
}

/// Derives the withdrawals of inactive entries that have none: an import brings those along.
pub(crate) fn derive(transaction: &Transaction<'_>) -> Sql<()> {
    let key = key(transaction)?;
    let digest = |content: &str| normalised(content).map(|text| StatementDigest::of(&key, &text));
    let sql = "SELECT s.id, unnest(s.supersedes) FROM entries s WHERE s.space = $1 AND s.supersedes <> '{}' ORDER BY s.id DESC";
    // Of several, the first by id.
    let successors: HashMap<String, String> =
        transaction.all(sql, &[], |row| Ok((row.text(1)?, row.text(0)?)))?.into_iter().collect();
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, c.verb, v.change FROM entries e \
         JOIN entry_versions v ON v.space = $1 AND v.entry = e.id AND v.version = e.version \
         JOIN changes c ON c.space = $1 AND c.number = v.change \
         WHERE e.space = $1 AND e.kind = 'entry' AND e.status = 'inactive' AND e.layer <> 'archive' \
           AND NOT EXISTS (SELECT 1 FROM withdrawn w WHERE w.space = $1 AND w.memory = e.id) ORDER BY e.number"
    );
    let gone = transaction
        .all(&sql, &[], |row| Ok((rows::entry(row)?, row.parsed::<Verb>(ENTRY_WIDTH)?, row.int(ENTRY_WIDTH + 1)?)))?;
    for (entry, verb, change) in gone {
        let by = successors.get(entry.id.as_str()).map(EntryId::new);
        let Some(digest) = digest(&entry.content).filter(|_| takes_back(verb, by.is_some())) else { continue };
        let why = if by.is_some() { Withdrawal::Superseded } else { Withdrawal::Forgotten };
        let of = Of { digest: &digest, memory: Some(&entry), why, by, at: entry.updated_at.as_millisecond() };
        insert(transaction, &of, &entry.provenance, Some(change))?;
    }
    // What stands is not withdrawn, however often it was forgotten before.
    let sql = "SELECT content FROM entries WHERE space = $1 AND status = 'active' AND layer <> 'archive'";
    let standing = transaction.all(sql, &[], |row| row.text(0))?;
    for digest in standing.iter().filter_map(|content| digest(content)) {
        let sql = "DELETE FROM withdrawn WHERE space = $1 AND lifted IS NULL AND digest = $2";
        transaction.post(sql, &values![digest.as_bytes()])?;
    }
    Ok(())
}

/// Whether a change of this kind takes back what it makes inactive.
fn takes_back(verb: Verb, is_replaced: bool) -> bool {
    match verb {
        Verb::Forget | Verb::Edit | Verb::Remember => true,
        Verb::Correct | Verb::Consolidate | Verb::Fill => is_replaced,
        _ => false,
    }
}

/// Leaves tombstones for what is erased: of the statement, and of the sentences of its turns that say it.
pub(crate) fn bury(transaction: &Transaction<'_>, content: &str, turns: &[TurnId], at: i64) -> Sql<()> {
    let key = key(transaction)?;
    let mut statements: HashSet<String> = digested(content).into_iter().collect();
    let sql = "SELECT content FROM turns WHERE space = $1 AND id = ANY($2)";
    for said in transaction.all(sql, &values![texts(turns.iter().map(TurnId::as_str))], |row| row.text(0))? {
        let sources = sentences(&said).into_iter().filter(|sentence| says(sentence, content));
        statements.extend(sources.flat_map(digested));
    }
    for text in statements {
        let digest = StatementDigest::of(&key, &text);
        let of = Of { digest: &digest, memory: None, why: Withdrawal::Erased, by: None, at };
        insert(transaction, &of, turns, None)?;
    }
    Ok(())
}

/// Leaves tombstones for a memory that is about to be erased: of what it says, and of what it said before. What it took back
/// itself is known: an edit of what was forgotten takes nothing back.
pub(crate) fn bury_memory(transaction: &Transaction<'_>, entry: &Entry, at: i64) -> Sql<()> {
    bury(transaction, &entry.content, &entry.provenance, at)?;
    let key = key(transaction)?;
    let sql = "SELECT DISTINCT state::json ->> 'content' FROM entry_versions WHERE space = $1 AND entry = $2";
    let former = transaction.all(sql, &values![entry.id.as_str()], |row| row.text(0))?;
    for text in former.iter().filter(|text| **text != entry.content).flat_map(|text| digested(text)) {
        let digest = StatementDigest::of(&key, &text);
        let sql = "SELECT 1 FROM withdrawn WHERE space = $1 AND digest = $2 AND memory = $3";
        if transaction.maybe(sql, &values![digest.as_bytes(), entry.id.as_str()])?.is_none() {
            let of = Of { digest: &digest, memory: None, why: Withdrawal::Erased, by: None, at };
            insert(transaction, &of, &[], None)?;
        }
    }
    Ok(())
}

/// Takes the text out of the withdrawals of a memory that is erased.
pub(crate) fn blank_memory(transaction: &Transaction<'_>, id: &str) -> Sql<()> {
    transaction.post("UPDATE withdrawn SET by = NULL WHERE space = $1 AND by = $2", &values![id])?;
    let sql = "UPDATE withdrawn SET content = NULL, memory = NULL, session = NULL, why = 'erased', change = NULL \
               WHERE space = $1 AND memory = $2";
    transaction.post(sql, &values![id])
}

/// The same for a line that is erased, by its text.
pub(crate) fn blank_line(transaction: &Transaction<'_>, content: &str) -> Sql<()> {
    let sql = "UPDATE withdrawn SET content = NULL, memory = NULL, session = NULL, why = 'erased', change = NULL \
               WHERE space = $1 AND content = $2";
    transaction.post(sql, &values![content])
}

/// Keeps the id of a turn that is erased: an import must not bring it back.
pub(crate) fn bury_turn(transaction: &Transaction<'_>, turn: &TurnId) -> Sql<()> {
    let sql = "INSERT INTO erased_turn_ids (space, turn) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    transaction.post(sql, &values![turn.as_str()])
}
