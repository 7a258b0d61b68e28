//! The daemon under load on loopback, driven by `wrk`, against the same verbs called in this process by as many threads.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::{Engine, NewMemory};
use throughline_core::recall::{Filter, RecallRequest};

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory, start};

/// What `wrk` does with each connection.
const SCRIPT: &str = include_str!("load.lua");

/// Different requests, asked over and over.
const BODIES: usize = 20_000;

#[derive(Args)]
pub(crate) struct Load {
    /// How many memories there are
    #[arg(long, default_value_t = 100_000)]
    entries: u64,
    /// How many clients ask at once
    #[arg(long, default_value_t = 32)]
    clients: usize,
    /// Seconds for each figure
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Minutes of both verbs at once, to see whether memory stays flat
    #[arg(long, default_value_t = 10)]
    minutes: u64,
}

/// A verb, over HTTP and in this process.
struct Verb {
    name: &'static str,
    path: &'static str,
    body: fn(&mut Dice) -> String,
    call: fn(&Engine, &mut Dice) -> Result<(), Failure>,
}

const VERBS: [Verb; 2] = [
    Verb { name: "recall", path: "/api/recall", body: |dice| json("query", &synthetic::question(dice)), call: recall },
    Verb { name: "remember", path: "/api/memories", body: |dice| json("content", &unique(dice)), call: remember },
];

fn json(field: &str, text: &str) -> String {
    format!("{{{field:?}:{text:?}}}")
}

fn unique(dice: &mut Dice) -> String {
    format!("{} {}", synthetic::memory(dice), dice.roll())
}

fn recall(engine: &Engine, dice: &mut Dice) -> Result<(), Failure> {
    let filter = Filter::recallable(engine.now());
    engine.recall().recall(&RecallRequest { query: synthetic::question(dice), limit: 10, filter })?;
    Ok(())
}

fn remember(engine: &Engine, dice: &mut Dice) -> Result<(), Failure> {
    engine.memories().remember(&NewMemory::fact(unique(dice)))?;
    Ok(())
}

/// What came of some seconds of load.
struct Figures {
    rate: f64,
    p50: f64,
    p99: f64,
    errors: u64,
}

impl Load {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let home = tempfile::tempdir()?;
        laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, self.entries)?;
        let engine = laboratory::open(home.path(), Durability::Full)?;
        let daemon = Daemon::start(home.path())?;
        let seconds = Duration::from_secs(self.seconds);
        let mut rows = Vec::new();
        for verb in &VERBS {
            for clients in [1, self.clients] {
                let inside = in_process(&engine, verb, clients, seconds)?;
                let outside = daemon.wrk(verb, clients, self.seconds)?;
                rows.push(row(verb, clients, &inside, &outside));
            }
        }
        let head = [
            "verb",
            "clients",
            "over HTTP",
            "p50 ms",
            "p99 ms",
            "errors",
            "in process",
            "p50 ms",
            "p99 ms",
            "rate",
            "p50",
        ];
        let mut told = markdown(&head, &rows);
        told.push_str(&self.flat(&daemon)?);
        Ok(told)
    }

    /// Both verbs at once for minutes; how much memory the daemon has after each.
    fn flat(&self, daemon: &Daemon) -> Result<String, Failure> {
        let [recall, remember] = &VERBS;
        let (mut resident, mut errors) = (vec![daemon.resident()?], 0);
        for _ in 0..self.minutes {
            let half = self.clients.div_ceil(2);
            let (one, other) = std::thread::scope(|scope| {
                let one = scope.spawn(|| daemon.wrk(recall, half, 60));
                (daemon.wrk(remember, half, 60), one.join())
            });
            let other = other.map_err(|_| "wrk was lost")??;
            errors += one?.errors + other.errors;
            resident.push(daemon.resident()?);
        }
        let resident: Vec<String> = resident.iter().map(u64::to_string).collect();
        Ok(format!("\nresident memory in MB, minute by minute: {}; errors: {errors}\n", resident.join(" ")))
    }
}

