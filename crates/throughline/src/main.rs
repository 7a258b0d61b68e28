//! The binary: parses, runs one verb, prints, and ends with a code that scripts can rely on.

use std::process::ExitCode;

fn main() -> ExitCode {
    throughline::cli::main()
}
