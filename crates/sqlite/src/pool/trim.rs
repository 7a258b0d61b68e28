//! What a pool gives back when it was not used.

use rusqlite::Connection;

use super::{Pool, State, discard};

impl Pool {
    /// Closes connections that nobody used since the last call: each keeps pages. One stays open.
    pub(crate) fn trim(&self) {
        let unused: Vec<Connection> = match &mut *self.state() {
            State::Sound { idle, least, .. } => {
                // The one that was given back last is taken first, so that the first ones are those that were not used.
                let unused = idle.drain(..(*least).min(idle.len().saturating_sub(1))).collect();
                *least = idle.len();
                unused
            }
            State::Lost(_) | State::Reading => Vec::new(),
        };
        discard(unused);
    }
}
