//! `hammer work` is one worker; `hammer siege` starts many, kills some, and says whether the memory kept its word.
//! `hammer talk` and `hammer interrupt` are the same for conversations, `hammer index` and `hammer upheave` for the word index. `hammer vanish` takes the database away from a daemon,
//! `hammer machines` runs two machines on one server, `hammer crashes` kills writers of every kind, cuts the power and breaks the disk, and `hammer throughline` is the program itself.

#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser};
#[cfg(target_os = "linux")]
use throughline_testkit::postgres::Server;
#[cfg(target_os = "linux")]
use throughline_torture::crashes::{Report, faults::Failing, kills::Killing, power::Outage, tracer::Fault};
use throughline_torture::daemon::Program;
use throughline_torture::hammer::{self, Orders};
#[cfg(target_os = "linux")]
use throughline_torture::machines;
use throughline_torture::siege::{Record, Siege};
use throughline_torture::talk::{self, Interruption};
use throughline_torture::vanish::{self, Vanishing, Way};
use throughline_torture::verdict::Verdict;
use throughline_torture::words::{self, Upheaval};
use throughline_torture::{Failure, chain};

/// What a worker that met an error ends with.
const FAILED: u8 = 3;

/// Torture for a memory
#[derive(Parser)]
enum Command {
    /// Do random things to the memory in a directory, and print what was acknowledged
    Work(Work),
    /// Start many workers at once, kill some, and check that nothing acknowledged was lost
    Siege(Besiege),
    /// Keep conversations and consolidate them, until killed
    Talk(Talk),
    /// Kill those who consolidate, and check that timeline and conversations agree
    Interrupt(Interrupt),
    /// Write what becomes segments of the word index at once, until killed
    Index(Talk),
    /// Kill those who write to the word index, and check that searches equal a scan
    Upheave(Upheave),
    /// Kill writers of every kind, cut the power, break the disk, and check that nothing confirmed is lost
    #[cfg(target_os = "linux")]
    Crashes(Crashes),
    /// Run two machines on one server, and check that nothing confirmed is lost or stored twice, whatever fails
    #[cfg(target_os = "linux")]
    Machines(Machines),
    /// Take the database away from a daemon under load, and check that nothing confirmed afterwards is lost
    Vanish(Vanish),
}

#[derive(Args)]
struct Work {
    home: PathBuf,
    #[arg(long)]
    worker: usize,
    #[arg(long, default_value_t = 0)]
    life: usize,
    #[arg(long)]
    seed: u64,
    /// Without it, until standard input is closed
    #[arg(long)]
    ops: Option<u64>,
    #[arg(long, default_value_t = 3)]
    keys: u64,
    #[arg(long, default_value_t = 30)]
    keyed: u64,
    #[arg(long, default_value_t = 4)]
    profile: u64,
}

#[derive(Args)]
struct Besiege {
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Operations of each worker; where there are kills, the last kill ends it instead
    #[arg(long, default_value_t = 1000)]
    ops: u64,
    #[arg(long, default_value_t = 0)]
    kills: usize,
    /// At most this many acknowledged writes lie between two kills
    #[arg(long, default_value_t = 40)]
    pace: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many keys everybody shares
    #[arg(long, default_value_t = 3)]
    keys: u64,
    /// How many of a hundred operations write under one of them
    #[arg(long, default_value_t = 30)]
    keyed: u64,
    /// How many of a hundred operations change the profile
    #[arg(long, default_value_t = 4)]
    profile: u64,
    /// Keep the memory in this directory, which must be new, instead of a temporary one
    #[arg(long)]
    home: Option<PathBuf>,
}

#[derive(Args)]
struct Talk {
    home: PathBuf,
    #[arg(long)]
    name: String,
    #[arg(long)]
    seed: u64,
}

#[derive(Args)]
struct Interrupt {
    #[arg(long, default_value_t = 200)]
    kills: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Args)]
