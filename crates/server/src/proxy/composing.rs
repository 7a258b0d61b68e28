//! Threads on which memory computes what it adds to requests. They have a lower priority than those that pass replies on: a piece of
//! a reply that comes in does not wait until a search ends.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, available_parallelism};

use tokio::sync::{Semaphore, oneshot};

type Job = Box<dyn FnOnce() + Send>;

/// One thread for each processor: more at once would all end later. Who finds no place waits without a thread.
#[derive(Clone)]
pub(super) struct Composing {
    places: Arc<Semaphore>,
    jobs: Sender<Job>,
}

impl Default for Composing {
    fn default() -> Self {
        let (jobs, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let wanted = available_parallelism().map_or(1, NonZero::get);
        let start = |_: &usize| {
            let waiting = Arc::clone(&waiting);
            let begun = Builder::new().name("composing".to_owned()).spawn(move || work_off(&waiting));
            begun.inspect_err(|error| tracing::warn!(%error, "a thread for memory cannot be started")).is_ok()
        };
        let started = (0..wanted).filter(start).count();
        Self { places: Arc::new(Semaphore::new(started)), jobs }
    }
}

impl Composing {
    /// Does this when there is a place; nothing where it ended in the middle. Who no longer waits for a place takes none; work
    /// that has begun keeps its place until it ends.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let (say, hear) = oneshot::channel();
        let job = move || {
            let _place = place;
            // Whoever no longer listens went on without.
            let _ = say.send(work());
        };
        self.jobs.send(Box::new(job)).ok()?;
        hear.await.ok()
    }
}

/// Does one job after the other until nobody can bring any more.
fn work_off(jobs: &Mutex<Receiver<Job>>) {
    lower_priority();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // The panic itself was reported; the thread is needed for others.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// Only Linux has a nice value for each thread; elsewhere it would be that of the whole process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(LOWER) {
        tracing::debug!(%error, "the priority stays as it is");
    }
}

/// Enough to be preempted at once, and not so much that a busy machine starves it.
#[cfg(target_os = "linux")]
const LOWER: i32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_that_ends_in_the_middle_takes_no_thread_with_it() {
        let composing = Composing::default();
        for _ in 0..3 * available_parallelism().map_or(1, NonZero::get) {
            let failed: Option<()> = composing.run(|| std::panic::resume_unwind(Box::new("in the middle"))).await;
            assert_eq!(failed, None);
        }
        assert_eq!(composing.run(|| 7).await, Some(7));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn memory_computes_at_a_lower_priority_than_replies_pass() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let here = own();
        let there = Composing::default().run(own).await;
        assert_eq!((there, own()), (Some((here + LOWER).min(19)), here));
    }
}
