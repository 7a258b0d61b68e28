//! Tombstones: documents of segments that were replaced or removed.

use std::collections::BTreeSet;

use crate::error::IndexError;
use crate::segment::{Page, Segment, put_tombstones};
use crate::store::{Part, SegmentId, SegmentReader, SegmentStore};

/// Buries documents in every segment but `except`. Idempotent. Gives how many segments changed.
pub fn bury(store: &mut dyn SegmentStore, numbers: &[i64], except: Option<SegmentId>) -> Result<usize, IndexError> {
    let segments = store.list()?;
    let mut changed = 0;
    for id in segments.into_iter().filter(|id| Some(*id) != except) {
        changed += usize::from(bury_in(store, id, numbers)?);
    }
    Ok(changed)
}

/// Buries documents in one segment; says whether it had one of them that was not buried.
pub(crate) fn bury_in(store: &mut dyn SegmentStore, id: SegmentId, numbers: &[i64]) -> Result<bool, IndexError> {
    let segment = Segment::open(store, id)?;
    let found = ordinals(&segment, numbers)?;
    if found.is_empty() {
        return Ok(false);
    }
    let before = segment.tombstones()?;
    let all: BTreeSet<u32> = before.iter().copied().chain(found).collect();
    if all.len() == before.len() {
        return Ok(false);
    }
    let all: Vec<u32> = all.into_iter().collect();
    store.put(id, Part::TOMBSTONES, &put_tombstones(&all))?;
    Ok(true)
}

/// The places of these documents in a segment, buried or not.
fn ordinals(segment: &Segment<'_>, numbers: &[i64]) -> Result<Vec<u32>, IndexError> {
    let mut found = Vec::new();
    let mut open: Option<(u32, Page)> = None;
    for number in numbers {
        let Some(nth) = segment.page_of(*number)? else { continue };
        let page = match open.take() {
            Some((at, page)) if at == nth => page,
            _ => segment.page(nth)?,
        };
        found.extend(page.find(*number).map_err(segment.corrupt())?.map(|at| segment.ordinal(nth, at)));
        open = Some((nth, page));
    }
    Ok(found)
}

/// Whether a segment has one of these documents, buried or not: its words are still in there.
pub fn contains_any(store: &dyn SegmentReader, id: SegmentId, numbers: &[i64]) -> Result<bool, IndexError> {
    Ok(!ordinals(&Segment::open(store, id)?, numbers)?.is_empty())
}