struct Upheave {
    /// How many work at once, and are killed together
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// At how many moments all of them are killed
    #[arg(long, default_value_t = 100)]
    kills: usize,
    /// How many memories there are before
    #[arg(long, default_value_t = 20_000)]
    entries: u64,
    /// Begin each round with a memory of the schema before the word index
    #[arg(long)]
    old: bool,
    /// How many turns such a memory has
    #[arg(long, default_value_t = 5000)]
    turns: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[cfg(target_os = "linux")]
#[derive(Args)]
struct Crashes {
    /// Processes that are killed
    #[arg(long, default_value_t = 1000)]
    kills: usize,
    /// Power cuts
    #[arg(long, default_value_t = 8400)]
    cuts: usize,
    /// Times that a disk is full, broken and read-only, each
    #[arg(long, default_value_t = 200)]
    faults: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[cfg(target_os = "linux")]
#[derive(Args)]
struct Machines {
    /// Clients of one machine that are killed at a message to or from the server, and at other moments
    #[arg(long, default_value_t = 200)]
    messages: usize,
    /// Clients of two machines that are killed
    #[arg(long, default_value_t = 50)]
    kills: usize,
    /// How often the server is stopped under load
    #[arg(long, default_value_t = 20)]
    restarts: usize,
    /// Seconds without network
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Args)]
struct Vanish {
    /// How often each way is tried
    #[arg(long, default_value_t = 50)]
    runs: usize,
    /// Only this way: moved, replaced, truncated, deleted, overwritten, overlaid, garbled
    #[arg(long)]
    way: Option<Way>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program whose daemon it is; without it, `hammer throughline`
    #[arg(long)]
    program: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if args.nth(1).is_some_and(|command| command == "throughline") {
        return throughline::cli::main_with(std::iter::once("throughline".into()).chain(args));
    }
    match Command::parse() {
        Command::Work(work) => {
            let Work { home, worker, life, seed, ops, keys, keyed, profile } = work;
            let all_went_well = hammer::work(&home, Orders { worker, life, seed, ops, keys, keyed, profile });
            if all_went_well { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
        }
        Command::Siege(besiege) => besiege.run().unwrap_or_else(|error| broken(&error)),
        Command::Talk(Talk { home, name, seed }) => {
            if talk::work(&home, &name, seed) {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(FAILED)
            }
        }
        Command::Index(Talk { home, name, seed }) => {
            if words::work(&home, &name, seed) {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(FAILED)
            }
        }
        Command::Upheave(upheave) => upheave.run().unwrap_or_else(|error| broken(&error)),
        Command::Interrupt(interrupt) => interrupt.run().unwrap_or_else(|error| broken(&error)),
        #[cfg(target_os = "linux")]
        Command::Crashes(crashes) => crashes.run().unwrap_or_else(|error| broken(&error)),
        #[cfg(target_os = "linux")]
        Command::Machines(machines) => machines.run().unwrap_or_else(|error| broken(&error)),
        Command::Vanish(vanish) => vanish.run().unwrap_or_else(|error| broken(&error)),
    }
}

fn broken(error: &Failure) -> ExitCode {
    println!("error: {}", chain(&**error));
    ExitCode::from(2)
}

#[cfg(target_os = "linux")]
impl Crashes {
    fn run(self) -> Result<ExitCode, Failure> {
        let Self { kills, cuts, faults, seed } = self;
        let program = Program::within(std::env::current_exe()?);
        let mut is_clean = true;
        let mut told = |what: &str, run: &dyn Fn() -> Result<Report, Failure>| -> Result<(), Failure> {
            let start = Instant::now();
            let report = run()?;
            shown(&report.problems);
            println!("{what} · {report} · {:.1} s", start.elapsed().as_secs_f64());
            is_clean &= report.problems.is_empty();
            Ok(())
        };
        told("killed", &|| Killing { program: program.clone(), kills, seed, server: None }.run())?;
        told("power cut", &|| Outage { program: program.clone(), cuts, syncs: true, seed }.run())?;
        for fault in Fault::OF_A_DISK {
            told(fault.as_str(), &|| Failing { program: program.clone(), fault, faults, seed }.run())?;
        }
        Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

#[cfg(target_os = "linux")]
impl Machines {
    fn run(self) -> Result<ExitCode, Failure> {
        let Self { messages, kills, restarts, seconds, seed } = self;
        let (program, cut) = (Program::within(std::env::current_exe()?), Duration::from_secs(seconds));
        let start = Instant::now();
        let server = Server::start();
        let killing = Killing { program: program.clone(), kills: messages, seed, server: Some(server.url()) };
        let killed = killing.run()?;
        drop(server);
        shown(&killed.problems);
        println!("killed on a server · {killed} · {:.1} s", start.elapsed().as_secs_f64());
        let reports = machines::Machines { program, kills, restarts, cut, seed }.run()?;
        let reports = reports.map_err(|why| format!("network namespaces cannot be made here: {why}"))?;
        let mut is_clean = killed.problems.is_empty();
        for report in &reports {
            shown(&report.problems);
            println!("{report}");
            is_clean &= report.problems.is_empty();
        }
        println!("two machines · {:.1} s", start.elapsed().as_secs_f64());
        Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Vanish {
    fn run(self) -> Result<ExitCode, Failure> {
        let Self { runs, way, seed, program } = self;
        let program = match program {
            Some(path) => Program::itself(path),
            None => Program::within(std::env::current_exe()?),
        };
        let ways = way.map_or_else(|| Way::ALL.to_vec(), |way| vec![way]);
        let mut is_clean = true;
        for way in ways {
            let start = Instant::now();
            let report = Vanishing { program: program.clone(), way, runs, seed }.run()?;
            shown(&report.problems);
            println!("{} · {:.1} s", vanish::summary(way, &report), start.elapsed().as_secs_f64());
            is_clean &= report.problems.is_empty();
        }
        Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Upheave {
    fn run(self) -> Result<ExitCode, Failure> {
        let Self { workers, kills, entries, old, turns, seed } = self;
        let (home, start) = (tempfile::tempdir()?, Instant::now());
        let (program, turns) = (std::env::current_exe()?, if old { turns } else { 0 });
        let report = Upheaval { program, workers, kills, entries, turns, is_old: old, seed }.run(home.path())?;
        let code = shown(&report.problems);
        let phases = if old {
            format!(
                "before the new schema {} · within the migration {} · within the removal of the old index {} · ",
                report.before_migration, report.within_migration, report.within_removal
            )
        } else {
            String::new()
        };
        println!(
            "workers {workers} · memories before {entries} · turns before {turns} · kills {} · {phases}processes killed {} · segments met {} · acknowledged {} · refused {} · stored {} · words searched {} · orders compared {} · problems {} · {:.1} s",
            report.kills,
            report.processes,
            report.segments,
            report.acknowledged,
            report.refused,
            report.stored,
            report.searches,
            report.compared,
            report.problems.len(),
            start.elapsed().as_secs_f64(),
        );
        Ok(code)
    }
}

/// Shows the first problems; without any, all is well.
fn shown(problems: &[String]) -> ExitCode {
    const SHOWN: usize = 40;
    problems.iter().take(SHOWN).for_each(|line| println!("  {line}"));
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Interrupt {
    fn run(self) -> Result<ExitCode, Failure> {
        let Self { kills, seed } = self;
        let home = tempfile::tempdir()?;
        let start = Instant::now();
        let report = Interruption { program: std::env::current_exe()?, kills, seed }.run(home.path())?;
        let code = shown(&report.problems);
        println!(
            "kills {} · within a consolidation {} · left unfinished {} · turns acknowledged {} · completed {} · timeline {} · problems {} · {:.1} s",
            report.kills,
            report.within,
            report.unfinished,
            report.kept,
            report.completed,
            report.timeline,
            report.problems.len(),
            start.elapsed().as_secs_f64(),
        );
        Ok(code)
    }
}

impl Besiege {
    fn run(self) -> Result<ExitCode, Failure> {
        let Self { workers, ops, kills, pace, seed, keys, keyed, profile, home } = self;
        let siege = Siege { program: std::env::current_exe()?, workers, ops, kills, pace, seed, keys, keyed, profile };
        let temporary = tempfile::tempdir()?;
        let home = home.unwrap_or_else(|| temporary.path().to_owned());
        let start = Instant::now();
        let record = siege.run(&home)?;
        let seconds = start.elapsed().as_secs_f64();
        let verdict = Verdict::of(&home, &record)?;
        let complaints = record.errors.iter().chain(&verdict.lost).chain(&verdict.problems);
        complaints.take(40).for_each(|line| println!("  {line}"));
        println!("{}", summary(workers, &record, &verdict, seconds));
        let is_clean = record.errors.is_empty() && verdict.is_clean();
        Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn summary(workers: usize, record: &Record, verdict: &Verdict, seconds: f64) -> String {
    let checks =
        if verdict.problems.is_empty() { "clean".to_owned() } else { format!("{} PROBLEMS", verdict.problems.len()) };
    format!(
        "workers {workers} · ops {} · kills {} · acknowledged {} · in flight at a kill {} · errors {} · lost {} · checks {checks} · {seconds:.1} s",
        record.ops,
        record.killed.len(),
        record.said.len(),
        verdict.in_flight,
        record.errors.len(),
        verdict.lost.len(),
    )
}
