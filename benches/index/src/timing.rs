//! CPU time of this thread: a busy machine does not change it much.

use rustix::time::{ClockId, clock_gettime};

#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// What something gives, and the milliseconds that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = now();
    let value = work();
    (value, now() - begun)
}

impl Times {
    pub(crate) fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (value, took) = timed(work);
        self.0.push(took);
        value
    }

    /// Leaves out the first ones.
    pub(crate) fn forget(&mut self, count: usize) {
        self.0.drain(..count.min(self.0.len()));
        self.0.sort_by(f64::total_cmp);
    }

    /// Milliseconds that this share of all took at most.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let place = ((self.0.len() as f64 * share).ceil() as usize).clamp(1, self.0.len().max(1)) - 1;
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}
