//! Room for as many reading threads at once as there are processors, and a few that wait for the disk.

use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// As many are let in on any machine: most processes have one or two threads, and need not ask how many processors there are.
const FEW: usize = 4;

static MANY: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(0, |many| many.get() + 2));

/// Whether there is room for one more than so many.
pub(crate) fn is_free(taken: usize) -> bool {
    taken < FEW || taken < *MANY
}

/// Room for so many threads at once; others wait.
#[derive(Default)]
pub(crate) struct Room {
    taken: Mutex<usize>,
    left: Condvar,
}

/// Held by a thread that is in.
pub(crate) struct Place<'r>(Option<&'r Room>);

impl Room {
    /// Waits for a place. A thread that waited for so long is let in without one.
    pub(crate) fn enter(&self, patience: Duration) -> Place<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.left.wait_timeout_while(taken, patience, |taken| !is_free(*taken));
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !is_free(*taken) {
            return Place(None);
        }
        *taken += 1;
        Place(Some(self))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(room) = self.0 {
            *room.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            room.left.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_waited_for_long_is_let_in_without_a_place() {
        let room = Room::default();
        let mut places = Vec::new();
        while is_free(places.len()) {
            places.push(room.enter(Duration::ZERO));
        }
        assert!(places.len() >= FEW && places.iter().all(|place| place.0.is_some()));
        assert!(room.enter(Duration::from_millis(1)).0.is_none());
        drop(places);
        assert!(room.enter(Duration::ZERO).0.is_some());
    }
}
