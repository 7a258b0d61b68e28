//! What sessions have that was not processed yet, counted in an index of turns.

use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use throughline_core::ports::Among;
use throughline_core::sessions::Backlog;

use crate::rows::{parsed, time};

/// Every session that may have something to do, the latest first. [`Backlog::of`] is the meaning of the numbers.
pub(crate) fn read(connection: &Connection, among: &Among) -> rusqlite::Result<Vec<Backlog>> {
    let (condition, value) = match among {
        Among::One(id) => ("id = ?", Value::Text(id.to_string())),
        Among::UpdatedSince(at) => ("updated_at >= ?", Value::Integer(at.as_millisecond())),
    };
    connection.prepare_cached(&query(condition))?.query_map([value], backlog)?.collect()
}

fn query(condition: &str) -> String {
    format!(
        "WITH asked AS (SELECT row, id, ended_at, updated_at, max(kept_from, imported_to) AS sent_after, \
           max(kept_from, imported_to, consolidated) AS done_to, max(filled, imported_to) AS read_to \
           FROM sessions WHERE {condition}) \
         SELECT a.id, a.ended_at, \
           count(*) FILTER (WHERE t.role = 'user' AND t.position > a.done_to), \
           (SELECT l.at FROM turns l WHERE l.session = a.row AND l.position > a.done_to AND l.role <> 'summary' \
            ORDER BY l.position DESC LIMIT 1), \
           ifnull(sum(t.tokens) FILTER (WHERE t.role <> 'summary' AND t.position > a.sent_after), 0) \
             + ifnull((SELECT l.tokens FROM turns l WHERE l.session = a.row AND l.position > a.sent_after \
                       AND l.role = 'summary' ORDER BY l.position DESC LIMIT 1), 0), \
           count(*) FILTER (WHERE t.role = 'user' AND t.position > a.read_to), \
           max(t.position) > a.read_to \
         FROM asked a CROSS JOIN turns t ON t.session = a.row AND t.position > min(a.sent_after, a.read_to) \
         GROUP BY a.row ORDER BY a.updated_at DESC, a.row DESC"
    )
}

fn backlog(row: &Row<'_>) -> rusqlite::Result<Backlog> {
    Ok(Backlog {
        session: parsed(row, 0)?,
        ended_at: row.get::<_, Option<i64>>(1)?.map(time).transpose()?,
        unconsolidated: row.get(2)?,
        last_said_at: row.get::<_, Option<i64>>(3)?.map(time).transpose()?,
        tokens: row.get(4)?,
        unfilled: row.get(5)?,
        is_unread: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{self, Durability};

    #[test]
    fn no_text_is_read() {
        let home = tempfile::tempdir().unwrap();
        let mut connection =
            open::connect(&home.path().join("memory.db"), Durability::Process, open::Make::New).unwrap();
        open::migrate(&mut connection, &open::MIGRATIONS, None).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", query("updated_at >= 0"));
        let mut statement = connection.prepare(&sql).unwrap();
        let steps = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        for table in ["t", "l"] {
            let looks: Vec<&String> = steps.iter().filter(|step| step.contains(&format!("{table} USING"))).collect();
            assert!(
                !looks.is_empty() && looks.iter().all(|step| step.contains("COVERING INDEX turns_due")),
                "{steps:#?}"
            );
        }
    }
}
