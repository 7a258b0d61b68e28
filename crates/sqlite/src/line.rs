//! The line of the writing threads of one process: one is in at a time, and may hand what it holds to the next.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lets one thread in at a time, in the order in which they came; others wait as long as they want to.
pub(crate) struct Line<B> {
    state: Mutex<State<B>>,
}

struct State<B> {
    is_taken: bool,
    waiting: VecDeque<Arc<Waiter<B>>>,
}

/// A thread that waits.
struct Waiter<B> {
    /// Whether it takes what another thread hands on.
    is_sharing: bool,
    call: Mutex<Option<Call<B>>>,
    called: Condvar,
}

/// What a waiting thread is let in with.
enum Call<B> {
    Alone,
    With(B),
}

/// Held while a thread is in; leaves when it is dropped.
pub(crate) struct Entered<'l, B> {
    line: &'l Line<B>,
    is_in: bool,
}

impl<B> Default for Line<B> {
    fn default() -> Self {
        Self { state: Mutex::new(State { is_taken: false, waiting: VecDeque::new() }) }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B> Line<B> {
    /// Lets this thread in, with what the one before handed on, where it is sharing; nothing where others were in for so
    /// long.
    pub(crate) fn enter(&self, is_sharing: bool, patience: Duration) -> Option<(Entered<'_, B>, Option<B>)> {
        let waiter = {
            let mut state = locked(&self.state);
            if !std::mem::replace(&mut state.is_taken, true) {
                return Some((self.entered(), None));
            }
            let waiter = Arc::new(Waiter { is_sharing, call: Mutex::new(None), called: Condvar::new() });
            state.waiting.push_back(Arc::clone(&waiter));
            waiter
        };
        match waiter.wait(patience).or_else(|| self.give_up(&waiter))? {
            Call::Alone => Some((self.entered(), None)),
            Call::With(held) => Some((self.entered(), Some(held))),
        }
    }

    /// How many wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        locked(&self.state).waiting.len()
    }

    fn entered(&self) -> Entered<'_, B> {
        Entered { line: self, is_in: true }
    }

    /// Takes a thread out of the line, unless it was called in the last moment.
    fn give_up(&self, waiter: &Arc<Waiter<B>>) -> Option<Call<B>> {
        let mut state = locked(&self.state);
        state.waiting.retain(|other| !Arc::ptr_eq(other, waiter));
        locked(&waiter.call).take()
    }
}

impl<B> Waiter<B> {
    fn wait(&self, patience: Duration) -> Option<Call<B>> {
        let waited = self.called.wait_timeout_while(locked(&self.call), patience, |call| call.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    fn call(&self, call: Call<B>) {
        *locked(&self.call) = Some(call);
        self.called.notify_one();
    }
}

impl<B> Entered<'_, B> {
    /// Lets the next thread in with what this one holds. Gives it back where nobody waits, or the next shares nothing.
    pub(crate) fn hand_on(mut self, held: B) -> Result<(), (Self, B)> {
        let mut state = locked(&self.line.state);
        match state.waiting.pop_front_if(|next| next.is_sharing) {
            Some(next) => {
                next.call(Call::With(held));
                drop(state);
                self.is_in = false;
                Ok(())
            }
            None => {
                drop(state);
                Err((self, held))
            }
        }
    }
}

impl<B> Drop for Entered<'_, B> {
    fn drop(&mut self) {
        if self.is_in {
            let mut state = locked(&self.line.state);
            match state.waiting.pop_front() {
                Some(next) => next.call(Call::Alone),
                None => state.is_taken = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_in_and_others_give_up_when_their_time_is_over() {
        let line = Line::<()>::default();
        let first = line.enter(true, Duration::ZERO).unwrap();
        assert!(line.enter(true, Duration::from_millis(1)).is_none());
        drop(first);
        assert!(line.enter(true, Duration::ZERO).is_some());
    }

    #[test]
    fn what_is_held_goes_from_thread_to_thread_in_their_order() {
        let line = Line::<Vec<u32>>::default();
        let (first, held) = line.enter(true, Duration::ZERO).unwrap();
        assert_eq!(held, None);
        std::thread::scope(|scope| {
            for number in 1..=3 {
                let line = &line;
                scope.spawn(move || {
                    let (entered, held) = line.enter(true, Duration::MAX).unwrap();
                    let mut held = held.unwrap();
                    held.push(number);
                    if let Err((_, held)) = entered.hand_on(held) {
                        assert_eq!(held, [0, 1, 2, 3]);
                    }
                });
                while line.waiting() < number as usize {
                    std::thread::yield_now();
                }
            }
            assert!(first.hand_on(vec![0]).is_ok());
        });
        assert!(line.enter(false, Duration::ZERO).is_some(), "the last one left");
    }

    #[test]
    fn one_that_shares_nothing_is_let_in_alone() {
        let line = Line::<u32>::default();
        let (first, _) = line.enter(true, Duration::ZERO).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| line.enter(false, Duration::MAX).unwrap().1);
            while line.waiting() == 0 {
                std::thread::yield_now();
            }
            let Err((first, held)) = first.hand_on(7) else { panic!("nobody shares it") };
            assert_eq!(held, 7);
            drop(first);
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
