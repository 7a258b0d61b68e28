//! Messages of one conversation are answered one after the other: a message that is sent twice at once must find the reply to
//! the first.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};

use throughline_core::model::SessionId;

/// The conversations in which a message is being answered.
#[derive(Default)]
pub(crate) struct InTurn {
    busy: Mutex<HashSet<SessionId>>,
    changed: Condvar,
}

/// Ends the turn when it is dropped.
pub(crate) struct TurnGuard<'t> {
    in_turn: &'t InTurn,
    session: SessionId,
}

impl InTurn {
    /// Waits until no other message of this conversation is being answered.
    pub(crate) fn enter(&self, session: &SessionId) -> TurnGuard<'_> {
        let busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(busy, |busy| busy.contains(session));
        waited.unwrap_or_else(PoisonError::into_inner).insert(session.clone());
        TurnGuard { in_turn: self, session: session.clone() }
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.in_turn.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
        self.in_turn.changed.notify_all();
    }
}
