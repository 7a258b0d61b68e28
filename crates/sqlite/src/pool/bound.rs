//! The write-ahead log is bounded, also while somebody reads an old state and keeps it from beginning anew. Beyond a first
//! length nothing is noted any more: recalls, what a conversation was given, upkeep of the word index. Beyond a second one nothing
//! is written but what removes something.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::sync::atomic::Ordering;

use rusqlite::Connection;
use throughline_core::ports::StoreError;

use super::write::Failed;
use super::{Effort, Pool};
use crate::hindrance;
use crate::watch::Known;

/// How long a log may become beside somebody who reads an old state, in bytes. It may be longer by one transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// From here on nothing is noted.
    pub(crate) noting: u64,
    /// From here on nothing is stored.
    pub(crate) storing: u64,
}

impl Bounds {
    pub(crate) const USUAL: Self = Self { noting: 256 << 20, storing: 512 << 20 };

    fn of(self, effort: Effort) -> u64 {
        match effort {
            Effort::Confirmed | Effort::Brief => self.storing,
            Effort::Log(_) => self.noting,
        }
    }
}

thread_local! {
    /// How many acts of this thread remove something: one may be part of another.
    static REMOVING: Cell<u32> = const { Cell::new(0) };
}

/// This thread begins to remove something, or is done with that.
pub(crate) fn removing(begins: bool) {
    let acts = REMOVING.get();
    REMOVING.set(if begins { acts + 1 } else { acts.saturating_sub(1) });
}

fn removes() -> bool {
    REMOVING.get() > 0
}

/// How often is looked whether everything in a log could be copied: those who read for a moment are done by then.
const LOOKS: u32 = 20;

impl Pool {
    /// Refuses what a log of so many frames has no room for.
    pub(super) fn check_log(
        &self,
        (known, connection): (&Known, &Connection),
        frames: u64,
        effort: Effort,
    ) -> Result<(), Failed> {
        let length = known.log_length(frames);
        if removes() || length < self.bounds.of(effort) {
            return Ok(());
        }
        let looks = if matches!(effort, Effort::Log(_)) { 1 } else { LOOKS };
        if self.watch.is_log_done(known, connection, looks).map_err(Failed::Before)? {
            self.refused_at.store(0, Ordering::Relaxed);
            return Ok(());
        }
        if length >= self.bounds.storing {
            self.refused_at.store(length, Ordering::Relaxed);
        }
        Err(Failed::Store(self.log_is_held(length)))
    }

    /// Why nothing may join a transaction, where that is so: whoever began it removes something.
    pub(super) fn refusal(&self) -> Option<StoreError> {
        let length = self.refused_at.load(Ordering::Relaxed);
        (length > 0 && !removes()).then(|| self.log_is_held(length))
    }

    fn log_is_held(&self, length: u64) -> StoreError {
        StoreError::LogHeld { megabytes: length >> 20, reader: hindrance::readers(self.files()) }
    }
}
