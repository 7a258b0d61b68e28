//! What sessions have that was not processed yet, counted in an index of turns.

use throughline_core::ports::Among;
use throughline_core::sessions::Backlog;

use crate::connection::Connection;
use crate::error::Sql;
use crate::values::{Row, values};

/// Every session that may have something to do, the latest first. [`Backlog::of`] is the meaning of the numbers.
pub(crate) fn read(connection: &Connection, among: &Among) -> Sql<Vec<Backlog>> {
    match among {
        Among::One(id) => connection.all(&query("id = $2"), &values![id.as_str()], backlog),
        Among::UpdatedSince(at) => connection.all(&query("updated_at >= $2"), &values![*at], backlog),
    }
}

fn query(asked: &str) -> String {
    format!(
        "WITH asked AS (SELECT number, id, ended_at, updated_at, greatest(imported_to, consolidated) AS done_to \
           FROM sessions WHERE space = $1 AND {asked} AND last_position > consolidated AND last_position > imported_to) \
         SELECT a.id, a.ended_at, count(*) FILTER (WHERE t.role = 'user'), \
           (SELECT l.at FROM turns l WHERE l.space = $1 AND l.session = a.number AND l.position > a.done_to \
              AND l.role <> 'summary' ORDER BY l.position DESC LIMIT 1), \
           sum(t.tokens)::bigint \
         FROM asked a JOIN turns t ON t.space = $1 AND t.session = a.number AND t.position > a.done_to AND t.role <> 'summary' \
         GROUP BY a.number, a.id, a.ended_at, a.updated_at, a.done_to ORDER BY a.updated_at DESC, a.number DESC"
    )
}

fn backlog(row: &Row) -> Sql<Backlog> {
    Ok(Backlog {
        session: row.parsed(0)?,
        ended_at: row.maybe_time(1)?,
        unconsolidated: row.number(2)?,
        last_said_at: row.time(3)?,
        tokens: row.number(4)?,
    })
}
