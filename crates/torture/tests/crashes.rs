//! The tier that runs with every test: about sixty kills and faults and two hundred power cuts. `scripts/crashes` runs ten
//! thousand.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "clippy sees no tests in their helpers")]

use std::path::Path;

use throughline_testkit::postgres::Server;
use throughline_torture::Failure;
use throughline_torture::crashes::Report;
use throughline_torture::crashes::faults::Failing;
use throughline_torture::crashes::kills::Killing;
use throughline_torture::crashes::power::Outage;
use throughline_torture::crashes::tracer::Fault;
use throughline_torture::daemon::Program;

fn program() -> Program {
    Program::within(Path::new(env!("CARGO_BIN_EXE_hammer")).to_owned())
}

#[track_caller]
fn check(report: Result<Report, Failure>, cycles: usize) -> Report {
    let report = report.unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "{report}");
    assert!(report.cycles >= cycles && report.confirmed > 0, "{report}");
    report
}

#[test]
fn nothing_confirmed_is_lost_when_writers_of_every_kind_are_killed() {
    check(Killing { program: program(), kills: 24, seed: 1, server: None }.run(), 24);
}

#[test]
fn nothing_confirmed_is_lost_on_a_server_when_writers_of_every_kind_are_killed() {
    let server = Server::start();
    let killing = Killing { program: program(), kills: 24, seed: 1, server: Some(server.url()) };
    check(killing.run(), 24);
}

#[test]
fn nothing_confirmed_is_lost_when_the_power_is_cut() {
    let report = check(Outage { program: program(), cuts: 200, syncs: true, seed: 1 }.run(), 200);
    assert!(report.unsettled > 50, "{report}");
}

/// The checks can fail: the same recording, without its syncs.
#[test]
fn a_program_that_does_not_sync_is_caught() {
    let report = Outage { program: program(), cuts: 20, syncs: false, seed: 1 }.run().unwrap();
    assert!(report.problems.len() > 3, "{report}");
}

#[track_caller]
fn check_disk(fault: Fault) {
    let report = check(Failing { program: program(), fault, faults: 12, seed: 1 }.run(), 12);
    assert!(report.refused > 0, "{report}");
}

#[test]
fn nothing_confirmed_is_lost_when_the_disk_is_full() {
    check_disk(Fault::Full);
}

#[test]
fn nothing_confirmed_is_lost_when_the_disk_breaks() {
    check_disk(Fault::Broken);
}

#[test]
fn nothing_confirmed_is_lost_when_the_disk_becomes_read_only() {
    check_disk(Fault::ReadOnly);
}
