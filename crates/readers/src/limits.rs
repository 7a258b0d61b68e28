//! What reading one file may take, and the limits that the child process sets on itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the child may take for one file, and what is taken in of what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The memory of the child, its program and stacks included, in bytes.
    pub memory: u64,
    /// Seconds of computing, where the system can count them.
    pub cpu_seconds: u64,
    /// How long it may take by the clock: on a busy machine, more than it computes.
    pub patience: Duration,
    /// The most bytes that it may answer.
    pub answer: usize,
    /// The most bytes that the files of an archive may unpack to.
    pub unpacked: u64,
}

impl Limits {
    /// One file of the vault.
    pub(crate) const DOCUMENT: Self =
        Self { memory: 1 << 30, cpu_seconds: 10, patience: Duration::from_secs(60), answer: MAX_MESSAGE, unpacked: 0 };

    /// An export that a command reads.
    pub const COMMAND: Self = Self {
        memory: 4 << 30,
        cpu_seconds: 600,
        patience: Duration::from_secs(1800),
        answer: 2 << 30,
        unpacked: 2 << 30,
    };

    /// An export that a daemon reads: beside everything else that it does, within what its service may take.
    pub const DAEMON: Self = Self {
        memory: 1 << 30,
        cpu_seconds: 120,
        patience: Duration::from_secs(360),
        answer: 256 << 20,
        unpacked: 256 << 20,
    };
}

/// The most text that a file of the vault gives: a small one can claim to hold gigabytes.
pub(crate) const MAX_TEXT: usize = 20 * 1024 * 1024;

/// The most bytes of one message: a text with its escapes.
pub(crate) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// Limits this process to reading: no files written, no core dumps. Where there are no such limits, those on time and
/// output remain.
pub(crate) fn limit_this_process() {
    #[cfg(unix)]
    {
        use rustix::process::Resource;
        for resource in [Resource::Fsize, Resource::Core] {
            limit(resource, 0);
        }
    }
    limit_memory(Limits::DOCUMENT.memory);
}

/// Limits what this process may take and compute from here on.
pub(crate) fn limit_to(limits: &Limits) {
    limit_memory(limits.memory);
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or_default();
        limit(rustix::process::Resource::Cpu, used + limits.cpu_seconds);
    }
}

#[cfg(unix)]
fn limit_memory(most: u64) {
    use rustix::process::Resource;
    for resource in [Resource::As, Resource::Data] {
        limit(resource, most);
    }
}

#[cfg(not(unix))]
fn limit_memory(_: u64) {}

/// Sets a soft limit, never above the hard one. A system that refuses has the others.
#[cfg(unix)]
fn limit(resource: rustix::process::Resource, most: u64) {
    use rustix::process::{Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    let _ = setrlimit(resource, Rlimit { current, maximum });
}
