//! Turns that were found, with those that stand beside them.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, Row};
use throughline_core::model::{Entry, EntryId, Memory, Role};
use throughline_core::recall::{Candidate, FoundBy, Pool};

use super::Found;
use crate::rows;
use crate::words::turn_entry;

pub(super) const TURN_COLUMNS: &str =
    "t.id, s.id, t.role, t.speaker, t.at, t.content, s.project, ifnull(u.count, 0), u.last_at, t.terms";

/// How many columns [`turn`] reads.
pub(super) const TURN_WIDTH: usize = 10;

/// So many turns before and after one that was found come with it.
const BESIDE: usize = 2;

/// What tools printed may stand between them: so many positions are looked at.
const REACH: i64 = 6;

/// Adds the turns of these rows to a pool, and what stands beside them.
pub(super) fn add_turns(connection: &Connection, found: &[Found], pool: &mut Pool) -> rusqlite::Result<()> {
    let mut place = connection.prepare_cached("SELECT session, position FROM turns WHERE row = ?")?;
    let mut sessions: BTreeMap<i64, HashMap<i64, FoundBy>> = BTreeMap::new();
    for (row, found_by) in found {
        let (session, position) = place.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        sessions.entry(session).or_default().insert(position, *found_by);
    }
    for (session, found) in sessions {
        for (first, last) in stretches(&found) {
            add_stretch(connection, session, (first, last), &found, pool)?;
        }
    }
    Ok(())
}

/// The stretches of a conversation to read: around every turn that was found, as few as possible.
fn stretches(found: &HashMap<i64, FoundBy>) -> Vec<(i64, i64)> {
    let mut positions: Vec<i64> = found.keys().copied().collect();
    positions.sort_unstable();
    let mut stretches: Vec<(i64, i64)> = Vec::new();
    for position in positions {
        match stretches.last_mut() {
            Some((_, last)) if position - REACH <= *last + 1 => *last = position + REACH,
            _ => stretches.push((position - REACH, position + REACH)),
        }
    }
    stretches
}

/// Adds those turns of a stretch that were found, or that stand beside one. Only they are read whole: what tools printed
/// can be long.
fn add_stretch(
    connection: &Connection,
    session: i64,
    (first, last): (i64, i64),
    found: &HashMap<i64, FoundBy>,
    pool: &mut Pool,
) -> rusqlite::Result<()> {
    let places = places(connection, session, (first, last), found)?;
    let sql = format!(
        "SELECT {TURN_COLUMNS} FROM turns t JOIN sessions s ON s.row = t.session \
         LEFT JOIN uses u ON u.id = t.id WHERE t.row = ?"
    );
    let mut whole = connection.prepare_cached(&sql)?;
    let mut last = None;
    for (at, (row, found_by)) in places.iter().enumerate() {
        let around = at.saturating_sub(BESIDE)..(at + BESIDE + 1).min(places.len());
        if places[around].iter().all(|(_, found_by)| found_by.is_none()) {
            last = None;
            continue;
        }
        pool.candidates.push(whole.query_row([row], |row| turn(row, found_by.unwrap_or(FoundBy::Beside)))?);
        let here = pool.candidates.len() - 1;
        pool.beside.extend(last.map(|before| (before, here)));
        last = Some(here);
    }
    Ok(())
}

/// The rows of a stretch that were found, or that a person or an assistant said, in order.
fn places(
    connection: &Connection,
    session: i64,
    (first, last): (i64, i64),
    found: &HashMap<i64, FoundBy>,
) -> rusqlite::Result<Vec<(i64, Option<FoundBy>)>> {
    let sql = "SELECT row, position, role FROM turns WHERE session = ? AND position BETWEEN ? AND ? ORDER BY position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([session, first, last])?;
    let mut places = Vec::new();
    while let Some(row) = rows.next()? {
        let found_by = found.get(&row.get(1)?).copied();
        if found_by.is_some() || matches!(rows::parsed(row, 2)?, Role::User | Role::Assistant) {
            places.push((row.get(0)?, found_by));
        }
    }
    Ok(places)
}

/// A turn in the shape of a memory.
pub(super) fn turn(row: &Row<'_>, found_by: FoundBy) -> rusqlite::Result<Candidate> {
    let at = rows::time(row.get(4)?)?;
    let entry = Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        content: row.get(5)?,
        created_at: at,
        updated_at: at,
        ..turn_entry(rows::parsed(row, 2)?, rows::parsed(row, 1)?, row.get(6)?)
    };
    let last_at = row.get::<_, Option<i64>>(8)?.map(rows::time).transpose()?;
    let memory = Memory::new(entry, row.get(7)?, last_at);
    Ok(Candidate { memory, speaker: row.get(3)?, terms: row.get(9)?, found_by, meaning: None })
}
