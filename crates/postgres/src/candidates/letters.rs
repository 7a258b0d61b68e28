//! Memories and turns that contain pieces of a query letter by letter.

use throughline_core::model::Kind;
use throughline_core::recall::{Filter, Retrieved};

use super::retrieve::{self, TURN_COLUMNS, TURN_WIDTH};
use crate::connection::Connection;
use crate::error::Sql;
use crate::filter::{self, Condition};
use crate::rows::{ENTRY_COLUMNS, ENTRY_WIDTH, JOIN_USES, USE_COLUMNS};

/// What contains the most of the needles first.
pub(super) fn containing(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> Sql<Vec<Retrieved>> {
    let mut found = Vec::new();
    if filter.wants(Kind::Entry) || filter.wants(Kind::Bullet) {
        found = entries_by_letters(connection, needles, filter, limit)?;
    }
    if filter.wants(Kind::Turn) {
        found.extend(turns_by_letters(connection, needles, filter, limit)?);
        found.sort_by_key(|(needles, _)| std::cmp::Reverse(*needles));
        found.truncate(limit);
    }
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// How many of the needles a text contains. Under the collation of the columns, `lower` changes ASCII letters alone.
fn counting(condition: &mut Condition, columns: &[&str], needles: &[String]) -> String {
    let mut any = |needle: &String| {
        let place = condition.place(needle.to_ascii_lowercase());
        let contains = columns.iter().map(|column| format!("strpos(lower({column}), {place}) > 0"));
        format!("CASE WHEN {} THEN 1::bigint ELSE 0 END", contains.collect::<Vec<_>>().join(" OR "))
    };
    let counted: Vec<String> = needles.iter().map(&mut any).collect();
    counted.join(" + ")
}

fn entries_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> Sql<Vec<(i64, Retrieved)>> {
    let mut condition = filter::condition(filter, 2);
    let count = counting(&mut condition, &["coalesce(e.key, '')", "e.content"], needles);
    let limited = condition.place(limit);
    let sql = format!(
        "SELECT * FROM (SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, {count} AS found FROM entries e {JOIN_USES} \
           WHERE e.space = $1 {}) f \
         WHERE found > 0 ORDER BY found DESC, updated_at DESC LIMIT {limited}",
        condition.sql
    );
    connection.all(&sql, &condition.values, |row| Ok((row.int(ENTRY_WIDTH + 2)?, retrieve::entry(row)?)))
}

fn turns_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> Sql<Vec<(i64, Retrieved)>> {
    let mut condition = filter::turn_condition(filter, 2);
    let count = counting(&mut condition, &["t.content"], needles);
    let limited = condition.place(limit);
    let sql = format!(
        "SELECT * FROM (SELECT {TURN_COLUMNS}, {count} AS found, t.number FROM turns t \
           JOIN sessions s ON s.space = $1 AND s.number = t.session LEFT JOIN uses u ON u.space = $1 AND u.id = t.id \
           WHERE t.space = $1 {}) f \
         WHERE found > 0 ORDER BY found DESC, number DESC LIMIT {limited}",
        condition.sql
    );
    connection.all(&sql, &condition.values, |row| Ok((row.int(TURN_WIDTH)?, retrieve::turn(row)?)))
}