fn row(verb: &Verb, clients: usize, inside: &Figures, outside: &Figures) -> Vec<String> {
    let each = |rate: f64| format!("{rate:.0}/s");
    vec![
        verb.name.to_owned(),
        clients.to_string(),
        each(outside.rate),
        ms(outside.p50),
        ms(outside.p99),
        outside.errors.to_string(),
        each(inside.rate),
        ms(inside.p50),
        ms(inside.p99),
        ratio(outside.rate, inside.rate),
        ratio(outside.p50, inside.p50),
    ]
}

/// The verb itself, by as many threads as there would be clients.
fn in_process(engine: &Engine, verb: &Verb, clients: usize, lasting: Duration) -> Result<Figures, Failure> {
    let (all, began) = (Mutex::new((Times::default(), 0_u64)), Instant::now());
    std::thread::scope(|scope| {
        let work = |number: usize| {
            let (mut dice, mut times, mut errors) = (Dice::new(100 + number as u64), Times::default(), 0);
            while began.elapsed() < lasting {
                errors += u64::from(times.time(|| (verb.call)(engine, &mut dice)).is_err());
            }
            if let Ok(mut all) = all.lock() {
                all.0.join(times);
                all.1 += errors;
            }
        };
        for number in 0..clients {
            scope.spawn(move || work(number));
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let (times, errors) = all.into_inner().map_err(|_| "a thread was lost")?;
    Ok(Figures { rate: times.len() as f64 / seconds, p50: times.at(0.5), p99: times.at(0.99), errors })
}

/// The real daemon, on a free port.
struct Daemon {
    process: Child,
    url: String,
    token: String,
    scratch: tempfile::TempDir,
}

impl Daemon {
    fn start(home: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(start::program()?);
        command.args(["serve", "--port", "0"]).env("THROUGHLINE_HOME", home).stdout(Stdio::null());
        let process = command.spawn()?;
        let scratch = tempfile::tempdir()?;
        let mut daemon = Self { process, url: String::new(), token: String::new(), scratch };
        let began = Instant::now();
        while daemon.url.is_empty() {
            if began.elapsed() > Duration::from_secs(60) {
                return Err("the daemon does not say where it listens".into());
            }
            std::thread::sleep(Duration::from_millis(20));
            let said = std::fs::read_to_string(home.join("daemon.json")).unwrap_or_default();
            let url = said.split("\"url\":\"").nth(1).and_then(|rest| rest.split('"').next());
            daemon.url = url.unwrap_or_default().to_owned();
        }
        daemon.token = std::fs::read_to_string(home.join("token"))?.trim().to_owned();
        std::fs::write(daemon.scratch.path().join("load.lua"), SCRIPT)?;
        for verb in &VERBS {
            let mut dice = Dice::new(9);
            let mut file = std::io::BufWriter::new(std::fs::File::create(daemon.bodies(verb))?);
            for _ in 0..BODIES {
                writeln!(file, "{}", (verb.body)(&mut dice))?;
            }
        }
        Ok(daemon)
    }

    fn bodies(&self, verb: &Verb) -> std::path::PathBuf {
        self.scratch.path().join(verb.name)
    }

    fn wrk(&self, verb: &Verb, clients: usize, seconds: u64) -> Result<Figures, Failure> {
        let mut command = Command::new("wrk");
        command.args(["-t", &clients.min(2).to_string(), "-c", &clients.to_string(), "-d", &seconds.to_string()]);
        command.args(["--timeout", "60s", "-s"]).arg(self.scratch.path().join("load.lua"));
        command.arg(format!("{}{}", self.url, verb.path));
        let output = command.env("BODIES", self.bodies(verb)).env("TOKEN", &self.token).output();
        let output = output.map_err(|error| format!("wrk cannot be started ({error}): apt-get install wrk"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let result = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let numbers: Vec<f64> = result.unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [_, rate, p50, p99, errors] => Ok(Figures { rate, p50, p99, errors: errors as u64 }),
            _ => Err(format!("wrk says: {text}{}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    /// In megabytes.
    fn resident(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes / 1024)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
