//! Turns that were found, with those that stand beside them.

use std::collections::BTreeMap;

use rusqlite::Connection;
use throughline_core::model::Role;
use throughline_core::recall::{Candidate, FoundBy, Pool};

use super::{Found, is_found};
use crate::rows;
use crate::words::{Lookup, Place};

/// So many turns before and after one that was found come with it.
const BESIDE: usize = 2;

/// What tools printed may stand between them: so many positions are looked at where it does.
const REACH: i64 = 6;

/// The turns of a conversation that were found, by their positions.
type OfSession = BTreeMap<i64, Candidate>;

/// Adds the turns of these rows to a pool, and what stands beside them.
pub(super) fn add_turns(
    connection: &Connection,
    lookup: &mut Lookup<'_>,
    rows: &[Found],
    pool: &mut Pool,
) -> rusqlite::Result<()> {
    let mut sessions: BTreeMap<i64, OfSession> = BTreeMap::new();
    let mut in_order: Vec<&Found> = rows.iter().collect();
    in_order.sort_unstable_by_key(|(row, _)| *row);
    for (row, found_by) in in_order {
        if let Some((candidate, Some(Place { session, position }))) = lookup.candidate(*row, *found_by)?
            && is_found(&candidate)
        {
            sessions.entry(session).or_default().insert(position, candidate);
        }
    }
    for (session, mut found) in sessions {
        let (near, is_whole) = places(connection, session, &found, BESIDE as i64)?;
        let places = if is_whole { near } else { places(connection, session, &found, REACH)?.0 };
        for stretch in places {
            add_stretch(lookup, &stretch, &mut found, pool)?;
        }
    }
    Ok(())
}

/// A turn of a stretch: its row and its position.
type InStretch = (i64, i64);

/// The stretches of a conversation around what was found, each the turns that were found or that a person or an assistant
/// said; and whether nothing else came between.
fn places(
    connection: &Connection,
    session: i64,
    found: &OfSession,
    reach: i64,
) -> rusqlite::Result<(Vec<Vec<InStretch>>, bool)> {
    let sql = "SELECT row, position, role FROM turns WHERE session = ? AND position BETWEEN ? AND ? ORDER BY position";
    let mut statement = connection.prepare_cached(sql)?;
    let (mut stretches, mut is_whole) = (Vec::new(), true);
    for (first, last) in bounds(found, reach) {
        let mut rows = statement.query([session, first, last])?;
        let mut stretch = Vec::new();
        while let Some(row) = rows.next()? {
            let position = row.get(1)?;
            let is_said = || rows::parsed(row, 2).map(|role| matches!(role, Role::User | Role::Assistant));
            if found.contains_key(&position) || is_said()? {
                stretch.push((row.get(0)?, position));
            } else {
                is_whole = false;
            }
        }
        stretches.push(stretch);
    }
    Ok((stretches, is_whole))
}

/// The first and the last position of each stretch to read: around every turn that was found, as few as possible.
fn bounds(found: &OfSession, reach: i64) -> Vec<(i64, i64)> {
    let mut bounds: Vec<(i64, i64)> = Vec::new();
    for position in found.keys() {
        match bounds.last_mut() {
            Some((_, last)) if position - reach <= *last + 1 => *last = position + reach,
            _ => bounds.push((position - reach, position + reach)),
        }
    }
    bounds
}

/// Adds those turns of a stretch that were found, or that stand beside one.
fn add_stretch(
    lookup: &mut Lookup<'_>,
    stretch: &[InStretch],
    found: &mut OfSession,
    pool: &mut Pool,
) -> rusqlite::Result<()> {
    let is_found: Vec<bool> = stretch.iter().map(|(_, position)| found.contains_key(position)).collect();
    let mut last = None;
    for (at, (row, position)) in stretch.iter().enumerate() {
        let around = at.saturating_sub(BESIDE)..(at + BESIDE + 1).min(stretch.len());
        if !is_found[around].contains(&true) {
            last = None;
            continue;
        }
        let beside = match found.remove(position) {
            Some(candidate) => Some(candidate),
            None => lookup.candidate(*row, FoundBy::Beside)?.map(|(candidate, _)| candidate),
        };
        let Some(candidate) = beside else { continue };
        pool.candidates.push(candidate);
        let here = pool.candidates.len() - 1;
        pool.beside.extend(last.map(|before| (before, here)));
        last = Some(here);
    }
    Ok(())
}
