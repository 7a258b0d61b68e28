//! The thread that keeps the index in shape; begun when there is something to do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use throughline_core::ports::StoreError;

use super::upkeep::{self, OVERTAKEN, Step};
use crate::pool::Pool;

/// How long a process that ends waits for the current step: a merge may take a third of a second. What a step computed is lost
/// with the process, and nothing else.
const LAST: Duration = Duration::from_millis(10);

/// Does upkeep in the background.
pub(crate) struct Worker {
    pool: Arc<Pool>,
    shared: Arc<Shared>,
    /// How the thread is told, and what ends with it.
    thread: Mutex<Option<(SyncSender<()>, Receiver<()>)>>,
}

#[derive(Default)]
struct Shared {
    /// Held during a step.
    working: Mutex<()>,
    /// Whether the thread was told that there may be something to do, and has not come to the end of it.
    is_busy: AtomicBool,
    is_ending: AtomicBool,
}

impl Worker {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, shared: Arc::default(), thread: Mutex::new(None) }
    }

    /// Has the thread look for something to do. Does not wait.
    pub(crate) fn nudge(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, _) = thread.get_or_insert_with(|| {
            // One signal waits at most: it stands for all that come while a step runs.
            let (sender, receiver) = sync_channel(1);
            let (alive, ended) = sync_channel(0);
            let (pool, shared) = (Arc::clone(&self.pool), Arc::clone(&self.shared));
            std::thread::spawn(move || {
                work(&pool, &shared, &receiver);
                drop((pool, alive));
            });
            (sender, ended)
        });
        self.shared.is_busy.store(true, Ordering::Relaxed);
        let _ = sender.try_send(());
    }

    /// Whether there is something left of what the thread was told to do.
    pub(crate) fn is_busy(&self) -> bool {
        self.shared.is_busy.load(Ordering::Relaxed)
    }

    /// Waits for the current step, and lets none begin until the guard is dropped.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.shared.working.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::Relaxed);
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, ended)) = thread {
            drop(sender);
            let _ = ended.recv_timeout(LAST);
        }
    }
}

fn work(pool: &Pool, shared: &Shared, receiver: &Receiver<()>) {
    while receiver.recv().is_ok() {
        // Whoever comes from here on says so again.
        shared.is_busy.store(true, Ordering::Relaxed);
        let mut overtaken = 0;
        while overtaken < OVERTAKEN && !shared.is_ending.load(Ordering::Relaxed) {
            let _working = shared.working.lock().unwrap_or_else(PoisonError::into_inner);
            match upkeep::step(pool) {
                Ok(Step::Nothing) => {
                    shared.is_busy.store(false, Ordering::Relaxed);
                    break;
                }
                Ok(Step::Done) => overtaken = 0,
                Ok(Step::Overtaken) => overtaken += 1,
                // The next write comes back to it.
                Err(StoreError::Busy) => break,
                Err(error) => {
                    tracing::warn!(%error, "the word index is not kept in shape for now");
                    break;
                }
            }
        }
    }
}
