//! What reading one file may take, and the limits that the child process sets on itself.

use std::time::Duration;

/// Seconds of computing for one file, where the system can count them.
pub(crate) const CPU_SECONDS: u64 = 10;

/// How long one file may take by the clock: on a busy machine, more than it computes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The memory of the child, its program and stacks included.
#[cfg(unix)]
const MEMORY: u64 = 1 << 30;

/// The most text that a file gives: a small one can claim to hold gigabytes.
pub(crate) const MAX_TEXT: usize = 20 * 1024 * 1024;

/// The most bytes of an answer: a text with its escapes.
pub(crate) const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Limits this process to reading: its memory, no files written, no core dumps. Where there are no such limits, those on
/// time and output remain.
pub(crate) fn limit_this_process() {
    #[cfg(unix)]
    {
        use rustix::process::Resource;
        for (resource, most) in
            [(Resource::As, MEMORY), (Resource::Data, MEMORY), (Resource::Fsize, 0), (Resource::Core, 0)]
        {
            limit(resource, most);
        }
    }
}

/// Limits how long this process may compute from here on.
pub(crate) fn limit_computing() {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or_default();
        limit(rustix::process::Resource::Cpu, used + CPU_SECONDS);
    }
}

/// Sets a soft limit, never above the hard one. A system that refuses has the others.
#[cfg(unix)]
fn limit(resource: rustix::process::Resource, most: u64) {
    use rustix::process::{Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    let _ = setrlimit(resource, Rlimit { current, maximum });
}
