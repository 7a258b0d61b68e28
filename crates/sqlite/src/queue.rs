//! A queue for the writing threads of one process.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Lets one thread in at a time; others wait as long as they want to.
#[derive(Default)]
pub(crate) struct Queue {
    is_taken: Mutex<bool>,
    left: Condvar,
}

/// Held while a thread is in; leaves when it is dropped.
pub(crate) struct Entered<'q>(&'q Queue);

impl Queue {
    /// Nothing where others were in for so long.
    pub(crate) fn enter(&self, patience: Duration) -> Option<Entered<'_>> {
        let is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.left.wait_timeout_while(is_taken, patience, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (!std::mem::replace(&mut *is_taken, true)).then(|| Entered(self))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_in_and_others_give_up_when_their_time_is_over() {
        let queue = Queue::default();
        let first = queue.enter(Duration::ZERO).unwrap();
        assert!(queue.enter(Duration::from_millis(1)).is_none());
        drop(first);
        assert!(queue.enter(Duration::ZERO).is_some());
    }
}
