//! The tier that runs with every test: small figures, the same checks. `scripts/machines` runs the large ones.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use throughline_torture::daemon::Program;
use throughline_torture::machines::{Machines, Report};

#[test]
fn two_machines_on_one_server_lose_nothing_and_store_nothing_twice() {
    let program = Program::within(Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned());
    let machines = Machines { program, kills: 12, restarts: 2, cut: Duration::from_secs(12), seed: 1 };
    let reports = match machines.run().unwrap() {
        Ok(reports) => reports,
        Err(why) => {
            // Not `eprintln!`, which only a test that fails would show.
            writeln!(std::io::stderr(), "NOT TESTED: network namespaces cannot be made here: {why}").unwrap();
            return;
        }
    };
    let problems: Vec<&Report> = reports.iter().filter(|report| !report.problems.is_empty()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(reports.len(), 5, "{reports:#?}");
    assert!(reports.iter().all(|report| report.cycles > 0 && report.confirmed > 0), "{reports:#?}");
    let waited = reports.iter().filter(|report| report.waited > 0).count();
    assert!(waited > 0, "something waits while the network is away: {reports:#?}");
}
