//! Memories and turns that contain pieces of a query letter by letter.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use throughline_core::model::Kind;
use throughline_core::recall::{Filter, Retrieved};

use super::retrieve::{self, TURN_COLUMNS, TURN_WIDTH};
use super::with_limit;
use crate::filter;
use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS};

/// SQLite refuses patterns beyond 50,000 bytes; escaping may double one.
const LONGEST_NEEDLE: usize = 20_000;

/// What contains the most of the needles first.
pub(super) fn containing(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<Retrieved>> {
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

/// How many of the needles a text contains; `%` and `_` stand for themselves.
fn counting(columns: &[&str], needles: usize) -> String {
    let any = |n: usize| {
        let like = columns.iter().map(|column| format!("{column} LIKE ?{n} ESCAPE '\\'")).collect::<Vec<_>>();
        format!("ifnull({}, FALSE)", like.join(" OR "))
    };
    (1..=needles).map(any).collect::<Vec<_>>().join(" + ")
}

/// The pattern for a needle; one that SQLite could not take matches nothing.
fn like(needle: &str) -> Value {
    if needle.len() > LONGEST_NEEDLE || needle.contains('\0') {
        return Value::Null;
    }
    let escaped = needle.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    Value::Text(format!("%{escaped}%"))
}

fn entries_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, Retrieved)>> {
    let condition = filter::condition(filter);
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, {} AS found FROM entries e LEFT JOIN uses u ON u.id = e.id \
         WHERE found > 0 {} ORDER BY found DESC, e.updated_at DESC LIMIT ?",
        counting(&["ifnull(e.key, '')", "e.content"], needles.len()),
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = |row: &Row<'_>| Ok((row.get(rows::ENTRY_WIDTH + 2)?, retrieve::entry(row)?));
    let values = needles.iter().map(|needle| like(needle)).chain(with_limit(condition.values, limit));
    statement.query_map(params_from_iter(values), found)?.collect()
}

fn turns_by_letters(
    connection: &Connection,
    needles: &[String],
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, Retrieved)>> {
    let condition = filter::turn_condition(filter);
    let sql = format!(
        "SELECT {TURN_COLUMNS}, {} AS found FROM turns t JOIN sessions s ON s.row = t.session \
         LEFT JOIN uses u ON u.id = t.id WHERE found > 0 {} ORDER BY found DESC, t.row DESC LIMIT ?",
        counting(&["t.content"], needles.len()),
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = needles.iter().map(|needle| like(needle)).chain(with_limit(condition.values, limit));
    let found = |row: &Row<'_>| Ok((row.get(TURN_WIDTH)?, retrieve::turn(row)?));
    statement.query_map(params_from_iter(values), found)?.collect()
}
