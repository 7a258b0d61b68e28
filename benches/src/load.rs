//! The daemon under load on loopback, driven by `wrk`, against the same verbs called in this process by as many threads.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::{Engine, NewMemory};
use throughline_core::recall::{Filter, RecallRequest};

use crate::daemon::Daemon;
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

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
        let driven = Driven::start(home.path())?;
        let seconds = Duration::from_secs(self.seconds);
        let mut rows = Vec::new();
        for verb in &VERBS {
            for clients in [1, self.clients] {
                let inside = in_process(&engine, verb, clients, seconds)?;
                let outside = driven.wrk(verb, clients, self.seconds)?;
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
        told.push_str(&self.flat(&driven)?);
        Ok(told)
    }

    /// Both verbs at once for minutes; how much memory the daemon has after each.
    fn flat(&self, driven: &Driven) -> Result<String, Failure> {
        let [recall, remember] = &VERBS;
        let (mut resident, mut errors) = (vec![driven.daemon.resident()?], 0);
        for _ in 0..self.minutes {
            let half = self.clients.div_ceil(2);
            let (one, other) = std::thread::scope(|scope| {
                let one = scope.spawn(|| driven.wrk(recall, half, 60));
                (driven.wrk(remember, half, 60), one.join())
            });
            let other = other.map_err(|_| "wrk was lost")??;
            errors += one?.errors + other.errors;
            resident.push(driven.daemon.resident()?);
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

/// A daemon, and what `wrk` asks it.
struct Driven {
    daemon: Daemon,
    scratch: tempfile::TempDir,
}

impl Driven {
    fn start(home: &Path) -> Result<Self, Failure> {
        let driven = Self { daemon: Daemon::start(home)?, scratch: tempfile::tempdir()? };
        std::fs::write(driven.scratch.path().join("load.lua"), SCRIPT)?;
        for verb in &VERBS {
            let mut dice = Dice::new(9);
            let mut file = std::io::BufWriter::new(std::fs::File::create(driven.bodies(verb))?);
            for _ in 0..BODIES {
                writeln!(file, "{}", (verb.body)(&mut dice))?;
            }
        }
        Ok(driven)
    }

    fn bodies(&self, verb: &Verb) -> std::path::PathBuf {
        self.scratch.path().join(verb.name)
    }

    fn wrk(&self, verb: &Verb, clients: usize, seconds: u64) -> Result<Figures, Failure> {
        let mut command = Command::new("wrk");
        command.args(["-t", &clients.min(2).to_string(), "-c", &clients.to_string(), "-d", &seconds.to_string()]);
        command.args(["--timeout", "60s", "-s"]).arg(self.scratch.path().join("load.lua"));
        command.arg(format!("{}{}", self.daemon.url, verb.path));
        let output = command.env("BODIES", self.bodies(verb)).env("TOKEN", &self.daemon.token).output();
        let output = output.map_err(|error| format!("wrk cannot be started ({error}): apt-get install wrk"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let result = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let numbers: Vec<f64> = result.unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [_, rate, p50, p99, errors] => Ok(Figures { rate, p50, p99, errors: errors as u64 }),
            _ => Err(format!("wrk says: {text}{}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}
