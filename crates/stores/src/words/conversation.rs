//! Turns that were found, with those that stand beside them.

use std::collections::BTreeMap;

use throughline_core::model::Source;
use throughline_core::recall::{Candidate, FoundBy, Pool};
use throughline_index::IndexError;

use super::{Found, IndexedRows, Lookup, Place, is_found};

/// So many turns before and after one that was found come with it.
const BESIDE: i64 = 2;

/// What tools printed may stand between them: so many positions are looked at where it does.
const REACH: i64 = 6;

/// The turns of a conversation that were found, with their rows, by their positions.
type OfSession = BTreeMap<i64, (i64, Candidate)>;

/// Rows of turns that were found, by their positions.
type Rows = BTreeMap<i64, i64>;

/// A turn that was found, or that a person or an assistant said near one.
struct Near {
    row: i64,
    position: i64,
    /// Where it was looked up already.
    candidate: Option<Candidate>,
}

/// Turns one after the other, what tools printed aside.
type Stretch = Vec<Near>;

/// Adds the turns of these rows, which are in order, to a pool, and what stands beside them.
pub fn add_turns(
    table: &dyn IndexedRows,
    lookup: &mut Lookup<'_>,
    rows: &[Found],
    pool: &mut Pool,
) -> Result<(), IndexError> {
    let mut near: Vec<i64> = rows.iter().flat_map(|(row, _)| row - BESIDE..=row + BESIDE).collect();
    near.dedup();
    lookup.expect(&near)?;
    let mut sessions: BTreeMap<i64, OfSession> = BTreeMap::new();
    for (row, found_by) in rows {
        if let Some((candidate, Some(Place { session, position }))) = lookup.candidate(*row, *found_by)?
            && is_found(&candidate)
        {
            sessions.entry(session).or_default().insert(position, (*row, candidate));
        }
    }
    for (session, mut found) in sessions {
        for (first, last) in bounds(&found, REACH) {
            let near = found.range(first..=last).map(|(position, (row, _))| (*position, *row)).collect();
            let stretches = match beside_by_row(lookup, session, &near)? {
                Some(stretches) => stretches,
                None => vec![read_stretch(table, session, &near, (first, last))?],
            };
            for stretch in stretches {
                add_stretch(lookup, stretch, &mut found, pool)?;
            }
        }
    }
    Ok(())
}

/// The first and the last position of each stretch: so far around every turn that was found, as few as possible.
fn bounds<T>(found: &BTreeMap<i64, T>, reach: i64) -> Vec<(i64, i64)> {
    let mut bounds: Vec<(i64, i64)> = Vec::new();
    for position in found.keys() {
        match bounds.last_mut() {
            Some((_, last)) if position - reach <= *last + 1 => *last = position + reach,
            _ => bounds.push(((position - reach).max(1), position + reach)),
        }
    }
    bounds
}

/// The stretches where turns of a conversation have neighbouring rows, which the index tells by itself. None where another
/// conversation, the end of this one or what tools printed comes between.
fn beside_by_row(lookup: &mut Lookup<'_>, session: i64, found: &Rows) -> Result<Option<Vec<Stretch>>, IndexError> {
    let mut stretches = Vec::new();
    for (first, last) in bounds(found, BESIDE) {
        let mut stretch = Stretch::new();
        for position in first..=last {
            if let Some(row) = found.get(&position) {
                stretch.push(Near { row: *row, position, candidate: None });
                continue;
            }
            let known = found.range(first..=last).min_by_key(|(known, _)| (position - **known).abs());
            let Some((known, row)) = known else { return Ok(None) };
            let row = row + position - known;
            let Some((candidate, place)) = lookup.candidate(row, FoundBy::Beside)? else { return Ok(None) };
            if place != Some(Place { session, position }) || candidate.traits.source == Source::System {
                return Ok(None);
            }
            stretch.push(Near { row, position, candidate: Some(candidate) });
        }
        stretches.push(stretch);
    }
    Ok(Some(stretches))
}

/// A stretch as the table has it.
fn read_stretch(
    table: &dyn IndexedRows,
    session: i64,
    found: &Rows,
    bounds: (i64, i64),
) -> Result<Stretch, IndexError> {
    let turns = table.turns_between(session, bounds)?.into_iter();
    let near = turns.filter(|turn| turn.is_said || found.contains_key(&turn.position));
    Ok(near.map(|turn| Near { row: turn.number, position: turn.position, candidate: None }).collect())
}

/// Adds those turns of a stretch that were found, or that stand beside one.
fn add_stretch(
    lookup: &mut Lookup<'_>,
    stretch: Stretch,
    found: &mut OfSession,
    pool: &mut Pool,
) -> Result<(), IndexError> {
    let is_found: Vec<bool> = stretch.iter().map(|near| found.contains_key(&near.position)).collect();
    let mut last = None;
    for (at, near) in stretch.into_iter().enumerate() {
        let around = at.saturating_sub(BESIDE as usize)..(at + BESIDE as usize + 1).min(is_found.len());
        if !is_found[around].contains(&true) {
            last = None;
            continue;
        }
        let candidate = match found.remove(&near.position).map(|(_, candidate)| candidate).or(near.candidate) {
            Some(candidate) => Some(candidate),
            None => lookup.candidate(near.row, FoundBy::Beside)?.map(|(candidate, _)| candidate),
        };
        let Some(candidate) = candidate else { continue };
        pool.candidates.push(candidate);
        let here = pool.candidates.len() - 1;
        pool.beside.extend(last.map(|before| (before, here)));
        last = Some(here);
    }
    Ok(())
}
