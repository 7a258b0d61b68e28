//! Waits for a future on a thread that is no part of a runtime, or of another one: the ports are synchronous.
//!
//! The futures of a client only pass messages to the task that drives its connection, on the runtime of the store, so that
//! whoever waits needs no runtime of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

struct Waiter(Thread);

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Begins a future and does not wait for it: what it sends is sent. Gives its output where it has one at once.
pub(crate) fn begin<F: Future>(future: F) -> Option<F::Output> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Waits for the output; nothing where that takes longer than `patience`.
pub(crate) fn wait<F: Future>(future: F, patience: Duration) -> Option<F::Output> {
    let began = Instant::now();
    let waker = Waker::from(Arc::new(Waiter(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        let left = patience.checked_sub(began.elapsed()).filter(|left| !left.is_zero())?;
        std::thread::park_timeout(left);
    }
}
