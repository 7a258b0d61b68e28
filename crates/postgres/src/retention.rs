//! Removes old turns that no memory needs.

use jiff::Timestamp;
use throughline_core::lineage::says;
use throughline_core::text::sentences::sentences;
use throughline_stores::words::Collection;

use crate::error::Sql;
use crate::transaction::Transaction;
use crate::values::values;

/// The turns that may go, the oldest first. What stays is said in `Turns::remove_old`.
const OLD: &str = "SELECT t.number, t.role = 'user', t.content FROM turns t \
    JOIN sessions s ON s.space = $1 AND s.number = t.session \
    WHERE t.space = $1 AND t.at < $2 AND (s.updated_at < $2 OR t.position <= s.kept_from) \
      AND (t.role = 'summary' OR t.position <= greatest(s.consolidated, s.imported_to) OR t.at < $3) \
      AND NOT EXISTS (SELECT 1 FROM (SELECT unnest(e.provenance) AS turn FROM entries e \
                        WHERE e.space = $1 AND e.status = 'active' AND e.layer <> 'archive') p WHERE p.turn = t.id) \
    ORDER BY t.number LIMIT $4";

/// Removes the recalls that turns asked for: their questions are their words, or how they begin.
const FORGET_QUESTIONS: &str = "DELETE FROM recalls WHERE space = $1 AND number IN (SELECT r.number FROM turns t \
    JOIN sessions s ON s.space = $1 AND s.number = t.session JOIN recalls r ON r.space = $1 AND r.session = s.id \
    WHERE t.space = $1 AND t.number = ANY($2) AND r.query <> '' AND starts_with(t.content, r.query))";

const FORGET_USES: &str = "DELETE FROM uses WHERE space = $1 \
    AND id IN (SELECT t.id FROM turns t WHERE t.space = $1 AND t.number = ANY($2))";

const REMOVE: &str = "DELETE FROM turns WHERE space = $1 AND number = ANY($2) RETURNING number";

/// Whether a turn says what a line of a document says: a line that a person wrote does not name the turns that say it.
fn is_evidence(content: &str, lines: &[String]) -> bool {
    let sentences = sentences(content);
    lines.iter().any(|line| sentences.iter().any(|sentence| says(sentence, line)))
}

pub(crate) fn remove_old(
    transaction: &Transaction<'_>,
    until: Timestamp,
    unread_until: Timestamp,
    limit: usize,
) -> Sql<usize> {
    let sql =
        "SELECT content FROM entries WHERE space = $1 AND kind = 'bullet' AND status = 'active' AND layer <> 'archive'";
    let lines = transaction.all(sql, &[], |row| row.text(0))?;
    let mut old: Vec<i64> = Vec::new();
    for row in transaction.rows(OLD, &values![until, unread_until, limit])? {
        if !row.flag(1)? || !is_evidence(&row.text(2)?, &lines) {
            old.push(row.int(0)?);
        }
    }
    if old.is_empty() {
        return Ok(0);
    }
    for sql in [FORGET_QUESTIONS, FORGET_USES] {
        transaction.post(sql, &values![old.clone()])?;
    }
    Ok(transaction.remove(Collection::Turns, REMOVE, &values![old])? as usize)
}
