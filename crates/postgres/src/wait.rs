//! Waits for a future on a thread that is no part of a runtime, or of another one: the ports are synchronous.
//!
//! The futures of a client only pass messages to the task that drives its connection, on the runtime of the store, so that
//! whoever waits needs no runtime of its own.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
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

/// The outputs of two futures; what they send is sent in this order, and neither waits for the other.
pub(crate) async fn both<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut outputs = (None, None);
    poll_fn(move |context| {
        let is_ready = [poll(first.as_mut(), &mut outputs.0, context), poll(second.as_mut(), &mut outputs.1, context)];
        match (is_ready, &mut outputs) {
            ([true, true], (first, second)) => first.take().zip(second.take()).map_or(Poll::Pending, Poll::Ready),
            _ => Poll::Pending,
        }
    })
    .await
}

/// The outputs of all of them, in order; what they send is sent in this order, and none waits for another.
pub(crate) async fn all<F: Future + ?Sized>(mut futures: Vec<Pin<Box<F>>>) -> Vec<F::Output>
where
    F::Output: Sized,
{
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_ready = true;
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            is_ready &= poll(future.as_mut(), output, context);
        }
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Whether a future has its output, which is kept.
fn poll<F: Future + ?Sized>(future: Pin<&mut F>, output: &mut Option<F::Output>, context: &mut Context<'_>) -> bool
where
    F::Output: Sized,
{
    if output.is_none()
        && let Poll::Ready(ready) = future.poll(context)
    {
        *output = Some(ready);
    }
    output.is_some()
}
