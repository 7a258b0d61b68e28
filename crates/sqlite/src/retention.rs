//! Removes old turns that no memory needs.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use throughline_core::lineage::says;
use throughline_core::text::sentences::sentences;

use crate::rows::to_json;

/// The turns that may go, the oldest first. What stays is said in `Turns::remove_old`.
const OLD: &str = "SELECT t.row, t.role = 'user', t.content FROM turns t JOIN sessions s ON s.row = t.session \
    WHERE t.at < ?1 AND (s.updated_at < ?1 OR t.position <= s.kept_from) \
      AND (t.role = 'summary' OR t.position <= max(s.consolidated, s.imported_to) OR t.at < ?2) \
      AND t.id NOT IN (SELECT p.value FROM entries e, json_each(e.provenance) p \
                       WHERE e.status = 'active' AND e.layer <> 'archive') \
    ORDER BY t.row LIMIT ?3";

/// Removes the recalls that turns asked for: their questions are their words, or how they begin.
const FORGET_QUESTIONS: &str = "DELETE FROM recalls WHERE row IN (SELECT r.row FROM json_each(?) o \
    JOIN turns t ON t.row = o.value JOIN sessions s ON s.row = t.session JOIN recalls r ON r.session = s.id \
    WHERE r.query <> '' AND substr(t.content, 1, length(r.query)) = r.query)";

const FORGET_USES: &str =
    "DELETE FROM uses WHERE id IN (SELECT t.id FROM json_each(?) o JOIN turns t ON t.row = o.value)";

/// What documents say: a line that a person wrote does not name the turns that say it.
fn lines(transaction: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT content FROM entries WHERE kind = 'bullet' AND status = 'active' AND layer <> 'archive'";
    transaction.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Whether a turn says what a line of a document says.
fn is_evidence(content: &str, lines: &[String]) -> bool {
    let sentences = sentences(content);
    lines.iter().any(|line| sentences.iter().any(|sentence| says(sentence, line)))
}

pub(crate) fn remove_old(
    transaction: &Connection,
    until: Timestamp,
    unread_until: Timestamp,
    limit: usize,
) -> rusqlite::Result<usize> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = params![until.as_millisecond(), unread_until.as_millisecond(), limit];
    let lines = lines(transaction)?;
    let mut old: Vec<i64> = Vec::new();
    for turn in transaction.prepare(OLD)?.query_map(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))? {
        let (row, is_persons, content): (i64, bool, String) = turn?;
        if !is_persons || !is_evidence(&content, &lines) {
            old.push(row);
        }
    }
    if old.is_empty() {
        return Ok(0);
    }
    transaction.execute("UPDATE erased_turns SET highest = max(highest, (SELECT max(row) FROM turns))", [])?;
    let old = to_json(&old)?;
    for sql in [FORGET_QUESTIONS, FORGET_USES] {
        transaction.execute(sql, [&old])?;
    }
    transaction.execute("DELETE FROM turns WHERE row IN (SELECT value FROM json_each(?))", [&old])
}
