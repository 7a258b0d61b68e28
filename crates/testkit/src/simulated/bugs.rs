//! Bugs that are put into a port on purpose.

use std::sync::{Arc, Mutex, PoisonError};

use throughline_core::model::{Entry, Kind, Position, Turn};
use throughline_core::ports::{NewSession, Op, Store, StoreError};
use throughline_core::recall::Pool;

/// A wrong port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// Turns are acknowledged, and stored with the next call.
    AcknowledgeBeforeCommit,
    /// Some entries are stored and never indexed.
    MissingIndexUpdate,
    /// The pointer of a session moves to its end, not to where it was read.
    PointerPastTurn,
    /// What was erased leaves no trace, so that an older export brings it back.
    DroppedTombstone,
    /// A document is written over whatever is there.
    LostUpdate,
    /// What an assistant is given has the brackets of stored tags again.
    FenceNotEscaped,
}

/// What a wrong store has to remember: turns that it acknowledged and has not stored.
#[derive(Default)]
pub(super) struct Pending(Mutex<Option<(NewSession, Vec<Turn>)>>);

impl Pending {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(NewSession, Vec<Turn>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acknowledges turns that are stored later.
    pub(super) fn acknowledge(&self, session: &NewSession, turns: &[Turn]) -> usize {
        *self.lock() = Some((session.clone(), turns.to_vec()));
        turns.len()
    }

    /// Stores what was acknowledged.
    pub(super) fn catch_up(&self, store: &Arc<dyn Store>) -> Result<(), StoreError> {
        let pending = self.lock().take();
        pending.map_or(Ok(()), |(session, turns)| store.append_to(&session, &turns).map(drop))
    }
}

/// Whether an entry was left out of the index: about every fourth.
pub(super) fn is_unindexed(entry: &Entry) -> bool {
    let sum: u32 = entry.id.as_str().bytes().map(u32::from).sum();
    entry.kind == Kind::Entry && sum.is_multiple_of(4)
}

/// What a search finds without the entries that are not indexed.
pub(super) fn without_unindexed(store: &Arc<dyn Store>, mut pool: Pool) -> Result<Pool, StoreError> {
    let marks: Vec<_> = pool.candidates.iter().map(|candidate| candidate.mark).collect();
    for (candidate, found) in pool.candidates.iter_mut().zip(store.fetch(&marks)?) {
        candidate.is_admitted &= found.is_none_or(|found| !is_unindexed(&found.memory.entry));
    }
    Ok(pool)
}

/// The same operations, with every pointer at the end of its session.
pub(super) fn past_every_turn(store: &Arc<dyn Store>, ops: &[Op]) -> Result<Vec<Op>, StoreError> {
    let mut ops = ops.to_vec();
    for op in &mut ops {
        if let Op::Consolidated { session, to, .. } = op {
            let last = store.turns_after(session, Position::default())?.last().map(|(position, _)| *position);
            *to = last.unwrap_or(*to);
        }
    }
    Ok(ops)
}
