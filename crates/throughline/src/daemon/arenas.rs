//! Begins the process anew with few arenas of glibc's allocator. Each thread that allocates gets one of up to eight arenas for each
//! processor, and memory that is freed stays in its arena: after a peak a daemon with many threads kept five times of what it used. glibc
//! takes a limit from the environment alone, when a process starts.

use std::io::Error;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::world::{program, variable};

const LIMIT: &str = "MALLOC_ARENA_MAX";

/// As many arenas as gave memory back in measurements (`benches/README.md`).
const ARENAS: &str = "2";

/// Returns where the limit is set already, or cannot be set.
pub(crate) fn limit() {
    if variable(LIMIT).is_some() {
        return;
    }
    // The arguments are the same, and so is the process.
    let restart = |program| Command::new(program).args(std::env::args_os().skip(1)).env(LIMIT, ARENAS).exec();
    let error: Error = program().map_or_else(|error| error, restart);
    tracing::debug!(%error, "the allocator keeps its own limits");
}
