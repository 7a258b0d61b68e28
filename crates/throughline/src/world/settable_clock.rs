//! A clock for what happened earlier: `demo` tells a month with it.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use throughline_core::ports::Clock;

use super::WorldClock;

/// A clock that can be set to times that are past, and let go: then it is the world's again.
#[derive(Debug)]
pub struct SettableClock {
    world: WorldClock,
    set: Mutex<Option<Timestamp>>,
}

impl SettableClock {
    /// One that nobody has set yet.
    pub fn new(world: WorldClock) -> Self {
        Self { world, set: Mutex::new(None) }
    }

    /// Stands at this time until it is set again.
    pub fn set(&self, at: Timestamp) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// Goes on as the world's clock.
    pub fn let_go(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        let set = *self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.unwrap_or_else(|| self.world.now())
    }
}
