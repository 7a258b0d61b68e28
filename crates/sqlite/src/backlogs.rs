//! What sessions have that was not processed yet, counted in an index of turns.

use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use throughline_core::ports::Among;
use throughline_core::sessions::Backlog;

use crate::rows::{parsed, time};

/// Every session that may have something to do, the latest first. [`Backlog::of`] is the meaning of the numbers.
pub(crate) fn read(connection: &Connection, among: &Among) -> rusqlite::Result<Vec<Backlog>> {
    let (asked, value) = match among {
        Among::One(id) => ("sessions WHERE id = ?", Value::Text(id.to_string())),
        Among::UpdatedSince(at) => (UPDATED_SINCE, Value::Integer(at.as_millisecond())),
    };
    connection.prepare_cached(&query(asked))?.query_map([value], backlog)?.collect()
}

/// Without its name, the planner takes the index of all sessions, which are many more than wait.
const UPDATED_SINCE: &str = "sessions INDEXED BY sessions_waiting WHERE updated_at >= ?";

fn query(asked: &str) -> String {
    format!(
        "WITH asked AS (SELECT row, id, ended_at, updated_at, max(imported_to, consolidated) AS done_to \
           FROM {asked} AND last_position > consolidated AND last_position > imported_to) \
         SELECT a.id, a.ended_at, count(*) FILTER (WHERE t.role = 'user'), \
           (SELECT l.at FROM turns l WHERE l.session = a.row AND l.position > a.done_to AND l.role <> 'summary' \
            ORDER BY l.position DESC LIMIT 1), \
           sum(t.tokens) \
         FROM asked a CROSS JOIN turns t ON t.session = a.row AND t.position > a.done_to AND t.role <> 'summary' \
         GROUP BY a.row ORDER BY a.updated_at DESC, a.row DESC"
    )
}

fn backlog(row: &Row<'_>) -> rusqlite::Result<Backlog> {
    Ok(Backlog {
        session: parsed(row, 0)?,
        ended_at: row.get::<_, Option<i64>>(1)?.map(time).transpose()?,
        unconsolidated: row.get(2)?,
        last_said_at: time(row.get(3)?)?,
        tokens: row.get(4)?,
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
        let sql = format!("EXPLAIN QUERY PLAN {}", query(&UPDATED_SINCE.replace('?', "0")));
        let mut statement = connection.prepare(&sql).unwrap();
        let steps = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(steps.iter().any(|step| step.contains("sessions USING INDEX sessions_waiting")), "{steps:#?}");
        for table in ["t", "l"] {
            let looks: Vec<&String> = steps.iter().filter(|step| step.contains(&format!("{table} USING"))).collect();
            assert!(
                !looks.is_empty() && looks.iter().all(|step| step.contains("COVERING INDEX turns_due")),
                "{steps:#?}"
            );
        }
    }
}
