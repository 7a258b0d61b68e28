//! The binary: parses, runs one verb, prints, and ends with a code that scripts can rely on.

use std::process::ExitCode;

/// A daemon has many threads that come and go: what was freed goes back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    throughline::cli::main()
}
